import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkDeclaration } from 'resourced-contract/model/check/check-declaration'
import type { ColumnDescription, DatabaseDescription, TableDescription } from '../../storage/table-description.ts'
import { writeYaml } from '../inspect.ts'
import { readYaml } from '../read-yaml.ts'
import { propose } from './propose.ts'
import { isNow } from './propose-field.ts'
import { declarationOf, repair } from './repair.ts'

const text = fc.string({ unit: fc.oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), fc.constantFrom(
  '\n', '\r', '\u2028', '\u0085', '\uFEFF', '\u202E', '"', "'", '#', ':', '-', '*/', ' ', '{', '}', '\\', '\t', '\x1b',
)), maxLength: 12 }) // biome-ignore format: a list reads best in rows
const name = fc.oneof(text, fc.constantFrom('id', 'and', 'jobs', 'created_at', '__proto__', 'order', 'limit', 'a'))
const typeName = fc.constantFrom(
  'int4',
  'int8',
  'text',
  'varchar',
  'numeric',
  'bool',
  'uuid',
  'jsonb',
  'float8',
  'date',
  'x',
)

const column: fc.Arbitrary<ColumnDescription> = fc.record({
  name,
  type: fc.record({
    name: typeName,
    label: text,
    length: fc.option(fc.nat(300), { nil: undefined }),
    digits: fc.option(fc.record({ precision: fc.nat(1_000), scale: fc.integer({ min: -50, max: 50 }) }), {
      nil: undefined,
    }),
    values: fc.option(fc.uniqueArray(text, { maxLength: 4 }), { nil: undefined, freq: 5 }),
    element: fc.constant(undefined),
  }),
  comment: fc.option(text, { nil: undefined }),
  required: fc.boolean(),
  default: fc.option(
    fc.oneof(
      text,
      text.map((each) => `'${each.replaceAll("'", "''")}'::text`),
    ),
    { nil: undefined },
  ),
  numbered: fc.boolean(),
  generated: fc.constant(false),
  domainChecks: fc.array(
    fc.oneof(
      text,
      fc.nat(9).map((number) => `(VALUE > ${number})`),
    ),
    { maxLength: 1 },
  ),
})

const table: fc.Arbitrary<TableDescription> = fc
  .record({
    schema: fc.constantFrom('public', 'sales'),
    name,
    comment: fc.option(text, { nil: undefined }),
    columns: fc.uniqueArray(column, { maxLength: 6, selector: (each) => each.name }),
    key: fc.nat(3),
    indexes: fc.array(fc.record({ from: fc.nat(5), length: fc.nat(2), unique: fc.boolean(), ordered: fc.boolean() }), {
      maxLength: 3,
    }),
    others: fc.array(text, { maxLength: 2 }),
    targets: fc.array(fc.record({ table: name, schema: fc.constantFrom('public', 'sales') }), { maxLength: 3 }),
  })
  .map(({ key, targets, columns, indexes, ...rest }) => {
    const names = columns.map((each) => each.name)
    const foreignKeys = targets.map((target, index) => ({
      ...{ ...target, name: 'fk', columns: names.slice(index, index + 1), targets: ['id'] },
      onDelete: (['set null', 'cascade', 'set default'] as const)[index] ?? ('restrict' as const),
    }))
    return {
      ...rest,
      columns,
      primaryKey: names.slice(0, key),
      uniqueSets: [names.slice(1, 3)],
      indexes: indexes.map(({ from, length, ...index }) => ({ ...index, columns: names.slice(from, from + length) })),
      checks: [],
      foreignKeys,
    }
  })

const database: fc.Arbitrary<DatabaseDescription> = fc.record({
  database: text,
  schemas: fc.constant(['public', 'sales']),
  tables: fc.uniqueArray(table, { maxLength: 5, selector: (each) => JSON.stringify([each.schema, each.name]) }),
  others: fc.constant([]),
})

test('a declaration of any tables can be loaded, and its text means the same', () => {
  fc.assert(
    fc.property(database, (described) => {
      const proposal = propose(described)
      repair(proposal)
      if (proposal.resources.length === 0) return
      const written = writeYaml(proposal, ['first', text.toString()])
      assert.doesNotMatch(written, /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u, 'nothing invisible is written')
      const { value, problems } = readYaml(written)
      assert.deepEqual(problems, [])
      assert.deepEqual(value, JSON.parse(JSON.stringify(declarationOf(proposal))))
      assert.deepEqual(checkDeclaration(value), [])
    }),
    { numRuns: 100 },
  )
})

const plain = { comment: undefined, default: undefined, numbered: false, generated: false, domainChecks: [] }
const shape = { length: undefined, digits: undefined, values: undefined, element: undefined }
const column1: ColumnDescription = { ...plain, name: 'x', required: true, type: { ...shape, name: 'text', label: '' } }
const empty = {
  comment: undefined,
  primaryKey: [],
  uniqueSets: [],
  indexes: [],
  foreignKeys: [],
  checks: [],
  others: [],
}

test('more tables and columns than a declaration can have are named in comments', () => {
  const columns = Array.from({ length: 600 }, (_, index) => ({ ...column1, name: `c_${index}` }))
  const tables = Array.from({ length: 510 }, (_, index) => ({
    ...{ ...empty, schema: 'public', name: `t_${index}` },
    columns: index === 0 ? columns : [column1],
  }))
  const proposal = propose({ database: 'many', schemas: ['public'], tables, others: [] })
  repair(proposal)
  assert.equal(proposal.resources.length, 500)
  assert.equal(proposal.resources[0]?.fields.length, 500)
  assert.match(proposal.resources[0]?.omissions.at(-1) ?? '', /the column c_599: a resource has at most 500 fields/)
  assert.match(proposal.comments[0] ?? '', /the table t_500\. A declaration has at most 500 collections/)
})

test('the present time is found in the expressions of defaults, and in no other', () => {
  const now = ['now()', 'CURRENT_TIMESTAMP', 'CURRENT_TIMESTAMP(3)', 'LOCALTIMESTAMP', 'CURRENT_DATE', '(now())::date']
  const more = ["timezone('utc'::text, now())", "(now() AT TIME ZONE 'utc'::text)", "timezone('utc'::text, (now()))"]
  const casts = [
    "((now() AT TIME ZONE 'utc'::text))::date",
    'clock_timestamp()',
    'now()::timestamp(3) without time zone',
  ]
  for (const each of [...now, ...more, ...casts]) assert.ok(isNow(each), each)
  const others = [
    "(now() + '1 day'::interval)",
    "timezone('CET'::text, now())",
    'my_timestamp()',
    "'now()'::text",
    '()',
  ]
  for (const each of [...others, 'CURRENT_USER', 'now', '(CURRENT_DATE + 1)']) assert.ok(!isNow(each), each)
})
