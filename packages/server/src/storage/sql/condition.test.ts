/**
 * AUT-6: declared conditions have three-valued logic, as in SQL. An SQL engine that evaluates the condition word for
 * word is the oracle.
 */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { Condition, ConditionValue, FieldCondition } from 'resourced-contract/model/declaration'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { comparisonKeys, matches } from 'resourced-contract/model/predicate'
import { type Bindings, resolveCondition } from 'resourced-contract/model/resolve-condition'
import type { RecordValues, Resource } from 'resourced-contract/model/resource'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { Type } from 'typebox'
import { engine } from '../../../../../test/engine.ts'
import { columnsOf, tableSql } from './columns.ts'
import { sqlContext } from './context.ts'
import { predicateSql } from './predicate.ts'
import { boundOf } from './records.ts'
import { openTables } from './statements.fixture.ts'

const catalog = completeCatalog(
  defineInterface({
    name: 'trees',
    resources: {
      leaves: {
        fields: {
          team: Type.Optional(Type.String({ filter: true })),
          count: Type.Optional(Type.Integer({ filter: true })),
          done: Type.Optional(Type.Boolean()),
        },
      },
    },
  }),
)
const leaves = catalog.resources.get('leaves') as Resource
const tables = await openTables(catalog)
const context = sqlContext({ catalog, dialect: tables.dialect })
after(() => tables.close())

// An integer is compared by value with numbers that it cannot be.
const beyond = [0.5, 1.5, -0.5, 5e-324, 2 ** 53, -(2 ** 63), 1e300, -1e300]
const values = {
  team: fc.constantFrom('a', 'b', 'c'),
  count: fc.oneof({ weight: 2, arbitrary: fc.integer({ min: 0, max: 3 }) }, fc.constantFrom(...beyond)),
  done: fc.boolean(),
}
type Name = keyof typeof values

const bindings: Bindings = {
  caller: { id: 'a', roles: [], claims: { team: 'b', count: 1, done: true, teams: ['a', 'b'], none: null, no: [] } },
  record: { team: 'c', count: 2, done: null },
}
/** A second implementation of the values in conditions: `undefined` for a missing value. */
const named: Readonly<Record<string, unknown>> = {
  ...{ id: 'a', 'claims.team': 'b', 'claims.count': 1, 'claims.done': true, 'claims.none': undefined },
  ...{ team: 'c', count: 2, done: undefined },
}

const missing = fc.constantFrom<ConditionValue>(
  null,
  { caller: 'claims.none' },
  { caller: 'claims.absent' },
  { caller: 'claims.team.deep' },
  { record: 'done' },
  Number.NaN,
  Infinity,
  -Infinity,
)
/** A value of a field's type, from wherever, or something missing. */
const valueFor = (name: Name): fc.Arbitrary<ConditionValue> =>
  fc.oneof(
    { weight: 6, arbitrary: values[name] as fc.Arbitrary<ConditionValue> },
    { weight: 1, arbitrary: fc.constant<ConditionValue>({ caller: `claims.${name}` }) },
    { weight: 1, arbitrary: fc.constant<ConditionValue>({ record: name }) },
    { weight: 3, arbitrary: missing },
  )

const comparison = fc.constantFrom<Name>('team', 'count', 'done').chain((name): fc.Arbitrary<Condition> => {
  const ordering: fc.Arbitrary<FieldCondition>[] =
    name === 'count'
      ? ['gt', 'gte', 'lt', 'lte'].map((operator) => valueFor(name).map((value) => ({ [operator]: value })))
      : []
  const comparisons: fc.Arbitrary<ConditionValue | FieldCondition> = fc.oneof(
    valueFor(name),
    valueFor(name).map((value) => ({ not: value })),
    fc.array(valueFor(name), { minLength: 1, maxLength: 3 }).map((list) => ({ in: list })),
    fc.boolean().map((isNull) => ({ null: isNull })),
    ...ordering,
    ...(name === 'team'
      ? [fc.constantFrom<FieldCondition>({ in: [{ caller: 'claims.teams' }] }, { in: [{ caller: 'claims.no' }] })]
      : []),
  )
  return comparisons.map((value) => ({ [name]: value }))
})

function condition(depth: number): fc.Arbitrary<Condition> {
  if (depth === 0) return comparison
  const inner = condition(depth - 1)
  const several = fc.array(inner, { minLength: 1, maxLength: 3 })
  return fc.oneof(
    comparison,
    several.map((and): Condition => ({ and })),
    { weight: 2, arbitrary: several.map((or): Condition => ({ or })) },
    { weight: 3, arbitrary: inner.map((not): Condition => ({ not })) },
    fc.tuple(comparison, inner).map(([one, not]): Condition => ({ ...one, not })),
  )
}

