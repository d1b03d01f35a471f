/** Asks for many records in every way, and says which of them must be there (AUT-4, AUT-6). */
import type { Action } from 'resourced-contract/model/declaration'
import { callers, strangers } from './callers.ts'
import type { Cells } from './cells.ts'
import { type Answer, deletedToo, type List, listWays, pageOf, type Way } from './list-ways.ts'
import { kinds, nowhere, type Room } from './room.ts'
import { collectionOf } from './vault.ts'

/** Asks for the records of every kind in every way, with the deleted ones and without. */
export async function checkListWays(room: Room, cells: Cells): Promise<void> {
  for (const guarded of ['read', 'readDeleted'] as const) {
    for (const kind of kinds) await room.put(guarded, kind)
    for (const caller of [...callers, ...strangers]) {
      for (const way of listWays) {
        if (guarded === 'read') await checkCell(cells, { room, guarded, caller }, way, false)
        if (deletedToo.has(way.name)) await checkCell(cells, { room, guarded, caller }, way, true)
      }
    }
  }
}

async function checkCell(cells: Cells, asked: Omit<List, 'path'>, way: Way, withDeleted: boolean): Promise<void> {
  const { room, guarded, caller } = asked
  const name = `${room.form.name} for ${guarded}, ${caller.name}, ${way.name}${withDeleted ? ' with deleted' : ''}`
  if (!cells.includes(name)) return
  const query = [...(way.query ? [way.query] : []), ...(withDeleted ? ['include_deleted=true'] : [])].join('&')
  const above = way.under === undefined ? '' : `/parents/${room.parents.get(way.under) ?? nowhere}`
  const list = { ...asked, path: `/v2${above}/${collectionOf(guarded)}` }
  const ask = way.ask ?? (async () => pageOf(await room.send(caller, { path: `${list.path}?${query}` })))
  const came = await ask(list, query)
  const expected = expectationOf(asked, way, withDeleted)
  cells.check(name, textOf(expected), textOf(came))
}

function expectationOf({ room, guarded, caller }: Omit<List, 'path'>, way: Way, withDeleted: boolean): Answer {
  if (!caller.isAuthenticated) return { status: 401 }
  const needed: readonly Action[] = withDeleted ? ['read', 'readDeleted'] : ['read']
  if (!needed.every((action) => room.lets(caller, action, guarded))) return { status: 403 }
  if (way.under === 'missing') return { status: 404 }
  // Parents are read by their owners and by administrators.
  if (way.under !== undefined && !caller.isAdministrator && caller.id !== way.under) return { status: 403 }
  if (way.status !== undefined) return { status: way.status }
  const visible = kinds.filter((kind) => {
    if (kind.isDeleted && !withDeleted) return false
    // What is deleted must be readable too, as it was (AUT-9).
    const allowed = room.allows(caller, 'read', guarded, kind)
    const isShown = allowed && (!kind.isDeleted || room.allows(caller, 'readDeleted', guarded, kind))
    return (way.matches?.(kind) ?? true) && isShown
  })
  return { status: 200, titles: visible.map(({ name }) => name), total: visible.length }
}

function textOf({ status, titles, total }: Answer): string {
  return titles === undefined ? String(status) : `${status} ${total} (${titles.toSorted().join(', ')})`
}
