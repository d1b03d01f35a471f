/** AUT-6: a predicate is evaluated in SQL and in JavaScript. Both find the same records. */

import assert from 'node:assert/strict'
import { after as afterAll, test } from 'node:test'
import fc from 'fast-check'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { type Comparison, operators } from 'resourced-contract/model/operators'
import {
  type Comparable,
  collectionsOf,
  comparisonKey,
  comparisonKeys,
  fieldsOf,
  matches,
  type Predicate,
} from 'resourced-contract/model/predicate'
import type { RecordValues, Resource } from 'resourced-contract/model/resource'
import { compareText } from 'resourced-contract/model/text'
import { timestamp } from 'resourced-contract/model/time'
import { reference } from 'resourced-contract/model/type'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { Type } from 'typebox'
import { engine } from '../../../../../test/engine.ts'
import { columnsOf, tableSql } from './columns.ts'
import { sqlContext } from './context.ts'
import { after } from './operators.ts'
import { liveSql, type PredicateContext, predicateSql } from './predicate.ts'
import { boundOf, grantsDigest, predicateDigest, searchWords } from './records.ts'
import { openTables } from './statements.fixture.ts'

const fields = {
  name: Type.Optional(Type.String({ filter: true })),
  note: Type.Optional(Type.String()),
  kind: Type.Optional(Type.Enum(['red', 'green', 'blue'])),
  day: Type.Optional(Type.String({ format: 'date', filter: true })),
  at: Type.Optional(Type.String({ format: 'date-time', filter: true })),
  count: Type.Optional(Type.Integer({ filter: true })),
  weight: Type.Optional(Type.Number()),
  done: Type.Optional(Type.Boolean()),
  tags: Type.Optional(Type.Array(Type.String(), { filter: true })),
  sizes: Type.Optional(Type.Array(Type.Number(), { filter: true })),
  flags: Type.Optional(Type.Array(Type.Boolean(), { filter: true })),
  // Records may be older than the schema, so the members may have values of any type.
  parts: Type.Optional(
    Type.Object(
      {
        size: Type.Integer(),
        done: Type.Boolean(),
        at: Type.String({ format: 'date-time' }),
        inner: Type.Object({ name: Type.String() }),
      },
      { filter: ['/size', '/done', '/at', '/inner/name'] },
    ),
  ),
  up_id: Type.Optional(reference('twigs')),
}
const catalog = completeCatalog(
  defineInterface({
    name: 'trees',
    resources: {
      leaves: { fields },
      twigs: { fields: { ...fields, up_id: Type.Optional(reference('branches')) } },
      branches: { fields: { ...fields, up_id: Type.Optional(reference('trunks')) } },
      // The chain may come back to where it began: a level of `through` is a level of the predicate, not of the data.
      trunks: { fields: { ...fields, up_id: Type.Optional(reference('leaves')) } },
    },
  }),
)
const resources = [...catalog.resources.values()]
const tables = await openTables(catalog)
const words = tables.dialect
afterAll(() => tables.close())

const text = fc
  .array(
    fc.constantFrom(
      ...['a', 'A', 'b', 'ß', 'ẞ', 'ss', 'i', 'I', 'ı', 'İ', 'é', 'É', 'e\u0301', 'K', 'k', 'ſ', 'Σ', 'ς', 'ﬅ', 'ﬆ'],
      ...[
        '%',
        '_',
        "'",
        '"',
        '\\',
        '*',
        ' ',
        '🚀',
        '\u{10400}',
        '\u{10428}',
        '\ud7ff',
        '\ue000',
        '\uffff',
        '\u{10ffff}',
      ],
    ),
    { maxLength: 3 },
  )
  .map((parts) => parts.join(''))
const instant = fc
  .record({
    milliseconds: fc.constantFrom(-1, 0, 1, 500, 1_000, Date.UTC(2026, 10, 21), Date.UTC(1900, 0, 1)),
    finer: fc.constantFrom('', '0', '5', '00'),
    hours: fc.integer({ min: -11, max: 11 }),
  })
  .map(({ milliseconds, finer, hours }) => {
    if (hours === 0) return new Date(milliseconds).toISOString().replace('Z', `${finer}Z`)
    const zone = `${hours < 0 ? '-' : '+'}${String(Math.abs(hours)).padStart(2, '0')}:00`
    return new Date(milliseconds + hours * 3_600_000).toISOString().replace('Z', `${finer}${zone}`)
  })
