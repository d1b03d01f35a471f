import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatHttpDate, parseHttpDate } from './header-fields.ts'

const moment = Date.UTC(1994, 10, 6, 8, 49, 37) / 1000
const now = Date.UTC(2026, 10, 21)

for (const text of ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994']) {
  test(`${text} is one moment in three forms`, () => assert.equal(parseHttpDate(text, now), moment))
}

const twoDigits: [string, number][] = [
  ['Saturday, 21-Nov-76 00:00:00 GMT', Date.UTC(2076, 10, 21)],
  ['Saturday, 21-Nov-76 00:00:01 GMT', Date.UTC(1976, 10, 21, 0, 0, 1)],
  ['Saturday, 21-Nov-77 00:00:00 GMT', Date.UTC(1977, 10, 21)],
  ['Saturday, 01-Jan-00 00:00:00 GMT', Date.UTC(2000, 0, 1)],
  ['Tuesday, 29-Feb-28 00:00:00 GMT', Date.UTC(2028, 1, 29)],
]
for (const [text, expected] of twoDigits) {
  test(`${text} is at most fifty years ahead`, () => assert.equal(parseHttpDate(text, now), expected / 1000))
}

test('near the end of a century two digits reach into the next', () => {
  const late = Date.UTC(2090, 0, 1)
  assert.equal(parseHttpDate('Saturday, 01-Jan-05 00:00:00 GMT', late), Date.UTC(2105, 0, 1) / 1000)
  assert.equal(parseHttpDate('Saturday, 01-Jan-41 00:00:00 GMT', late), Date.UTC(2041, 0, 1) / 1000)
})

const refused = [
  '',
  'yesterday',
  '1994-11-06T08:49:37Z',
  'Sun, 6 Nov 1994 08:49:37 GMT',
  'Sun, 31 Nov 1994 08:49:37 GMT',
  'Sun, 29 Feb 2100 08:49:37 GMT',
  'Sun, 00 Nov 1994 08:49:37 GMT',
  'Sun, 06 Nov 1994 24:00:00 GMT',
  'Sun, 06 Nov 1994 08:60:00 GMT',
  'Sun, 06 Nov 1994 08:49:61 GMT',
  'Sun, 06 Nov 1994 08:49:37 UTC',
  'sun, 06 nov 1994 08:49:37 gmt',
  'Sunday, 31-Jun-94 08:49:37 GMT',
  'Sun, 06 Nov 94 08:49:37 GMT',
]
for (const text of refused) {
  test(`${JSON.stringify(text)} is no date`, () => assert.equal(parseHttpDate(text, now), undefined))
}

test('a leap second is one more second', () => {
  assert.equal(parseHttpDate('Sat, 31 Dec 2016 23:59:60 GMT'), Date.UTC(2017, 0, 1) / 1000)
})

test('a moment is written in the fixed form, without its fraction', () => {
  assert.equal(formatHttpDate(moment), 'Sun, 06 Nov 1994 08:49:37 GMT')
  assert.equal(formatHttpDate(moment + 0.9), 'Sun, 06 Nov 1994 08:49:37 GMT')
  for (let second = 0; second < 2500; second++) assert.equal(parseHttpDate(formatHttpDate(second)), second)
})
