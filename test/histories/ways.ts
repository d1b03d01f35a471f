/** How an act may have ended, by its response, and how jobs go on. */
import { gone, matching, perform, type Reply, referenceReason, seen, withJob } from './model.ts'
import type { Act, Change } from './requests.ts'
import {
  changed,
  Impossible,
  isShown,
  type Job,
  live,
  noted,
  type State,
  type Thing,
  type Values,
  type World,
} from './state.ts'

/** The states in which an act, or its next part, may end; `isDone`: it was the last part. A text: why there is none. */
export function ways(world: World, state: State, act: Act, key: string, reply: Reply | undefined): Way[] | string {
  try {
    if (act.kind === 'merge-matching' && act.isJob) return waysOfJob(world, state, act, key, reply)
    const found = endings(world, state, act, reply)
    return found.length === 0 ? 'the response is another one' : found.map((each) => ({ state: each, isDone: true }))
  } catch (error) {
    if (error instanceof Impossible) return error.message
    throw error
  }
}

export interface Way {
  readonly state: State
  readonly isDone: boolean
}

function endings(world: World, state: State, act: Act, reply: Reply | undefined): State[] {
  switch (act.kind) {
    case 'read': {
      const thing = state.things.get(act.id)
      if (reply === undefined) return [state]
      if (!thing?.isLive) return reply.status === 404 ? [state] : []
      return reply.status === 200 ? [seen(state, act.id, reply.json, reply.etag)] : []
    }
    case 'list': {
      if (reply === undefined) return [state]
      const all = live(state, act.collection)
      const { data, pagination } = reply.json
      if (data.length !== all.length || pagination.total_count !== all.length) return []
      return [
        all.reduce(
          (after, { id }) =>
            seen(
              after,
              id,
              data.find((each: Values) => each['id'] === id),
            ),
          state,
        ),
      ]
    }
    case 'summary':
      return reply === undefined || isSummary(state, reply.json.data) ? [state] : []
    case 'transaction':
      return transacted(world, state, act.changes, reply)
    case 'purge-begins': {
      if (reply?.status !== 201) return [state]
      const due = [...state.things.values()].filter(({ isLive }) => !isLive)
      return [{ ...due.reduce((after, thing) => noted(after, { ...thing, isDue: true }), state), isPurging: true }]
    }
    case 'purge-ended': {
      const due = [...state.things.values()].filter(({ isLive, id }) => !isLive && !world.kept.has(id))
      return [{ ...due.reduce((after, thing) => noted(after, { ...thing, isDue: true }), state), isPurging: false }]
    }
    default: {
      const { state: after, statuses } = perform(
        reply === undefined || reply.status < 300 ? world : { ...world, events: undefined },
        ...([state, act, reply] as const),
      )
      // What no response tells of was done, or not at all.
      if (reply === undefined) return statuses.some((status) => status < 300) ? [after] : []
      return statuses.includes(reply.status) ? [after] : impossible(`expected ${statuses}`)
    }
  }
}

function isSummary(state: State, data: readonly Values[]): boolean {
  const groups = Map.groupBy(live(state, 'items'), ({ values }) => values['kind'])
  return (
    data.length === groups.size &&
    // biome-ignore lint/suspicious/noExplicitAny: a row of a summary
    data.every(({ group, count, sum }: any) => {
      const things = groups.get(group.kind) ?? []
      const amounts = things.flatMap(({ values }) => values['amount'] ?? []) as number[]
      const expected = amounts.length === 0 ? null : String(amounts.reduce((one, other) => one + other, 0))
      return count === things.length && sum.amount === expected
    })
  )
}

