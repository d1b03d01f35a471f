/** Looks for an order of what clients did that explains all responses, and the records and events afterwards. */
import type { Reply } from './model.ts'
import type { Act } from './requests.ts'
import { isShown, type State, totalOf, type Values, type World } from './state.ts'
import { stepped, ways } from './ways.ts'

/** Something that a client did. Times are of one clock. */
export interface Deed {
  readonly act: Act
  readonly called: number
  /** `Infinity`: no response came. */
  readonly returned: number
  /** Left out: nobody knows whether it was done. */
  readonly reply?: Reply | undefined
}

/** The records of the database, by id; those that were deleted together have the same `deletion`. */
export type Found = ReadonlyMap<
  string,
  { readonly values: Values; readonly isLive: boolean; readonly deletion: unknown; readonly revision: string }
>

/** How many states are looked at before a history counts as unexplained. */
const most = 400_000

/**
 * Looks for an order. Each client does one thing after the other; what was answered before something began came first.
 *
 * @param areFree whether reads and refusals may come at any time, and lists and summaries need no order: PostgreSQL
 *   answers them from a snapshot. A change by filter that has not committed yet may not see what was acknowledged
 *   meanwhile, and a list sees that, and not the change.
 * @returns the state at the end, and, where no order explains the history, how far it could be explained
 */
export function explain(
  world: World,
  start: State,
  clients: readonly (readonly Deed[])[],
  found: Found,
  areFree = false,
): { readonly end: State | undefined; readonly reasons: readonly string[]; readonly states: number } {
  const isFree = ({ act: { kind }, reply }: Deed) =>
    areFree && reply !== undefined && (reply.status >= 400 || ['read', 'list', 'summary'].includes(kind))
  const isOfMany = ({ act: { kind } }: Deed) => kind === 'list' || kind === 'summary'
  const bound = clients.map((deeds) => deeds.filter((deed) => !isFree(deed)))
  const visited = new Set<string>()
  const last = { count: 0, reasons: new Set<string>() }
  const note = (places: readonly number[], reason: string) => {
    const count = places.reduce((sum, place) => sum + place, 0)
    if (count > last.count) Object.assign(last, { count, reasons: new Set() })
    if (count === last.count && last.reasons.size < 30) last.reasons.add(reason)
  }
  const search = (state: State, places: readonly number[], unexplained: readonly Deed[]): State | undefined => {
    // Those that are explained by now change nothing.
    const free = unexplained.filter(({ act, reply }) => typeof ways(world, state, act, '', reply) === 'string')
    const next = places.map((place, client) => bound[client]?.[place])
    if (next.every((deed) => deed === undefined) && state.jobs.size === 0) {
      const difference = free[0] === undefined ? differenceOf(world, state, found) : `${free[0].act.kind} is left`
      if (difference === undefined) return state
      note(places, difference)
    }
    const key = `${places} ${free.map(({ called }) => called)} ${digestOf(state)}`
    if (visited.has(key) || visited.size > most) return undefined
    visited.add(key)
    const first = Math.min(...next.map((deed) => deed?.returned ?? Number.POSITIVE_INFINITY))
    for (const [client, deed] of next.entries()) {
      if (deed === undefined || deed.called > first) continue
      const own = `${client} ${places[client]}`
      const after = places.with(client, (places[client] as number) + 1)
      const following = ways(world, state, deed.act, own, deed.reply)
      if (typeof following === 'string') note(places, `${own} ${deed.act.kind} ${deed.reply?.status}: ${following}`)
      for (const way of typeof following === 'string' ? [] : following) {
        const end = search(way.state, way.isDone ? after : places, free)
        if (end !== undefined) return end
      }
      if (deed.reply === undefined && !state.jobs.has(own)) {
        const end = search(state, after, free)
        if (end !== undefined) return end
      }
    }
    for (const [job, steps] of state.jobs) {
      const after = stepped(world, state, job, steps)
      const end = after && search(after, places, free)
      if (end !== undefined) return end
    }
    return undefined
  }
  const end = search(
    start,
    clients.map(() => 0),
    clients.flat().filter((deed) => isFree(deed) && !isOfMany(deed)),
  )
  return { end, reasons: [...last.reasons], states: visited.size }
}

function digestOf({ things, jobs, isPurging }: State): string {
  const all = [...things.values()].map(({ id, values, isLive, mark, changes, tag, deletion, isDue }) => {
    return JSON.stringify([id, values, isLive, mark, changes, tag, deletion, isDue])
  })
  return `${all.sort()} ${JSON.stringify([...jobs])} ${isPurging}`
}

/** Whether all events have happened, and the records are those that were found; else a difference. */
function differenceOf({ events, erased }: World, state: State, found: Found): string | undefined {
  for (const [id, list] of events ?? []) {
    const changes = state.things.get(id)?.changes ?? 0
    if (changes !== list.length && !erased.has(id)) return `${id} has ${list.length} events, not ${changes}`
  }
  for (const { id, isLive, isDue = false, collection, values, deletion, ...tags } of state.things.values()) {
    const known = found.get(id)
    if (known === undefined) {
      if (isLive || !isDue) return `${id} is not there`
      continue
    }
    if (known.isLive !== isLive) return `${id} is live: ${known.isLive}`
    if (known.isLive ? known.deletion !== null : isTogether(state, found, id) !== isWithBox(state, values, deletion)) {
      return `${id} has the mark ${known.deletion}`
    }
    const isOwn = (tag: string) => tag.startsWith(`"${known.revision}-`)
    if (tags.former.some(isOwn) || (tags.tag !== undefined && !isOwn(tags.tag))) return `${id} has another tag`
    const expected = collection === 'boxes' ? { ...values, total: totalOf(state, id) } : values
    if (!isShown(expected, known.values))
      return `${id} is ${JSON.stringify(known.values)}, not ${JSON.stringify(expected)}`
  }
  return found.keys().find((id) => !state.things.has(id))
}

/** Whether a deleted item comes back with its box, in the database. */
function isTogether({ things }: State, found: Found, id: string): boolean {
  const { deletion, values } = found.get(id) as NonNullable<ReturnType<Found['get']>>
  const box = found.get(String(values['box_id']))
  return (
    things.get(id)?.collection === 'items' && deletion !== null && box?.isLive === false && box.deletion === deletion
  )
}

function isWithBox({ things }: State, values: Values, deletion: string | undefined): boolean {
  const box = things.get(String(values['box_id']))
  return box !== undefined && !box.isLive && box.deletion === deletion
}
