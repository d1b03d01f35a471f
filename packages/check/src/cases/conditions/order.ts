/** CON-5, CON-6: one of several concurrent writers wins, and the order of refusals. */

import type { Ask, Body, Case, Expectation, Finding, Observations, Request, Step } from '../../case/case.ts'
import { common } from '../../case/define.ts'
import { finding, status, unexpected } from '../../case/expect.ts'
import { oneWins } from '../../case/expect-records.ts'
import { both, deletion, first, one, second, seen, two } from '../../case/names.ts'
import { answered, applicableWhere, outcomeOf } from '../../case/preconditions.ts'
import { base, collection, Reference } from '../../case/references.ts'
import { body, create, setUp, simultaneous, together } from '../../case/steps.ts'
import type { Exchange } from '../../client/exchange.ts'

const [here, _taking, readyStep, again, writes] = Reference.named('here', 'taking', 'ready', 'repeated', 'writes')
const [changes, deletions] = Reference.named('changes', 'deletions')

/** Two refusals that follow one another in the order, and a request that deserves both. */
interface Pair extends Pick<Case, 'id' | 'title' | 'needs' | 'after' | 'remedy'> {
  readonly prepare?: readonly Step[]
  /** A request that deserves only the refusal that is decided earlier, with its statuses. */
  readonly earlier?: Refused
  /** A request that deserves only the refusal that is decided later. */
  readonly later: Refused
  readonly both: Refused
}

type Refused = readonly [
  request: readonly [method: string, to: string, more?: Omit<Request, 'method' | 'to'>],
  ...statuses: number[],
]

const nothing = `${base}/no-such-thing`
const broken = { body: body.text('{') } as const
const plain = { headers: { 'Content-Type': 'text/plain' } } as const
const whole = { body: body.example } as const
const gone: readonly Step[] = [create(one), setUp(deletion.delete(one))]
// Some servers answer 400 to tags of another form than their own.
const other = { headers: { 'If-Match': seen.otherEtag } } as const

const unknownFirst = 'Authenticate first: unauthenticated callers must not learn what exists.'
const placeFirst = 'Find out what is at the address, and whether it takes the method, before the body is read.'

