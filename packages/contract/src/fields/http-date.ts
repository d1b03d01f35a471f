/** HTTP dates (RFC 9110 section 5.6.7): whole seconds since 1970, in the three forms that a recipient must read. */

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const shortDay = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const longDay = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)'
const month = `(${months.join('|')})`
const time = '(\\d\\d):(\\d\\d):(\\d\\d)'

const fixedDate = new RegExp(`^${shortDay}, (\\d\\d) ${month} (\\d{4}) ${time} GMT$`)
const rfc850Date = new RegExp(`^${longDay}, (\\d\\d)-${month}-(\\d\\d) ${time} GMT$`)
const asctimeDate = new RegExp(`^${shortDay} ${month} ([ \\d]\\d) ${time} (\\d{4})$`)

/**
 * Reads an HTTP date. The day must be in the calendar and the time on the clock (a leap second is one more second);
 * the name of the day is not compared, since ignoring `If-Unmodified-Since` for it would let a stale write through.
 *
 * @param now the moment, in milliseconds since 1970, from which a year of two digits is understood
 * @returns seconds since 1970, or `undefined`: the text is not an HTTP date
 */
export function parseHttpDate(text: string, now = Date.now()): number | undefined {
  const trimmed = text.trim()
  const fixed = fixedDate.exec(trimmed)
  if (fixed !== null) return seconds(Number(fixed[3]), fixed[2]!, fixed[1]!, fixed[4]!, fixed[5]!, fixed[6]!)
  const asctime = asctimeDate.exec(trimmed)
  if (asctime !== null)
    return seconds(Number(asctime[6]), asctime[1]!, asctime[2]!, asctime[3]!, asctime[4]!, asctime[5]!)
  const short = rfc850Date.exec(trimmed)
  if (short === null) return undefined
  const rest = [short[2]!, short[1]!, short[4]!, short[5]!, short[6]!] as const
  const thisYear = new Date(now).getUTCFullYear()
  const year = thisYear - (thisYear % 100) + Number(short[3])
  // "more than 50 years in the future" is the past: the most recent year with these digits.
  const limit = new Date(now).setUTCFullYear(thisYear + 50) / 1000
  const found = seconds(year + 100, ...rest)
  if (found !== undefined && found <= limit) return found
  const nearer = seconds(year, ...rest)
  return nearer !== undefined && nearer > limit ? seconds(year - 100, ...rest) : nearer
}

function seconds(year: number, name: string, day: string, hour: string, minute: string, second: string) {
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, months.indexOf(name), Number(day))
  if (date.getUTCMonth() !== months.indexOf(name) || date.getUTCDate() !== Number(day)) return undefined
  return date.setUTCHours(Number(hour), Number(minute), Number(second)) / 1000
}

// Many responses have one of the same few dates.
const formatted = new Map<number, string>()
const mostFormatted = 1000

/**
 * Writes the preferred form, IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
 *
 * @param moment seconds since 1970; a fraction is cut off
 */
export function formatHttpDate(moment: number): string {
  const whole = Math.floor(moment)
  const known = formatted.get(whole)
  if (known !== undefined) return known
  const text = new Date(whole * 1000).toUTCString()
  if (formatted.size >= mostFormatted) formatted.clear()
  formatted.set(whole, text)
  return text
}
