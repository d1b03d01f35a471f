/** Moments as they are typed: in the reader's time zone, to the millisecond. */

/** @returns such as `2027-01-31T09:30:00.000`; `undefined` if a calendar with years of four digits does not have it */
export function localTime(moment: string): string | undefined {
  const time = new Date(moment)
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000)
  if (Number.isNaN(local.getTime())) return undefined
  const text = local.toISOString().slice(0, 23)
  return /^[1-9]\d{3}-/.test(text) ? text : undefined
}

/**
 * The moment that somebody typed, in UTC.
 *
 * @param before an earlier moment: it is returned unchanged if the text still says the same. A local time in the hour
 *   that clocks repeat in autumn stands for two moments, and a moment may be more exact than its text.
 */
export function momentOf(local: string, before?: string): string | undefined {
  const time = new Date(local).getTime()
  if (before !== undefined && new Date(localTime(before) ?? '').getTime() === time) return before
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
