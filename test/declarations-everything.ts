/** Fields of every kind, and a tree whose deletions are jobs. */
import { defineInterface } from '../src/model/declaration.ts'
import { samples } from './declarations.ts'
import { company } from './declarations-company.ts'

export const everything = defineInterface({
  name: 'everything',
  resources: { ...samples.resources, ...company.resources },
})