function transacted(world: World, state: State, changes: readonly Change[], reply: Reply | undefined): State[] {
  const isDone = reply === undefined || reply.status === 200
  const tried = isDone ? world : { ...world, events: undefined }
  let after = state
  for (const [index, change] of changes.entries()) {
    const part = reply?.status === 200 ? reply.json.results[index] : undefined
    const own = part && { ...part, json: part.body ?? undefined }
    const { statuses, state: next } = perform(tried, after, change, own)
    const isRefused = statuses.every((status) => status >= 300)
    if (isRefused)
      return !isDone && statuses.includes(reply.status) ? [state] : impossible(`${index} expected ${statuses}`)
    if (own !== undefined && !statuses.includes(own.status)) impossible(`${index} expected ${statuses}`)
    after = next
  }
  return isDone ? [after] : impossible('expected 200')
}

function impossible(reason: string): never {
  throw new Impossible(reason)
}

/**
 * A change by filter as a job: it notes which records are there, marks those that match by then, is checked and
 * answered. What is created between the first two may match or not.
 */
function waysOfJob(
  world: World,
  state: State,
  act: Extract<Change, { readonly kind: 'merge-matching' }>,
  key: string,
  reply: Reply | undefined,
): Way[] {
  const { which, body } = act
  const begun = state.jobs.get(key)
  if (begun === undefined) {
    const matches = matching(state, which)
    const isTaken = matches.some(({ mark }) => mark !== undefined)
    if (matches.length === 0 || isTaken) {
      return endings(world, state, { ...act, isJob: false }, reply).map((each) => ({ state: each, isDone: true }))
    }
    const known = [...state.things.keys()]
    return [{ state: withJob(state, key, { steps: [], values: body, known }), isDone: false }]
  }
  if (begun.known !== undefined) {
    const { known } = begun
    const matches = matching(state, which)
    return [matches, matches.filter(({ id }) => known.includes(id))]
      .filter((marked, index, all) => index === 0 || marked.length < (all[0] as Thing[]).length)
      .filter((marked) => marked.every(({ mark }) => mark === undefined))
      .map((marked) => {
        const after = marked.reduce((before, thing) => noted(before, { ...thing, mark: key }), state)
        return { state: withJob(after, key, { steps: [], values: body }), isDone: false }
      })
  }
  const own = [...state.things.values()].filter(({ mark }) => mark === key)
  const moves = 'box_id' in body && own.some(({ values }) => values['box_id'] !== body['box_id'])
  const reason = moves ? referenceReason(state, body['box_id']) : undefined
  const found: Way[] = []
  if (reason === undefined && (reply === undefined || reply.status === 202)) {
    const job: Job = { steps: ['change', 'free', 'end'], values: body, holds: moves }
    found.push({ state: withJob(state, key, job), isDone: true })
  }
  const isEmpty = own.length === 0 && reply?.status === 200 && reply.json.updated_count === 0
  // A server that was killed has not answered, so another one ends the work.
  if (reply === undefined || reason === reply.status || isEmpty) {
    found.push({ state: withJob(state, key, { steps: ['free', 'end'], values: body }), isDone: true })
  }
  return found
}

/** The state after the next step of a job. */
export function stepped(world: World, state: State, key: string, { steps, ...job }: Job): State | undefined {
  const [step, ...rest] = steps
  if (step === undefined) return undefined
  const own = [...state.things.values()].filter(({ mark }) => mark === key)
  const jobs = new Map(state.jobs).set(key, { ...job, steps: rest })
  const next: State = { ...state, jobs }
  try {
    switch (step) {
      case 'change':
        return own.reduce((after, { id }) => {
          const thing = after.things.get(id) as Thing
          const values = { ...thing.values, ...job.values }
          return isShown(values, thing.values) ? after : changed(world, after, { ...thing, values }, 'updated')
        }, next)
      case 'free':
        return own.reduce((after, thing) => noted(after, { ...thing, mark: undefined }), next)
      case 'flip':
        return gone(world, next, own, key)
      case 'end':
        jobs.delete(key)
        return next
    }
  } catch (error) {
    if (error instanceof Impossible) return undefined
    throw error
  }
}
