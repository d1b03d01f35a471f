/** The forms in which people write numbers and dates, each given by a sample: `1.234,50`, `DD.MM.YYYY`. */

/** Reads a text of a form; `undefined`: the text does not have the form. */
export type ReadText = (text: string) => string | undefined

/** The samples that error messages suggest. */
export const sampleNumbers = '1,234.50, 1.234,50, 1 234,50 or 1234.50'
export const samplePatterns = 'DD.MM.YYYY, MMM D YYYY, M/D/YYYY or YYYY-MM-DD HH:mm:ss'

/** Separators of thousands that look alike. */
const alike: Readonly<Record<string, string>> = { ' ': ' \u00a0\u202f', "'": "'’" }

/**
 * The form of a sample of a number: how it separates thousands and decimals. The result is a number of JSON.
 *
 * @returns `undefined` if the sample is not the number 1234 with or without decimals
 *
 * @example
 * numberForm('1.234,50')?.('12.345,6') // '12345.6'
 */
export function numberForm(sample: string): ReadText | undefined {
  const parts = /^1([.,'’ \u00a0\u202f]?)234(?:([.,])\d+)?$/.exec(sample.trim())
  if (parts === null || (parts[1] !== '' && parts[1] === parts[2])) return undefined
  const [, group = '', point] = parts
  const separators = Object.values(alike).find((each) => group !== '' && each.includes(group)) ?? group
  const grouped = group === '' ? '' : `\\d{1,3}(?:[${separators}]\\d{3})+|`
  const decimals = point === undefined ? '' : `(?:[${point}](\\d+))?`
  const form = new RegExp(`^([-−]?)(${grouped}\\d+)${decimals}$`)
  return (text) => {
    const [, sign, whole = '', fraction] = form.exec(text.trim()) ?? []
    const digits = whole.replace(/\D/g, '')
    if (sign === undefined || /^0\d/.test(digits)) return undefined
    return `${sign === '' ? '' : '-'}${digits}${fraction === undefined ? '' : `.${fraction}`}`
  }
}

const months = 'january february march april may june july august september october november december'.split(' ')

const tokens: Readonly<Record<string, { readonly part: string; readonly form: string }>> = {
  YYYY: { part: 'year', form: String.raw`\d{4}` },
  MMMM: { part: 'month', form: '[a-z]+' },
  MMM: { part: 'month', form: String.raw`[a-z]+\.?` },
  MM: { part: 'month', form: String.raw`\d\d` },
  M: { part: 'month', form: String.raw`\d\d?` },
  DD: { part: 'day', form: String.raw`\d\d` },
  D: { part: 'day', form: String.raw`\d\d?` },
  HH: { part: 'hour', form: String.raw`\d\d` },
  H: { part: 'hour', form: String.raw`\d\d?` },
  mm: { part: 'minute', form: String.raw`\d\d` },
  ss: { part: 'second', form: String.raw`\d\d` },
  Z: { part: 'zone', form: String.raw`z|[+-]\d\d:?\d\d` },
}

/**
 * The form of a date, of the tokens YYYY, MMMM (January), MMM (Jan), MM, M, DD, D, HH, H, mm, ss and Z. A time without
 * a zone is in UTC. The result is a date, or a date-time if `hasTime`.
 *
 * @returns `undefined` if the pattern has other letters, a part twice, or no year, month or day
 *
 * @example
 * dateForm('MMM D YYYY', false)?.('Jan 1 2000') // '2000-01-01'
 */
export function dateForm(pattern: string, hasTime: boolean): ReadText | undefined {
  const parts = new Set<string>()
  let source = ''
  for (const [piece] of pattern.trim().matchAll(/Y+|M+|D+|H+|m+|s+|Z|T|[^A-Za-z]+|[A-Za-z]/g)) {
    const token = tokens[piece]
    if (token === undefined && /^[A-SU-Za-z]/.test(piece)) return undefined
    if (token !== undefined && parts.has(token.part)) return undefined
    if (token !== undefined) parts.add(token.part)
    source += token === undefined ? RegExp.escape(piece) : `(?<${token.part}>${token.form})`
  }
  if (!['year', 'month', 'day'].every((part) => parts.has(part))) return undefined
  const form = new RegExp(`^${source}$`, 'i')
  return (text) => {
    const found = form.exec(text.trim())?.groups
    const date = found === undefined ? undefined : dateOf(found)
    return found === undefined || date === undefined || !hasTime ? date : `${date}T${timeOf(found)}`
  }
}

type Parts = Readonly<Record<string, string>>

function dateOf({ year = '', month = '', day = '' }: Parts): string | undefined {
  const number = /^\d/.test(month) ? Number(month) : monthOf(month)
  const date = new Date(0)
  date.setUTCFullYear(Number(year), number - 1, Number(day))
  const isReal = date.getUTCMonth() === number - 1 && date.getUTCDate() === Number(day)
  return isReal ? `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}` : undefined
}

/** The number of an English name of a month; 0: it is none. */
function monthOf(name: string): number {
  const word = name.toLowerCase().replace('.', '')
  return word.length < 3 ? 0 : months.findIndex((month) => month.startsWith(word)) + 1
}

function timeOf({ hour = '00', minute = '00', second = '00', zone = 'Z' }: Parts): string {
  const offset = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase()
  return `${hour.padStart(2, '0')}:${minute}:${second}${offset}`
}
