/** Instants (RFC 3339 date-times, with comparison keys in the order of time) and durations (ISO 8601). */

const dateTime = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/

/**
 * The comparison key of a date-time: UTC, without zone letter, fraction without trailing zeros
 * (`2026-11-21T08:00:00.5`). Two spellings of one instant have one key; keys of any precision sort as instants do.
 * `undefined`: the text is not a date-time of the years 0000 to 9999.
 */
export function instantKey(text: string): string | undefined {
  const parts = dateTime.exec(text)
  if (parts === null) return undefined
  const [, year, month, day, hour, minute, second, fraction, sign, offsetHour, offsetMinute] = parts
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined
  if (Number(offsetHour ?? 0) > 23 || Number(offsetMinute ?? 0) > 59) return undefined
  const local = new Date(0)
  local.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  if (local.getUTCMonth() !== Number(month) - 1 || local.getUTCDate() !== Number(day)) return undefined
  const offset = (Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0)) * (sign === '-' ? -1 : 1)
  local.setUTCHours(Number(hour), Number(minute) - offset)
  const utc = local.toISOString()
  if (utc.length !== 24) return undefined
  const digits = fraction?.replace(/0+$/, '') ?? ''
  return `${utc.slice(0, 16)}:${second}${digits === '' ? '' : `.${digits}`}`
}

/**
 * The comparison key of a record's timestamp: a date-time in the spelling of `timestamp`. `undefined`: the text is not
 * a date-time. Timestamps have milliseconds: finer digits, or a leap second, would compare wrongly.
 */
export function stampKey(text: string): string | undefined {
  const key = instantKey(text)
  const milliseconds = Date.parse(text)
  if (key === undefined || Number.isNaN(milliseconds) || (key.split('.')[1]?.length ?? 0) > 3) return undefined
  return timestamp(milliseconds)
}

/** A timestamp as responses have it: ISO 8601, UTC, milliseconds (RES-5). */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/**
 * The time of a date (midnight, UTC) or a date-time, in milliseconds since 1970.
 * `undefined`: the text is neither, or a leap second.
 */
export function momentOf(text: string): number | undefined {
  const whole = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text
  const milliseconds = instantKey(whole) === undefined ? Number.NaN : Date.parse(whole)
  return Number.isNaN(milliseconds) ? undefined : milliseconds
}

/** A duration that was read from a text. */
export type DurationReading =
  | { readonly kind: 'duration'; readonly milliseconds: number }
  /** The duration has years or months, whose length depends on their start. */
  | { readonly kind: 'calendar' }
  | { readonly kind: 'malformed' }

const calendar = /^P(?=[\dT])(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?$/
const fixed = /^P(?=[\dT])(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?$/

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const week = 7 * day

/**
 * Reads an ISO 8601 duration of weeks, days, hours, minutes and seconds, whole numbers each.
 *
 * @example
 * parseDuration('P1DT12H') // { kind: 'duration', milliseconds: 129_600_000 }
 */
export function parseDuration(text: string): DurationReading {
  const parts = fixed.exec(text)
  if (parts === null)
    return { kind: calendar.test(text) && /[YM]/.test(text.split('T')[0] ?? '') ? 'calendar' : 'malformed' }
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map((part) => Number(part ?? 0))
  return {
    kind: 'duration',
    milliseconds: weeks * week + days * day + hours * hour + minutes * minute + seconds * second,
  }
}

/** A duration whose months have the lengths of those that it is counted over. */
export interface Period {
  readonly months: number
  readonly milliseconds: number
}

const period = /^P(?=[\dT])(?:(\d{1,3})Y)?(?:(\d{1,4})M)?(.*)$/s

/**
 * Reads an ISO 8601 duration that may have years and months. `undefined`: the text is none.
 *
 * @example
 * parsePeriod('P1Y') // { months: 12, milliseconds: 0 }
 */
export function parsePeriod(text: string): Period | undefined {
  const [, years = 0, months = 0, rest = ''] = period.exec(text) ?? []
  const reading = parseDuration(rest === '' ? 'P0D' : `P${rest}`)
  if (!period.test(text) || reading.kind !== 'duration') return undefined
  return { months: Number(years) * 12 + Number(months), milliseconds: reading.milliseconds }
}

/**
 * The moment a period before another one, in milliseconds since 1970: a month before 31 March is the end of February.
 */
export function periodBefore(now: number, { months, milliseconds }: Period): number {
  const date = new Date(now - milliseconds)
  const day = date.getUTCDate()
  date.setUTCMonth(date.getUTCMonth() - months)
  if (date.getUTCDate() !== day) date.setUTCDate(0)
  return date.getTime()
}
