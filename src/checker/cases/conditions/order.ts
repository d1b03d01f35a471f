/** CON-5, CON-6: one of several concurrent writers wins, and which of several refusals is given. */
import type { Ask, Case, Expectation, Finding, Need, Observations, Request, Step } from '../../case/case.ts'
import { common } from '../../case/define.ts'
import { answered, applicableWhere, finding, outcomeOf, status } from '../../case/expect.ts'
import {
  both as bothStep,
  deletion,
  first as firstStep,
  one,
  second as secondStep,
  seen,
  two,
} from '../../case/names.ts'
import { base, collection, mark, members, type Reference, references } from '../../case/references.ts'
import { body, create, setUp, simultaneous, together } from '../../case/steps.ts'
import type { Exchange } from '../../client/exchange.ts'

const [here, taking, readyStep, again, writes] = references('here', 'taking', 'ready', 'repeated', 'writes')
const [changes, deletions] = references('changes', 'deletions')

/** Two neighbours of the order, and a request that deserves both. */
interface Pair {
  readonly id: Case['id']
  readonly title: string
  readonly needs: readonly Need[]
  readonly after?: readonly Case['id'][]
  readonly given?: readonly Step[]
  /** A request that deserves the first alone, and one that deserves the second alone, with what answers them. */
  readonly first?: readonly [asked: Asked, ...statuses: number[]]
  readonly second: readonly [asked: Asked, ...statuses: number[]]
  readonly both: readonly [asked: Asked, ...statuses: number[]]
  readonly remedy: string
}

type Asked = readonly [method: string, to: string, more?: Omit<Request, 'method' | 'to'>]

const nothing = `${base}/no-such-thing`
const broken = { body: body.text('{') } as const
const plain = { headers: { 'Content-Type': 'text/plain' } } as const
const whole = { body: body.example } as const
const gone: readonly Step[] = [create(one), setUp(deletion.delete(one))]
const other = { headers: { 'If-Match': '"of-another"' } } as const

const unknownFirst = 'Authenticate first: unauthenticated callers must not learn what exists.'
const placeFirst = 'Find out what is at the address, and whether it takes the method, before the body is read.'

