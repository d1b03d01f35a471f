/**
 * DEL-6, DEL-7: two servers restore records that a third process purges: a tree is restored completely, or purged
 * completely.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { uuidv7 } from 'uuidv7'
import { openStorage } from '../../packages/server/src/server/open-database.ts'
import { atOnce, moment, raceOf, roundsUntil, skip } from './servers.ts'

const declaration = {
  name: 'trees',
  // What is purged first stands first: the leaves.
  resources: {
    leaves: { fields: { name: { type: 'string' }, tree_id: { reference: 'trees', onDelete: 'cascade' } } },
    stems: { fields: { name: { type: 'string' }, tree_id: { reference: 'trees', onDelete: 'cascade' } } },
    trees: { fields: { name: { type: 'string' } } },
  },
} as const satisfies InterfaceDeclaration

const race = raceOf(declaration)

const rounds = 8
const trees = 8
const leaves = 60
const month = 31 * 86_400_000

test('DEL-7: a tree that is restored while it is purged is complete, or gone', { skip }, async (context) => {
  const storage = await openStorage({ database: race.url, databaseUnsafe: true }, completeCatalog(declaration))
  context.after(() => storage.close())
  const { jobs } = storage
  const found = { restored: 0, gone: 0 }
  const happened = () => found.restored > 0 && found.gone > 0
  for (const _ of roundsUntil(rounds, happened)) {
    const made = await atOnce(trees, () => race.make('trees', { name: 't' }))
    for (const { id } of made) {
      await race.rows(
        `insert into leaves (id, name, tree_id, created_at, updated_at, _revision)
         select gen_random_uuid(), 'l', '${id}', now()::text, now()::text, 1 from generate_series(1, ${leaves})`,
      )
    }
    await atOnce(trees, (number) => race.on(number).send('DELETE', `/v1/trees/${made[number].id}`))
    // As if a clock of another server were a month ahead.
    const later = Date.now() + month
    const id = uuidv7()
    const purging = (async () => {
      await moment(30)
      const begun = await jobs.beginPurge({ id, statusUrl: `/v1/jobs/${id}` }, later)
      while (begun && (await jobs.step({ id, task: 'purge' }, later)) === 'more');
    })()
    const restored = await atOnce(trees, async (number) => {
      await moment(30)
      return race.on(number).send('POST', `/v1/trees/${made[number].id}/restore`)
    })
    await purging
    for (const [number, { status, json }] of restored.entries()) {
      const { id } = made[number]
      assert.ok(status === 200 || status === 404, JSON.stringify(json))
      const [rows] = await race.rows(
        `select (select count(*)::int from leaves where tree_id = '${id}' and deleted_at is null) as live,
           (select count(*)::int from leaves where tree_id = '${id}') as kept, (select count(*)::int from trees where id = '${id}') as root`,
      )
      const expected = status === 200 ? { live: leaves, kept: leaves, root: 1 } : { live: 0, kept: 0, root: 0 }
      assert.deepEqual(rows, expected)
      found[status === 200 ? 'restored' : 'gone']++
    }
    // The next round purges the rest of none.
    await race.rows(
      "delete from leaves; delete from trees; update resourced_clocks set live = 0 where collection = 'trees'",
    )
  }
  context.diagnostic(JSON.stringify(found))
  assert.ok(happened())
})
