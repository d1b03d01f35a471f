/** Decides which preferences of `Prefer` an address follows (MET-8, RFC 7240), and `Preference-Applied`. */
import { readPreferences } from './fields/prefer.ts'

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

/** The response that a client prefers to a change (RFC 7240 section 4.2). */
export type PreferredReturn = 'minimal' | 'representation'

/** The preferences that the address understands. */
export interface Decided {
  readonly return: PreferredReturn | undefined
  /** Whether the client sent `handling=strict`: then each sentence in `unmet` is a reason for 400. */
  readonly strict: boolean
  /**
   * Under `strict`, a sentence for each unknown preference or value, at most 20. Otherwise only for a `max-affected`
   * that cannot be read, because the client relies on it.
   */
  readonly unmet: readonly string[]
  /**
   * `Preference-Applied` of a response that follows `return`, `handling` and `max-affected`; `undefined`: the client
   * sent none of them.
   */
  readonly applied: string | undefined
  /** The valid values by name, for `respond-async` and `max-affected`. */
  readonly values: ReadonlyMap<PreferenceName, string>
}

/**
 * Decides the preferences of a request.
 *
 * @param field the value of `Prefer`
 * @param understood the preferences that the address understands, in addition to `handling`
 */
export function decidePreferences(field: string | undefined, understood: readonly PreferenceName[]): Decided {
  if (field === undefined) return nothing
  const values = new Map<PreferenceName, string>()
  const unmet: string[] = []
  const unreadable: string[] = []
  for (const [name, value] of readPreferences(field)) {
    if (name !== 'handling' && !understood.some((candidate) => candidate === name)) {
      unmet.push(`This address does not understand the preference ${shortened(name)}.`)
      continue
    }
    const { value: pattern, takes } = known[name as PreferenceName]
    if (pattern.test(value)) values.set(name as PreferenceName, value.toLowerCase())
    else {
      const sentence = `The preference ${name} takes ${takes}.`
      unmet.push(sentence)
      if (name === 'max-affected') unreadable.push(sentence)
    }
  }
  const strict = values.get('handling') === 'strict'
  const applied = (['return', 'handling', 'max-affected'] as const).filter((name) => values.has(name))
  return {
    return: values.get('return') as PreferredReturn | undefined,
    strict,
    unmet: strict ? unmet.slice(0, mostSentences) : unreadable,
    applied: applied.length === 0 ? undefined : applied.map((name) => `${name}=${values.get(name)}`).join(', '),
    values,
  }
}

const nothing: Decided = { return: undefined, strict: false, unmet: [], applied: undefined, values: new Map() }

// A longer list helps nobody to correct a header of thousands of preferences.
const mostSentences = 20

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