const pairs: readonly Pair[] = [
  {
    id: 'CON-6/401-before-404',
    title: 'An unknown path without a credential returns 401, not 404',
    needs: ['key'],
    later: [['GET', nothing], 404],
    both: [['GET', nothing, { caller: 'nobody' }], 401],
    remedy: unknownFirst,
  },
  {
    id: 'CON-6/401-before-405',
    title: 'An unsupported method without a credential returns 401, not 405',
    needs: ['create', 'key', 'read'],
    // Not PUT of the collection: a careless server would replace all of its records.
    prepare: [create(one)],
    later: [['POST', one.path, { body: body.mark }], 405],
    both: [['POST', one.path, { body: body.mark, caller: 'nobody' }], 401],
    remedy: unknownFirst,
  },
  {
    id: 'CON-6/401-before-400',
    title: 'A malformed body without a credential returns 401, not 400',
    needs: ['create', 'key'],
    prepare: [create(one)],
    earlier: [['POST', collection, { ...whole, caller: 'nobody' }], 401],
    later: [['POST', collection, broken], 400, 422],
    both: [['POST', collection, { ...broken, caller: 'nobody' }], 401],
    remedy: unknownFirst,
  },
  {
    id: 'CON-6/401-before-missing',
    title: 'A nonexistent record without a credential returns 401, not 404',
    needs: ['create', 'delete', 'key', 'read'],
    prepare: [create(here), ...gone],
    earlier: [['GET', here.path, { caller: 'nobody' }], 401],
    later: [['GET', one.path], 404],
    both: [['GET', one.path, { caller: 'nobody' }], 401],
    remedy: unknownFirst,
  },
  {
    id: 'CON-6/404-before-400',
    title: 'A malformed body for an unknown path returns 404, not 400',
    needs: ['create'],
    earlier: [['POST', nothing, { body: body.mark }], 404],
    later: [['POST', collection, broken], 400, 422],
    both: [['POST', nothing, broken], 404],
    remedy: placeFirst,
  },
  {
    id: 'CON-6/405-before-400',
    title: 'A malformed body with an unsupported method returns 405, not 400',
    needs: ['create', 'read'],
    prepare: [create(one)],
    earlier: [['POST', one.path, { body: body.mark }], 405],
    later: [['POST', collection, broken], 400, 422],
    both: [['POST', one.path, broken], 405],
    remedy: placeFirst,
  },
  {
    id: 'CON-6/415-before-400',
    title: 'A malformed body of an unsupported media type returns 415, not 400',
    needs: ['create'],
    prepare: [create(one)],
    earlier: [['POST', collection, { ...whole, ...plain }], 415],
    later: [['POST', collection, broken], 400, 422],
    both: [['POST', collection, { ...broken, ...plain }], 415],
    remedy: 'Check Content-Type before you parse the body.',
  },
  {
    id: 'CON-6/400-before-403',
    title: 'A malformed body from a caller who may not create returns 400, not 403',
    needs: ['create', 'no create', 'other'],
    prepare: [create(one)],
    earlier: [['POST', collection, broken], 400, 422],
    later: [['POST', collection, { ...whole, caller: 'other' }], 403],
    both: [['POST', collection, { ...broken, caller: 'other' }], 400, 422],
    remedy: 'Read the body before permissions are looked up: what they hang on may stand in it.',
  },
  {
    id: 'CON-6/403-before-404',
    title: 'A nonexistent record returns 403, not 404, to a caller who may read none',
    needs: ['create', 'delete', 'no read', 'other', 'read'],
    prepare: [create(here), ...gone],
    earlier: [['GET', here.path, { caller: 'other' }], 403],
    later: [['GET', one.path], 404],
    both: [['GET', one.path, { caller: 'other' }], 403],
    remedy: 'Check permissions before the record: callers without permission must not learn which records exist.',
  },
  {
    id: 'CON-6/404-before-412',
    title: 'A condition on a nonexistent record returns 404, not 412',
    needs: ['change', 'create', 'delete', 'update'],
    after: ['CON-3/other-patch'],
    prepare: [create(here), setUp(seen.get(here)), ...gone],
    earlier: [['PATCH', one.path, { body: body.change }], 404],
    later: [['PATCH', here.path, { body: body.change, ...other }], 412, 409],
    both: [['PATCH', one.path, { body: body.change, ...other }], 404],
    remedy: 'Evaluate conditions only on existing records, and answer 404 if there is none.',
  },
  {
    id: 'CON-6/412-before-400',
    title: 'An invalid change with a failing condition returns 412, not 400',
    needs: ['change', 'create', 'invalid', 'update'],
    after: ['CON-3/other-patch'],
    prepare: [create(one), setUp(seen.get(one))],
    earlier: [['PATCH', one.path, { body: body.change, ...other }], 412],
    later: [['PATCH', one.path, { body: body.invalid }], 400, 422],
    both: [['PATCH', one.path, { body: body.invalid, ...other }], 412],
    remedy: 'Decide the condition before you validate: what the client knows of the record is out of date.',
  },
  {
    id: 'CON-6/400-before-409',
    title: 'An invalid change with a conflicting unique value returns 400, not 409',
    needs: ['create', 'invalid', 'unique', 'update'],
    prepare: [create(one), create(two)],
    earlier: [['PATCH', one.path, { body: body.invalid }], 400, 422],
    later: [['PATCH', one.path, { body: { ...body.mark, like: two.name } }], 409],
    both: [['PATCH', one.path, { body: { ...body.invalid, like: two.name } }], 400, 422],
    remedy: 'Validate the whole body before you look for other records that have its values.',
  },
]

/** The order can be judged only if the server gives each refusal by itself. */
function givenAlone(step: Reference, statuses: readonly number[]): Expectation {
  return applicableWhere(answered(step, ...statuses), (seen) => {
    const { method } = seen.of(step).asked
    return `${method} that deserves nothing else is answered ${outcomeOf(step, seen)}, not ${statuses.join(' or ')}`
  })
}

