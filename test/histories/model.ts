/** What each request does to the records, and how it is answered: carried out one after the other, at once each. */
import type { Change } from './requests.ts'
import {
  changed,
  Impossible,
  isShown,
  isValid,
  type Job,
  live,
  noted,
  type State,
  type Thing,
  totalOf,
  type Values,
  type World,
} from './state.ts'

/** The response of a request, or of an operation of a transaction. */
export interface Reply {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: bodies have every shape
  readonly json: any
  readonly etag?: string | undefined
}

/** The statuses that may be, and the records then. */
interface Ended {
  readonly statuses: readonly number[]
  readonly state: State
}

const unset: Values = { slot: null, kind: 'x', amount: null, box_id: null }

const ended = (state: State, ...statuses: readonly number[]): Ended => ({ state, statuses })

/** A refusal for these reasons: the first of them in the order of CON-6, where 400 and 409 may come together. */
function refused(state: State, reasons: readonly number[]): Ended {
  for (const first of [404, 412]) if (reasons.includes(first)) return ended(state, first)
  return ended(state, ...new Set(reasons))
}

/** Carries out a change. */
export function perform(world: World, state: State, change: Change, reply: Reply | undefined): Ended {
  switch (change.kind) {
    case 'create': {
      const { collection, body } = change
      if (collection === 'boxes') return created(world, state, body, reply)
      return written(world, state, [{ values: { ...unset, ...body } }], { reply, shown: [reply?.json], status: 201 })
    }
    case 'create-many': {
      const items = change.bodies.map((body) => ({ values: { ...unset, ...body } }))
      return written(world, state, items, { reply, shown: reply?.json?.data, status: 201 })
    }
    case 'upsert':
    case 'upsert-many':
      return upserted(world, state, change, reply)
    case 'merge':
    case 'replace':
      return updated(world, state, change, reply)
    case 'merge-many': {
      const items = change.bodies.map(({ id, ...body }) => {
        const thing = state.things.get(String(id))
        return { thing, values: { ...thing?.values, ...body }, reasons: reasonsOf(state, thing) }
      })
      return written(world, state, items, { reply, shown: reply?.json?.data, status: 200 })
    }
    case 'merge-matching':
      return mergedMatching(world, state, change, reply)
    case 'delete':
      return deleted(world, state, change)
    case 'delete-many': {
      const things = change.ids.map((id) => state.things.get(id))
      const reasons = things.flatMap((thing) => reasonsOf(state, thing))
      if (reasons.length > 0) return ended(state, ...new Set(reasons))
      return ended(gone(world, state, things as Thing[], `many ${change.ids}`), 200)
    }
    case 'delete-matching': {
      const matches = matching(state, change.which)
      if (matches.some(({ mark }) => mark !== undefined && state.jobs.get(mark)?.values)) return ended(state, 409)
      const going = matches.filter(({ mark }) => mark === undefined)
      const after = gone(world, state, going, `matching ${going.map(({ id }) => id)}`)
      const isJob = change.isJob && matches.length > 0
      if (isJob) return ended(withJob(after, `matching ${going.map(({ id }) => id)}`, { steps: ['end'] }), 202)
      if (reply?.status === 200 && reply.json.deleted_count !== going.length) throw new Impossible('the count is wrong')
      return ended(after, 200)
    }
    case 'restore':
      return restored(world, state, change, reply)
  }
}

/** What is wrong with a record that is to be changed. */
function reasonsOf(state: State, thing: Thing | undefined, ifMatch?: string): number[] {
  if (thing === undefined || !thing.isLive) return [404]
  const isStale = ifMatch !== undefined && thing.tag !== ifMatch
  return [...(isStale ? [412] : []), ...(thing.mark !== undefined && state.jobs.has(thing.mark) ? [409] : [])]
}

/** Why a record cannot refer to a box. */
export function referenceReason(state: State, id: unknown): 400 | 409 | undefined {
  if (id === null || id === undefined) return undefined
  const box = state.things.get(String(id))
  if (box?.isLive) return undefined
  return box?.deletion !== undefined && state.jobs.has(box.deletion) ? 409 : 400
}

/** An item that is written: a new one, unless it is there. */
interface Item {
  readonly thing?: Thing | undefined
  readonly values: Values
  readonly reasons?: readonly number[]
}

