import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Predicate } from 'resourced-contract/model/predicate'
import type { ReadPage } from '../../plan/plan.ts'
import { sqlContext } from '../sql/context.ts'
import type { Row } from '../transaction.ts'
import { Memory } from '../transactions/memory.ts'
import { readPage } from '../transactions/read-page.ts'
import { Connection } from './connection.ts'
import { sqlite } from './dialect.ts'
import { catalogOf, fill, pageOf, patient } from './slow-reads.fixture.ts'
import { makeStoppable, Stopped, stoppableSqlite } from './stoppable-reads.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-stoppable-'))
const path = join(folder, 'data.db')
before(() => fill(path, 20_000))
after(() => rmSync(folder, { recursive: true }))
const catalog = catalogOf(patient)

function connectionWith(check?: () => void): Connection {
  const connection = new Connection(path, { readOnly: true })
  if (check !== undefined) makeStoppable(connection.database, catalog, check)
  return connection
}

const team: Predicate = { kind: 'compare', field: 'team', operator: 'eq', value: 7 }
const contains: Predicate = { kind: 'compare', field: 'notes', operator: 'contains', value: '77' }
const reads: Readonly<Record<string, Partial<ReadPage>>> = {
  'the first page': {},
  'a filter': { filter: team },
  'two filters': { filter: { kind: 'and', terms: [team, contains] } },
  'either of two': { filter: { kind: 'or', terms: [team, contains] } },
  'a list of values': { filter: { kind: 'in', field: 'team', values: [1, 2, 3] } },
  'a permission': { permitted: team, filter: contains },
  'a search': { search: ['title', '7'] },
  'a sorted search': { search: ['title'], sort: [{ field: 'title', descending: true }] },
  'another order': { sort: [{ field: 'title', descending: false }], filter: team },
  'a high page': { page: { style: 'page', page: 900, perPage: 20 } },
  'a page by cursor': { page: { style: 'cursor', limit: 20, position: undefined }, filter: contains },
  'deleted records too': { deleted: { permitted: team, since: '2026' } },
}

/** The statements of a page, each with its plan and its rows. */
function traced(connection: Connection, plan: ReadPage, dialect = sqlite) {
  const context = sqlContext({ catalog, dialect, tagSecret: new Uint8Array(32) })
  const reading = readPage(context, new Memory(), plan)
  const statements: { readonly paths: string[]; readonly rows: readonly Row[] }[] = []
  for (let step = reading.next([]); step.done !== true; ) {
    const { sql, values } = step.value
    const explained = connection.database.prepare(`explain query plan ${sql}`).all(...(values as never[]))
    // Only the names of tables differ.
    const paths = explained.map(({ detail }) => String(detail).replace(/^(SCAN|SEARCH) \S+/, '$1'))
    const rows = connection.all(step.value)
    statements.push({ paths, rows })
    step = reading.next(rows)
  }
  return statements
}

for (const [name, over] of Object.entries(reads)) {
  test(`a stoppable connection finds the same rows by the same access paths: ${name}`, () => {
    let checks = 0
    const [plain, stoppable] = [connectionWith(), connectionWith(() => checks++)]
    const plan = pageOf(catalog, over)
    assert.deepEqual(traced(stoppable, plan, stoppableSqlite), traced(plain, plan))
    if (over.filter === contains || over.search !== undefined) assert.ok(checks > 0, 'rows are checked')
    plain.close()
    stoppable.close()
  })
}

test('a check that throws ends the statement, and the connection goes on', () => {
  let left = 5
  const connection = connectionWith(() => {
    if (left-- === 0) throw new Stopped()
  })
  const count = { sql: 'select count(*) as count from tasks where deleted_at is null', text: '', values: [] }
  connection.execute('begin')
  assert.throws(() => connection.all(count), Stopped)
  assert.equal(left, -1, 'nothing was read after it')
  assert.deepEqual({ ...connection.all(count)[0] }, { count: 20_000 })
  connection.execute('commit')
  connection.close()
})

test('rows are checked at short intervals, whichever of them an index has together', () => {
  let checks = 0
  const connection = connectionWith(() => checks++)
  // The numbers of all of these rows leave 1 when they are divided by 4.
  const teams = Array.from({ length: 25 }, (_, index) => 4 * index + 1)
  const sql = `select count(*) as count from tasks where deleted_at is null and team in (${teams})`
  const [row] = connection.all({ sql, text: '', values: [] })
  assert.deepEqual({ ...row }, { count: 5_000 })
  assert.ok(checks > 30, `${checks} checks of 5,000 rows`)
  connection.close()
})
