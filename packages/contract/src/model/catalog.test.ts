import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Type } from 'typebox'
import { completeCatalog } from './catalog.ts'
import type { Catalog, Field } from './resource.ts'
import { studio } from './studio.fixture.ts'
import { reference } from './type.ts'

/** Completes an interface of two collections: the fields given, and targets to refer to. */
function completed(fields: Record<string, unknown>, more: object = {}): Catalog {
  const resources = { notes: { fields, ...more }, targets: { fields: { title: { type: 'string' } } } }
  return completeCatalog({ name: 'test', resources } as never)
}

function fieldOf(declared: unknown): Field {
  return completed({ field: declared }).resources.get('notes')?.field.get('field') as Field
}

describe('the type of a field', () => {
  const types: [string, unknown, Partial<Field>][] = [
    ['its type', { type: 'integer' }, { type: 'integer', required: true, filter: false }],
    ['with null it is optional', { type: ['string', 'null'] }, { type: 'string', required: false, schema: { type: 'string' } }],
    ['two numbers', { type: ['integer', 'number'] }, { type: 'number' }],
    ['two types', { type: ['string', 'integer'] }, { type: 'json' }],
    ['an enum of texts', { enum: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'], filter: true }],
    ['an enum of integers', { enum: [1, 2] }, { type: 'integer', enum: undefined, filter: false }],
    ['an enum with null', { enum: ['a', null] }, { type: 'string', enum: ['a'], required: false, schema: { enum: ['a'] } }],
    ['consts', { anyOf: [{ const: 'a' }, { const: 'b' }] }, { type: 'string', enum: ['a', 'b'] }],
    ['an alternative with null', { anyOf: [{ type: 'number' }, { type: 'null' }] }, { type: 'number', required: false, schema: { type: 'number' } }],
    ['alternatives', { anyOf: [{ type: 'number' }, { type: 'string' }] }, { type: 'json' }],
    ['parts', { allOf: [{ type: 'string' }, { minLength: 1, type: 'string' }] }, { type: 'string' }],
    ['a boolean', { type: 'boolean' }, { type: 'boolean', filter: true }],
    ['a boolean that is no filter', { type: 'boolean', filter: false }, { filter: false }],
    ['a writeOnly enum', { enum: ['a'], writeOnly: true }, { filter: false }],
    ['nothing said', {}, { type: 'json' }],
    ['TypeBox optional', Type.Optional(Type.String({ search: true })), { type: 'string', required: false, search: true, schema: { type: 'string' } }],
    ['TypeBox union', Type.Union([Type.Literal('a'), Type.Null()]), { type: 'string', enum: ['a'], required: false }],
    ['TypeBox any', Type.Any(), { type: 'json', required: true }],
    ['an optional reference', Type.Optional(reference('targets')), { type: 'string', format: 'uuid', required: false, filter: true, reference: { collection: 'targets', onDelete: 'restrict', requires: 'read' } }],
    ['a reference as data', { reference: 'targets', onDelete: 'cascade' }, { type: 'string', format: 'uuid', reference: { collection: 'targets', onDelete: 'cascade', requires: 'read' }, schema: { type: 'string', format: 'uuid' } }],
    ['a default of null', { type: 'string', optional: true, default: null }, { default: undefined, schema: { type: 'string' } }],
    ['a default', { type: 'string', default: 'x' }, { default: 'x', required: true }],
  ] // biome-ignore format: one row a case
  for (const [name, declared, expected] of types) {
    test(name, () => {
      const field = fieldOf(declared)
      const seen = Object.fromEntries(Object.keys(expected).map((key) => [key, field[key as keyof Field]]))
      assert.deepEqual(seen, expected)
    })
  }
})

test('missing values have their defaults', () => {
  const { version, title, limits, resources } = completed({ title: { type: 'string' } })
  assert.deepEqual(
    { version, title, limits },
    {
      version: 'v1',
      title: 'Test',
      limits: {
        pageSize: { default: 20, max: 100 },
        bodyBytes: 1_048_576,
        bodyMembers: 20_000,
        patchOperations: 1_000,
        bulk: 1_000,
        tenants: 1_000,
        errors: 100,
        pageBytes: 4_194_304,
        include: { paths: 8, records: 1_000 },
        readTime: 10_000,
        authorizeTime: 5_000,
        functionTime: 30_000,
        rate: { caller: { most: 600, window: 60 }, address: { most: 60, window: 60 }, actions: new Map() },
        keys: { perSubject: 100, lastingRoles: [] },
        exports: { count: 20, bytes: 1_073_741_824, total: 10_737_418_240 },
        events: { retention: 7 * 86_400_000, streams: 20 },
      },
    },
  )
  const { deletion, access, preconditions, maxAge, owner, within, rules } = resources.get('notes')!
  assert.deepEqual(deletion, {
    variant: 'soft',
    gracePeriod: 30 * 86_400_000,
    restorable: true,
    asynchronous: { above: 1_000 },
    answer: 'empty',
    repeated: 'not-found',
    bulk: { max: 1_000 },
    byFilter: false,
  })
  const administrators = ['role:admin']
  assert.deepEqual(access, {
    read: administrators,
    create: administrators,
    update: administrators,
    delete: administrators,
    restore: administrators,
    readDeleted: administrators,
    readHistory: administrators,
  })
  assert.deepEqual([preconditions, maxAge, owner, within, rules], ['optional', 0, undefined, undefined, []])
})

test('names are resolved: nesting, children, dependents, owner, unique sets', () => {
  const catalog = completeCatalog(studio() as never)
  const projects = catalog.resources.get('projects')!
  const tasks = catalog.resources.get('tasks')!
  assert.deepEqual(tasks.within, { field: 'project_id', collection: 'projects' })
  assert.deepEqual(projects.children, ['tasks'])
  assert.deepEqual(projects.dependents, [{ collection: 'tasks', field: 'project_id', onDelete: 'cascade' }])
  assert.deepEqual(projects.unique, [['name']])
  assert.deepEqual(tasks.unique, [['project_id', 'title']])
  assert.equal(projects.field.get('owner_id')?.readOnly, true)
  assert.deepEqual(tasks.access.read, [{ through: 'project_id', action: 'read' }])
  assert.deepEqual(projects.access.create, ['anyone'])
})

test('AUT-15: lookups index the fields that they compare, of both records', () => {
  const text = { type: 'string' } as const
  const catalog = completeCatalog({
    name: 'office',
    resources: {
      members: { fields: { user: text, team: text, note: text, level: { type: 'integer' } } },
      tasks: {
        fields: { team: text, title: text, cost: { type: 'integer', optional: true } },
        access: {
          read: { all: ['anyone', { some: 'members', where: { or: [{ team: { record: 'team' } }, { user: 'x' }] } }] },
          fields: { cost: { read: { none: 'members', where: { not: { level: { lt: 3 } } } } } },
        },
      },
    },
  })
  const indexed = (name: string) =>
    catalog.resources.get(name)?.indexes.flatMap(({ fields }) => fields.filter((each) => !each.endsWith('_at')))
  assert.deepEqual([indexed('members'), indexed('tasks')], [['user', 'team', 'level'], ['team']])
})

test('there is a resource of events if a resource has them (EVT-1)', () => {
  const events = completed({ title: { type: 'string' } }, { events: true }).system.get('events')!
  assert.deepEqual(
    [events.made, events.order, events.field.get('collection')?.enum],
    ['by-server', 'by-position', ['notes']],
  )
  const without = completeCatalog({ name: 'test', resources: { events: { fields: { title: { type: 'string' } } } } })
  assert.deepEqual([...without.system.keys()], ['jobs', 'api-keys'])
  assert.equal(without.resources.get('events')?.order, 'by-id')
})

test('the owner is read-only, declared or not', () => {
  const catalog = completed({ owner_id: { type: 'string' } }, { owner: 'owner_id' })
  assert.equal(catalog.resources.get('notes')?.field.get('owner_id')?.readOnly, true)
})

test('titles come from names', () => {
  const catalog = completeCatalog({ name: 'my-shop', resources: { 'line-items': { fields: { a: {} } } } })
  assert.equal(catalog.title, 'My shop')
  assert.equal(catalog.resources.get('line-items')?.title, 'Line items')
})

test('a smaller maximum lowers the default page size', () => {
  const catalog = completeCatalog({ ...studio(), limits: { pageSize: { max: 10 } } } as never)
  assert.deepEqual(catalog.limits.pageSize, { default: 10, max: 10 })
})

test('600 collections are completed in seconds', () => {
  const note = { fields: { text: { type: 'string' } } }
  const resources = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`notes-${index}`, note]))
  const before = process.cpuUsage()
  completeCatalog({ name: 'many', resources } as never)
  const { user } = process.cpuUsage(before)
  assert.ok(user < 5_000_000, `${user / 1_000_000} s of processor time`)
})

