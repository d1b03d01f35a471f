import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { boundsOfDay, boundsOfSpan, isDay, spansOf, timeZone, utc } from './time-zone.ts'

const hour = 3_600_000

const days: readonly (readonly [zone: string, day: string, from: string, hours: number])[] = [
  ['UTC', '2026-11-28', '2026-11-28T00:00:00.000Z', 24],
  ['Europe/Berlin', '2026-11-28', '2026-11-27T23:00:00.000Z', 24],
  ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', 23],
  ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', 25],
  ['America/New_York', '2026-11-01', '2026-11-01T04:00:00.000Z', 25],
  ['Asia/Kathmandu', '2026-11-28', '2026-11-27T18:15:00.000Z', 24],
  ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00:00.000Z', 24.5],
  // Clocks go from 00:00 to 01:00, so the day begins at 01:00.
  ['Asia/Beirut', '2022-03-27', '2022-03-26T22:00:00.000Z', 23],
  ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00.000Z', 23],
  // Clocks go from 00:00 back to 23:00, which belongs to the day before.
  ['America/Sao_Paulo', '2018-02-17', '2018-02-17T02:00:00.000Z', 25],
  ['America/Sao_Paulo', '2018-02-18', '2018-02-18T03:00:00.000Z', 24],
  ['Asia/Beirut', '2022-10-29', '2022-10-28T21:00:00.000Z', 25],
  // Clocks go from 00:01 back to 23:01: the day begins at its first midnight.
  ['America/St_Johns', '2010-11-07', '2010-11-07T02:30:00.000Z', 25],
  // A zone has left the day out.
  ['Pacific/Apia', '2011-12-29', '2011-12-29T10:00:00.000Z', 24],
  ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z', 0],
  ['Pacific/Apia', '2011-12-31', '2011-12-30T10:00:00.000Z', 24],
  // Local mean time has seconds.
  ['America/New_York', '1850-01-01', '1850-01-01T04:56:02.000Z', 24],
  ['europe/berlin', '2026-11-28', '2026-11-27T23:00:00.000Z', 24],
]

for (const [name, text, from, hours] of days) {
  test(`${text} in ${name} has ${hours} hours from ${from}`, () => {
    const zone = timeZone(name)
    assert.ok(zone !== undefined)
    const bounds = boundsOfDay(text, zone)
    assert.deepEqual([new Date(bounds.from).toISOString(), (bounds.until - bounds.from) / hour], [from, hours])
  })
}

test('days follow each other without gaps, whatever the zone', () => {
  const zones = Intl.supportedValuesOf('timeZone').flatMap((name) => timeZone(name) ?? [])
  assert.ok(zones.length > 400)
  const property = fc.property(
    fc.constantFrom(...zones),
    fc.date({ min: new Date('1800-01-01T00:00:00Z'), max: new Date('2100-01-01T00:00:00Z'), noInvalidDate: true }),
    (zone, date) => {
      const text = date.toISOString().slice(0, 10)
      const next = new Date(Date.parse(text) + 24 * hour).toISOString().slice(0, 10)
      const { from, until } = boundsOfDay(text, zone)
      assert.ok(from <= until)
      assert.equal(boundsOfDay(next, zone).from, until)
      if (from === until) return
      // Its first instant reads as the day, and the instant before does not.
      assert.equal(new Date(zone(from)).toISOString().slice(0, 10), text)
      assert.notEqual(new Date(zone(from - 1)).toISOString().slice(0, 10), text)
    },
  )
  fc.assert(property, { numRuns: 3_000 })
})

test('names of the IANA database are zones, and nothing else is', () => {
  for (const name of ['UTC', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires', 'CET']) assert.ok(timeZone(name), name)
  for (const name of [
    '',
    'Europe/Berln',
    '+02:00',
    '+0200',
    'Z',
    'local',
    'Europe/Berlin ',
    '../etc',
    'x'.repeat(5_000),
  ]) {
    assert.equal(timeZone(name), undefined, name)
  }
})

test('a day is one of the calendar', () => {
  for (const text of ['2026-11-28', '2024-02-29', '0000-01-01', '9999-12-31']) assert.equal(isDay(text), true, text)
  for (const text of ['2026-02-29', '2026-13-01', '2026-11-28T00:00:00Z', '2026-1-1', '', '20261128']) {
    assert.equal(isDay(text), false, text)
  }
  assert.equal(new Date(boundsOfDay('0000-01-01', utc).from).toISOString(), '0000-01-01T00:00:00.000Z')
})

test('days that follow each other are one span', () => {
  const days = ['2026-03-01', '2025-12-31', '2026-01-01', '2026-02-28', '2026-01-01', '2026-01-03']
  assert.deepEqual(spansOf(days), [
    ['2025-12-31', '2026-01-01'],
    ['2026-01-03', '2026-01-03'],
    ['2026-02-28', '2026-03-01'],
  ])
  const berlin = timeZone('Europe/Berlin') ?? utc
  const { from, until } = boundsOfSpan(['2026-03-28', '2026-03-29'], berlin)
  assert.equal(new Date(from).toISOString(), '2026-03-27T23:00:00.000Z')
  assert.equal(new Date(until).toISOString(), '2026-03-29T22:00:00.000Z')
})
