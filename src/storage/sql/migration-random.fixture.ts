/** Any declarations, and any records of them, for the tests of migrations. */
import fc from 'fast-check'
import type { Catalog, FieldType } from '../../model/resource.ts'
import { catalogFixture, type FieldFixture, resourceFixture } from './catalog.fixture.ts'

const defaults: Readonly<Record<FieldType, unknown>> = {
  string: 'A default',
  integer: 7,
  number: 7.5,
  boolean: true,
  array: ['a'],
  object: { a: 1 },
  json: null,
}

const texts = fc.constantFrom(
  'Ärger',
  'one two',
  '7',
  '7.5',
  'true',
  '',
  '2026-11-21T08:00:00Z',
  '2026-11-21T09:00:00+01:00',
)

const values: Readonly<Record<FieldType, fc.Arbitrary<unknown>>> = {
  string: texts,
  integer: fc.constantFrom(0, 1, 7, -12, Number.MAX_SAFE_INTEGER),
  number: fc.constantFrom(0, 1, 7.5, -0.25, 1e300),
  boolean: fc.boolean(),
  array: fc.constantFrom([], ['a', 1]),
  object: fc.constantFrom({}, { a: null }),
  json: fc.constantFrom(7, 'Seven', true, [], { b: [1.5] }),
}

const types = Object.keys(defaults) as FieldType[]

const fieldFixtures: fc.Arbitrary<FieldFixture> = fc
  .record({
    type: fc.constantFrom<FieldType>('string', ...types),
    kind: fc.constantFrom('plain', 'date-time', 'enum', 'reference'),
    filter: fc.boolean(),
    sort: fc.boolean(),
    search: fc.boolean(),
    required: fc.boolean(),
    unique: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  })
  .map(({ type, kind, required, ...words }): FieldFixture => {
    const isText = type === 'string'
    const scalar = type !== 'array' && type !== 'object' && type !== 'json'
    return {
      type,
      filter: words.filter && scalar,
      sort: words.sort && scalar,
      search: words.search && isText,
      unique: words.unique && scalar && !required,
      required: required && type !== 'json',
      default: required && type !== 'json' ? defaults[type] : undefined,
      format: isText && kind === 'date-time' ? kind : undefined,
      enum: isText && kind === 'enum' ? ['7', 'true'] : undefined,
      reference: isText && kind === 'reference' ? { collection: 'people', onDelete: 'restrict' } : undefined,
    }
  })

/** Declarations of up to three collections. */
export const catalogs: fc.Arbitrary<Catalog> = fc
  .dictionary(
    fc.constantFrom('tasks', 'open-notes', 'people'),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fieldFixtures),
  )
  .map((resources) =>
    catalogFixture(...Object.entries(resources).map(([name, fields]) => resourceFixture(name, fields))),
  )

/** A record for each collection that the first declaration may have, as values of every type. */
export const records = fc.array(
  fc.record({ values: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.record(values)), deleted: fc.boolean() }),
  { maxLength: 6 },
)

/** What `records` makes. */
export type Records = typeof records extends fc.Arbitrary<infer T> ? T : never
