/** Every way to one record, and what is answered once everything that it needs is permitted. */
import type { Action } from 'resourced-contract/model/declaration'
import type { Sent } from '../harness.ts'
import type { Caller } from './callers.ts'
import type { Subject } from './forms.ts'
import type { Kind, Room } from './room.ts'
import { collectionOf } from './vault.ts'

/** A record that a request is about. */
export interface Aim {
  readonly room: Room
  readonly guarded: Action
  readonly id: string
  /** `undefined`: missing. */
  readonly kind: Kind | undefined
}

/** What becomes of the record. */
export type Effect = 'kept' | 'changed' | 'gone' | 'back'

/** What is answered once everything is permitted. */
export interface Success {
  readonly status: number
  readonly effect: Effect
  /** Whether the caller may read what a change has made; `undefined`: nothing is made. */
  readonly isReadable?: boolean
}

export interface Way {
  readonly name: string
  /** What has to be permitted, all of it. */
  readonly needs: readonly Action[]
  /** In which collections it is tried beside those of `needs`: where the answer depends on more. */
  readonly also?: readonly Action[]
  readonly sent: (aim: Aim) => Sent
  readonly success: (aim: Aim, caller: Caller) => Success
  /** It is about deleted records. */
  readonly isForDeleted?: boolean
  /** It is tried on live records alone: on others it is answered as its method is anyway. */
  readonly isForLive?: boolean
}

const at = ({ guarded, id }: Aim, version = 'v2') => `/${version}/${collectionOf(guarded)}/${id}`
const answers =
  (status: number, effect: Effect = 'kept') =>
  () => ({ status, effect })
const patchType = { 'content-type': 'application/json-patch+json' }

/** A change is answered with the record to those who may read it, and otherwise with nothing. */
const shown =
  (effect: Effect) =>
  ({ room, guarded, kind }: Aim, caller: Caller): Success => {
    const isReadable = kind !== undefined && room.allows(caller, 'read', guarded, kind)
    return { status: isReadable ? 200 : 204, effect, isReadable }
  }

const mistaken: Success = { status: 400, effect: 'kept' }

/**
 * Whether a change sets a parent that the caller may not read (AUT-5). A value that is sent for a record that the
 * caller may not read counts as a change (AUT-9).
 */
function setsUnread({ room, guarded, kind }: Aim, caller: Caller, made: Pick<Subject, 'parentOwner'>): boolean {
  const isSame = kind?.parentOwner === made.parentOwner && room.allows(caller, 'read', guarded, kind as Kind)
  return !isSame && !room.readsParent(caller, made)
}

const whole = ({ room, kind }: Aim) => {
  const { level = 'open', holder = null, parentOwner = '' } = kind ?? {}
  return { title: 'put', level, holder, count: room.next(), parent_id: room.parents.get(parentOwner) ?? null }
}

const operations = ({ room, kind }: Aim, level: unknown = kind?.level ?? 'open') => [
  { op: 'test', path: '/level', value: level },
  { op: 'copy', from: '/level', path: '/title' },
  { op: 'add', path: '/count', value: room.next() },
]

const changing = (name: string, method: string, body: (aim: Aim) => unknown, more: Partial<Way & Sent> = {}): Way => ({
  name,
  needs: ['update'],
  sent: (aim) => ({ method, path: at(aim), body: body(aim), ...(more.headers && { headers: more.headers }) }),
  success: shown('changed'),
  ...more,
})

/** A record as it is to become; an owner is assigned by administrators alone. */
type Next = Partial<Omit<Subject, 'owner_id'>>

/** How a change is sent. */
const methods = {
  PATCH: (aim: Aim, body: object): Sent => ({ method: 'PATCH', path: at(aim), body }),
  PUT: (aim: Aim, body: object): Sent => {
    const { parent_id, ...kept } = whole(aim)
    const nested = aim.kind?.parentOwner === undefined ? {} : { parent_id }
    return { method: 'PUT', path: at(aim), body: { ...kept, ...nested, ...body } }
  },
  'JSON Patch': (aim: Aim, body: object): Sent => {
    const changes = Object.entries(body).map(([name, value]) => ({ op: 'add', path: `/${name}`, value }))
    return { method: 'PATCH', path: at(aim), headers: patchType, body: changes }
  },
  'PATCH of v1': (aim: Aim, { level, ...body }: { readonly level?: string }): Sent => {
    return { method: 'PATCH', path: at(aim, 'v1'), body: level === undefined ? body : { ...body, grade: level } }
  },
} as const

/**
 * A change of what a rule looks at: it is permitted on the record as it will be too (AUT-8). Where the record moves
 * under another parent through which it may be made, the caller could have made it there.
 */
