/** The requests that delete several records, and the sum of their previews. */
import type { Collection } from '../interface/catalog.ts'
import type { Connection } from '../interface/connection.tsx'
import { recordPath } from '../interface/records.ts'
import type { ApiResponse } from '../interface/send.ts'
import type { Blocker, Preview } from './deletion.ts'

/** The records of each request. */
export function chunksOf(ids: readonly string[], { deletion }: Collection): string[][] {
  const size = deletion?.bulk || 1
  return Array.from({ length: Math.ceil(ids.length / size) }, (_, part) => ids.slice(part * size, (part + 1) * size))
}

export function deleteChunk({ send }: Connection, collection: Collection, ids: string[]): Promise<ApiResponse> {
  const { name, path, deletion, preconditions } = collection
  if (deletion?.bulk) return send({ method: 'POST', path: `${path}/bulk-delete`, body: { ids } })
  const headers: Record<string, string> = preconditions === 'required' ? { 'If-Match': '*' } : {}
  return send({ method: 'DELETE', path: recordPath(name, ids[0] as string), headers })
}

/** @returns `null` if records are deleted one by one */
export async function previewOf({ send }: Connection, collection: Collection, ids: readonly string[]) {
  if (!collection.deletion?.bulk) return null
  const previews: Preview[] = []
  for (const chunk of chunksOf(ids, collection)) {
    const path = `${collection.path}/bulk-delete`
    const { body } = await send<Preview>({ method: 'POST', path, body: { ids: chunk, dry_run: true } })
    previews.push({ ...body, blocked_by: blockersIn(body.blocked_by, chunk) })
  }
  return sumOf(previews)
}

function sumOf(previews: readonly Preview[]): Preview {
  return {
    allowed: previews.every(({ allowed }) => allowed),
    deletes: added(previews.flatMap(({ deletes }) => deletes)),
    clears: added(previews.flatMap(({ clears }) => clears)),
    blocked_by: previews.flatMap((each) => each.blocked_by),
    complete: previews.every(({ complete }) => complete),
    purged_at: previews[0]?.purged_at ?? null,
  }
}

/** Adds the counts of the same collection and field. */
function added<Count extends { readonly collection: string; readonly field?: string; readonly count: number }>(
  counts: readonly Count[],
): Count[] {
  const sums = new Map<string, Count>()
  for (const each of counts) {
    const key = `${each.collection} ${each.field}`
    sums.set(key, { ...each, count: each.count + (sums.get(key)?.count ?? 0) })
  }
  return [...sums.values()]
}

/** Pointers like `/ids/3` as the records that they mean. */
export function blockersIn(blockers: readonly Blocker[], ids: readonly string[]): Blocker[] {
  return blockers.map((each) => {
    const place = /^\/ids\/(\d+)$/.exec(each.pointer ?? '')?.[1]
    return { ...each, blocked: place === undefined && ids.length > 1 ? undefined : ids[Number(place ?? 0)] }
  })
}