const stamp = fc.integer({ min: 0, max: 4 }).map(timestamp)
const values = {
  name: text,
  note: text,
  kind: fc.constantFrom('red', 'green', 'blue'),
  day: fc.constantFrom('2026-11-20', '2026-11-21', '0001-01-01', '9999-12-31'),
  at: instant,
  count: fc.oneof(fc.integer({ min: -2, max: 2 }), fc.constantFrom(2 ** 53 - 1, -(2 ** 53) + 1, 10)),
  weight: fc.oneof(
    fc.constantFrom(0, -0, 1, 0.1, 0.3, 0.1 + 0.2, 5e-324, 1e300),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  ),
  done: fc.boolean(),
} as const
const items = {
  tags: text,
  sizes: fc.oneof(values.weight, fc.integer({ min: -2, max: 2 })),
  flags: fc.boolean(),
} as const
const members = {
  'parts.size': fc.oneof(values.count, fc.constant(1e300)),
  'parts.done': fc.boolean(),
  'parts.at': instant,
  'parts.inner.name': text,
} as const
const oddly = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof(
    { weight: 4, arbitrary: value as fc.Arbitrary<unknown> },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(null, 1, '1', true, ['a'], { name: 'a' }) },
  )
const object = fc.record(
  {
    size: oddly(members['parts.size']),
    done: oddly(members['parts.done']),
    at: oddly(members['parts.at']),
    inner: oddly(fc.record({ name: oddly(members['parts.inner.name']) }, { requiredKeys: [] })),
  },
  { requiredKeys: [] },
)
const system = { created_at: stamp, updated_at: stamp } as const

const identifiers = [0, 1, 2, 3].map((number) => `0000000${number}`)
const record = fc.record({
  ...(Object.fromEntries(
    Object.entries(values).map(([name, each]) => [name, fc.option<unknown>(each, { freq: 3 })]),
  ) as Record<keyof typeof values, fc.Arbitrary<unknown>>),
  tags: fc.option(fc.array(text, { maxLength: 2 })),
  sizes: fc.option(fc.array(oddly(items.sizes), { maxLength: 3 })),
  flags: fc.option(fc.array(items.flags, { maxLength: 2 })),
  parts: fc.option(object, { freq: 4 }),
  up_id: fc.option(fc.constantFrom(...identifiers), { freq: 6 }),
  ...system,
  deleted_at: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: stamp }),
})

/** Four records of each collection: some deleted, some leading nowhere. */
const forest = fc.tuple(...resources.map(() => fc.array(record, { minLength: 1, maxLength: 4 }))).map((collections) => {
  const rows = collections.map((records) =>
    records.map((each, index) => ({ id: identifiers[index] as string, ...each })),
  )
  return new Map(resources.map((resource, index) => [resource.name, rows[index] as (RecordValues & { id: string })[]]))
})

const compared = { ...values, ...system, ...members } as const
type Known = keyof typeof compared
const names = Object.keys(compared) as Known[]
const anyOf = (name: Known) => compared[name] as fc.Arbitrary<unknown>
const key = (resource: Resource, name: Known) =>
  anyOf(name).map((value) => comparisonKey(resource, name, value) as string | number | boolean)

/** The fields of a kind: each is comparable with each. */
const alike = [
  ['name', 'note', 'kind'],
  ['id', 'up_id'],
  ['day'],
  ['at'],
  ['count', 'weight'],
  ['done'],
  ['created_at', 'updated_at', 'deleted_at'],
] as const

/** A comparison with the record that a `some` is about. */
const withOuter = fc.constantFrom(...alike).chain((names: readonly string[]): fc.Arbitrary<Predicate> => {
  const fits = names[0] === 'name' ? ['ordered', 'texts'] : ['ordered']
  const fitting = [...operators.values()].filter((row) => names.length > 1 && fits.includes(row.fits))
  return fc.record({
    kind: fc.constant('outer' as const),
    field: fc.constantFrom(...names),
    operator: fc.constantFrom('eq', 'eq', ...fitting.map(({ name }) => name as Comparison)),
    outer: fc.constantFrom(...names),
  })
})

