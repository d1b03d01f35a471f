/**
 * Days in time zones. Zones come from the ICU of Node.js, on every engine, so that both databases find the same
 * records.
 */
import { instantKey } from './time.ts'

/** A time zone: the local time at an instant. Both are in milliseconds since 1970, the local time as if it were UTC. */
export type TimeZone = (instant: number) => number

export const utc: TimeZone = (instant) => instant

// Callers choose the names, in any case.
const mostZones = 100
const zones = new Map<string, TimeZone>()

const nameForm = /^[A-Za-z][\w+-]*(?:\/[\w+-]+)*$/
const longestName = 60

/** The time zone of the IANA database with this name; `undefined`: there is none. Offsets (`+02:00`) are no names. */
export function timeZone(name: string): TimeZone | undefined {
  const known = zones.get(name)
  if (known !== undefined) return known
  if (name.length > longestName || !nameForm.test(name)) return undefined
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      ...{ timeZone: name, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23', era: 'short' },
      ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
    })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
  const zone = localTimes(format)
  if (zones.size >= mostZones) zones.clear()
  zones.set(name, zone)
  return zone
}

function localTimes(format: Intl.DateTimeFormat): TimeZone {
  return (instant) => {
    const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]))
    const { era, year, month, day, hour, minute, second } = parts
    const local = new Date(0)
    local.setUTCFullYear(era === 'BC' ? 1 - Number(year) : Number(year), Number(month) - 1, Number(day))
    local.setUTCHours(Number(hour), Number(minute), Number(second))
    return local.getTime()
  }
}

export const day = 86_400_000

/** Whether a text is a day of the calendar, such as `2026-11-28`. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && instantKey(`${text}T00:00:00Z`) !== undefined
}

/** The instants of a day, in milliseconds since 1970: from the first one until, exclusively, the first one after it. */
export interface DayBounds {
  readonly from: number
  readonly until: number
}

/**
 * The bounds of a day (`isDay`) in a zone. A day has 23 or 25 hours where clocks are changed, and none where a zone
 * has left it out.
 */
export function boundsOfDay(text: string, zone: TimeZone): DayBounds {
  const days = knownDays.get(zone) ?? new Map<string, DayBounds>()
  const known = days.get(text)
  if (known !== undefined) return known
  const midnight = Date.parse(`${text}T00:00:00Z`)
  const bounds = { from: Math.max(startOfDay(midnight, zone), firstInstant), until: startOfDay(midnight + day, zone) }
  if (days.size >= mostKnownDays) days.clear()
  knownDays.set(zone, days.set(text, bounds))
  return bounds
}

/** Where clocks skip midnight, a search takes half a millisecond. */
const knownDays = new WeakMap<TimeZone, Map<string, DayBounds>>()
const mostKnownDays = 1_000

/** The first and the last of days that follow each other. */
export type Span = readonly [first: string, last: string]

/** The most spans of one filter: each is a term of its own in the condition. */
export const mostSpans = 100

/** Days as spans, in their order. To find the bounds of a day costs far more than to compare it. */
export function spansOf(days: Iterable<string>): Span[] {
  const spans: [string, string][] = []
  for (const text of [...new Set(days)].sort()) {
    const last = spans.at(-1)
    if (last !== undefined && Date.parse(text) - Date.parse(last[1]) === day) last[1] = text
    else spans.push([text, text])
  }
  return spans
}

/** The bounds of a span in a zone. */
export function boundsOfSpan([first, last]: Span, zone: TimeZone): DayBounds {
  return { from: boundsOfDay(first, zone).from, until: boundsOfDay(last, zone).until }
}

/** Instants have years from 0000. */
const firstInstant = Date.parse('0000-01-01T00:00:00Z')

/** The instant at which a local midnight is, the earlier of two; if clocks skip it, the instant at which they do. */
export function startOfDay(midnight: number, zone: TimeZone): number {
  if (zone === utc) return midnight
  // Zones are less than a day from UTC: around the midnight these are the offsets before and after a change.
  const offsets = [midnight - day, midnight + day].map((instant) => zone(instant) - instant)
  const [earliest, latest] = [midnight - Math.max(...offsets), midnight - Math.min(...offsets)]
  for (const instant of [earliest, latest]) if (zone(instant) === midnight) return instant
  let [before, after] = [earliest, latest]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (zone(middle) < midnight) before = middle
    else after = middle
  }
  return after
}
