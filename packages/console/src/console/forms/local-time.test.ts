import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import fc from 'fast-check'
import { localTime, momentOf } from './local-time.ts'

const zone = process.env['TZ']
afterEach(() => {
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
})
const zones = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Kiritimati', 'Pacific/Pago_Pago']

test('a moment is shown in the time zone of the reader, to the millisecond', () => {
  process.env['TZ'] = 'Europe/Berlin'
  assert.equal(localTime('2027-01-31T23:30:00.123Z'), '2027-02-01T00:30:00.123')
  assert.equal(momentOf('2027-02-01T00:30:00.123'), '2027-01-31T23:30:00.123Z')
  assert.equal(momentOf('2027-07-01T00:30'), '2027-06-30T22:30:00.000Z')
  assert.equal(momentOf(''), undefined)
  assert.equal(localTime('2016-12-31T23:59:60Z'), undefined)
  assert.equal(localTime('soon'), undefined)
})

test('a moment that is typed as it was stays the same text', () => {
  process.env['TZ'] = 'Europe/Berlin'
  // Clocks show 02:30 twice on this day; the text has more digits and another offset than the form.
  for (const moment of ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-03-29T01:30:00.123456+02:00']) {
    assert.equal(momentOf(localTime(moment) ?? '', moment), moment)
  }
  assert.equal(momentOf('2026-10-25T12:00', '2026-10-25T01:30:00Z'), '2026-10-25T11:00:00.000Z')
})

test('no time zone shifts a moment', () => {
  const moments = fc.date({ min: new Date('1971-01-01'), max: new Date('9998-12-31'), noInvalidDate: true })
  fc.assert(
    fc.property(moments, fc.constantFrom(...zones), (date, name) => {
      process.env['TZ'] = name
      const moment = date.toISOString()
      const local = localTime(moment) ?? ''
      assert.equal(momentOf(local, moment), moment)
      // Without the earlier moment, only the repeated hour of autumn has two meanings.
      const back = new Date(momentOf(local) ?? '').getTime()
      assert.ok(Math.abs(back - date.getTime()) <= 3_600_000 && localTime(new Date(back).toISOString()) === local)
    }),
  )
})
