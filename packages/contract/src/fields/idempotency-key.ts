/**
 * `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07): the name that makes a request repeatable (MET-9).
 */
import { type Fault, fault, type Issue, issue } from '../spec/faults.ts'

/** The most characters that a key may have, its quotes and escapes not counted. */
export const longestKey = 255

// sf-string (RFC 9651 section 3.3.3): a backslash escapes a double quote or itself, and nothing else.
const quoted = /^"((?:[^"\\]|\\["\\])*)"/
const badEscape = /^"(?:[^"\\]|\\["\\])*\\[^"\\]/
// Parameters (section 3.1.2): the draft defines none, so that all are ignored.
const parameters = /^(?: *; *[a-z*][a-z0-9_.*-]*(?:=(?:"(?:[^"\\]|\\["\\])*"|[^ ",;]+))?)*$/
// A bare key must not contain characters with a meaning in structured fields: `a, b` may be two fields joined.
const bare = /^[^ ",;]+$/

/**
 * Reads the value of `Idempotency-Key`: a String in double quotes, as the draft has it, or the same text without
 * quotes, as many clients send it. Both give the same key.
 *
 * @throws Fault INVALID_IDEMPOTENCY_KEY that says what is wrong with the value
 * @example
 * parseIdempotencyKey('"8e03978e-40d5-43e8-bc93-6894a57f9324"') // 8e03978e-40d5-43e8-bc93-6894a57f9324
 */
export function parseIdempotencyKey(value: string): string {
  const text = value.trim()
  if (/[^\t -~]/.test(value) || text.includes('\t')) {
    throw invalid(issue('keyCharacters', place))
  }
  const key = text.startsWith('"') ? unquoted(text) : text
  if (key === '') throw invalid(issue('keyEmpty', place))
  if (key === text && !bare.test(key)) throw invalid(issue('keyUnquoted', place))
  if (key.length > longestKey) throw invalid(issue('maxLength', { ...place, limit: longestKey }))
  return key
}

function unquoted(text: string): string {
  const found = quoted.exec(text)
  if (found === null) {
    throw invalid(issue(badEscape.test(text) ? 'keyEscape' : 'keyUnclosed', place))
  }
  if (!parameters.test(text.slice(found[0].length))) throw invalid(issue('keyRest', place))
  return found[1]!.replace(/\\(.)/g, '$1')
}

const place = { code: 'INVALID_IDEMPOTENCY_KEY', header: 'Idempotency-Key' }

function invalid(found: Issue): Fault {
  return fault('INVALID_IDEMPOTENCY_KEY', { errors: [found] })
}