const pairs: readonly Pair[] = [
  {
    id: 'CON-6/401-before-404',
    title: 'Without a credential a path that is none is answered 401, not 404',
    needs: ['key'],
    second: [['GET', nothing], 404],
    both: [['GET', nothing, { caller: 'nobody' }], 401],
    remedy: unknownFirst,
  },
  {
    id: 'CON-6/401-before-405',
    title: 'Without a credential a method that the address does not support is answered 401, not 405',
    needs: ['key'],
    second: [['PUT', collection, broken], 405],
    both: [['PUT', collection, { ...broken, caller: 'nobody' }], 401],
    remedy: unknownFirst,
  },
  {
    id: 'CON-6/401-before-400',
    title: 'Without a credential a body that cannot be read is answered 401, not 400',
    needs: ['create', 'key'],
    given: [create(one)],
    first: [['POST', collection, { ...whole, caller: 'nobody' }], 401],
    second: [['POST', collection, broken], 400],
    both: [['POST', collection, { ...broken, caller: 'nobody' }], 401],
    remedy: unknownFirst,
  },
  {
    id: 'CON-6/401-before-missing',
    title: 'Without a credential a record that is not there is answered 401, not 404',
    needs: ['create', 'delete', 'key', 'read', 'unconditional'],
    given: [create(here), ...gone],
    first: [['GET', here.path, { caller: 'nobody' }], 401],
    second: [['GET', one.path], 404],
    both: [['GET', one.path, { caller: 'nobody' }], 401],
    remedy: unknownFirst,
  },
  {
    id: 'CON-6/404-before-400',
    title: 'A body that cannot be read, for a path that is none, is answered 404, not 400',
    needs: ['create'],
    first: [['POST', nothing, { body: body.mark }], 404],
    second: [['POST', collection, broken], 400],
    both: [['POST', nothing, broken], 404],
    remedy: placeFirst,
  },
  {
    id: 'CON-6/405-before-400',
    title: 'A body that cannot be read, by a method that the address does not support, is answered 405, not 400',
    needs: ['create', 'read'],
    given: [create(one)],
    first: [['POST', one.path, { body: body.mark }], 405],
    second: [['POST', collection, broken], 400],
    both: [['POST', one.path, broken], 405],
    remedy: placeFirst,
  },
  {
    id: 'CON-6/415-before-400',
    title: 'A body that is neither of a known type nor readable is answered 415, not 400',
    needs: ['create'],
    given: [create(one)],
    first: [['POST', collection, { ...whole, ...plain }], 415],
    second: [['POST', collection, broken], 400],
    both: [['POST', collection, { ...broken, ...plain }], 415],
    remedy: 'Look at Content-Type before you parse the body.',
  },
  {
    id: 'CON-6/400-before-403',
    title: 'A body that cannot be read, of somebody who may not create, is answered 400, not 403',
    needs: ['create', 'no create', 'other'],
    given: [create(one)],
    first: [['POST', collection, broken], 400],
    second: [['POST', collection, { ...whole, caller: 'other' }], 403],
    both: [['POST', collection, { ...broken, caller: 'other' }], 400],
    remedy: 'Read the body before permissions are looked up: what they hang on may stand in it.',
  },
  {
    id: 'CON-6/403-before-404',
    title: 'To somebody who may read none, a record that is not there is answered 403, not 404',
    needs: ['create', 'delete', 'no read', 'other', 'read', 'unconditional'],
    given: [create(here), ...gone],
    first: [['GET', here.path, { caller: 'other' }], 403],
    second: [['GET', one.path], 404],
    both: [['GET', one.path, { caller: 'other' }], 403],
    remedy: 'Look at permissions before the record: who may read none need not learn which there are.',
  },
  {
    id: 'CON-6/404-before-412',
    title: 'A condition on a record that is not there is answered 404, not 412',
    needs: ['change', 'create', 'delete', 'unconditional', 'update'],
    after: ['CON-3/other-patch'],
    given: [create(here), ...gone],
    first: [['PATCH', one.path, { body: body.change }], 404],
    second: [['PATCH', here.path, { body: body.change, ...other }], 412],
    both: [['PATCH', one.path, { body: body.change, ...other }], 404],
    remedy: 'Decide conditions where there is a record to decide them on; where none is, answer 404.',
  },
  {
    id: 'CON-6/412-before-400',
    title: 'A change that is bad, on a condition that does not fit, is answered 412, not 400',
    needs: ['change', 'create', 'invalid', 'unconditional', 'update'],
    after: ['CON-3/other-patch'],
    given: [create(one)],
    first: [['PATCH', one.path, { body: body.change, ...other }], 412],
    second: [['PATCH', one.path, { body: body.invalid }], 400, 422],
    both: [['PATCH', one.path, { body: body.invalid, ...other }], 412],
    remedy: 'Decide the condition before you validate: what the client knows of the record is out of date.',
  },
  {
    id: 'CON-6/400-before-409',
    title: 'A change that is bad, and takes a value that is taken, is answered 400, not 409',
    needs: ['create', 'invalid', 'unconditional', 'unique', 'update'],
    given: [create(one), create(two), taking.patch(two, body.json({ [members.unique]: `${mark}-taken` }))],
    first: [['PATCH', one.path, { body: body.invalid }], 400, 422],
    second: [['PATCH', one.path, { body: body.json({ [members.unique]: `${mark}-taken` }) }], 409],
    both: [['PATCH', one.path, { body: { ...body.invalid, with: { [members.unique]: `${mark}-taken` } } }], 400, 422],
    remedy: 'Validate the whole body before you look for other records that have its values.',
  },
]

/** An order there is only where each is given by itself. */
function givenAlone(step: Reference, statuses: readonly number[]): Expectation {
  return applicableWhere(answered(step, ...statuses), (seen) => {
    const { method } = seen.of(step).asked
    return `${method} that deserves nothing else is answered ${outcomeOf(step, seen)}, not ${statuses.join(' or ')}`
  })
}

export const order: readonly Case[] = pairs.map(
  ({ id, title, needs, after, given: before = [], first, second, both, remedy }) => ({
    ...{ id, title, kind: 'changing', needs, remedy, ...(after === undefined ? {} : { after }) },
    steps: [
      ...before,
      ...(first === undefined ? [] : [firstStep.send(...first[0])]),
      secondStep.send(...second[0]),
      bothStep.send(...both[0]),
    ],
    expect: [
      ...(first === undefined ? [] : [givenAlone(firstStep, first.slice(1) as number[])]),
      givenAlone(secondStep, second.slice(1) as number[]),
      status(bothStep, ...(both.slice(1) as number[])),
    ],
  }),
)

