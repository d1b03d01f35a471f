/** The types of the studio have the properties that its OpenAPI document describes, and require the same of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import studio from '../../examples/studio/resources.ts'
import { namesOf, resourceSchemas } from '../../packages/server/src/documents/openapi/schemas.ts'
import type { Infer } from '../../packages/server/src/index.ts'

type Collection = keyof NonNullable<(typeof studio)['~types']>
type Part = 'record' | 'create' | 'replace' | 'patch'
/** Each property, and whether every value has it. */
type Properties<T> = { [Name in keyof T]-?: object extends Pick<T, Name> ? 'optional' : 'required' }

const given = { id: 'required', created_at: 'required', updated_at: 'required' } as const
const repeated = { id: 'optional', created_at: 'optional', updated_at: 'optional' } as const

// The compiler demands each property of a type, and no other.
const types: { [C in Collection]: { [P in Part]: Properties<Infer<typeof studio, C, P>> } } = {
  projects: {
    record: {
      ...given,
      deleted_at: 'optional',
      name: 'required',
      description: 'required',
      visibility: 'required',
      owner_id: 'required',
    },
    create: { name: 'required', description: 'optional', visibility: 'optional', owner_id: 'optional' },
    replace: { ...repeated, name: 'required', description: 'optional', visibility: 'optional', owner_id: 'optional' },
    patch: { ...repeated, name: 'optional', description: 'optional', visibility: 'optional', owner_id: 'optional' },
  },
  tasks: {
    record: {
      ...given,
      deleted_at: 'optional',
      title: 'required',
      status: 'required',
      project_id: 'required',
      assignee_id: 'required',
      due_on: 'required',
      estimate: 'required',
      labels: 'required',
    },
    create: {
      title: 'required',
      status: 'optional',
      project_id: 'required',
      assignee_id: 'optional',
      due_on: 'optional',
      estimate: 'optional',
      labels: 'optional',
      secret_note: 'optional',
    },
    replace: {
      ...repeated,
      title: 'required',
      status: 'optional',
      project_id: 'required',
      assignee_id: 'optional',
      due_on: 'optional',
      estimate: 'optional',
      labels: 'optional',
      secret_note: 'optional',
    },
    patch: {
      ...repeated,
      title: 'optional',
      status: 'optional',
      project_id: 'optional',
      assignee_id: 'optional',
      due_on: 'optional',
      estimate: 'optional',
      labels: 'optional',
      secret_note: 'optional',
    },
  },
  users: {
    record: { ...given, name: 'required', email: 'required' },
    create: { name: 'required', email: 'required' },
    replace: { ...repeated, name: 'required', email: 'required' },
    patch: { ...repeated, name: 'optional', email: 'optional' },
  },
}

interface Schema {
  readonly properties: object
  readonly required?: readonly string[]
}

test('types and document have the same properties, and require the same ones', () => {
  const catalog = completeCatalog(studio)
  const names = namesOf(catalog)
  const described = [...catalog.resources.values()].map((resource) => {
    const name = names.get(resource.name)!
    const schemas = resourceSchemas(resource, name) as Record<string, Schema | undefined>
    const properties = (schema: Schema | undefined, more: object = {}) =>
      Object.fromEntries(
        Object.keys({ ...schema?.properties, ...more }).map((each) => [
          each,
          schema?.required?.includes(each) === true ? 'required' : 'optional',
        ]),
      )
    const deleted = schemas[`${name.one}Deleted`]?.properties
    const parts = {
      record: properties(schemas[name.one], deleted),
      create: properties(schemas[`${name.one}Create`]),
      replace: properties(schemas[`${name.one}Replace`]),
      patch: properties(schemas[`${name.one}Patch`]),
    }
    return [resource.name, parts]
  })
  assert.deepEqual(types, Object.fromEntries(described))
})