export const order: readonly Case[] = pairs.map(({ prepare = [], earlier, later, both: twice, ...pair }) => {
  const [laterRequest, ...laterStatuses] = later
  const [request, ...statuses] = twice
  const [earlierRequest, ...earlierStatuses] = earlier ?? []
  return {
    ...{ kind: 'changing', ...pair },
    steps: [
      ...prepare,
      ...(earlierRequest === undefined ? [] : [first.send(...earlierRequest)]),
      second.send(...laterRequest),
      both.send(...request),
    ],
    expect: [
      ...(earlierRequest === undefined ? [] : [givenAlone(first, earlierStatuses)]),
      givenAlone(second, laterStatuses),
      status(both, ...statuses),
    ],
  }
})

const many = 8

/** As many connections as writers, so that all can write at the same moment. */
const ready: Step = simultaneous(many, setUp(readyStep.get(one)))

function writer(as: Reference, method: string, body?: Body): Ask {
  return as.send(method, one, { headers: { 'If-Match': seen.etag }, ...(body && { body }) })
}

const isDone = ({ answer }: Exchange) => answer !== undefined && answer.status >= 200 && answer.status < 300

/** Of concurrent changes and deletions, either one change succeeds or the record is deleted. */
function oneKindIsMade(seen: Observations): Finding | undefined {
  const [changed, deleted] = [seen.all(changes).filter(isDone), seen.all(deletions).filter(isDone)]
  const refusals = [412, 404, 409, 410]
  const isOdd = (each: Exchange) => !isDone(each) && !refusals.includes(each.answer?.status ?? 0)
  const odd = [...seen.all(changes), ...seen.all(deletions)].find(isOdd)
  if (odd !== undefined) return unexpected(odd, refusals.join(' or '))
  if (changed.length > 0 && deleted.length > 0) {
    return finding(deleted[0], 'status', `${changed.length} changes were made, and a deletion that knew of none`)
  }
  if (changed.length + Math.min(1, deleted.length) === 1) return undefined
  const message = `${changed.length} changes and ${deleted.length} deletions were made`
  return finding(changed[1] ?? seen.all(changes)[0], 'status', message)
}

const remedy = 'Check the condition in the writing transaction, on a locked row or with "update … where revision = …".'

export const atOnce = common({ remedy, prepare: [create(one), setUp(seen.get(one)), ready] }).define({
  'CON-5/one-wins': {
    title: `One of ${many} concurrent PATCH with one entity tag succeeds`,
    after: ['CON-3/stale-patch'],
    steps: [simultaneous(many, writer(writes, 'PATCH', body.change))],
    expect: [oneWins(writes, 412, 409)],
  },
  'CON-5/one-replaces': {
    title: `One of ${many} concurrent PUT with one entity tag succeeds`,
    needs: ['update'],
    after: ['CON-3/fits-put', 'CON-3/stale-put'],
    steps: [simultaneous(many, writer(writes, 'PUT', body.changedExample))],
    expect: [oneWins(writes, 412, 409)],
  },
  'CON-5/one-deletes': {
    title: `One of ${many} concurrent DELETE with one entity tag succeeds`,
    after: ['CON-3/fits-delete', 'CON-3/other-delete'],
    steps: [simultaneous(many, writer(writes, 'DELETE')), again.delete(one, { headers: { 'If-Match': seen.etag } })],
    expect: [
      applicableWhere(
        (seen) => (seen.of(again).answer?.status ?? 0) >= 400,
        (seen) => `it is answered ${outcomeOf(again, seen)}: which deletion was first is unknown`,
      ),
      oneWins(writes, 412, 404, 409, 410),
    ],
  },
  'CON-5/change-or-deletion': {
    title: 'Only one of several concurrent PATCH and DELETE with one entity tag succeeds',
    after: ['CON-5/one-wins', 'CON-5/one-deletes'],
    steps: [
      together(
        ...Array.from({ length: many / 2 }, () => [
          writer(deletions, 'DELETE'),
          writer(changes, 'PATCH', body.change),
        ]).flat(),
      ),
    ],
    expect: [oneKindIsMade],
  },
})