function leaf(resource: Resource, isInSome: boolean): fc.Arbitrary<Predicate> {
  const isText = (name: Known) => ['name', 'note', 'parts.inner.name'].includes(name)
  const comparison = fc.constantFrom(...names).chain((field) => {
    const fits = isText(field) ? ['ordered', 'texts'] : ['ordered']
    const fitting = [...operators.values()].filter((row) => fits.includes(row.fits))
    const operator = fc.constantFrom('eq', ...fitting.map(({ name }) => name as Comparison))
    return fc.record({
      kind: fc.constant('compare' as const),
      field: fc.constant(field),
      operator,
      value: key(resource, field),
    })
  })
  const among = fc.constantFrom(...names).chain((field) =>
    fc.record({
      kind: fc.constantFrom('in' as const, 'differs' as const),
      field: fc.constant(field),
      values: fc.array(key(resource, field), { maxLength: 4 }),
    }),
  )
  const unset = fc.record({
    kind: fc.constant('null' as const),
    field: fc.constantFrom(...names, 'tags', 'parts', 'up_id', 'deleted_at'),
  })
  const having = fc.constantFrom('tags' as const, 'sizes' as const, 'flags' as const).chain((field) =>
    fc.record({
      kind: fc.constant('has' as const),
      field: fc.constant(field),
      values: fc.array<string | number | boolean>(items[field], { minLength: 1, maxLength: 3 }),
      all: fc.boolean(),
    }),
  )
  const decided = fc.record({
    kind: fc.constant('decided' as const),
    field: fc.constantFrom(...names, 'up_id'),
    holds: fc.boolean(),
  })
  return fc.oneof(
    { weight: 6, arbitrary: comparison },
    { weight: isInSome ? 8 : 1, arbitrary: withOuter },
    { weight: 1, arbitrary: decided },
    { weight: 3, arbitrary: among },
    { weight: 2, arbitrary: unset },
    { weight: 3, arbitrary: having },
    { weight: 1, arbitrary: fc.constantFrom<Predicate>({ kind: 'always' }, { kind: 'never' }) },
  )
}

function predicate(resource: Resource, depth: number, isInSome = false): fc.Arbitrary<Predicate> {
  if (depth === 0) return leaf(resource, isInSome)
  const inner = predicate(resource, depth - 1, isInSome)
  const terms = fc.array(inner, { minLength: 1, maxLength: 3 })
  const target = catalog.resources.get(resource.field.get('up_id')?.reference?.collection ?? '') as Resource
  const through = predicate(target, depth - 1).map(
    (each): Predicate => ({ kind: 'through', field: 'up_id', collection: target.name, predicate: each }),
  )
  const some = fc
    .constantFrom(target, resource)
    .chain((other) =>
      predicate(other, depth - 1, true).map(
        (each): Predicate => ({ kind: 'some', collection: other.name, predicate: each }),
      ),
    )
  const masked = fc.record({ kind: fc.constant('masked' as const), readable: inner, term: fc.oneof(inner, some) })
  return fc.oneof(
    leaf(resource, isInSome),
    some,
    some.map((term): Predicate => ({ kind: 'not', term })),
    masked,
    terms.map((each): Predicate => ({ kind: 'and', terms: each })),
    terms.map((each): Predicate => ({ kind: 'or', terms: each })),
    inner.map((term): Predicate => ({ kind: 'not', term })),
    through,
    through.map((term): Predicate => ({ kind: 'not', term })),
  )
}

async function plant(rows: ReadonlyMap<string, readonly RecordValues[]>): Promise<void> {
  for (const resource of resources) {
    for (const each of rows.get(resource.name) ?? []) {
      const indexed = () => searchWords(resource, each)
      const cells = [
        ...columnsOf(resource).map((column) => [column.name, boundOf(column, each)] as const),
        ...['id', 'created_at', 'updated_at', 'deleted_at'].map((name) => [name, each[name]] as const),
        ...words.wordColumns(indexed),
        ['_revision', 1] as const,
      ]
      const names = raw(cells.map(([name]) => `"${name}"`).join())
      const bound = join(cells.map(([, value]) => value))
      await tables.all(sql`insert into ${tableSql(resource.name)} (${names}) values (${bound})`)
      await tables.run(words.indexWords(resource.name, [{ id: String(each['id']), words: indexed() }], false))
    }
  }
}

async function selected(condition: Sql): Promise<unknown[]> {
  const rows = await tables.all(sql`select id from leaves t where ${condition} order by id`)
  return rows.map((row) => row['id'])
}

function idsOf(records: readonly RecordValues[]): unknown[] {
  return records.map((row) => row['id'])
}