const becoming = (method: keyof typeof methods, what: string, next: Next): Way => ({
  name: `${method} that makes it ${what}`,
  needs: method === 'JSON Patch' ? ['update', 'read'] : ['update'],
  also: 'parentOwner' in next || 'level' in next ? ['create', 'read'] : ['read'],
  isForLive: true,
  sent: (aim) => {
    const { parentOwner, ...values } = next
    const parent_id = aim.room.parents.get(parentOwner ?? '') ?? null
    const body = { ...values, ...('parentOwner' in next && { parent_id }), count: aim.room.next() }
    return methods[method](aim, body)
  },
  success: (aim, caller) => {
    const { room, guarded, kind } = aim
    const made = { ...(kind as Kind), ...next }
    const moves =
      (room.form.isThrough === true && kind?.parentOwner !== made.parentOwner) ||
      (room.form.isByLevel === true && kind?.level !== made.level)
    const isAllowed =
      room.allows(caller, 'update', guarded, made) && (!moves || room.allows(caller, 'create', guarded, made))
    // A parent that the caller may not read counts as not there, also where it decides about the permission.
    const isUnread = 'parentOwner' in next && setsUnread(aim, caller, made)
    if (!isAllowed && !(isUnread && room.form.isThrough === true)) return { status: 403, effect: 'kept' }
    return isUnread ? mistaken : shown('changed')({ ...aim, kind: made }, caller)
  },
})

const [PATCH, ...others] = Object.keys(methods) as (keyof typeof methods)[]
const changes: readonly Way[] = [
  becoming(PATCH as 'PATCH', 'open', { level: 'open' }),
  becoming(PATCH as 'PATCH', 'closed', { level: 'closed' }),
  becoming(PATCH as 'PATCH', "ann's to hold", { holder: 'ann' }),
  becoming(PATCH as 'PATCH', 'held by nobody', { holder: null }),
  becoming(PATCH as 'PATCH', 'a child of own', { parentOwner: 'ann' }),
  becoming(PATCH as 'PATCH', "a child of other's", { parentOwner: 'bob' }),
  becoming(PATCH as 'PATCH', 'no child', { parentOwner: undefined }),
  ...others.flatMap((method) => [
    becoming(method, 'open', { level: 'open', holder: 'bob', parentOwner: 'bob' }),
    becoming(method, 'closed', { level: 'closed', holder: 'blue', parentOwner: 'ann' }),
    becoming(method, 'nothing', { level: 'closed', holder: null, parentOwner: undefined }),
  ]),
  {
    ...becoming('PATCH', "other's", {}),
    sent: (aim) => ({ method: 'PATCH', path: at(aim), body: { owner_id: 'bob', count: aim.room.next() } }),
    success: (aim, caller) => {
      const { room, guarded } = aim
      const made = { ...(aim.kind as Kind), owner_id: 'bob' }
      // Who may not read the record is not told whose it is (AUT-9).
      const isSame = aim.kind?.owner_id === 'bob' && room.allows(caller, 'read', guarded, aim.kind)
      if (!caller.isAdministrator && !isSame) return { status: 400, effect: 'kept' }
      if (!room.allows(caller, 'update', guarded, made)) return { status: 403, effect: 'kept' }
      return shown('changed')({ ...aim, kind: made }, caller)
    },
  },
]

/** An operation of a transaction on the record (BLK-4). */
const transaction = ({ guarded, id }: Aim, method: string, path = '', body?: object): Sent => ({
  path: '/v2/transactions',
  body: { operations: [{ method, path: `/${collectionOf(guarded)}/${id}${path}`, body }] },
})

/** Arrays and transactions are 200 whoever reads the record, and show it only to those who may. */
const many = (success: Success): Success => (success.status < 300 ? { ...success, status: 200 } : success)

const isBack = ({ kind }: Aim) => kind?.isDeleted === true && kind.lostParentOwner === undefined

const former = (name: string, sent: (aim: Aim) => Sent, more: Partial<Way> = {}): Way => ({
  ...{ name, needs: ['read', 'readHistory'], isForLive: true, sent, success: answers(200) },
  ...more,
})
const now = () => ({ 'accept-datetime': new Date(Date.now() + 5_000).toUTCString() })

/** The record is replaced by its code, which is its id (BLK-2). */
const upserting = (name: string, query: (aim: Aim) => string, body: (aim: Aim) => unknown): Way => ({
  ...{ name, needs: ['update'], also: ['create', 'read'], isForLive: true },
  sent: (aim) => ({ method: 'PUT', path: `/v2/${collectionOf(aim.guarded)}?${query(aim)}`, body: body(aim) }),
  success: (aim, caller) => {
    if (setsUnread(aim, caller, aim.kind as Kind)) return mistaken
    const success = shown('changed')(aim, caller)
    return name.includes('array') ? many(success) : success
  },
})

