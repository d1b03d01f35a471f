import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDuration } from './duration.ts'

const day = 86_400_000
for (const [text, milliseconds] of [
  ['P30D', 30 * day],
  ['P2W', 14 * day],
  ['P1WT1S', 7 * day + 1_000],
  ['PT36H', 1.5 * day],
  ['P1DT2H3M4S', day + 7_384_000],
  ['PT0S', 0],
] as const) {
  test(`${text} is ${milliseconds} ms`, () => {
    assert.deepEqual(parseDuration(text), { kind: 'duration', milliseconds })
  })
}

for (const text of ['P1M', 'P1Y', 'P1Y2M3DT4H', 'P1MT1M']) {
  test(`${text} has no length of its own`, () => assert.deepEqual(parseDuration(text), { kind: 'calendar' }))
}

for (const text of [
  '',
  'P',
  'PT',
  'P1DT',
  '30',
  'P-1D',
  'P1.5D',
  'p1d',
  'P1D ',
  'PT1D',
  'P1H',
  'P9999999999D',
  'P1D2W',
]) {
  test(`"${text}" is no duration`, () => assert.deepEqual(parseDuration(text), { kind: 'malformed' }))
}
