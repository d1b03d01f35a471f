/** An interface in three versions: as it was at first, and as it is now, with what was changed on the way. */
import type { ChangeDeclaration, InterfaceDeclaration, ResourceDeclaration } from 'resourced-contract/model/declaration'

const everyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const
const access = { ...everyone, readDeleted: 'anyone' } as const

const people: ResourceDeclaration = {
  fields: { name: { type: 'string', filter: true, unique: true } },
  access,
}

/** Version 1, when there was no other. */
export const deskAtFirst: InterfaceDeclaration = {
  name: 'desk',
  versions: { v1: {} },
  resources: {
    people,
    tickets: {
      fields: {
        subject: { type: 'string', minLength: 2, maxLength: 80, filter: true, sort: true, search: true },
        urgency: { type: 'integer', minimum: 1, maximum: 5, filter: true, sort: true, default: 3 },
        price: { type: 'number', minimum: 0, filter: true, sort: true, default: 0 },
        state: { enum: ['new', 'done'], default: 'new', transitions: { new: ['done'], done: [] } },
        code: { type: 'string', unique: true, optional: true, immutable: true, filter: true },
        asker_id: { reference: 'people', onDelete: 'cascade' },
        colour: { type: 'string', optional: true, filter: true, sort: true },
      },
      within: 'asker_id',
      deletion: { byFilter: true },
      access,
    },
  },
}

/** What versions 2 and 3 changed. */
export const deskChanges: readonly ChangeDeclaration[] = [
  {
    version: 'v2',
    resource: 'tickets',
    rename: { subject: 'title', asker_id: 'person_id' },
    add: ['labels', 'closed_on'],
  },
  {
    version: 'v2',
    resource: 'tickets',
    remove: { colour: { schema: { type: 'string', optional: true, filter: true, sort: true }, value: null } },
  },
  { version: 'v2', resource: 'remarks', collection: 'added' },
  { version: 'v3', resource: 'cases', was: 'tickets', rename: { title: 'headline', price: 'cents' } },
  {
    version: 'v3',
    resource: 'cases',
    convert: {
      cents: {
        schema: { type: 'number', minimum: 0, filter: true, sort: true, default: 0 },
        older: (cents: number) => cents / 100,
        newer: (price: number) => Math.round(price * 100),
      },
      state: {
        schema: { enum: ['new', 'done'], default: 'new' },
        older: (state: string) => (state === 'open' ? 'new' : 'done'),
        newer: (state: string) => (state === 'new' ? 'open' : 'closed'),
      },
    },
  },
]

/** Version 3, with what came before it. */
export const desk: InterfaceDeclaration = {
  name: 'desk',
  versions: { v1: {}, v2: {}, v3: {} },
  changes: deskChanges,
  resources: {
    people,
    cases: {
      fields: {
        headline: { type: 'string', minLength: 2, maxLength: 80, filter: true, sort: true, search: true },
        urgency: { type: 'integer', minimum: 1, maximum: 5, filter: true, sort: true, default: 3 },
        cents: { type: 'integer', minimum: 0, filter: true, sort: true, default: 0 },
        state: { enum: ['open', 'closed'], default: 'open', transitions: { open: ['closed'], closed: [] } },
        code: { type: 'string', unique: true, optional: true, immutable: true, filter: true },
        person_id: { reference: 'people', onDelete: 'cascade' },
        labels: { type: 'array', items: { type: 'string' }, optional: true },
        closed_on: { type: 'string', format: 'date', optional: true, filter: true },
      },
      within: 'person_id',
      deletion: { byFilter: true },
      access,
    },
    remarks: { fields: { text: { type: 'string' }, case_id: { reference: 'cases', onDelete: 'cascade' } }, access },
  },
}
