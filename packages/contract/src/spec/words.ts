/** Words of sentences: lists, suggestions, and the data of issues. */

/** A list for a sentence: `a, b or c`; long lists are cut. */
export function oneOf(names: readonly string[], conjunction = 'or'): string {
  const listed = names.slice(0, 12)
  if (listed.length < names.length) return `${listed.join(', ')} … (${names.length} in all)`
  return listed.length < 2 ? listed.join('') : `${listed.slice(0, -1).join(', ')} ${conjunction} ${listed.at(-1)}`
}

/** What an unknown word may have meant. */
export interface Candidates {
  readonly near?: string | undefined
  readonly known: readonly string[]
}

/** The remedy for an unknown word: the nearest candidate, or a list of all. */
export function suggestion({ near, known }: Candidates): string {
  if (near !== undefined) return `Did you mean "${near}"?`
  return known.length === 0 ? 'Remove it.' : `Use ${oneOf(known)}.`
}

const types: Readonly<Record<string, string>> = {
  string: 'a string', integer: 'an integer', number: 'a number', boolean: 'true or false',
  array: 'an array', object: 'an object', null: 'null',
} // biome-ignore format: one row reads best

/** Descriptions of formats; other formats are named. */
const formats: Readonly<Record<string, string>> = {
  date: 'a date such as 2026-11-21', time: 'a time with its zone, such as 08:30:00Z',
  'date-time': 'a date and time with its zone, such as 2026-11-21T08:30:00Z',
  duration: 'an ISO 8601 duration such as P3D', email: 'an e-mail address', hostname: 'a host name',
  ipv4: 'an IPv4 address', ipv6: 'an IPv6 address', uuid: 'a UUID', regex: 'a regular expression',
  uri: 'an absolute URI such as https://example.org/', 'uri-reference': 'a URI or a relative reference',
  'json-pointer': 'a JSON Pointer',
} // biome-ignore format: one row reads best

/** The values of parameters. */
const values = {
  id: 'the id of a record, a lower-case UUID', event: 'the id of an event, a lower-case UUID', uuid: 'a UUID',
  boolean: 'true or false', integer: 'a whole number', number: 'a number', decimal: 'a decimal, such as 19.99',
  date: 'a date, such as 2026-11-21', 'date-time': 'a date-time, such as 2026-11-21T08:00:00Z',
  timestamp: 'a date-time of at most milliseconds, such as 2026-11-21T08:00:00.000Z',
  zone: 'the name of a time zone of the IANA database, such as Europe/Berlin',
} // biome-ignore format: one row reads best

/** The kind of value that a parameter takes. */
export type ValueKind = keyof typeof values

/** The forms of data in a text. */
const forms: Readonly<Record<string, (value: never) => string>> = {
  and: (names: readonly string[]) => oneOf(names, 'and'),
  or: (names: readonly string[]) => oneOf(names),
  suggestion,
  json: JSON.stringify,
  with: (names: readonly string[]) => (names.length === 0 ? '' : ` together with ${oneOf(names, 'and')}`),
  known: (names: readonly string[]) => (names.length === 0 ? '' : `; known are ${oneOf(names, 'and')}`),
  among: (all: readonly unknown[]) => `${all.length === 1 ? '' : 'one of '}${listed(all)}`,
  option: (text: string | undefined) => (text === undefined ? '' : `, and say --delimiter ${text}`),
  several: (text: string | undefined) => (text === undefined ? '' : ` If one is several, say --delimiter ${text}.`),
  short: (text: string) => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text),
  number: (number: number) => number.toLocaleString('en'),
  type: (names: readonly string[]) => oneOf([...new Set(names.map((name) => types[name] ?? name))]),
  format: (name: string) => formats[name] ?? `of the format ${name}`,
  value: (kind: ValueKind) => values[kind],
  record: (at: string) => (at === '' ? 'the record' : `the value at ${JSON.stringify(at)}`),
  next: (allowed: readonly string[]) => (allowed.length === 0 ? 'it is final' : `it may become ${oneOf(allowed)}`),
  folded: (isFolded: boolean) => (isFolded ? ', its case folded' : ''),
}

/** Fills in the data of a text, such as `{limit}`. */
export function filled(text: string, data: Readonly<Record<string, unknown>>): string {
  return text.replaceAll(/\{(\w+)(?::(\w+))?\}/g, (_all, name: string, form?: string) => {
    const value = data[name]
    if (form === undefined) return Array.isArray(value) ? listed(value) : word(value)
    return Object.hasOwn(forms, form) ? forms[form]!(value as never) : `${value} ${form}${value === 1 ? '' : 's'}`
  })
}

function listed(all: readonly unknown[]): string {
  const shown = all.slice(0, 20).map(word).join(', ')
  return all.length > 20 ? `${shown} and ${all.length - 20} more` : shown
}

function word(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? 'nothing' : JSON.stringify(value)
}
