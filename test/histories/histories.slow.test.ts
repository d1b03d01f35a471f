/** The same as `histories.test.ts` with servers in processes of their own, which race or are killed. */
import { test } from 'node:test'
import { engine, sqliteOnly } from '../engine.ts'
import { depotOf } from './depot.ts'
import { Histories } from './histories.ts'
import { explainImages, interruptDatabase, killServers } from './kills.ts'
import { siteOf } from './sites.ts'

test('BLK-2, BLK-3, BLK-4: some order explains histories of servers', async (context) => {
  const site = await siteOf(context, depotOf())
  await site.start()
  if (engine === 'postgres') await site.start()
  const histories = new Histories(context, site)
  await histories.run(100)
})

test('BLK-1 to BLK-4: some order explains histories that a kill ends', (context) => killServers(context, 3))

test(
  'BLK-1 to BLK-4: some order explains what kills would leave of a file',
  {
    skip: sqliteOnly('it looks at copies of a file'),
  },
  (context) => explainImages(context, 30),
)

test('BLK-1 to BLK-4: some order explains histories in which PostgreSQL ends connections', {
  skip: engine === 'postgres' ? false : 'PostgreSQL only',
}, async (context) => {
  const site = await siteOf(context, depotOf())
  await interruptDatabase(context, site, 10, async () => {
    await site.rows(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'resourced' and datname = current_database() and random() < 0.5`)
  })
})
