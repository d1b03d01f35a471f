/** Makes records, refers to them, and deletes and changes them by filter, in every way. */
import type { Action } from 'resourced-contract/model/declaration'
import type { Sent } from '../harness.ts'
import { type Caller, callers, strangers } from './callers.ts'
import type { Cells } from './cells.ts'
import type { Subject } from './forms.ts'
import { type Kind, kinds, nowhere, type Room } from './room.ts'
import { collectionOf, freeLink, linkTo } from './vault.ts'

/** What is sent of a record that is to be made. */
interface Draft extends Omit<Subject, 'owner_id'> {
  readonly name: string
}

const drafts: readonly Draft[] = [
  { name: 'closed', level: 'closed', holder: null, parentOwner: undefined },
  { name: 'open', level: 'open', holder: 'bob', parentOwner: undefined },
  { name: 'held by blue', level: 'closed', holder: 'blue', parentOwner: undefined },
  { name: 'child of own', level: 'closed', holder: 'ann', parentOwner: 'ann' },
  { name: "child of other's", level: 'open', holder: 'eve', parentOwner: 'bob' },
]

/** Does all of it as everybody. */
export async function checkCreateWays(room: Room, cells: Cells): Promise<void> {
  for (const caller of [...callers, ...strangers]) {
    for (const draft of drafts) {
      await checkCreation(room, cells, caller, draft, 'POST')
      await checkCreation(room, cells, caller, draft, 'POST of an array')
      await checkCreation(room, cells, caller, draft, 'POST in a transaction')
      await checkCreation(room, cells, caller, draft, 'PUT by code')
      await checkCreation(room, cells, caller, draft, 'PUT of an array by code')
      await checkCreation(room, cells, caller, draft, 'POST of a taken code')
      await checkCreation(room, cells, caller, draft, 'POST that is invalid')
      await checkCreation(room, cells, caller, draft, 'nested POST')
      await checkCreation(room, cells, caller, draft, 'nested POST under missing')
    }
    for (const guarded of ['read', 'update'] as const) await checkReferences(room, cells, caller, guarded)
    await checkDeletionByFilter(room, cells, caller)
    for (const guarded of ['read', 'update'] as const) await checkChangeByFilter(room, cells, caller, guarded)
  }
}

type CreateWay =
  | 'POST'
  | 'POST of an array'
  | 'POST in a transaction'
  | 'PUT by code'
  | 'PUT of an array by code'
  | 'POST of a taken code'
  | 'POST that is invalid'
  | 'nested POST'
  | 'nested POST under missing'

async function checkCreation(room: Room, cells: Cells, caller: Caller, draft: Draft, way: CreateWay): Promise<void> {
  const isNested = way.startsWith('nested')
  if (isNested && draft.parentOwner === undefined) return
  const { name, parentOwner, ...values } = draft
  const cell = `${room.form.name} for create, ${caller.name}, ${way} of ${name}`
  if (!cells.includes(cell)) return
  const parent_id = room.parents.get(parentOwner ?? '') ?? null
  const above = isNested ? `/parents/${way === 'nested POST' ? parent_id : nowhere}` : ''
  const body = {
    ...{ title: `made ${room.next()}`, ...values, ...(isNested ? {} : { parent_id }) },
    ...(way === 'POST of a taken code' && { code: 'taken' }),
    ...(way.startsWith('PUT') && { code: `made ${room.next()}` }),
    ...(way === 'POST that is invalid' && { count: 'many', colour: 1 }),
  }
  const path = `${above}/${collectionOf('create')}`
  const answer = await room.send(caller, sentBy(way, path, body))
  const { json } = answer
  const made = json?.data?.[0] ?? json?.results?.[0]?.body ?? json
  const came = answer.status < 300 ? `201 of ${made.owner_id}` : String(answer.status)
  cells.check(cell, creationOf(room, caller, draft, way), came)
}

function sentBy(way: CreateWay, path: string, body: { readonly code?: string }): Sent {
  if (way === 'PUT by code') {
    return { method: 'PUT', path: `/v2${path}?code=${encodeURIComponent(String(body.code))}`, body }
  }
  if (way === 'PUT of an array by code') return { method: 'PUT', path: `/v2${path}?key=code`, body: [body] }
  if (way === 'POST in a transaction') {
    return { path: '/v2/transactions', body: { operations: [{ method: 'POST', path, body }] } }
  }
  return { path: `/v2${path}`, body: way === 'POST of an array' ? [body] : body }
}

function creationOf(room: Room, caller: Caller, draft: Draft, way: CreateWay): string {
  if (!caller.isAuthenticated) return '401'
  if (!room.lets(caller, 'create', 'create')) return '403'
  if (way === 'nested POST under missing') return '404'
  const readsParent = room.readsParent(caller, draft)
  if (way === 'nested POST' && !readsParent) return '403'
  // A parent that the caller may not read counts as not there, also where it decides about the permission (AUT-5).
  const isUnread = !readsParent
  if (!room.allows(caller, 'create', 'create', { ...draft, owner_id: caller.id })) {
    return isUnread && room.form.isThrough === true ? '400' : '403'
  }
  if (isUnread || way === 'POST that is invalid') return '400'
  return way === 'POST of a taken code' ? '409' : `201 of ${caller.id}`
}

