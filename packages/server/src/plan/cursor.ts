/** Cursors: positions in an ordered list, sealed and bound to the list that they came from (PAG-5). */
import { hash, timingSafeEqual } from 'node:crypto'
import type { Position } from 'resourced-contract/model/predicate'
import { type Catalog, type Resource, resourceOfStored } from 'resourced-contract/model/resource'
import { fault, issue } from 'resourced-contract/spec/faults'
import type { ListQuery } from '../request/list-query.ts'
import type { Page } from './plan.ts'

const sealBytes = 16

/**
 * The text that the cursors of a list are bound to. In another version the keys of a position may have another meaning.
 *
 * @param versionCatalog the catalog of the client's version
 * @param query sort, filters and search in one spelling
 */
export function bindingOf(
  versionCatalog: Catalog,
  resource: Pick<Resource, 'name'>,
  parent: { readonly resource: Pick<Resource, 'name'>; readonly id: string } | undefined,
  query: string,
): string {
  const nameOf = ({ name }: Pick<Resource, 'name'>) => resourceOfStored(versionCatalog, name)?.name ?? name
  const above = parent === undefined ? '' : `${nameOf(parent.resource)}/${parent.id}`
  return `${versionCatalog.version} ${nameOf(resource)} ${above} ${query}`
}

/**
 * Seals a position into a cursor.
 *
 * @param secret the storage's cursor secret
 * @param binding of the list: what distinguishes it from others; the cursor opens with the same binding only
 */
export function sealCursor(secret: Uint8Array, binding: string, position: Position): string {
  const content = Buffer.from(JSON.stringify([position.direction === 'backward' ? 1 : 0, ...position.keys]))
  return Buffer.concat([seal(secret, binding, content), content]).toString('base64url')
}

/**
 * Opens a cursor.
 *
 * @throws Fault INVALID_CURSOR if it was forged, truncated, or made for another list
 */
export function openCursor(secret: Uint8Array, binding: string, cursor: string): Position {
  const bytes = Buffer.from(cursor, 'base64url')
  const content = bytes.subarray(sealBytes)
  // Decoders of base64 accept several spellings of the same bytes; only the one that was given out is valid.
  const intact = bytes.length > sealBytes && bytes.toString('base64url') === cursor
  if (!intact || !timingSafeEqual(seal(secret, binding, content), bytes.subarray(0, sealBytes))) {
    throw fault('INVALID_CURSOR', { errors: [issue('foreignCursor', { parameter: 'cursor' })] })
  }
  const [backward, ...keys] = JSON.parse(content.toString()) as [number, ...Position['keys']]
  return { direction: backward === 1 ? 'backward' : 'forward', keys }
}

/** The page that a request asks for, at the place that its cursor leads to. */
export function openPage(secret: Uint8Array, binding: string, page: ListQuery['page']): Page {
  if (page.style !== 'cursor') return page
  const { limit, cursor } = page
  return { style: 'cursor', limit, position: cursor === undefined ? undefined : openCursor(secret, binding, cursor) }
}

// SHA-512/256 is safe against length extension, so the secret before the message makes it an authentication code. An
// HMAC object for each cursor would cost more garbage collection.
function seal(secret: Uint8Array, binding: string, content: Uint8Array): Buffer {
  const bound = Buffer.from(`${Buffer.byteLength(binding)}:${binding}`)
  return hash('sha512-256', Buffer.concat([secret, bound, content]), 'buffer').subarray(0, sealBytes)
}
