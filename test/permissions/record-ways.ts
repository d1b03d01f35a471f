/** Every way to one record, and what is answered once everything that it needs is permitted. */
import type { Action } from '../../src/model/declaration.ts'
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
}

const at = ({ guarded, id }: Aim) => `/v1/${collectionOf(guarded)}/${id}`
const answers =
  (status: number, effect: Effect = 'kept') =>
  () => ({ status, effect })
const patchType = { 'content-type': 'application/json-patch+json' }

/** A change is answered with the record to those who may read it, and otherwise with nothing. */
const shown =
  (effect: Effect) =>
  ({ room, guarded, kind }: Aim, caller: Caller): Success => {
    const isReadable = kind !== undefined && room.allows(caller, 'read', guarded, kind)
    return { status: isReadable ? 200 : 204, effect }
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

/** A move is judged by the rules that read through the reference: as a change of the record that it makes, and as its creation. */
const moving = (owner: string): Way => ({
  name: `PATCH to a parent of ${owner}`,
  needs: ['update'],
  also: ['create'],
  sent: ({ room, ...aim }) => ({
    method: 'PATCH',
    path: at({ room, ...aim }),
    body: { parent_id: room.parents.get(owner), count: room.next() },
  }),
  success: (aim, caller) => {
    const { room, guarded, kind } = aim
    const moved = { ...(kind as Subject), parentOwner: owner }
    const isJudged = room.form.isThrough === true && kind?.parentOwner !== owner
    const isAllowed = room.allows(caller, 'update', guarded, moved) && room.allows(caller, 'create', guarded, moved)
    return isJudged && !isAllowed ? { status: 403, effect: 'kept' } : { status: 200, effect: 'changed' }
  },
})

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
  changing('PUT', 'PUT', whole, { also: ['read'] }),
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
  moving('ann'),
  moving('bob'),
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
    name: 'bulk-delete',
    needs: ['delete'],
    sent: ({ guarded, id }) => ({ path: `/v1/${collectionOf(guarded)}/bulk-delete`, body: { ids: [id] } }),
    success: answers(200, 'gone'),
  },
  {
    name: 'restore',
    needs: ['restore'],
    also: ['read'],
    sent: (aim) => ({ method: 'POST', path: `${at(aim)}/restore` }),
    success: (aim, caller) =>
      aim.kind?.isDeleted === true ? shown('back')(aim, caller) : { status: 409, effect: 'kept' },
    isForDeleted: true,
  },
]
