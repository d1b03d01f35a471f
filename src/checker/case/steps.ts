/** The steps of cases, in few words. */
import type { JsonObject } from '../values/json.ts'
import type { Ask, Request, Seen, Step } from './case.ts'

type More = Omit<Request, 'method' | 'to'>

/** A request that prepares: where it fails, the case could not be set up. */
export function given(as: string, method: string, to: string, more: More = {}): Ask {
  return { kind: 'ask', as, request: { method, to, ...more }, given: true }
}

/** A request whose answer is judged, whatever it is. */
export function when(as: string, method: string, to: string, more: More = {}): Ask {
  return { kind: 'ask', as, request: { method, to, ...more }, given: false }
}

/** A record, made for the case; with members of its own. Its answer is known by the same name. */
export function record(as = 'one', values?: JsonObject): Step {
  return { kind: 'create', as, ...(values === undefined ? {} : { with: values }) }
}

/** A record without some of the members that it could have. */
export function recordWithout(as: string, without: readonly string[], values: JsonObject = {}): Step {
  return { kind: 'create', as, with: values, without }
}

/** Several records: `many.0`, `many.1`, … */
export function records(as: string, count: number, values?: JsonObject): Step {
  return { kind: 'create', as, count, ...(values === undefined ? {} : { with: values }) }
}

/** The same request of every collection that can be listed. */
export function each(as: string, method: string, to: string, more: More = {}): Step {
  return { kind: 'each', ask: when(as, method, to, more) }
}

/** Requests that are sent at once. Those of one name are known together. */
export function together(...asks: readonly Ask[]): Step {
  return { kind: 'together', asks }
}

/** Records until the collection's list does not hold them all; `most` records at most. */
export function outgrow(as: string, most: number): Step {
  return { kind: 'outgrow', as, most }
}

/** A request that is sent several times at once, with one body. */
export function alike(times: number, ask: Ask): Ask {
  return { ...ask, times }
}

/** Page after page by cursor, from an address on. */
export function walk(as: string, from: string, most = 20, between: readonly Step[] = []): Step {
  return { kind: 'walk', as, from, most, between }
}

/** Where a deletion was only accepted (202), waits until its job is over: what the job said is known as `as`. */
export function settled(of: string, as = 'job', seconds = 30): Step {
  return { kind: 'settle', as, of, seconds }
}

/** Goes on only where the case is about something that the collection has: otherwise it is not applicable. */
export function about(why: string, test: (seen: Seen) => boolean): Step {
  return { kind: 'only', test, otherwise: 'not applicable', why }
}

/** Goes on only where all is ready: otherwise the case could not be set up. */
export function provided(why: string, test: (seen: Seen) => boolean): Step {
  return { kind: 'only', test, otherwise: 'not set up', why }
}

/** Goes on only where nobody's record is seen at `{absent}`: what is sent there could change it, or take its place. */
export const nobodyThere: readonly Step[] = [
  when('nobody', 'GET', '{collection}/{absent}'),
  provided('there may be a record of somebody where none was thought to be', (seen) => {
    const { status = 0 } = seen.of('nobody').answer ?? {}
    return status >= 400 && status < 500
  }),
]

/** The condition that any state fulfils, sent only where changes demand one: a server may know nothing of `*`. */
export const whereDemanded = { 'If-Match': '{any}' } as const
