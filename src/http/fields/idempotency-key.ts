/**
 * `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07): the name that makes a request repeatable (MET-9).
 */

/** The key, or one sentence that says what is wrong. */
export type IdempotencyKey = { readonly key: string } | { readonly problem: string }

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
 * @example
 * parseIdempotencyKey('"8e03978e-40d5-43e8-bc93-6894a57f9324"') // { key: '8e03978e-40d5-43e8-bc93-6894a57f9324' }
 * parseIdempotencyKey('"a"b') // { problem: 'Idempotency-Key has something after its closing quote.' }
 */
export function parseIdempotencyKey(value: string): IdempotencyKey {
  const text = value.trim()
  if (/[^\t -~]/.test(value) || text.includes('\t')) {
    return problem('may hold visible ASCII characters and spaces only')
  }
  const key = text.startsWith('"') ? unquoted(text) : text
  if (typeof key !== 'string') return key
  if (key === '') return problem('is empty')
  if (key === text && !bare.test(key)) return problem('must stand in double quotes to hold spaces, quotes, , or ;')
  return key.length > longestKey ? problem(`may have ${longestKey} characters`) : { key }
}

function unquoted(text: string): string | { readonly problem: string } {
  const found = quoted.exec(text)
  if (found === null) {
    return badEscape.test(text)
      ? problem('has a backslash before something else than a double quote or a backslash')
      : problem('has no closing quote')
  }
  if (!parameters.test(text.slice(found[0].length))) return problem('has something after its closing quote')
  return found[1]!.replace(/\\(.)/g, '$1')
}

function problem(what: string): { readonly problem: string } {
  return { problem: `Idempotency-Key ${what}.` }
}
