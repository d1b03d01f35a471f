import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { emptyDatabase, whyNoDatabase } from '../../../../../test/postgres/database.ts'
import { migratePostgres } from './migrate.ts'
import { query } from './session.ts'
import { slots } from './triggers.ts'

const catalog = completeCatalog({
  name: 'test',
  resources: {
    tasks: {
      fields: { status: { enum: ['a', 'b'] }, size: { type: 'integer' } },
      summaries: { kept: { group: ['status'], sum: ['size'] } },
    },
  },
})

test('SUM-3: more writers of one group than there are slots never wait for each other', {
  skip: whyNoDatabase ?? false,
}, async (context) => {
  const { url, remove } = await emptyDatabase()
  const clients = Array.from(
    { length: slots + 4 },
    () => new pg.Client({ connectionString: url, statement_timeout: 5_000 }),
  )
  context.after(async () => {
    for (const client of clients) await client.end()
    await remove()
  })
  for (const client of clients) await client.connect()
  const [first] = clients
  await migratePostgres(first!, catalog, { apply: 'additive', now: 0 })
  const insertion = `insert into tasks (id, status, size, created_at, updated_at, _revision)
    select $1 || n, 'a', $2, 'now', 'now', 1 from generate_series(1, 3) n`
  // Each of them has an open transaction, in which it changes the group twice.
  for (const [number, client] of clients.entries()) {
    await query(client, 'begin')
    await query(client, insertion, [`${number}.`, number])
    await query(client, "update tasks set size = size + 1 where id like $1 || '.%'", [number])
  }
  for (const [number, client] of clients.entries()) await query(client, number % 2 === 0 ? 'commit' : 'rollback')
  const figures = await query(
    first!,
    `select figure, sum(count)::int as count, sum(total::numeric)::int as total from resourced_summaries
      group by figure order by figure`,
  )
  const committed = clients.flatMap((_, number) => (number % 2 === 0 ? [3 * (number + 1)] : []))
  assert.deepEqual(figures, [
    { figure: '', count: 3 * committed.length, total: null },
    { figure: 'size', count: 3 * committed.length, total: committed.reduce((sum, each) => sum + each) },
  ])
})
