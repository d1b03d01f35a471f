/** The records as a history has left them, and how one change of one record continues it. */

export type Collection = 'boxes' | 'items'
export type Values = Readonly<Record<string, unknown>>

/** A record, live or deleted. Values of a box are without its total, which follows from the items. */
export interface Thing {
  readonly collection: Collection
  readonly id: string
  readonly values: Values
  readonly isLive: boolean
  /** What was deleted together has the same one. */
  readonly deletion?: string | undefined
  /** The job that has the live record on its list. */
  readonly mark?: string | undefined
  /** How often the history has changed it, sums of children aside. */
  readonly changes: number
  /** Its entity tag, as far as a response has shown it, and those before. */
  readonly tag?: string | undefined
  readonly former: readonly string[]
  /** A purge that runs, or has run, removes it. */
  readonly isDue?: boolean
}

/** A job that is not finished, and its steps: each is a transaction, and others may come between them. */
export interface Job {
  readonly steps: readonly JobStep[]
  /** The values that it writes. */
  readonly values?: Values
  /** Whether boxes may not be deleted meanwhile. */
  readonly holds?: boolean
  /** Of a change whose request waits: the records that were there when it began, until its matches are marked. */
  readonly known?: readonly string[] | undefined
}

export type JobStep = 'change' | 'free' | 'flip' | 'end'

export interface State {
  readonly things: ReadonlyMap<string, Thing>
  readonly jobs: ReadonlyMap<string, Job>
  readonly isPurging: boolean
}

/** An event of a record: what the database says that its next change was. */
export interface Happened {
  readonly kind: string
  /** `null`: it was erased. */
  readonly data: Values | null
}

/** What is known of a history when it is explained. */
export interface World {
  /** By record, in order; those of a box without those of its sum alone. Left out: changes are only tried. */
  readonly events?: ReadonlyMap<string, readonly Happened[]>
  /** The records whose events do not say enough, because a purge has erased them. */
  readonly erased: ReadonlySet<string>
  /** The ids of new records by their titles, which no other record was created with. */
  readonly created: ReadonlyMap<string, string>
  /** The records that are there at the end, deleted or not. */
  readonly kept: ReadonlySet<string>
}

export const live = (state: State, collection?: Collection) =>
  [...state.things.values()].filter((each) => each.isLive && (collection ?? each.collection) === each.collection)

/** The sum that a box holds. */
export function totalOf(state: State, id: string): number {
  return live(state, 'items').reduce((sum, { values }) => sum + (values['box_id'] === id ? amountOf(values) : 0), 0)
}

const amountOf = (values: Values) => Number(values['amount'] ?? 0)

/** Whether no two live items share a unique value. */
export function isValid(state: State): boolean {
  return ['sku', 'slot'].every((field) => {
    const values = live(state, 'items').flatMap(({ values }) => values[field] ?? [])
    return new Set(values).size === values.length
  })
}

/** The reasons why a history cannot have been so. */
export class Impossible extends Error {}

/**
 * Makes one change of one record, which must be its next event.
 *
 * @throws Impossible where it is not
 */
export function changed(world: World, state: State, next: Omit<Thing, 'changes' | 'former'>, kind: string): State {
  const before = state.things.get(next.id)
  const changes = before?.changes ?? 0
  if (world.events !== undefined && !world.erased.has(next.id)) {
    const event = world.events.get(next.id)?.[changes]
    if (event?.kind !== kind) throw new Impossible(`${next.id} was not ${kind}, but ${event?.kind}`)
    if (event.data !== null && kind !== 'deleted' && !isShown(next.values, event.data)) {
      throw new Impossible(`${next.id} was ${kind} to ${JSON.stringify(event.data)}`)
    }
  }
  const things = new Map(state.things)
  const after = { ...state, things }
  things.set(next.id, { ...renewed({ ...next, changes, former: before?.former ?? [] }, before), changes: changes + 1 })
  for (const id of [before, next].flatMap((each) => each?.values['box_id'] ?? []).map(String)) {
    const box = state.things.get(id)
    // A sum that has not changed leaves its box as it was.
    if (box !== undefined && totalOf(state, id) !== totalOf(after, id)) things.set(id, renewed(box, box))
  }
  return after
}

/** The record with another tag, which nobody has seen. */
function renewed(thing: Thing, before: Thing | undefined): Thing {
  const former = before?.tag === undefined ? thing.former : [...thing.former, before.tag]
  return { ...thing, tag: undefined, former }
}

/** Replaces what is known of a record, which has not changed. */
export function noted(state: State, thing: Thing): State {
  return { ...state, things: new Map(state.things).set(thing.id, thing) }
}

/** Whether a representation shows these values. */
export function isShown(values: Values, shown: Values): boolean {
  return Object.entries(values).every(([name, value]) => shown[name] === value)
}
