/**
 * What a client prefers: the media types of `Accept` (RFC 9110 section 12.5.1), and the preferences of `Prefer` that an
 * address follows (MET-8, RFC 7240), with `Preference-Applied`.
 */
import Negotiator from 'negotiator'
import { fault, type Issue, issue } from 'resourced-contract/spec/faults'

// In characters of `Accept`. Browsers send 150, and the work grows with the number of ranges.
const longestAccept = 1000

/**
 * Whether `Accept` allows a media type: the most specific matching range counts, and weight 0 refuses. A missing field,
 * one without ranges, or one of over 1,000 characters accepts everything: a server may ignore the field. A malformed
 * range matches nothing, and a malformed weight is 0. JSON is UTF-8, so a range with `charset=utf-8` matches too.
 * Errors are sent as `application/problem+json` regardless of `Accept`.
 *
 * @param mediaType without parameters, in lower case
 */
export function accepts(accept: string | undefined, mediaType = 'application/json'): boolean {
  if (accept === undefined || accept === '*/*' || accept === mediaType) return true
  if (accept.length > longestAccept || !/[^ \t,]/.test(accept)) return true
  const available = [mediaType, `${mediaType}; charset=utf-8`]
  return new Negotiator({ headers: { accept } }).mediaTypes(available).length > 0
}

/**
 * Whether `Accept` prefers one media type to another one. Without a preference, or with equal ones for both by the same
 * range, the other one is sent.
 *
 * @example
 * prefers('text/event-stream', 'text/event-stream', 'application/json') // true
 * prefers('text/html', 'text/event-stream', 'application/json') // false
 */
export function prefers(accept: string | undefined, mediaType: string, other: string): boolean {
  if (accept === undefined || accept.length > longestAccept) return false
  return new Negotiator({ headers: { accept } }).mediaTypes([other, mediaType])[0] === mediaType
}

interface MediaRange {
  /** Without parameters, in lower case: `text/*`. */
  readonly range: string
  /** 0 (not accepted) to 1; a malformed weight is 0. */
  readonly weight: number
}

const weight = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/**
 * Reads the value of `Accept` in one pass. Malformed ranges are kept: they match no media type.
 */
export function mediaRanges(accept: string): MediaRange[] {
  return splitOutside(accept, ',').map((item) => {
    const [range = '', ...parameters] = splitOutside(item, ';').map((part) => part.trim().toLowerCase())
    const given = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    if (given === undefined) return { range, weight: 1 }
    return { range, weight: weight.test(given) ? Number(given) : 0 }
  })
}

/** Splits a list at a character, except in quoted text (section 5.6.4). */
function splitOutside(text: string, separator: string): string[] {
  if (!text.includes('"')) return text.split(separator)
  const parts: string[] = []
  let start = 0
  let quoted = false
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (character === '"') quoted = !quoted
    else if (quoted && character === '\\') index++
    else if (!quoted && character === separator) {
      parts.push(text.slice(start, index))
      start = index + 1
    }
  }
  return [...parts, text.slice(start)]
}

// Values are case-insensitive, as in ABNF (RFC 7240 section 4). `takes` is for error messages.
const known = {
  handling: { value: /^(?:strict|lenient)$/i, takes: 'strict or lenient' },
  'max-affected': { value: /^\d{1,15}$/, takes: 'a number of records' },
  'respond-async': { value: /^$/, takes: 'no value' },
  return: { value: /^(?:minimal|representation)$/i, takes: 'minimal or representation' },
  wait: { value: /^\d{1,15}$/, takes: 'a number of seconds' },
} as const

/** A preference that some address understands. */
export type PreferenceName = keyof typeof known

/** What a client prefers, as far as the address understands it. */
export interface Preferred {
  /** The response to a change (RFC 7240 section 4.2). */
  readonly return: 'minimal' | 'representation' | undefined
  /** A job, rather than waiting for it to be done. */
  readonly asynchronously: boolean
  /** The most records that may be affected; `undefined`: any number. */
  readonly most: number | undefined
}

