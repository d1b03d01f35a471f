/** API keys: 256 random bits with a checksum; only their SHA-256 is ever stored (AUT-2, SEC-3). */
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const form = /^rsk_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

/**
 * Makes a key: `rsk_`, 43 characters of 256 random bits, 6 of checksum.
 * The prefix and the checksum let secret scanners recognise a leaked key without asking anyone.
 */
export function newKey(): string {
  const random = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), 43)
  return `rsk_${random}${checksum(random)}`
}

/** Whether a text has the form of a key, checksum included: forged ones cost no look-up. */
export function isKey(text: string): boolean {
  const parts = form.exec(text)
  return parts !== null && checksum(parts[1] as string) === parts[2]
}

/** What is stored of a key, hexadecimal. The key has 256 random bits: it needs no salt and no slow hash. */
export function hashOfKey(key: string): string {
  return hash('sha256', key)
}

/** The part of a key that people may see, to tell keys apart. */
export function hintOfKey(key: string): string {
  return key.slice(0, 8)
}

function checksum(random: string): string {
  return base62(BigInt(crc32(random)), 6)
}

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = alphabet[Number(rest % 62n)] + text
  return text
}
