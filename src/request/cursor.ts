/** Cursors: a place in an ordered list, sealed and bound to the list it came from (PAG-5). */
import { hash, timingSafeEqual } from 'node:crypto'
import type { Position } from '../model/predicate.ts'
import { fault } from '../spec/faults.ts'

const sealBytes = 16

/**
 * Seals a position into a cursor.
 *
 * @param secret the storage's cursor secret
 * @param binding what the cursor belongs to: collection, parent, sort, filters, search; only with the same can it be opened
 */
export function sealCursor(secret: Uint8Array, binding: string, position: Position): string {
  const content = Buffer.from(JSON.stringify([position.direction === 'backward' ? 1 : 0, ...position.keys]))
  return Buffer.concat([seal(secret, binding, content), content]).toString('base64url')
}

/**
 * Opens a cursor.
 *
 * @throws Fault INVALID_CURSOR where it was forged, cut, or made for another list
 */
export function openCursor(secret: Uint8Array, binding: string, cursor: string): Position {
  const bytes = Buffer.from(cursor, 'base64url')
  const content = bytes.subarray(sealBytes)
  // Only the spelling that was given out counts: base64 decoders forgive too much.
  const intact = bytes.length > sealBytes && bytes.toString('base64url') === cursor
  if (!intact || !timingSafeEqual(seal(secret, binding, content), bytes.subarray(0, sealBytes))) {
    throw fault('INVALID_CURSOR', {
      detail: 'Send a cursor as it was given, with the same sort, filters and search; or start again without one.',
      errors: [{ code: 'INVALID_CURSOR', message: 'The cursor does not belong to this list.', parameter: 'cursor' }],
    })
  }
  const [backward, ...keys] = JSON.parse(content.toString()) as [number, ...Position['keys']]
  return { direction: backward === 1 ? 'backward' : 'forward', keys }
}

// SHA-512/256 gives nothing from which it could be continued, so a key before the message makes it a code of
// authentication. In one call: a million HMAC objects a minute would wait for the garbage collector.
function seal(secret: Uint8Array, binding: string, content: Uint8Array): Buffer {
  const bound = Buffer.from(`${Buffer.byteLength(binding)}:${binding}`)
  return hash('sha512-256', Buffer.concat([secret, bound, content]), 'buffer').subarray(0, sealBytes)
}
