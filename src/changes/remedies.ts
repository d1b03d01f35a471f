/** What to do about a difference that breaks clients, or may. */
import type { Difference } from './finding.ts'
import type { Kind, Severity } from './kinds.ts'

const bringBack = 'Bring it back, or make a new version.'
const goOnAccepting = 'Go on accepting what was accepted, or make a new version.'
const goOnAnswering = 'Answer only what was declared before, or make a new version.'

const remedies: Partial<Readonly<Record<Kind, string>>> = {
  'version-removed': 'Serve it beside the new one until its sunset. If it is there: look at servers in the document.',
  'field-removed': 'Bring it back (a field renamed is one gone and another one new), or make a new version.',
  'field-added-required': 'Make it optional, or give it a default.',
  'field-required': 'Make it optional, or give it a default.',
  'field-optional': 'Answer with it always, or make a new version.',
  'field-read-only': goOnAccepting,
  'parameter-added-required': 'Make it optional.',
  'parameter-required': 'Leave it optional.',
  'body-required': 'Leave it optional.',
  'body-added-required': 'Make it optional.',
  'null-added': 'Answer with a value always, or make a new version.',
  'object-closed': goOnAccepting,
  'others-widened': goOnAnswering,
  'type-changed': 'Give the new type a field of its own, or make a new version.',
  'format-changed': 'Give the new format a field of its own, or make a new version.',
  'security-added': goOnAccepting,
  'condition-required': 'Leave conditions optional, or make a new version.',
  'code-removed': 'Clients may look for it. Go on answering with it, or make a new version.',
  'access-narrowed': 'Go on allowing them, or tell those who lose it: they get 403, or no longer see the records.',
  'access-changed': 'Compare the rules by hand: whoever was allowed must still be.',
  'deletion-hard': 'Keep it soft, or make a new version: what is deleted cannot be brought back or looked at.',
  'grace-shortened': 'Keep the longer time, or tell those who delete.',
  'deletion-answer': 'Keep the answer as it was, or make a new version.',
  'deletion-always-later': 'Answer at once where that was done, or make a new version.',
  'unique-added':
    'Leave it out, or make a new version: what was accepted is refused. Look whether the data has doubles.',
  'immutable-added': goOnAccepting,
  'transitions-removed': goOnAccepting,
  'owner-changed': goOnAccepting,
  'search-removed': 'Go on searching it, or make a new version: q finds less.',
  'rule-added': 'Make sure that it refuses only what was refused before, or make a new version.',
  'body-limit-lowered': goOnAccepting,
  'export-limit-lowered': goOnAccepting,
  'pattern-changed': 'Make sure that every value that was sent still matches, and that answers have no other ones.',
  'keyword-changed': 'Compare by hand: this keyword cannot be compared by a program.',
  'default-changed': 'Nothing is refused, but whoever leaves it out gets something else. Tell them.',
  'status-added': 'Make sure that clients get it only for what they could not do before.',
  'code-added': 'Make sure that it is answered only where something was refused before too.',
  'on-delete-changed': 'Tell clients: a deletion takes other records along, or clears other fields, than before.',
  'rule-changed': 'Compare by hand: what was allowed should still be.',
  'rate-lowered': 'Make sure that clients that kept to the old rate wait on 429 (Retry-After).',
  'cached-longer': 'Make sure that clients can live with older answers.',
  'deletion-sooner-later': 'Make sure that clients follow Location on 202.',
}

/** Kinds that mean one thing in a request and another in an answer. */
const narrowing: readonly Kind[] = [
  'type-narrowed',
  'null-removed',
  'values-removed',
  'values-listed',
  'limit-narrowed',
]

/** What to do about it; nothing where it does not break. */
export function remedyOf({ kind, direction }: Difference, severity: Severity): string {
  if (severity === 'compatible') return ''
  if (narrowing.includes(kind)) return goOnAccepting
  return remedies[kind] ?? (direction === 'response' && !kind.endsWith('removed') ? goOnAnswering : bringBack)
}
