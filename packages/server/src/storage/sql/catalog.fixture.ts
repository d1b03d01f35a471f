/** Small catalogs for the tests of tables and migrations. */

import { completeKeywords } from 'resourced-contract/model/keywords'
import { completeLimits } from 'resourced-contract/model/limits'
import { type Catalog, type Field, type FieldType, type Resource, withIndexes } from 'resourced-contract/model/resource'

/** A field of a test: its type, and options that differ from the defaults. */
export type FieldFixture = FieldType | (Partial<Field> & { readonly type: FieldType })

/** A field that is optional and has no words, except for the given options. */
export function fieldFixture(name: string, fixture: FieldFixture): Field {
  const given = typeof fixture === 'string' ? { type: fixture } : fixture
  return {
    ...completeKeywords({ filter: false }, { type: given.type, enum: undefined }),
    name,
    schema: {},
    format: undefined,
    decimal: given.type === 'decimal' ? { precision: 12, scale: 2 } : undefined,
    enum: undefined,
    required: false,
    default: undefined,
    serverDefault: undefined,
    readOnly: false,
    writeOnly: false,
    validate: () => [],
    items: undefined,
    weight: 1,
    members: [],
    ...given,
  }
}

/** A resource with the fields given, everything else at its plainest. */
export function resourceFixture(
  name: string,
  fixtures: Readonly<Record<string, FieldFixture>>,
  more: Partial<Resource> = {},
): Resource {
  const fields = Object.entries(fixtures).map(([field, fixture]) => fieldFixture(field, fixture))
  return withIndexes({
    name,
    title: name,
    description: undefined,
    fields,
    field: new Map(fields.map((field) => [field.name, field])),
    owner: undefined,
    within: undefined,
    prepare: undefined,
    on: {},
    unique: fields.filter((field) => field.unique).map((field) => [field.name]),
    deletion: {
      variant: 'soft',
      gracePeriod: 0,
      restorable: true,
      asynchronous: { above: 1000 },
      answer: 'empty',
      repeated: 'not-found',
      bulk: undefined,
      byFilter: false,
    },
    access: { read: [], create: [], update: [], delete: [], restore: [], readDeleted: [], readHistory: [] },
    rules: [],
    preconditions: 'optional',
    maxAge: 0,
    made: 'by-clients',
    updates: { byFilter: false, above: 1_000 },
    events: false,
    history: undefined,
    order: 'by-id',
    dependents: [],
    lookedUp: [],
    children: [],
    shape: 'shape',
    ...more,
  })
}

/** A catalog of resources. */
export function catalogFixture(...resources: readonly Resource[]): Catalog {
  return {
    name: 'test',
    title: 'Test',
    description: undefined,
    version: 'v1',
    resources: new Map(resources.map((resource) => [resource.name, resource])),
    system: new Map(),
    versions: new Map(),
    authorize: undefined,
    tenants: undefined,
    limits: completeLimits(),
  }
}
