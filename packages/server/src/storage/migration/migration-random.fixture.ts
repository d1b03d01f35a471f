/** Random declarations and records, for the property tests of migrations. */
import fc from 'fast-check'
import { canonicalValue, type DecimalForm, decimalText, readDecimal } from 'resourced-contract/model/decimal'
import type { Catalog, FieldType } from 'resourced-contract/model/resource'
import { catalogFixture, type FieldFixture, resourceFixture } from '../sql/catalog.fixture.ts'

const defaults: Readonly<Record<FieldType, unknown>> = {
  string: 'A default',
  integer: 7,
  number: 7.5,
  decimal: '7.50',
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
  decimal: fc.constantFrom(
    '0',
    '7',
    '7.5',
    '-0.25',
    '-12345.06',
    '9999999999.99',
    '12345678901234567890.12345678901234',
  ),
  number: fc.constantFrom(0, 1, 7.5, -0.25, 1e300),
  boolean: fc.boolean(),
  array: fc.constantFrom([], ['a', 1]),
  object: fc.constantFrom({}, { a: null }),
  json: fc.constantFrom(7, 'Seven', true, [], { b: [1.5] }),
}

const types = Object.keys(defaults) as FieldType[]

function defaultOf(type: FieldType, form: DecimalForm): unknown {
  if (type !== 'decimal') return defaults[type]
  return form.scale === 0 ? '7' : canonicalValue({ decimal: form }, defaults.decimal)
}

const fieldFixtures: fc.Arbitrary<FieldFixture> = fc
  .record({
    type: fc.constantFrom<FieldType>('string', ...types),
    kind: fc.constantFrom('plain', 'date-time', 'enum', 'reference'),
    filter: fc.boolean(),
    sort: fc.boolean(),
    search: fc.boolean(),
    required: fc.boolean(),
    form: fc.constantFrom(
      { precision: 12, scale: 2 },
      { precision: 14, scale: 2 },
      { precision: 3, scale: 0 },
      { precision: 38, scale: 14 },
    ),
    unique: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  })
  .map(({ type, kind, form, required, ...words }): FieldFixture => {
    const isText = type === 'string'
    const scalar = type !== 'array' && type !== 'object' && type !== 'json'
    return {
      type,
      decimal: type === 'decimal' ? form : undefined,
      filter: words.filter && scalar,
      sort: words.sort && scalar,
      search: words.search && isText,
      unique: words.unique && scalar && !required,
      required: required && type !== 'json',
      default: required && type !== 'json' ? defaultOf(type, form) : undefined,
      format: isText && kind === 'date-time' ? kind : undefined,
      enum: isText && kind === 'enum' ? ['7', 'true'] : undefined,
      reference:
        isText && kind === 'reference' ? { collection: 'people', onDelete: 'restrict', requires: 'read' } : undefined,
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

/** Whether a value is a text that a decimal column of that form holds. */
export function readsBack(form: DecimalForm, value: unknown): boolean {
  const read = readDecimal(value)
  return read !== undefined && decimalText(read, form) === value
}
