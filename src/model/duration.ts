/** Durations as declarations write them: ISO 8601, of lengths that are always the same. */

/** What a text says as a duration. */
export type DurationReading =
  | { readonly kind: 'duration'; readonly milliseconds: number }
  /** It counts years or months, whose length depends on when they begin. */
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
