/** DEL-7: a purge of very many records does not keep others waiting: `PURGE_RECORDS=1000000 node --test test/purge-pace.test.ts`. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { completeCatalog } from '../src/model/catalog.ts'
import { always } from '../src/model/predicate.ts'
import type { ReadRecord } from '../src/plan/plan.ts'
import { openSqlite } from '../src/storage/sqlite/storage.ts'

const many = Number(process.env.PURGE_RECORDS ?? 20_000)

const catalog = completeCatalog({
  name: 'archive',
  resources: {
    papers: {
      fields: {
        title: { type: 'string', search: true, sort: true },
        shelf: { type: 'integer', filter: true },
      },
    },
  },
})

test(`${many} records are purged while others read`, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-purge-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'data.db')
  await openSqlite(catalog, { path }).close()
  fill(path)
  const storage = openSqlite(catalog, { path })
  context.after(() => storage.close())
  const papers = catalog.resources.get('papers')
  const plan = {
    ...{ kind: 'read-record', resource: papers, id: idOf(0), permitted: always, fields: ['title'], conditions: {} },
  } as ReadRecord
  let purging = true
  const purge = storage.purge(Date.UTC(2030, 0, 1)).finally(() => {
    purging = false
  })
  const waits: number[] = []
  while (purging) {
    // A request that comes now is read by the event loop as soon as this timer would be.
    const started = performance.now()
    await sleep(1)
    assert.equal((await storage.run(plan)).kind, 'record')
    waits.push(performance.now() - started - 1)
  }
  const pauses = waits.toSorted((a, b) => a - b)
  assert.equal(await purge, many)
  const { live, left } = counts(path)
  assert.deepEqual([live, left], [1, 1])
  const shown = [0.5, 0.99, 1].map((part) => (pauses.at(Math.ceil(part * pauses.length) - 1) as number).toFixed(1))
  context.diagnostic(
    `${pauses.length} reads meanwhile took ${shown[0]} ms, 99 of 100 at most ${shown[1]} ms, the slowest ${shown[2]} ms`,
  )
  assert.ok(pauses.length > many / 2_000)
  assert.ok(Number(shown[1]) < 100)
})

function idOf(number: number): string {
  return `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
}

/** One live record, and very many that were deleted long ago. */
function fill(path: string): void {
  const database = new DatabaseSync(path)
  const stamp = `'2020-01-01T00:00:00.000Z'`
  database.exec(`
    begin;
    with recursive n(i) as (select 0 union all select i + 1 from n where i < ${many})
    insert into papers (id, title, shelf, created_at, updated_at, deleted_at, _deletion, _revision)
      select printf('00000000-0000-7000-8000-%012d', i), 'Paper ' || i, i % 100, ${stamp}, ${stamp},
        iif(i = 0, null, ${stamp}), iif(i = 0, null, 'd' || i), 1 from n;
    insert into resourced_search_papers (rowid, words) select _row, 'paper ' || title from papers;
    update resourced_clocks set live = 1, deleted = ${many} where collection = 'papers';
    commit;`)
  database.close()
}

function counts(path: string): { live: number; left: number } {
  const database = new DatabaseSync(path)
  const row = database
    .prepare('select (select live from resourced_clocks) as live, (select count(*) from papers) as left')
    .get()
  database.close()
  return { live: Number(row?.['live']), left: Number(row?.['left']) }
}
