/** Fields of every kind, and a tree whose deletions are jobs. */
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import * as Type from 'resourced-contract/model/type'
import { samples } from './declarations.ts'
import { company } from './declarations-company.ts'

const prices = {
  fields: { price: Type.Decimal({ precision: 38, scale: 18, filter: true, sort: true, unique: true }) },
  access: { read: 'anyone', create: 'anyone' },
} as const

export const everything: InterfaceDeclaration = {
  name: 'everything',
  resources: { ...samples.resources, ...company.resources, prices },
}

/** The same with events, whose records have numbers. */
export const everythingWithEvents: InterfaceDeclaration = {
  ...everything,
  resources: {
    ...everything.resources,
    tickets: {
      fields: { title: Type.String(), number: Type.Sequence() },
      access: { read: 'anyone', create: 'anyone' },
      summaries: { by_month: { group: ['created_at:month'], sum: ['number'] } },
      events: true,
    },
  },
}