const many = 8

/** As many connections as writers, so that all can write at the same moment. */
const ready: Step = simultaneous(many, setUp(readyStep.get(one)))

function writers(as: Reference, method: string, count: number, body?: Request['body']): Ask[] {
  const more = { headers: { 'If-Match': seen.etag }, ...(body === undefined ? {} : { body }) }
  return Array.from({ length: count }, () => as.send(method, one, more))
}

const isDone = ({ answer }: Exchange) => answer !== undefined && answer.status >= 200 && answer.status < 300

/** An exchange that was neither carried out nor refused as it may be. */
function odd(exchanges: readonly Exchange[], refusals: readonly number[]): Finding | undefined {
  const found = exchanges.find((each) => !isDone(each) && !refusals.includes(each.answer?.status ?? 0))
  return (
    found && finding(found, 'status', `${found.answer?.status ?? found.failure} in place of ${refusals.join(' or ')}`)
  )
}

const oneIsMade =
  (refusals: readonly number[]): Expectation =>
  (seen) => {
    const all = seen.all(writes)
    const made = all.filter(isDone)
    if (made.length === 1) return odd(all, refusals)
    return (
      odd(all, refusals) ?? finding(made[1] ?? all[0], 'status', `${made.length} of ${all.length} were carried out`)
    )
  }

/** Of changes and deletions at once either one change is made, or the record is deleted. */
function oneKindIsMade(seen: Observations): Finding | undefined {
  const [changed, deleted] = [seen.all(changes).filter(isDone), seen.all(deletions).filter(isDone)]
  const wrong = odd([...seen.all(changes), ...seen.all(deletions)], [412, 404, 409, 410])
  if (wrong !== undefined) return wrong
  if (changed.length > 0 && deleted.length > 0) {
    return finding(deleted[0], 'status', `${changed.length} changes were made, and a deletion that knew of none`)
  }
  return changed.length + Math.min(1, deleted.length) === 1
    ? undefined
    : finding(
        changed[1] ?? seen.all(changes)[0],
        'status',
        `${changed.length} changes and ${deleted.length} deletions were made`,
      )
}

const remedy = 'Check the condition in the writing transaction, on a locked row or with "update … where revision = …".'

export const atOnce = common({ remedy, prepare: [create(one), setUp(seen.get(one)), ready] }).define({
  'CON-5/one-wins': {
    title: `Of ${many} PATCH at once with one entity tag exactly one is carried out`,
    after: ['CON-3/stale-patch'],
    steps: [together(...writers(writes, 'PATCH', many, { from: 'change' }))],
    expect: [oneIsMade([412])],
  },
  'CON-5/one-replaces': {
    title: `Of ${many} PUT at once with one entity tag exactly one is carried out`,
    needs: ['update'],
    after: ['CON-3/fits-put', 'CON-3/stale-put'],
    steps: [together(...writers(writes, 'PUT', many, { from: 'example', plus: 'change' }))],
    expect: [oneIsMade([412])],
  },
  'CON-5/one-deletes': {
    title: `Of ${many} DELETE at once with one entity tag exactly one is carried out`,
    after: ['CON-3/fits-delete', 'CON-3/other-delete'],
    steps: [together(...writers(writes, 'DELETE', many)), again.delete(one, { headers: { 'If-Match': seen.etag } })],
    expect: [
      applicableWhere(
        (seen) => (seen.of(again).answer?.status ?? 0) >= 400,
        (seen) => `it is answered ${seen.of(again).answer?.status}: which deletion was first is unknown`,
      ),
      oneIsMade([412, 404, 409, 410]),
    ],
  },
  'CON-5/change-or-deletion': {
    title: 'Of PATCH and DELETE at once with one entity tag only one is carried out',
    after: ['CON-5/one-wins', 'CON-5/one-deletes'],
    steps: [
      together(
        ...Array.from({ length: many / 2 }, () => [
          ...writers(deletions, 'DELETE', 1),
          ...writers(changes, 'PATCH', 1, { from: 'change' }),
        ]).flat(),
      ),
    ],
    expect: [oneKindIsMade],
  },
})
