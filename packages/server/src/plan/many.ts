/**
 * Many records of one collection that a request creates or changes, all or none (BLK-1, BLK-2): what the request asks
 * for each of them, and the one refusal for all that is wrong.
 */
import { isObject } from 'resourced-contract/model/plain-copy'
import { comparisonKey, type Scalar } from 'resourced-contract/model/predicate'
import { isRecordId } from 'resourced-contract/model/text'
import { countErrors, type Issue, issue, mostErrors, within } from 'resourced-contract/spec/faults'
import { draftOfBody } from './draft.ts'
import type { Outcome } from './outcome.ts'
import type { Create, Update, WriteMany } from './plan.ts'

/** A record of many that was refused. */
export interface Refusal {
  /** Its place among the records, from 0. */
  readonly index: number
  readonly outcome: Outcome
}

/** The creation of each record. */
export function creationsOf(plan: WriteMany): Create[] {
  return plan.bodies.map((body, index) => createOf(plan, index, body))
}

function createOf({ create, ids }: Pick<WriteMany, 'create' | 'ids'>, index: number, body: unknown): Create {
  return { ...(create as Create), id: String(ids[index]), body }
}

/** The change of each record that its `id` names, or what is wrong with the id. */
export function mergesOf({ update, bodies }: WriteMany): (Update | Outcome)[] {
  const places = new Map<string, number>()
  const invalid = (found: Issue): Outcome => ({ kind: 'invalid', issues: [found] })
  return bodies.map((sent, index) => {
    if (!isObject(sent)) return invalid(issue('object', { pointer: '' }))
    const { id, ...body } = sent
    const pointer = '/id'
    if (id === undefined) return invalid(issue('required', { pointer }))
    if (typeof id !== 'string') return invalid(issue('type', { pointer, types: ['string'] }))
    const before = places.get(id)
    if (before !== undefined) return invalid(issue('repeats', { pointer, first: `/${before}/id` }))
    places.set(id, index)
    if (!isRecordId(id)) return { kind: 'missing' }
    return { ...(update as Update), id, body }
  })
}

/** The unique value of each record, as comparisons take it; `undefined`: there is none, or it is not valid. */
export function keysOf(plan: WriteMany): (Scalar | undefined)[] {
  const { resource, key = '' } = plan
  const template = (plan.create ?? { ...plan.update, kind: 'create', parent: undefined }) as Create
  return plan.bodies.map((body, index) => {
    const draft = draftOfBody(createOf({ ...plan, create: template }, index, body))
    return comparisonKey(resource, key, draft.values[key])
  })
}

/**
 * The creation of a record that no live one has the unique value of.
 *
 * @param value `undefined`: the record has none, so that each repetition would create another one, or it is not valid
 */
export function keyedCreation(plan: WriteMany, index: number, value: Scalar | undefined): Create | Outcome {
  if (plan.create === undefined) return { kind: 'forbidden' }
  const create = createOf(plan, index, plan.bodies[index])
  if (value !== undefined) return create
  const { key = '' } = plan
  const { issues } = draftOfBody(create)
  const isInvalid = issues.some(({ pointer = '' }) => pointer.split('/')[1] === key)
  return isInvalid ? create : { kind: 'invalid', issues: [...issues, issue('required', { field: key })] }
}

/** The replacement of the record that has the unique value. */
export function keyedUpdate({ update, bodies }: WriteMany, index: number, id: string): Update | Outcome {
  return update === undefined ? { kind: 'forbidden' } : { ...update, id, body: bodies[index] }
}

/** In the order of CON-6. */
const order = ['forbidden', 'missing', 'precondition-required', 'stale', 'invalid', 'conflict']

/**
 * The one refusal for all records that were refused: the first in the order of CON-6, with every error of this kind
 * and its place.
 *
 * @param refusals one at least
 */
export function refusalOfAll({ isSingle }: Pick<WriteMany, 'isSingle'>, refusals: readonly Refusal[]): Outcome {
  const rankOf = ({ outcome }: Refusal) => order.indexOf(outcome.kind)
  const rank = Math.min(...refusals.map(rankOf))
  const alike = refusals.filter((refusal) => rankOf(refusal) === rank) as [Refusal, ...Refusal[]]
  const [{ outcome }] = alike
  const isWhole = isSingle && outcome.kind !== 'invalid'
  if (isWhole || (outcome.kind === 'forbidden' && outcome.lacks !== undefined)) return outcome
  const found = alike.flatMap((each) => within(isSingle ? '' : `/${each.index}`, issuesOf(each.outcome)))
  return { ...outcome, issues: listed(found) } as Outcome
}

function issuesOf(outcome: Outcome): readonly Issue[] {
  if ('issues' in outcome && outcome.issues !== undefined) return outcome.issues
  return outcome.kind === 'missing' ? [issue('noRecord', { pointer: '/id' })] : [issue('unwritable')]
}

/** As many issues as a response may list, and one for the others. */
function listed(issues: readonly Issue[]): Issue[] {
  const others = countErrors(issues.slice(mostErrors))
  return [...issues.slice(0, mostErrors), ...(others > 0 ? [issue('more', { pointer: '', more: others })] : [])]
}
