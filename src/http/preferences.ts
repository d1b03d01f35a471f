/** What comes of `Prefer` (MET-8, RFC 7240): which preferences an address follows, and what it says of them. */
import { readPreferences } from './fields/prefer.ts'

// Values are compared without regard to case, as ABNF does (RFC 7240 section 4). `takes` is for people.
const known = {
  handling: { value: /^(?:strict|lenient)$/i, takes: 'strict or lenient' },
  'max-affected': { value: /^\d{1,15}$/, takes: 'a number of records' },
  'respond-async': { value: /^$/, takes: 'no value' },
  return: { value: /^(?:minimal|representation)$/i, takes: 'minimal or representation' },
  wait: { value: /^\d{1,15}$/, takes: 'a number of seconds' },
} as const

/** A preference that some address understands. */
export type PreferenceName = keyof typeof known

/** The answer that a client wants to a change (RFC 7240 section 4.2). */
export type PreferredReturn = 'minimal' | 'representation'

/** What is preferred, as far as the address understands it. */
export interface Decided {
  readonly return: PreferredReturn | undefined
  /** Whether `handling=strict` is asked for: then whatever is in `unmet` ends the request with 400. */
  readonly strict: boolean
  /**
   * Under `strict`, a sentence for each preference, or value of one, that is not understood, at most 20; else only of a
   * bound that cannot be read, for whoever sets one relies on it.
   */
  readonly unmet: readonly string[]
  /**
   * `Preference-Applied` of an answer that follows `return`, `handling` and `max-affected`; `undefined`: none was asked
   * for.
   */
  readonly applied: string | undefined
  /** Values by name, those that follow no rule left out. For `respond-async` and `max-affected`. */
  readonly values: ReadonlyMap<PreferenceName, string>
}

/**
 * Decides what a `Prefer` field asks of an address.
 *
 * @param field the value of `Prefer`
 * @param understood what the address understands beside `handling`
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

// A header of thousands of preferences is no mistake that a list of them would help with.
const mostSentences = 20

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
