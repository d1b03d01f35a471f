import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, RecordData } from '../interface/records.ts'
import { firstPlace, numberedPlaces, type Place, placesWithin, withPage } from './places.ts'

/** A page of a list; its cursors are the ids of its last record. */
function page(ids: readonly number[], isLast = false): Page {
  const data = ids.map((id) => ({ id: String(id) }) as unknown as RecordData)
  return { data, pagination: { total_count: 9, next_cursor: isLast ? null : `after ${ids.at(-1)}` } }
}

const second: Place = { at: 'after 3', start: 3 }
const third: Place = { at: 'after 6', start: 6 }

test('each page says where the next one begins', () => {
  const first = withPage([firstPlace], firstPlace, page([1, 2, 3]))
  assert.deepEqual(first, [firstPlace, second])
  assert.deepEqual(withPage(first, second, page([4, 5, 6])), [firstPlace, second, third])
})

test('a page that is read again and has not changed changes nothing', () => {
  const places = [firstPlace, second, third]
  assert.equal(withPage(places, second, page([4, 5, 6])), places)
  assert.equal(withPage(places, third, page([7], true)), places)
})

test('if a page has changed, the pages after it are found again', () => {
  const places = [firstPlace, second, third]
  // 2 was deleted: the page has a record of the next one.
  assert.deepEqual(withPage(places, firstPlace, page([1, 3, 4])), [firstPlace, { at: 'after 4', start: 3 }])
  // 5 and 6 were deleted, and nothing comes after.
  assert.deepEqual(withPage(places, second, page([4], true)), [firstPlace, second])
  // The response of a page whose place is forgotten comes late.
  assert.equal(withPage([firstPlace], third, page([7])).length, 1)
})

test('pages may have different lengths: a server ends them early when they are large', () => {
  assert.deepEqual(withPage([firstPlace], firstPlace, page([1])), [firstPlace, { at: 'after 1', start: 1 }])
})

test('the pages of some rows', () => {
  const places = [firstPlace, second, third]
  const within = (first: number, end: number) => placesWithin(places, { first, end }, 3)
  assert.deepEqual(within(0, 3), [firstPlace])
  assert.deepEqual(within(2, 4), [firstPlace, second])
  assert.deepEqual(within(3, 6), [second])
  assert.deepEqual(within(8, 200), [third])
  assert.deepEqual(within(9, 200), [])
  assert.deepEqual(within(-60, 1), [firstPlace])
})

test('rows to which no cursor leads have pages by number', () => {
  const places = [firstPlace, second]
  const numbered = (first: number, end: number) => numberedPlaces(places, { first, end }, 3).map(({ start }) => start)
  assert.deepEqual(numbered(5, 40), [], 'the cursor of the next page is about to come')
  assert.deepEqual(numbered(6, 9), [6])
  assert.deepEqual(numbered(400_001, 400_006), [399_999, 400_002, 400_005])
  assert.deepEqual(numbered(7, 7), [6])
  assert.deepEqual(numbered(9, 9), [])
})