/** The condition translated word for word, with `null` for missing values: SQL decides the result. */
function literal(value: Condition): Sql {
  const terms = Object.entries(value).map(([word, part]) => {
    if (word === 'not') return sql`not ${literal(part as Condition)}`
    if (word === 'and' || word === 'or') return sql`(${join((part as readonly Condition[]).map(literal), ` ${word} `)})`
    return literalField(raw(`t."${word}"`), part as ConditionValue | FieldCondition)
  })
  return sql`(${join(terms, ' and ')})`
}

function literalField(column: Sql, value: ConditionValue | FieldCondition): Sql {
  if (typeof value !== 'object' || value === null || 'caller' in value || 'record' in value) {
    return sql`${column} = ${bound(value)}`
  }
  const [[operator, operand] = []] = Object.entries(value)
  if (operator === 'null') return operand ? sql`${column} is null` : sql`${column} is not null`
  if (operator === 'in') {
    const list = (operand as readonly ConditionValue[]).flatMap(listed)
    return list.length === 0 ? sql`1 = 0` : sql`${column} in (${join(list)})`
  }
  const right = bound(operand as ConditionValue)
  // The exception: `null` is not a value that is there.
  if (operator === 'not') return sql`(${column} <> ${right} or (${column} is null and ${right} = ${right}))`
  const signs: Readonly<Record<string, string>> = { gt: '>', gte: '>=', lt: '<', lte: '<=' }
  return sql`${column} ${raw(signs[String(operator)] as string)} ${right}`
}

function listed(value: ConditionValue): Sql[] {
  const name = typeof value === 'object' && value !== null && 'caller' in value ? value.caller : ''
  if (name === 'claims.teams') return [raw("'a'"), raw("'b'")]
  return name === 'claims.no' ? [] : [bound(value)]
}

function bound(value: ConditionValue): Sql {
  const found =
    typeof value !== 'object' ? value : value && named['caller' in value ? String(value.caller) : String(value.record)]
  if (found === null || found === undefined) return raw('null')
  if (typeof found === 'number' && !Number.isFinite(found)) return raw('null')
  return raw(typeof found === 'string' ? `'${found}'` : typeof found === 'boolean' ? truth(found) : String(found))
}

const truth = (value: boolean) => (engine === 'sqlite' ? String(Number(value)) : String(value))

async function plant(records: readonly RecordValues[]): Promise<void> {
  await tables.all(sql`delete from ${tableSql('leaves')}`)
  const columns = columnsOf(leaves)
  const names = raw([...columns.map(({ name }) => `"${name}"`), 'id', 'created_at', 'updated_at'].join())
  for (const record of records) {
    const row = [...columns.map((column) => boundOf(column, record)), record['id'], 'x', 'x']
    await tables.all(sql`insert into ${tableSql('leaves')} (${names}, _revision) values (${join(row)}, 1)`)
  }
}

async function selected(where: Sql): Promise<unknown[]> {
  return (await tables.all(sql`select id from leaves t where ${where} order by id`)).map((row) => row['id'])
}

/** Every combination of values and nothing. */
const records = ['a', 'b', 'c', null].flatMap((team) =>
  [0, 1, 2, null].flatMap((count) =>
    [true, false, null].map((done): RecordValues => ({ id: `${team} ${count} ${done}`, team, count, done })),
  ),
)

test('AUT-6: a condition selects the records for which SQL, with null for missing values, says true', async () => {
  await tables.all(sql`begin`)
  await plant(records)
  let found = 0
  let unknown = 0
  let asked = 0
  await fc.assert(
    fc.asyncProperty(condition(4), async (where) => {
      const predicate = resolveCondition(leaves, where, bindings)
      const expected = await selected(literal(where))
      assert.deepEqual(await selected(predicateSql(context, leaves, predicate)), expected)
      const matched = records.filter((record) => matches(comparisonKeys(leaves, record), predicate))
      assert.deepEqual(new Set(matched.map(({ id }) => id)), new Set(expected))
      found += expected.length
      unknown += records.length - expected.length - (await selected(sql`not ${literal(where)}`)).length
      asked += records.length
    }),
    { numRuns: engine === 'sqlite' ? 1_500 : 500 },
  )
  await tables.all(sql`rollback`)
  // Conditions that always or never hold, or leave nothing open, would prove nothing.
  assert.ok(found > asked / 10 && unknown > asked / 10, `${found} true and ${unknown} unknown of ${asked}`)
})
