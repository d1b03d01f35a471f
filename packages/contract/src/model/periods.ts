/** Calendar periods of date-times: the year, month, week and day that an instant belongs to in a time zone (SUM-1). */
import { day, startOfDay, type TimeZone } from './time-zone.ts'

/** The parts of dates that records are grouped by, and how much of a date in UTC names a part; a week is no prefix. */
export const dateParts = { year: 4, month: 7, week: undefined, day: 10 } as const

export type DatePart = keyof typeof dateParts

/** The characters of a date in UTC that have few periods in them: `2026-11`, `2026-11-28`. */
export function slotLength(part: DatePart): number {
  return part === 'year' || part === 'month' ? dateParts.month : dateParts.day
}

/** A period, as far as a slot has a part of it. */
export interface SlotPeriod {
  /** `2026`, `2026-02`, `2026-W05`, `2026-02-28`. */
  readonly label: string
  /** Milliseconds since 1970, exclusive; `undefined`: until the end of the slot. */
  readonly until: number | undefined
}

/**
 * Finds the periods that slots overlap. It remembers what it has found of the zone, so slots that follow each other are
 * found faster.
 *
 * @returns a function of a slot, a day or a month in UTC, that gives the periods in their order
 */
export function periodsIn(part: DatePart, zone: TimeZone): (slot: string) => readonly SlotPeriod[] {
  const local = remembering(zone)
  const startOf = remembering((midnight) => startOfDay(midnight, local))
  return (slot) => {
    const start = Date.parse(`${slot.padEnd(dateParts.day, '-01')}T00:00:00Z`)
    const end = slot.length === dateParts.day ? start + day : monthAfter(start)
    // A zone is less than a day from UTC.
    let first = start + day
    while (startOf(first) > start) first -= day
    const periods: SlotPeriod[] = []
    for (let midnight = first; ; midnight = nextPeriod(midnight, part)) {
      const until = startOf(nextPeriod(midnight, part))
      // A zone may leave out a day.
      const isEmpty = until <= start || periods.at(-1)?.until === until
      if (!isEmpty) periods.push({ label: periodOf(midnight, part), until: until < end ? until : undefined })
      if (until >= end) return periods
    }
  }
}

function remembering(find: (instant: number) => number): (instant: number) => number {
  const known = new Map<number, number>()
  return (instant) => {
    const found = known.get(instant) ?? find(instant)
    known.set(instant, found)
    return found
  }
}

/** The name of the period that a day belongs to. Weeks are those of ISO 8601. */
function periodOf(midnight: number, part: DatePart): string {
  if (part === 'week') {
    const thursday = mondayOf(midnight) + 3 * day
    const first = Date.parse(`${yearOf(thursday)}-01-01T00:00:00Z`)
    const number = Math.floor((thursday - first) / (7 * day)) + 1
    return `${yearOf(thursday)}-W${String(number).padStart(2, '0')}`
  }
  const date = dateOf(midnight)
  return part === 'day' ? date : date.slice(0, part === 'month' ? -3 : -6)
}

/** The first midnight of the next period; midnights are local, as if they were UTC. */
function nextPeriod(midnight: number, part: DatePart): number {
  if (part === 'day') return midnight + day
  if (part === 'week') return mondayOf(midnight) + 7 * day
  if (part === 'month') return monthAfter(midnight)
  const next = new Date(midnight)
  next.setUTCFullYear(next.getUTCFullYear() + 1, 0, 1)
  return next.getTime()
}

function monthAfter(midnight: number): number {
  const next = new Date(midnight)
  next.setUTCMonth(next.getUTCMonth() + 1, 1)
  return next.getTime()
}

function mondayOf(midnight: number): number {
  return midnight - ((new Date(midnight).getUTCDay() + 6) % 7) * day
}

/** `2026-11-28`; years before 0000 and after 9999 have a sign and six digits. */
function dateOf(midnight: number): string {
  return new Date(midnight).toISOString().slice(0, -'T00:00:00.000Z'.length)
}

function yearOf(midnight: number): string {
  return dateOf(midnight).slice(0, -6)
}
