/** Asks for one record in every way, and says what must be answered (CON-6). */
import type { Action } from 'resourced-contract/model/declaration'
import { type Caller, callers, strangers } from './callers.ts'
import type { Cells } from './cells.ts'
import { type Aim, type Effect, recordWays, type Success, type Way } from './record-ways.ts'
import { type Kind, kinds, nowhere, type Room, secret } from './room.ts'

/** Asks for a record of every kind in every way, as everybody. */
export async function checkRecordWays(room: Room, cells: Cells): Promise<void> {
  for (const guarded of ['read', 'create', 'update'] as const) await room.takeCode(guarded)
  const put = putting(room)
  for (const way of recordWays) {
    for (const guarded of new Set([...way.needs, ...(way.also ?? [])])) {
      for (const kind of way.isForLive ? kinds.filter(({ isDeleted }) => !isDeleted) : [...kinds, undefined]) {
        const isFirst = kind === undefined || kind === kinds[0]
        for (const caller of isFirst ? [...callers, ...strangers] : callers) {
          await checkCell(cells, way, { room, guarded, kind }, caller, put)
        }
      }
    }
  }
}

async function checkCell(cells: Cells, way: Way, asked: Omit<Aim, 'id'>, caller: Caller, put: Put): Promise<void> {
  const { room, guarded, kind } = asked
  const name = `${room.form.name} for ${guarded}, ${caller.name}, ${way.name} of ${kind?.name ?? 'missing'}`
  if (!cells.includes(name)) return
  const { id, text } = await put(guarded, kind)
  const aim = { ...asked, id }
  const expected = expectationOf(aim, way, caller)
  const { status, text: answer } = await room.send(caller, way.sent(aim))
  const after = await room.look(guarded, id)
  const effect = effectOf(text, after)
  const mayReadIt = caller.isAuthenticated && kind !== undefined && room.allows(caller, 'read', guarded, kind)
  const mayRead = expected.isReadable ?? mayReadIt
  const tells = answer.includes(secret) && (status >= 300 || !mayRead) ? ', and tells what is in it' : ''
  cells.check(name, `${expected.status} ${expected.effect}`, `${status} ${effect}${tells}`)
  if (effect !== 'kept') put.forget(guarded, kind)
}

/** Gives a record of a kind, and how it is stored: the same one until it is to be forgotten, since it was changed. */
interface Put {
  (guarded: Action, kind: Kind | undefined): Promise<{ readonly id: string; readonly text: string | undefined }>
  forget(guarded: Action, kind: Kind | undefined): void
}

function putting(room: Room): Put {
  const known = new Map<string, { readonly id: string; readonly text: string | undefined }>()
  const put = async (guarded: Action, kind: Kind | undefined) => {
    if (kind === undefined) return { id: nowhere, text: undefined }
    const found = known.get(`${guarded} ${kind.name}`)
    if (found !== undefined) return found
    const id = await room.put(guarded, kind)
    const made = { id, text: await room.look(guarded, id) }
    known.set(`${guarded} ${kind.name}`, made)
    return made
  }
  return Object.assign(put, {
    forget: (guarded: Action, kind: Kind | undefined) => void known.delete(`${guarded} ${kind?.name}`),
  })
}

function expectationOf({ room, guarded, ...aim }: Aim, way: Way, caller: Caller): Success {
  const refused = (status: number): Success => ({ status, effect: 'kept' })
  const { kind } = aim
  if (!caller.isAuthenticated) return refused(401)
  if (!way.needs.every((action) => room.lets(caller, action, guarded))) return refused(403)
  if (kind === undefined || (kind.isDeleted && way.isForDeleted !== true)) return refused(404)
  // Where the parent is deleted as well, what counts is whether it would permit the restoration if it were live
  // (DEL-6).
  const subject = way.isForDeleted ? { ...kind, parentOwner: kind.lostParentOwner ?? kind.parentOwner } : kind
  if (!way.needs.every((action) => room.allows(caller, action, guarded, subject))) return refused(403)
  return way.success({ room, guarded, ...aim }, caller)
}

function effectOf(before: string | undefined, after: string | undefined): Effect {
  if (before === after) return 'kept'
  if (before === undefined) return 'back'
  return after === undefined ? 'gone' : 'changed'
}