/** Arrays, upserts, transactions and histories. */
const otherWays: readonly Way[] = [
  upserting('PUT by code', ({ id }) => `code=${id}`, whole),
  upserting(
    'PUT of an array by code',
    () => 'key=code',
    (aim) => [{ ...whole(aim), code: aim.id }],
  ),
  changing('PATCH of an array', 'PATCH', () => undefined, {
    also: ['read'],
    sent: ({ room, guarded, id }) => ({
      ...{ method: 'PATCH', path: `/v2/${collectionOf(guarded)}`, body: [{ id, count: room.next() }] },
    }),
    success: (aim, caller) => many(shown('changed')(aim, caller)),
  }),
  changing('PATCH in a transaction', 'PATCH', () => undefined, {
    also: ['read'],
    sent: (aim) => transaction(aim, 'PATCH', '', { count: aim.room.next() }),
    success: (aim, caller) => many(shown('changed')(aim, caller)),
  }),
  {
    ...{ name: 'DELETE in a transaction', needs: ['delete'], success: answers(200, 'gone') },
    sent: (aim) => transaction(aim, 'DELETE'),
  },
  {
    ...{ name: 'restore in a transaction', needs: ['restore'], also: ['read'], isForDeleted: true },
    sent: (aim) => transaction(aim, 'POST', '/restore'),
    success: (aim, caller) => (isBack(aim) ? many(shown('back')(aim, caller)) : { status: 409, effect: 'kept' }),
  },
  former('revisions', (aim) => ({ path: `${at(aim)}/revisions` })),
  former('revisions in v1', (aim) => ({ path: `${at(aim, 'v1')}/revisions?limit=1` })),
  former('GET Accept-Datetime', (aim) => ({ path: at(aim), headers: now() })),
  former('HEAD Accept-Datetime', (aim) => ({ method: 'HEAD', path: at(aim), headers: now() })),
  former('DELETE of revisions', (aim) => ({ method: 'DELETE', path: `${at(aim)}/revisions` }), {
    ...{ needs: ['delete', 'readHistory'], success: answers(204) },
  }),
]

export const recordWays: readonly Way[] = [
  { name: 'GET', needs: ['read'], sent: (aim) => ({ path: at(aim) }), success: answers(200) },
  { name: 'HEAD', needs: ['read'], sent: (aim) => ({ method: 'HEAD', path: at(aim) }), success: answers(200) },
  {
    name: 'GET If-None-Match',
    needs: ['read'],
    sent: (aim) => ({ path: at(aim), headers: { 'if-none-match': '*' } }),
    success: answers(304),
  },
  {
    name: 'HEAD If-Modified-Since',
    needs: ['read'],
    sent: (aim) => ({
      method: 'HEAD',
      path: at(aim),
      headers: { 'if-modified-since': new Date(Date.now() + 1_000).toUTCString() },
    }),
    success: answers(304),
  },
  {
    name: 'GET If-Match',
    needs: ['read'],
    sent: (aim) => ({ path: at(aim), headers: { 'if-match': '"other"' } }),
    success: answers(412),
  },
  changing('PUT', 'PUT', whole, {
    also: ['read'],
    success: (aim, caller) => {
      return setsUnread(aim, caller, aim.kind as Kind) ? mistaken : shown('changed')(aim, caller)
    },
  }),
  changing('PATCH', 'PATCH', ({ room }) => ({ count: room.next() }), { also: ['read'] }),
  changing('PATCH If-Match *', 'PATCH', ({ room }) => ({ count: room.next() }), { headers: { 'if-match': '*' } }),
  changing('PATCH If-Match', 'PATCH', ({ room }) => ({ count: room.next() }), {
    headers: { 'if-match': '"other"' },
    success: answers(412),
  }),
  changing('PATCH of a taken code', 'PATCH', () => ({ code: 'taken' }), { success: answers(409) }),
  changing('PATCH that is invalid', 'PATCH', () => ({ level: 'ajar', colour: 1 }), { success: answers(400) }),
  changing('JSON Patch', 'PATCH', operations, { needs: ['update', 'read'], headers: patchType }),
  changing('JSON Patch whose test fails', 'PATCH', (aim) => operations(aim, 'ajar'), {
    needs: ['update', 'read'],
    headers: patchType,
    success: answers(409),
  }),
  ...changes,
  {
    name: 'DELETE',
    needs: ['delete'],
    sent: (aim) => ({ method: 'DELETE', path: at(aim) }),
    success: answers(204, 'gone'),
  },
  {
    name: 'DELETE If-Match',
    needs: ['delete'],
    sent: (aim) => ({ method: 'DELETE', path: at(aim), headers: { 'if-match': '"other"' } }),
    success: answers(412),
  },
  {
    name: 'preview of DELETE',
    needs: ['delete', 'read'],
    sent: (aim) => ({ path: `${at(aim)}/deletion` }),
    success: answers(200),
  },
  {
    name: 'preview of DELETE in v1',
    needs: ['delete', 'read'],
    sent: (aim) => ({ path: `${at(aim, 'v1')}/deletion` }),
    success: answers(200),
  },
  {
    name: 'bulk-delete',
    needs: ['delete'],
    sent: ({ guarded, id }) => ({ path: `/v2/${collectionOf(guarded)}/bulk-delete`, body: { ids: [id] } }),
    success: answers(200, 'gone'),
  },
  {
    name: 'restore',
    needs: ['restore'],
    also: ['read'],
    sent: (aim) => ({ method: 'POST', path: `${at(aim)}/restore` }),
    success: (aim, caller) =>
      aim.kind?.isDeleted === true && aim.kind.lostParentOwner === undefined
        ? shown('back')(aim, caller)
        : { status: 409, effect: 'kept' },
    isForDeleted: true,
  },
  ...otherWays,
]