interface Answering {
  readonly reply: Reply | undefined
  /** The representations of the records in the response. */
  readonly shown: readonly (Values | undefined)[] | undefined
  readonly status: number
}

/** Writes all of some items or none: unique values are decided at the end. */
function written(world: World, state: State, items: readonly Item[], { reply, shown, status }: Answering): Ended {
  const isDone = reply === undefined || reply.status < 300
  const ids = items.map(({ thing, values }, index) => {
    const told = isDone ? shown?.[index]?.['id'] : undefined
    return thing?.id ?? String(told ?? world.created.get(String(values['title'])) ?? `new ${values['title']}`)
  })
  const next = items.map(({ thing, values }, index): Thing => {
    const { reasons: _, ...known } = { ...thing, reasons: [] }
    const made = { collection: 'items', id: ids[index] as string, isLive: true, changes: 0, former: [] } as const
    return { ...made, ...known, values }
  })
  const reasons = items.flatMap(({ thing, values, reasons = [] }) => {
    const reason = thing?.values['box_id'] === values['box_id'] ? undefined : referenceReason(state, values['box_id'])
    return reason === undefined ? reasons : [...reasons, reason]
  })
  const trial = new Map(state.things)
  for (const thing of next) trial.set(thing.id, thing)
  if (reasons.length === 0 || !reasons.includes(404)) {
    if (new Set(ids).size < ids.length || !isValid({ ...state, things: trial })) reasons.push(409)
  }
  if (reasons.length > 0) return refused(state, reasons)
  let after = state
  for (const [index, thing] of next.entries()) {
    const before = items[index]?.thing
    if (before === undefined) after = changed(world, after, thing, 'created')
    else if (!isShown(thing.values, before.values)) after = changed(world, after, thing, 'updated')
    if (reply?.status === status)
      after = seen(after, thing.id, shown?.[index], items.length === 1 ? reply.etag : undefined)
  }
  return ended(after, status)
}

function created(world: World, state: State, values: Values, reply: Reply | undefined): Ended {
  const id = String(reply?.json?.id ?? world.created.get(String(values['name'])) ?? `new ${values['name']}`)
  const box: Thing = { collection: 'boxes', id, values, isLive: true, changes: 0, former: [] }
  const after = changed(world, state, box, 'created')
  return ended(reply?.status === 201 ? seen(after, id, reply.json, reply.etag) : after, 201)
}

function upserted(
  world: World,
  state: State,
  change: Extract<Change, { readonly kind: 'upsert' | 'upsert-many' }>,
  reply: Reply | undefined,
): Ended {
  const isOne = change.kind === 'upsert'
  const bodies = isOne ? [change.body] : change.bodies
  const items = bodies.map((body): Item => {
    const thing = live(state, 'items').find(({ values }) => values['sku'] === body['sku'])
    const values = { ...unset, ...body }
    if (!isOne) return { thing, values, reasons: thing === undefined ? [] : reasonsOf(state, thing) }
    const { ifMatch, ifNoneMatch = false } = change
    if (thing === undefined) return { values, reasons: ifMatch === undefined ? [] : [412] }
    return { thing, values, reasons: ifNoneMatch ? [412] : reasonsOf(state, thing, ifMatch) }
  })
  const status = items.every(({ thing }) => thing === undefined) ? 201 : 200
  return written(world, state, items, { reply, shown: isOne ? [reply?.json] : reply?.json?.data, status })
}

function updated(
  world: World,
  state: State,
  { kind, collection, id, body, ifMatch }: Extract<Change, { readonly kind: 'merge' | 'replace' }>,
  reply: Reply | undefined,
): Ended {
  const thing = state.things.get(id)
  const values = { ...(kind === 'merge' ? thing?.values : collection === 'items' ? unset : {}), ...body }
  const reasons = reasonsOf(state, thing, ifMatch)
  return written(world, state, [{ thing, values, reasons }], { reply, shown: [reply?.json], status: 200 })
}

export function matching(state: State, which: Values): Thing[] {
  return live(state, 'items').filter(({ values }) => isShown(which, values))
}

