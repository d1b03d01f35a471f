/** A JWK Set (RFC 7517 section 5) as text -> as a value. */
import type { JSONWebKeySet } from 'jose'

/** Issuers publish a handful. A token that names none may have to be tried with each. */
const mostKeys = 100

/**
 * Reads a set of keys. What each key is worth shows when a token names it.
 *
 * @throws Error that says what is wrong with it
 */
export function readKeySet(text: string): JSONWebKeySet {
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    throw new Error('it is not JSON')
  }
  const keys = isObject(read) ? read['keys'] : undefined
  if (!Array.isArray(keys) || !keys.every(isObject)) {
    throw new Error('it is not a JWK Set, an object with an array of keys in "keys"')
  }
  if (keys.length > mostKeys) throw new Error(`it has more than ${mostKeys} keys`)
  return { keys } as unknown as JSONWebKeySet
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
