/**
 * A hundred thousand goods on a thousand shelves in PostgreSQL, and transactions whose every statement is explained.
 */
import pg from 'pg'
import { emptyDatabase } from '../../../../../test/postgres/database.ts'
import type { Row, Statement, Transaction } from '../transaction.ts'
import { catalog } from '../transactions/query-plan.fixture.ts'
import { wordsColumn } from './dialect.ts'
import { migratePostgres } from './migrate.ts'
import { settingsOf } from './settings.ts'

const id = (number: string) => `'00000000-0000-7000-8000-' || lpad((${number})::text, 12, '0')`
const stamp = (step: number) => instant(`1600000000 + i * ${step}`, '.000Z')
const due = (ending: string) => instant('1600000000 + (i * 977) % 9000000', ending)

function instant(seconds: string, ending: string): string {
  return `to_char(to_timestamp(${seconds}) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"${ending}"')`
}

const named = 'id, name, _folded_name, created_at, updated_at, _revision'
const plain = `select ${id('i')}, 'n' || i, 'n' || i, ${stamp(60)}, ${stamp(61)}, 1`
const numbers = (count: number) => `from generate_series(0, ${count - 1}) i`
const note = `case when i % 5 > 0 then 'm' || (i % 100) end`

const fill = [
  `insert into shelves (${named}, open, owner_id) ${plain}, i % 10 = 0, 'u' || (i / 2) ${numbers(1_000)}`,
  `insert into labels (${named}) ${plain} ${numbers(50)}`,
  `insert into goods (${named}, note, _folded_note, kind, fresh, size, weight, day, due, _instant_due, shelf_id, label_id, code,
      owner_id, ${wordsColumn})
    ${plain}, ${note}, ${note}, case when i % 3 = 0 then 'a' when i % 50 = 1 then 'b' else 'c' end,
      case when i % 7 > 0 then i % 2 = 1 end, case when i % 11 > 0 then i % 1000 end, i * 0.37,
      case when i % 6 > 0 then to_char(date '2020-01-01' + i % 3000, 'YYYY-MM-DD') end,
      case when i % 6 > 0 then ${due('Z')} end, case when i % 6 > 0 then ${due('')} end,
      ${id('i % 1000')}, case when i % 4 = 0 then ${id('i % 50')} end, 'c' || i, 'u' || (i % 250),
      array_to_tsvector(array['n' || i]) ${numbers(100_000)}`,
  `insert into parts (${named}, good_id) ${plain}, ${id('i')} ${numbers(2_000)}`,
  `update resourced_clocks set live = 100000, revision = 1 where collection = 'goods' and slot = 0`,
]

/** A store in PostgreSQL. */
export interface Store {
  /** Drives a transaction by hand, and explains what it runs. */
  explained<T>(transaction: Transaction<T>): Promise<{ result: T; statements: Explained[] }>
  close(): Promise<void>
}

/** What PostgreSQL did for a statement. */
export interface Explained {
  readonly text: string
  /** Rows of tables that it looked at. */
  readonly looked: number
  /** Rows that it sorted. */
  readonly sorted: number
  /** Tables that it read from end to end. */
  readonly scanned: readonly string[]
}

/** Opens the store. */
export async function openStore(): Promise<Store> {
  const { url, remove } = await emptyDatabase()
  const client = new pg.Client(settingsOf({ url }))
  await client.connect()
  await migratePostgres(client, catalog, { apply: 'additive', now: 0 })
  // Indexes are made faster than they are kept up to date.
  const { rows: indexes } = await client.query(
    `select indexname as name, indexdef as made from pg_indexes where tablename = 'goods' and indexname not like '%_pkey'`,
  )
  const drops = indexes.map(({ name }) => `drop index "${name}"`)
  await client.query('set statement_timeout = 0')
  for (const statement of [...drops, ...fill, ...indexes.map(({ made }) => made), 'vacuum analyze']) {
    await client.query(statement)
  }
  return {
    async explained(transaction) {
      const statements: Explained[] = []
      let step = transaction.next([])
      while (step.done !== true) {
        statements.push(await explain(client, step.value))
        step = transaction.next(await run(client, step.value))
      }
      return { result: step.value, statements }
    },
    async close() {
      await client.end()
      await remove()
    },
  }
}

async function run(client: pg.Client, { text, values }: Statement): Promise<Row[]> {
  return (await client.query(text, values as unknown[])).rows
}

interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Node[]
}

async function explain(client: pg.Client, { text, values }: Statement): Promise<Explained> {
  const [row] = await run(client, {
    ...{ text: `explain (analyze, timing off, format json) ${text}`, values: [...values], sql: '' },
  })
  const plan = (JSON.parse(String(row?.['QUERY PLAN'])) as [{ Plan: Node }])[0].Plan
  const nodes = [...walk(plan)]
  const sum = (wanted: (node: Node) => boolean) => nodes.filter(wanted).reduce((total, node) => total + rowsOf(node), 0)
  return {
    text,
    looked: sum((node) => node['Relation Name'] !== undefined || node['Index Name'] !== undefined),
    sorted: nodes
      .filter((node) => node['Node Type'] === 'Sort' || node['Node Type'] === 'Incremental Sort')
      .reduce((total, node) => total + (node.Plans ?? []).reduce((inner, each) => inner + rowsOf(each), 0), 0),
    scanned: nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => String(node['Relation Name'])),
  }
}

function rowsOf(node: Node): number {
  return (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
}

function* walk(node: Node): Generator<Node> {
  yield node
  for (const each of node.Plans ?? []) yield* walk(each)
}