function mergedMatching(
  world: World,
  state: State,
  { which, body, isJob }: Extract<Change, { readonly kind: 'merge-matching' }>,
  reply: Reply | undefined,
): Ended {
  const matches = matching(state, which)
  if (isJob && matches.length > 0) return ended(state)
  const items = matches.map((thing) => ({
    ...{ thing, values: { ...thing.values, ...body } },
    reasons: thing.mark === undefined ? [] : [409],
  }))
  const after = written(world, state, items, { reply: undefined, shown: undefined, status: 200 })
  if (reply?.status === 200 && reply.json.updated_count !== matches.length) throw new Impossible('the count is wrong')
  return after
}

/** Deletes some live records together. */
export function gone(world: World, state: State, things: readonly Thing[], deletion: string): State {
  return things.reduce((after, { id }) => {
    const thing = after.things.get(id) as Thing
    return changed(world, after, { ...thing, isLive: false, mark: undefined, deletion }, 'deleted')
  }, state)
}

function deleted(
  world: World,
  state: State,
  { id, ifMatch, isJob = false }: Extract<Change, { readonly kind: 'delete' }>,
): Ended {
  const thing = state.things.get(id)
  const reasons = reasonsOf(state, thing, ifMatch)
  if (thing === undefined || reasons.length > 0) return refused(state, reasons)
  const children = live(state, 'items').filter(({ values }) => values['box_id'] === id)
  const isHeld = thing.collection === 'boxes' && [...state.jobs.values()].some(({ holds }) => holds)
  if (isHeld || children.some(({ mark }) => mark !== undefined && state.jobs.get(mark)?.values))
    return ended(state, 409)
  const deletion = `${id} ${thing.changes}`
  if (!isJob) return ended(gone(world, state, [...children, thing], deletion), 204)
  const marked = children.reduce((after, child) => noted(after, { ...child, mark: deletion }), state)
  const job: Job = { steps: children.length > 0 ? ['flip', 'end'] : ['end'] }
  return ended(withJob(gone(world, marked, [thing], deletion), deletion, job), 202)
}

function restored(
  world: World,
  state: State,
  { id }: Extract<Change, { readonly kind: 'restore' }>,
  reply: Reply | undefined,
): Ended {
  const thing = state.things.get(id)
  if (thing === undefined) return ended(state, 404)
  if (thing.isLive) return ended(state, 409)
  if (state.isPurging) return ended(state, 404)
  // What was deleted while a purge ran may be gone, or go with the next one.
  const isTried = reply === undefined ? world.events === undefined : reply.status >= 300
  if (thing.isDue && !world.kept.has(id) && isTried) return ended(state, 404, 409)
  if (thing.deletion !== undefined && state.jobs.has(thing.deletion)) return ended(state, 409)
  if (referenceReason(state, thing.values['box_id']) !== undefined) return ended(state, 409)
  const children = [...state.things.values()].filter(
    (each) => !each.isLive && each.deletion === thing.deletion && each.values['box_id'] === id,
  )
  const returning = [thing, ...children]
  const trial = returning.reduce((after, each) => noted(after, { ...each, isLive: true }), state)
  if (!isValid(trial)) return ended(state, 409)
  const after = returning.reduce((before, each) => {
    return changed(
      world,
      before,
      { ...(before.things.get(each.id) as Thing), isLive: true, deletion: undefined },
      'restored',
    )
  }, state)
  return ended(reply?.status === 200 ? seen(after, id, reply.json, reply.etag) : after, 200)
}

export function withJob(state: State, key: string, job: Job): State {
  return { ...state, jobs: new Map(state.jobs).set(key, job) }
}

/**
 * Compares a record with its representation, and notes its tag.
 *
 * @throws Impossible where they differ
 */
export function seen(state: State, id: string, shown: Values | undefined, etag?: string): State {
  const thing = state.things.get(id) as Thing
  const values = thing.collection === 'boxes' ? { ...thing.values, total: totalOf(state, id) } : thing.values
  if (shown === undefined || shown['id'] !== id || !isShown(values, shown)) {
    throw new Impossible(`${JSON.stringify(values)} was shown as ${JSON.stringify(shown)}`)
  }
  if (etag === undefined || etag === thing.tag) return state
  if (thing.tag !== undefined || thing.former.includes(etag)) throw new Impossible(`the tag ${etag} is not its own`)
  return noted(state, { ...thing, tag: etag })
}
