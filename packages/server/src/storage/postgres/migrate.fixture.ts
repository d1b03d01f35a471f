/** Databases of PostgreSQL and their rows, for the tests of migrations. */
import type { TestContext } from 'node:test'
import pg from 'pg'
import { databaseFor } from '../../../../../test/postgres/database.ts'
import type { Migrated } from '../migration/apply.ts'
import { type Apply, MigrationRefused } from '../migration/migration-step.ts'
import { catalogFixture, type FieldFixture, resourceFixture } from '../sql/catalog.fixture.ts'
import type { Row } from '../transaction.ts'
import { migratePostgres, type Waits } from './migrate.ts'
import { query } from './session.ts'

/** The fields of `tasks` in a test. */
export type Fields = Readonly<Record<string, FieldFixture>>

/** The values of a row in a test; missing ones have defaults. */
export type Given = Readonly<Record<string, unknown>>

/** When the migrations of tests happen. */
export const now = Date.UTC(2026, 10, 21)

/** A catalog of one resource, `tasks`. */
export function tasks(fields: Fields) {
  return catalogFixture(resourceFixture('tasks', fields))
}

/** Migrates to `tasks` with these fields. */
export function migrateTo(
  client: pg.Client,
  fields: Fields,
  apply: Apply = 'additive',
  waits?: Waits,
): Promise<Migrated> {
  return migratePostgres(client, tasks(fields), { apply, now, undoesNewer: true }, waits)
}

/** A connection, closed when the test ends. */
export async function connect(context: TestContext, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  // A lost connection fails its next statement, which reports it.
  client.on('error', () => {})
  await client.connect()
  context.after(() => client.end().catch(() => {}))
  return client
}

/** A connection to an empty database. */
export async function emptyDatabase(context: TestContext): Promise<pg.Client> {
  return connect(context, await databaseFor(context))
}

/** A new database with `tasks` and its rows; ids are `id1`, `id2`, …, the clock is right. */
export async function databaseOf(context: TestContext, fields: Fields, rows: readonly Given[]): Promise<pg.Client> {
  const client = await emptyDatabase(context)
  await migrateTo(client, fields)
  for (const [index, row] of rows.entries()) await insert(client, 'tasks', { id: `id${index + 1}`, ...row })
  return client
}

/** Writes a row, and moves the clock on in one of its slots. */
export async function insert(client: pg.Client, table: string, row: Given, slot = 3): Promise<void> {
  const whole = { created_at: 'then', updated_at: 'then', _revision: 1, ...row }
  const names = Object.keys(whole).map((name) => `"${name}"`)
  const places = names.map((_, index) => `$${index + 1}`).join(', ')
  await query(client, `insert into "${table}" (${names.join(', ')}) values (${places})`, Object.values(whole))
  const [live, deleted] = (row['deleted_at'] ?? null) === null ? [1, 0] : [0, 1]
  const tick = 'update resourced_clocks set revision = revision + 1, live = live + $2, deleted = deleted + $3'
  await query(client, `${tick} where collection = $1 and slot = $4`, [table, live, deleted, slot])
}

/** The rows of a statement. */
export function all(client: pg.Client, statement: string): Promise<Row[]> {
  return query(client, statement)
}

/** The values of a clock, summed over its slots. */
export async function clockOf(client: pg.Client, collection = 'tasks'): Promise<Row | undefined> {
  const sums = ['revision', 'live', 'deleted'].map((name) => `sum(${name}) as ${name}`).join(', ')
  return (await query(client, `select ${sums} from resourced_clocks where collection = $1`, [collection]))[0]
}

/** The values of one column, in the order of the rows. */
export async function column(client: pg.Client, name: string): Promise<unknown[]> {
  return (await all(client, `select "${name}" as value from tasks order by _row`)).map((row) => row['value'])
}

/** The ids that a full-text query finds. */
export async function find(client: pg.Client, text: string): Promise<unknown[]> {
  const found = await query(client, 'select id from tasks where _words @@ $1::tsquery order by id', [text])
  return found.map((row) => row['id'])
}

/** The names of all tables and indexes in the schema that are like a pattern. */
export async function relations(client: pg.Client, like: string): Promise<unknown[]> {
  const statement =
    'select relname from pg_class where relnamespace = current_schema()::regnamespace and relname like $1 order by 1'
  return (await query(client, statement, [like])).map((row) => row['relname'])
}

/** The columns, indexes and constraints of a schema. Columns are sorted, because added ones are at the end. */
export async function schemaOf(client: pg.Client): Promise<unknown> {
  return {
    columns: await all(
      client,
      `select table_name, column_name, data_type, is_nullable, collation_name, is_identity
       from information_schema.columns where table_schema = current_schema() order by 1, 2`,
    ),
    indexes: await all(
      client,
      `select relname, indisvalid, replace(pg_get_indexdef(oid), current_schema() || '.', '') as definition
       from pg_class join pg_index on indexrelid = oid where relnamespace = current_schema()::regnamespace order by 1`,
    ),
    constraints: await all(
      client,
      `select conrelid::regclass::text as table, contype::text, pg_get_constraintdef(oid) as definition
       from pg_constraint where connamespace = current_schema()::regnamespace order by 1, 2, 3`,
    ),
  }
}

/** All that a database holds, as text: its schema, and each table's rows. */
export async function snapshot(client: pg.Client): Promise<string> {
  const tables = await all(
    client,
    `select relname as name from pg_class
      where relnamespace = current_schema()::regnamespace and relkind = 'r' order by 1`,
  )
  const rows: unknown[] = []
  for (const { name } of tables) {
    rows.push(await all(client, `select to_json(t)::text from "${name}" as t order by t::text`))
  }
  return JSON.stringify([await schemaOf(client), tables, rows])
}

/** The refusal that work ends with. */
export async function refusal(work: () => Promise<unknown>): Promise<MigrationRefused> {
  try {
    await work()
  } catch (error) {
    if (error instanceof MigrationRefused) return error
    throw error
  }
  throw new Error('nothing was refused')
}
