/** Pages by number far from the beginning of a list have the records that a walk by cursor has at their place. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import type { Predicate } from 'resourced-contract/model/predicate'
import type { PageOutcome } from '../../plan/outcome.ts'
import type { Page, ReadPage } from '../../plan/plan.ts'
import { sqlContext } from '../sql/context.ts'
import { Memory } from '../transactions/memory.ts'
import { readPage } from '../transactions/read-page.ts'
import { Connection } from './connection.ts'
import { catalogOf, fill, pageOf, patient } from './slow-reads.fixture.ts'
import { makeStoppable, stoppableSqlite } from './stoppable-reads.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-deep-'))
const path = join(folder, 'data.db')
const records = 24_000
const catalog = catalogOf(patient)
before(async () => {
  await fill(path, records)
  const database = new DatabaseSync(path)
  database.exec('update tasks set title = null where _row % 5 = 0; update tasks set team = null where _row % 3 = 0')
  // The first half of the numbers is deleted, but for some.
  database.exec("update tasks set deleted_at = '2026', _deletion = 'x' where _row < 6000 and _row % 4 > 0")
  database.exec('update resourced_clocks set live = (select count(*) from tasks where deleted_at is null)')
  database.close()
})
after(() => rmSync(folder, { recursive: true }))

/** Reads pages on a connection that counts about each 64th row that statements visit. */
function reader() {
  const connection = new Connection(path, { readOnly: true })
  let checks = 0
  makeStoppable(connection.database, catalog, () => checks++)
  const context = sqlContext({ catalog, dialect: stoppableSqlite, tagSecret: new Uint8Array(32) })
  const memory = new Memory()
  return {
    read(plan: ReadPage): PageOutcome & { readonly checks: number } {
      const earlier = checks
      const outcome = connection.run(readPage(context, memory, plan))
      assert.ok(outcome.kind === 'page', outcome.kind)
      return { ...outcome, checks: checks - earlier }
    },
    close: () => connection.close(),
  }
}

const isFew: Predicate = {
  kind: 'or',
  terms: Array.from({ length: 12 }, (_, value) => ({ kind: 'compare', field: 'team', operator: 'eq', value })),
}
const byTitle = (descending: boolean) => ({ sort: [{ field: 'title', descending }] })
const newestFirst = { sort: [{ field: 'created_at', descending: true }] }
const lists: Readonly<Record<string, Partial<ReadPage>>> = {
  all: {},
  'all, newest first': newestFirst,
  'sorted by a field that may be null': byTitle(false),
  'the same, descending': byTitle(true),
  'a range': { filter: { kind: 'compare', field: 'team', operator: 'gt', value: 20 } },
  'a range in another order': {
    filter: { kind: 'compare', field: 'team', operator: 'gt', value: 20 },
    ...byTitle(true),
  },
  'few of many, sorted': { filter: isFew, ...byTitle(false) },
  'a condition without an index, sorted': {
    filter: { kind: 'compare', field: 'notes', operator: 'contains', value: '1' },
    ...byTitle(true),
  },
  'a search of a common word': { search: ['title'] },
  'the same, newest first': { search: ['title'], ...newestFirst },
  'the same, sorted': { search: ['title'], ...byTitle(true) },
  'a search of a less common word, sorted': { search: ['title', '1'], ...byTitle(false) },
  'deleted records too': { deleted: { permitted: { kind: 'always' }, since: '2025' }, ...byTitle(false) },
}

for (const [name, over] of Object.entries(lists)) {
  test(`pages by number are those of a walk by cursor: ${name}`, (context) => {
    const { read, close } = reader()
    context.after(close)
    const at = (page: Page) => read(pageOf(catalog, { ...over, page }))
    const all: string[] = []
    let position: Extract<Page, { style: 'cursor' }>['position']
    do {
      const { json, next } = at({ style: 'cursor', limit: 700, position })
      if (json !== '') all.push(...json.split(',\n'))
      position = next && { direction: 'forward', keys: next }
    } while (position !== undefined)
    assert.ok(all.length > 500, `${all.length} records`)
    assert.equal(new Set(all).size, all.length)
    const middle = Math.floor(all.length / 2)
    const offsets = [0, 999, 1_001, middle - 31, middle + 1, all.length - 61, all.length - 60, all.length - 7]
    for (const offset of [...offsets, all.length, all.length + 5_000]) {
      const { json, total, count } = at({ style: 'offset', offset, limit: 60 })
      const expected = all.slice(offset, offset + 60)
      assert.deepEqual({ total, count }, { total: all.length, count: expected.length }, `at ${offset}`)
      assert.equal(json, expected.join(',\n'), `at ${offset}`)
    }
  })
}

const last = { style: 'offset', offset: 16_000, limit: 20 } as const
const cheap: readonly [name: string, over: Partial<ReadPage>, most: number][] = [
  ['a page near the end skips the rows after it', { ...byTitle(true), page: last }, 80],
  ['a page past the end reads no rows', { page: { ...last, offset: 5_000_000 } }, 0],
  ['a sorted search of a common word follows the order', { search: ['title'], ...newestFirst }, 400],
]
for (const [name, over, most] of cheap) {
  test(name, (context) => {
    const { read, close } = reader()
    context.after(close)
    const plan = pageOf(catalog, over)
    // The first time, its total is counted.
    read(plan)
    const { checks } = read({ ...plan, key: `${plan.key} again` })
    context.diagnostic(`${checks} checks`)
    assert.ok(checks <= most, `${checks} checks`)
  })
}