/** The preferences of a request. */
interface Decided {
  readonly preferred: Preferred
  /**
   * `Preference-Applied` of a response that follows `return`, `handling` and `max-affected`; `undefined`: the client
   * sent none of them.
   */
  readonly applied: string | undefined
}

/**
 * Decides the preferences of a request.
 *
 * @param field the value of `Prefer`
 * @param understood the preferences that the address understands, in addition to `handling`
 * @throws Fault UNKNOWN_PREFERENCE for preferences and values that are not understood, if `handling=strict` is sent;
 *   otherwise only for a `max-affected` that cannot be read, because the client relies on it
 */
export function decidePreferences(field: string | undefined, understood: readonly PreferenceName[]): Decided {
  if (field === undefined) return nothing
  const values = new Map<PreferenceName, string>()
  const unmet: Issue[] = []
  const unreadable: Issue[] = []
  for (const [name, value] of readPreferences(field)) {
    if (name !== 'handling' && !understood.some((candidate) => candidate === name)) {
      unmet.push(issue('unknownPreference', { header: 'Prefer', name: shortened(name) }))
      continue
    }
    const { value: pattern, takes } = known[name as PreferenceName]
    if (pattern.test(value)) values.set(name as PreferenceName, value.toLowerCase())
    else {
      const wrong = issue('preferenceValue', { header: 'Prefer', name, takes })
      unmet.push(wrong)
      if (name === 'max-affected') unreadable.push(wrong)
    }
  }
  const errors = values.get('handling') === 'strict' ? unmet.slice(0, mostErrors) : unreadable
  if (errors.length > 0) throw fault('UNKNOWN_PREFERENCE', { errors })
  const most = values.get('max-affected')
  const applied = (['return', 'handling', 'max-affected'] as const).filter((name) => values.has(name))
  return {
    preferred: {
      return: values.get('return') as Preferred['return'],
      asynchronously: values.has('respond-async'),
      most: most === undefined ? undefined : Number(most),
    },
    applied: applied.length === 0 ? undefined : applied.map((name) => `${name}=${values.get(name)}`).join(', '),
  }
}

const nothing: Decided = {
  preferred: { return: undefined, asynchronously: false, most: undefined },
  applied: undefined,
}

// A longer list would not help to correct a header of thousands of preferences.
const mostErrors = 20

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/** Preferences by lower-case name; one without a value has the empty text. The first of a name counts. */
type Preferences = ReadonlyMap<string, string>

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const word = `(?:"((?:[^"\\\\]|\\\\.)*)"|(${token}))`
const preference = new RegExp(`[ \\t]*(${token})(?:[ \\t]*=[ \\t]*${word})?`, 'y')
// One parameter at a time: nested repetitions would backtrack on `;;;;`.
const parameter = /[ \t]*;[^,";]*(?:"(?:[^"\\]|\\.)*"[^,";]*)*/y
const end = /[ \t]*(?:,|$)/y

/**
 * Reads a `Prefer` value. A malformed preference and everything after it is ignored: a preference is never an error by
 * itself.
 */
export function readPreferences(text: string | undefined): Preferences {
  const preferences = new Map<string, string>()
  if (text === undefined) return preferences
  let index = 0
  while (index < text.length) {
    preference.lastIndex = index
    const found = preference.exec(text)
    if (found === null) break
    index = preference.lastIndex
    for (parameter.lastIndex = index; parameter.test(text); ) index = parameter.lastIndex
    end.lastIndex = index
    if (!end.test(text)) break
    index = end.lastIndex
    const name = found[1]!.toLowerCase()
    const value = found[2]?.replace(/\\(.)/g, '$1') ?? found[3] ?? ''
    if (!preferences.has(name)) preferences.set(name, value)
  }
  return preferences
}
