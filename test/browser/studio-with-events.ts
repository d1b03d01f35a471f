/** The studio of `test/declarations.ts`, whose projects and tasks have events. */
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { studio } from '../declarations.ts'

const { projects, tasks, users } = studio.resources

export const studioWithEvents: InterfaceDeclaration = {
  ...studio,
  resources: { projects: { ...projects, events: true }, tasks: { ...tasks, events: true }, users },
}
