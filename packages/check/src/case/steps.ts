/** The steps of cases. */
import type { JsonObject } from '../values/json.ts'
import type { Ask, Body, Observations, Step } from './case.ts'
import { type More, Reference, type Target } from './references.ts'

type StreamStep = Extract<Step, { readonly kind: 'stream' }>
type BytesStep = Extract<Step, { readonly kind: 'bytes' }>

/** A request that prepares the case: if it fails, the case could not be set up. */
export function setUp(ask: Ask): Ask {
  return { ...ask, isPreparation: true }
}

/** Creates a record for the case, with these members. The response has the same name. */
export function create(as: Reference, values?: JsonObject): Step {
  return { kind: 'create', as: as.name, ...(values && { with: values }) }
}

/** Creates a record as the second caller. */
export function createByOther(as: Reference): Step {
  return { kind: 'create', as: as.name, caller: 'other' }
}

/** Creates several records: `many.at(0)`, `many.at(1)`, … */
export function createMany(as: Reference, count: number, values?: JsonObject): Step {
  return { kind: 'create', as: as.name, count, ...(values && { with: values }) }
}

/** Sends the same request to every collection that can be listed. */
export function forEachCollection(ask: Ask): Step {
  return { kind: 'each', ask }
}

/** Sends requests at the same time. Those of one name are known together. */
export function together(...asks: readonly Ask[]): Step {
  return { kind: 'together', asks }
}

/** The same request several times at once, each with a body of its own. */
export function simultaneous(count: number, ask: Ask): Step {
  return together(...Array.from({ length: count }, () => ask))
}

/** Reads page after page by cursor, starting at an address. */
export function walk(as: Reference, from: string, most = 20, between: readonly Step[] = []): Step {
  return { kind: 'walk', as: as.name, from, most, between }
}

/** Repeats a request until the test holds: the case judges the last response, whatever it is. */
export function eventually(ask: Ask, until: (seen: Observations) => boolean, seconds = 5): Step {
  return { kind: 'eventually', ask, until, seconds }
}

/** Opens a stream of server-sent events. Its response is known as `as`, with what was received of it. */
export function stream(as: Reference, to: string, more: Omit<StreamStep, 'kind' | 'as' | 'to'>): Step {
  return { kind: 'stream', as: as.name, to, ...more }
}

const job = new Reference('job')

/** Waits for the job of a deletion that was only accepted (202). Its responses are known as `as`. */
export function settled(of: Reference, as: Reference = job, seconds = 30): Step {
  return { kind: 'settle', as: as.name, of: of.name, seconds }
}

/** Sends bytes as they are, on a connection of their own. */
export function bytes(as: Reference, text: string, more: Pick<BytesStep, 'seconds' | 'plain'> = {}): Step {
  return { kind: 'bytes', as: as.name, bytes: text, ...more }
}

export function wait(milliseconds: number | 'grace'): Step {
  return { kind: 'wait', milliseconds }
}

/** Deletes a record, and waits until it is deleted. */
export function deleteRecord(deletion: Reference, record: Target, more?: More): readonly Step[] {
  return [setUp(deletion.delete(record, more)), settled(deletion)]
}

export function createAndDelete(record: Reference, deletion: Reference): readonly Step[] {
  return [create(record), ...deleteRecord(deletion, record)]
}

/**
 * Bodies of requests. With spread, members can be added, changed or left out: `{ ...body.example, with: { name: 'x' }
 * }`.
 */
export const body = {
  /** A valid body that creates a record; the same with only the required members, and with all optional ones. */
  example: { from: 'example' },
  least: { from: 'least' },
  fullExample: { from: 'example', plus: 'optional' },
  /** A valid change, and the example with this change. */
  change: { from: 'change' },
  /** A change of fewer members, if several may change. */
  someChange: { from: 'some-change' },
  changedExample: { from: 'example', plus: 'change' },
  /** Members with invalid values. */
  invalid: { from: 'invalid' },
  /** Members with values of the right types that break the constraints of their schemas. */
  broken: { from: 'broken' },
  /** One part of a member that is an object. */
  part: { from: 'part' },
  /** Only the member by which the checker recognises its records. */
  mark: { from: 'mark' },
  /** What an earlier step sent. */
  sentBy: (step: Reference) => ({ from: { sent: step.name } }),
  /** What the server answered to an earlier step. */
  answerTo: (step: Reference) => ({ from: { answered: step.name } }),
  /** An example with the unique values that an earlier step sent. */
  withUniqueValuesOf: (step: Reference) => ({ from: 'example', like: step.name }),
  json: (value: unknown) => ({ json: value }),
  text: (value: string) => ({ text: value }),
} as const satisfies Readonly<Record<string, Body | ((value: never) => Body)>>

export const asNobody: More = { caller: 'nobody' }
export const asOther: More = { caller: 'other' }
