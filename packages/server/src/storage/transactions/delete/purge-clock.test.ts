import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogFixture, resourceFixture } from '../../sql/catalog.fixture.ts'
import { type SqlContext, sqlContext } from '../../sql/context.ts'
import { sqlite } from '../../sqlite/dialect.ts'
import type { Row } from '../../transaction.ts'
import { checkClock, purgeRecords } from './purge.ts'

const day = 86_400_000
const now = Date.parse('2026-11-22T12:00:00.000Z')
const context = { catalog: catalogFixture(resourceFixture('notes', {}), resourceFixture('plants', {})) } as SqlContext

/** Drives the transaction by hand: returns its decision, and the time that it keeps. */
function decide(mark: number | undefined, newest: readonly (string | null)[] = []) {
  const records = [...newest]
  const transaction = checkClock(context, now)
  let kept: unknown
  let step = transaction.next()
  while (step.done !== true) {
    const { sql, values } = step.value
    let rows: Row[] = []
    if (sql.startsWith('select value')) rows = mark === undefined ? [] : [{ value: String(mark) }]
    else if (sql.startsWith('select max')) rows = [{ newest: records.shift() ?? null }]
    else kept = values[0]
    step = transaction.next(rows)
  }
  return { doubt: step.value, kept }
}

test('a clock that differs by a day is accepted, and the next removal is compared with its time', () => {
  for (const last of [now, now - day, now + day, now - 3_600_000]) {
    assert.deepEqual(decide(last), { doubt: undefined, kept: String(now) })
  }
})

test('a clock that differs by more than a day is refused, and the kept time stays', () => {
  for (const last of [now - day - 1, now + day + 1, 0]) {
    assert.deepEqual(decide(last), { doubt: { now, last, of: 'purge' }, kept: undefined })
  }
})

test('without a kept time the newest record of all collections counts, and an empty database accepts any clock', () => {
  const at = (time: number) => new Date(time).toISOString()
  assert.deepEqual(decide(undefined, [null, null]), { doubt: undefined, kept: String(now) })
  assert.deepEqual(decide(undefined, [at(now - 9 * day), at(now - day)]), { doubt: undefined, kept: String(now) })
  assert.deepEqual(decide(undefined, [at(now - 9 * day), at(now - 2 * day)]), {
    doubt: { now, last: now - 2 * day, of: 'record' },
    kept: undefined,
  })
})

test('DEL-7: a purge leaves what a deletion has deleted that began while it looked for work', () => {
  const notes = resourceFixture('notes', {})
  const transaction = purgeRecords(sqlContext({ catalog: catalogFixture(notes), dialect: sqlite }), notes, now)
  const asked: string[] = []
  let step = transaction.next()
  while (step.done !== true) {
    const { sql, values } = step.value
    asked.push(sql)
    const isOfWork = sql.includes('from resourced_work')
    const found: Row = isOfWork ? { job: 'begun', state: '{}' } : { id: 'root', _deletion: 'begun' }
    const isThere = isOfWork ? asked.length > 1 : !JSON.stringify(values).includes('begun')
    step = transaction.next(isThere ? [found] : [])
  }
  assert.equal(step.value, 0)
  assert.deepEqual([...new Set(asked.map((text) => text.slice(0, 6)))], ['select'])
})