const linking = ['POST', 'PUT', 'PATCH', 'JSON Patch'] as const

/** A reference leads to live records that the caller may read; without that need, to all live ones (AUT-5). */
async function checkReferences(room: Room, cells: Cells, caller: Caller, guarded: Action): Promise<void> {
  for (const kind of [...kinds, undefined]) {
    let id = kind === undefined ? nowhere : undefined
    const isLive = kind?.isDeleted === false
    const isReadable = isLive && room.allows(caller, 'read', guarded, kind)
    for (const field of guarded === 'read' ? [linkTo(guarded), freeLink] : [linkTo(guarded)]) {
      const isThere = field === freeLink ? isLive : isReadable
      const about = `${field} refers to ${kind?.name ?? 'missing'}`
      // Strangers get the same for each.
      for (const way of guarded === 'read' && caller.isAuthenticated ? linking : (['POST'] as const)) {
        const cell = `${room.form.name} for ${guarded}, ${caller.name}, ${way}: ${about}`
        if (!cells.includes(cell)) continue
        id ??= await room.put(guarded, kind as Kind)
        const { status, text } = await room.send(caller, await linkSent(room, way, field, id))
        const done = way === 'POST' ? '201' : '200'
        const expected = !caller.isAuthenticated ? '401' : isThere ? done : '400'
        const shows = text.includes(`"title":"${kind?.name}"`) ? ' with what it refers to' : ''
        cells.check(cell, expected, `${status}${shows}`)
      }
    }
  }
}

async function linkSent(room: Room, way: (typeof linking)[number], field: string, id: string): Promise<Sent> {
  if (way === 'POST') return { path: '/v2/links', body: { [field]: id } }
  const path = `/v2/links/${await room.link()}`
  if (way !== 'JSON Patch') return { method: way, path, body: { [field]: id } }
  const headers = { 'content-type': 'application/json-patch+json' }
  return { method: 'PATCH', path, headers, body: [{ op: 'add', path: `/${field}`, value: id }] }
}

async function checkDeletionByFilter(room: Room, cells: Cells, caller: Caller): Promise<void> {
  const cell = `${room.form.name} for delete, ${caller.name}, deletion by filter`
  if (!cells.includes(cell)) return
  const title = `to delete ${room.next()}`
  const ids = new Map<string, string>()
  for (const kind of kinds) ids.set(kind.name, await room.put('delete', kind, title))
  const live = kinds.filter(({ isDeleted }) => !isDeleted)
  const path = `/v2/${collectionOf('delete')}?title=${encodeURIComponent(title)}`
  const { status, json } = await room.send(caller, { method: 'DELETE', path })
  const going = live.filter((kind) => caller.isAuthenticated && room.allows(caller, 'delete', 'delete', kind))
  const left = live.filter((kind) => !going.includes(kind)).map(({ name }) => name)
  const stays: string[] = []
  for (const { name } of live) {
    if ((await room.look('delete', ids.get(name) as string)) !== undefined) stays.push(name)
  }
  const refusal = !caller.isAuthenticated ? '401' : room.lets(caller, 'delete', 'delete') ? undefined : '403'
  const count = status === 200 ? ` ${json.deleted_count}` : ''
  cells.check(cell, `${refusal ?? `200 ${going.length}`} (${left})`, `${status}${count} (${stays})`)
}

/** Every match is changed that the caller may read and update (BLK-3). */
async function checkChangeByFilter(
  room: Room,
  cells: Cells,
  caller: Caller,
  guarded: 'read' | 'update',
): Promise<void> {
  const cell = `${room.form.name} for ${guarded}, ${caller.name}, change by filter`
  if (!cells.includes(cell)) return
  const title = `to change ${room.next()}`
  const before = new Map<string, string | undefined>()
  for (const kind of kinds) {
    const id = await room.put(guarded, kind, title)
    before.set(id, await room.look(guarded, id))
  }
  const path = `/v2/${collectionOf(guarded)}?title=${encodeURIComponent(title)}`
  const { status, json } = await room.send(caller, { method: 'PATCH', path, body: { count: room.next() } })
  const lets = room.lets(caller, 'read', guarded) && room.lets(caller, 'update', guarded)
  const refusal = !caller.isAuthenticated ? '401' : lets ? undefined : '403'
  const mayChange = (kind: Kind) =>
    !kind.isDeleted && room.allows(caller, 'read', guarded, kind) && room.allows(caller, 'update', guarded, kind)
  const changing = kinds.filter((kind) => refusal === undefined && mayChange(kind)).map(({ name }) => name)
  const changed: string[] = []
  for (const [index, [id, text]] of [...before].entries()) {
    if ((await room.look(guarded, id)) !== text) changed.push((kinds[index] as Kind).name)
  }
  const count = status === 200 ? ` ${json.updated_count}` : ''
  cells.check(cell, `${refusal ?? `200 ${changing.length}`} (${changing})`, `${status}${count} (${changed})`)
}
