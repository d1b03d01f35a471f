/** A caller's credential, in the forms that cases and reports need. */
import type { Fields } from './exchange.ts'

/** The secret itself, without the name of its scheme. */
export function keyOf(credential: Fields): string | undefined {
  const value = credential[0]?.[1]
  return value?.slice(value.indexOf(' ') + 1)
}

/** The secret with another character in its middle: at the end of an encoded text that might mean the same. */
export function altered(key: string): string {
  const middle = Math.floor(key.length / 2)
  return key.slice(0, middle) + (key[middle] === 'A' ? 'B' : 'A') + key.slice(middle + 1)
}
