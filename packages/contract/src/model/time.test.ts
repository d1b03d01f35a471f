import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { instantKey, parseDuration, timestamp } from './time.ts'

const two = (number: number) => String(number).padStart(2, '0')

/** A date-time spelled in some zone, and what it stands for: milliseconds since 1970, and the digits after them. */
const spelled = fc
  .record({
    milliseconds: fc.integer({ min: Date.UTC(1, 0, 2), max: Date.UTC(9999, 11, 30) }),
    finer: fc.stringMatching(/^\d{0,4}$/),
    zone: fc.integer({ min: -1439, max: 1439 }),
    style: fc.constantFrom('Z', 'z', 'offset'),
    zeros: fc.integer({ min: 0, max: 2 }),
    separator: fc.constantFrom('T', 't'),
  })
  .map(({ milliseconds, finer, zone, style, zeros, separator }) => {
    const local = style === 'offset' ? milliseconds + zone * 60_000 : milliseconds
    const text = new Date(local).toISOString().slice(0, -1).replace('T', separator) + finer + '0'.repeat(zeros)
    const size = Math.abs(zone)
    const offset = `${zone < 0 ? '-' : '+'}${two(Math.trunc(size / 60))}:${two(size % 60)}`
    const exact = BigInt(milliseconds) * 10_000n + BigInt(finer.padEnd(4, '0'))
    return { text: text + (style === 'offset' ? offset : style), exact }
  })

test('keys order as instants do, whatever their zone and precision; one instant has one key', () => {
  fc.assert(
    fc.property(spelled, spelled, fc.boolean(), (first, other, near) => {
      // The same moment spelled otherwise is as likely as another one.
      const second = near ? { text: first.text.replace(/[Tt]/, 't'), exact: first.exact } : other
      const keys = [instantKey(first.text), instantKey(second.text)] as [string, string]
      assert.ok(keys[0] !== undefined && keys[1] !== undefined, `${first.text} ${second.text}`)
      assert.equal(keys[0] < keys[1], first.exact < second.exact)
      assert.equal(keys[0] === keys[1], first.exact === second.exact)
    }),
    { numRuns: 3_000 },
  )
})

test('a key is in UTC, without zone letter and without zeros at its end', () => {
  assert.equal(instantKey('2026-11-21T08:00:00.500Z'), '2026-11-21T08:00:00.5')
  assert.equal(instantKey('2026-11-21T09:30:00+01:30'), '2026-11-21T08:00:00')
  assert.equal(instantKey('2026-01-01T00:30:00.000+01:00'), '2025-12-31T23:30:00')
  assert.equal(instantKey('2024-02-29T23:59:59-00:01'), '2024-03-01T00:00:59')
})

for (const text of [
  ...['', 'yesterday', '2026-11-21', '2026-11-21T08:00:00', '2026-11-21 08:00:00Z', '2026-11-21T08:00Z'],
  ...['2026-02-30T00:00:00Z', '2023-02-29T00:00:00Z', '2026-13-01T00:00:00Z', '2026-11-21T24:00:00Z'],
  ...['2026-11-21T08:60:00Z', '2026-11-21T08:00:61Z', '2026-11-21T08:00:00+24:00', '2026-11-21T08:00:00.Z'],
  ...['+12026-11-21T08:00:00Z', '0000-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01'],
]) {
  test(`${JSON.stringify(text)} is no instant`, () => assert.equal(instantKey(text), undefined))
}

test('RES-5: a moment is written in UTC with milliseconds', () => {
  assert.equal(timestamp(Date.UTC(2026, 10, 21, 8)), '2026-11-21T08:00:00.000Z')
})

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
  test(`${text} has no fixed length`, () => assert.deepEqual(parseDuration(text), { kind: 'calendar' }))
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