test('AUT-6: SQL and matches() find the same records for any records and any predicate', async () => {
  const [leaves] = resources as [Resource]
  let found = 0
  let asked = 0
  await fc.assert(
    fc.asyncProperty(
      forest,
      fc.array(predicate(leaves, 4), { minLength: 8, maxLength: 8 }),
      async (rows, predicates) => {
        await tables.all(sql`begin`)
        try {
          await plant(rows)
          const recordsOf = (collection: string): readonly Comparable[] => {
            const live = (rows.get(collection) ?? []).filter((each) => each['deleted_at'] === null)
            return live.map((each) => comparisonKeys(catalog.resources.get(collection) as Resource, each))
          }
          for (const each of predicates) {
            const matched = (rows.get('leaves') ?? []).filter((row) =>
              matches(comparisonKeys(leaves, row), each, recordsOf),
            )
            const live = matched.filter((row) => row['deleted_at'] === null)
            for (const semijoin of ['exists', 'fenced exists', 'in', 'fenced in'] as const) {
              const findsItems = semijoin === 'in'
              const form = semijoin === 'fenced in' ? ({ semijoin: 'in', isFenced: true } as const) : { semijoin }
              const context: PredicateContext = { ...sqlContext({ catalog, dialect: words }), ...form, findsItems }
              const all = predicateSql(context, leaves, each)
              const conditions = [all, words.unindexed(all), liveSql(context, leaves, each)]
              const found = await Promise.all(conditions.map(selected))
              assert.deepEqual(found, [matched, matched, live].map(idsOf), all.sql)
            }
            found += matched.length
            asked += rows.get('leaves')?.length ?? 0
          }
        } finally {
          await tables.all(sql`rollback`)
        }
      },
    ),
    // A server is further away than a library.
    { numRuns: engine === 'sqlite' ? 600 : 200 },
  )
  // Predicates that always or never hold would prove nothing.
  assert.ok(found > asked / 5 && found < (asked * 4) / 5, `${found} of ${asked}`)
})

test('after: the least text greater than every text with the prefix', () => {
  assert.equal(after('ab'), 'ac')
  assert.equal(after('a\ud7ff'), 'a\ue000')
  assert.equal(after('a\u{10ffff}'), 'b')
  assert.equal(after('\u{10ffff}'), undefined)
  assert.equal(after(''), undefined)
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.string({ unit: 'binary' }), (prefix, rest) => {
      const end = after(prefix)
      assert.ok(end === undefined || compareText(prefix + rest, end) < 0)
    }),
  )
})

test('collectionsOf names every collection that a predicate reads', () => {
  const inner: Predicate = { kind: 'through', field: 'up_id', collection: 'branches', predicate: { kind: 'always' } }
  const outer: Predicate = {
    kind: 'through',
    field: 'up_id',
    collection: 'twigs',
    predicate: { kind: 'not', term: inner },
  }
  assert.deepEqual(
    [...collectionsOf({ kind: 'or', terms: [outer, { kind: 'null', field: 'name' }] })],
    ['twigs', 'branches'],
  )
  assert.deepEqual(
    [...collectionsOf({ kind: 'some', collection: 'leaves', predicate: outer })],
    ['leaves', 'twigs', 'branches'],
  )
})

test('fieldsOf names the fields of the record that a lookup is about, and none of the record that it looks for', () => {
  const about = (outer: string): Predicate => ({ kind: 'outer', field: 'id', operator: 'eq', outer })
  const inner: Predicate = { kind: 'some', collection: 'trunks', predicate: about('day') }
  const terms: Predicate[] = [
    about('up_id'),
    { kind: 'not', term: about('name') },
    inner,
    { kind: 'null', field: 'at' },
  ]
  assert.deepEqual(fieldsOf({ kind: 'some', collection: 'twigs', predicate: { kind: 'and', terms } }), [
    'up_id',
    'name',
  ])
})

test('AUT-4: no two predicates have one digest, whatever their values are', () => {
  const numbers = [Number.NaN, Infinity, -Infinity, 0, -0, 1, 1e300, 2 ** 53, 2 ** 63, 5e-324]
  const texts = ['', '0', 'null', 'NaN', '\ud800', '\udfff', '\ufffd', 'a","b', 'a', '9007199254740993', '0.1', '0.10']
  const scalars = [...numbers, ...texts, true, false]
  const about = { field: 'weight' } as const
  const predicates: Predicate[] = [
    ...scalars.map((value): Predicate => ({ kind: 'compare', ...about, operator: 'lte', value })),
    ...(['in', 'differs'] as const).flatMap((kind): Predicate[] => [
      ...scalars.map((value): Predicate => ({ kind, ...about, values: [value] })),
      ...scalars.map((value): Predicate => ({ kind, ...about, values: [value, value] })),
      { kind, ...about, values: [] },
      { kind, ...about, values: ['a', 'b'] },
    ]),
    ...[true, false].map((holds): Predicate => ({ kind: 'decided', ...about, holds })),
    { kind: 'null', ...about },
  ]
  const negated = predicates.map((term): Predicate => ({ kind: 'not', term }))
  const all = [...predicates, ...negated, ...predicates.map((term): Predicate => ({ kind: 'or', terms: [term, term] }))]
  assert.equal(new Set(all.map(predicateDigest)).size, all.length)
  assert.equal(new Set(all.map((each) => grantsDigest({ weight: each }))).size, all.length)
  // Equal ones have one digest, so that what is remembered is found.
  assert.deepEqual(
    all.map((each) => predicateDigest(structuredClone(each))),
    all.map(predicateDigest),
  )
})
