/** The same as `histories.test.ts` and `histories.slow.test.ts`, far more often. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, sqliteOnly } from '../engine.ts'
import { startCluster } from '../postgres/cluster.ts'
import { query } from '../postgres/query.ts'
import { depotOf } from './depot.ts'
import { Histories } from './histories.ts'
import { explainImages, interruptDatabase, killServers } from './kills.ts'
import { siteHere, siteOf } from './sites.ts'

const isPostgres = engine === 'postgres'
const countOf = (usual: number) => Number(process.env['HISTORIES'] ?? usual)
const postgresOnly = isPostgres ? false : 'PostgreSQL only'

for (const ruled of [[], ['items'], ['boxes', 'items']] as const) {
  const count = countOf(isPostgres ? 200 : 3_500)
  test(`BLK-2, BLK-3, BLK-4: some order explains ${count} histories with rules of ${ruled}`, async (context) => {
    const declaration = depotOf(ruled)
    if (!isPostgres) return new Histories(context, await siteHere(context, declaration)).run(count)
    const site = await siteOf(context, declaration)
    await site.start()
    await site.start()
    await new Histories(context, site).run(count)
    if (ruled.length > 0) return
    const [found] = await site.rows('select deadlocks from pg_stat_database where datname = current_database()')
    // Who asks a filter again holds locks already, and arrays take unique values in their own order.
    assert.ok(Number(found?.['deadlocks']) <= Math.ceil(count / 200), `${found?.['deadlocks']} deadlocks`)
  })
}

test('BLK-1 to BLK-4: some order explains histories that a thousand kills end', (context) =>
  killServers(context, countOf(isPostgres ? 100 : 1_000)))

test(
  'BLK-1 to BLK-4: some order explains what 3,000 kills would leave of a file',
  {
    skip: sqliteOnly('it looks at copies of a file'),
  },
  (context) => explainImages(context, countOf(3_000)),
)

test('BLK-1 to BLK-4: some order explains histories in which PostgreSQL ends connections', {
  skip: postgresOnly,
}, async (context) => {
  const site = await siteOf(context, depotOf())
  await interruptDatabase(context, site, countOf(200), async () => {
    await site.rows(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'resourced' and datname = current_database() and random() < 0.5`)
  })
})

test('BLK-1 to BLK-4: some order explains histories in which PostgreSQL is killed', {
  skip: postgresOnly,
}, async (context) => {
  const cluster = await startCluster()
  context.after(() => cluster.stop())
  const address = await cluster.createDatabase()
  const database = { address, rows: (text: string) => query(address, text), remove: async () => {} }
  await interruptDatabase(context, await siteOf(context, depotOf(), database), countOf(20), async () => {
    await cluster.kill()
    await cluster.restart()
  })
})