test('the shape changes with names, order and schemas, not with the order of keywords', () => {
  const shape = (fields: Record<string, unknown>) => completed(fields).resources.get('notes')?.shape
  const plain = shape({ a: { type: 'string', maxLength: 3 }, b: { type: 'integer' } })
  assert.match(plain ?? '', /^[\w-]{8}$/)
  assert.equal(shape({ a: { maxLength: 3, type: 'string' }, b: { type: 'integer' } }), plain)
  assert.notEqual(shape({ b: { type: 'integer' }, a: { type: 'string', maxLength: 3 } }), plain)
  assert.notEqual(shape({ a: { type: 'string', maxLength: 4 }, b: { type: 'integer' } }), plain)
  assert.notEqual(shape({ c: { type: 'string', maxLength: 3 }, b: { type: 'integer' } }), plain)
})

test('the catalog is frozen, and the declaration is not', () => {
  const declared = studio()
  const catalog = completeCatalog(declared as never)
  const projects = catalog.resources.get('projects')!
  assert.throws(() => (catalog.resources as Map<string, unknown>).clear(), TypeError)
  assert.throws(() => (projects.field as Map<string, unknown>).set('x', 1), TypeError)
  assert.throws(() => (projects.fields as Field[]).pop(), TypeError)
  assert.throws(() => Object.assign(projects.fields[0]!.schema, { type: 'integer' }), TypeError)
  assert.throws(() => (projects.access.read as unknown[]).push('anyone'), TypeError)
  assert.ok(!Object.isFrozen(declared.resources.tasks.fields.title))
})
