/** EVT-1 to EVT-5: the events of a record in the list of events. */
import type { Case, Expectation, Observations, Step } from '../../case/case.ts'
import { common } from '../../case/define.ts'
import { answerOf, code, finding, itemsOf, member, refused, short, status, unless } from '../../case/expect.ts'
import { theItems } from '../../case/expect-list.ts'
import { recordAt } from '../../case/expect-records.ts'
import { all, change, changed, gone, list, one, other, pages, read, refusal, two } from '../../case/names.ts'
import { readyIf } from '../../case/preconditions.ts'
import { base, collection, collectionName, Reference } from '../../case/references.ts'
import {
  asOther,
  body,
  create,
  createAndDelete,
  createByOther,
  deleteRecord,
  eventually,
  setUp,
} from '../../case/steps.ts'
import { isSame, type JsonObject } from '../../values/json.ts'

const [again, single, theirs, third] = Reference.named('again', 'single', 'theirs', 'third')

export function eventsOf(record: Reference): string {
  return `${base}/events?collection=${collectionName}&record=${record.id}`
}

export function eventsIn(step: Reference, seen: Observations): readonly JsonObject[] {
  return itemsOf(seen.of(step).answer, seen) ?? []
}

function kindsIn(step: Reference, seen: Observations): readonly unknown[] {
  return eventsIn(step, seen).map(({ kind }) => kind)
}

/** Reads the events of a record until there are as many as its changes. */
export function awaitEvents(step: Reference, record: Reference, count: number): Step {
  return eventually(step.get(eventsOf(record)), (seen) => eventsIn(step, seen).length >= count)
}

/** Reads the events of a record, and continues only if there are some: what a case shows is not an empty list. */
export function knownEvents(step: Reference, record: Reference, count = 1): readonly Step[] {
  return [
    awaitEvents(step, record, count),
    readyIf(
      (seen) => eventsIn(step, seen).length >= count,
      `the list of events showed fewer than ${count} of a record`,
    ),
  ]
}

export function update(as: Reference, record: Reference): Step {
  return setUp(as.patch(record, body.change))
}

/** The kinds of the events in a list, in any order. */
function kindsAre(step: Reference, ...wanted: readonly string[]): Expectation {
  return theItems(step, (items) => {
    const kinds = items.map(({ kind }) => String(kind)).toSorted()
    return unless(isSame(kinds, wanted.toSorted()), `${short(kinds)} in place of ${short(wanted)}`)
  })
}

function everyEvent(step: Reference, test: (event: JsonObject, seen: Observations) => string | undefined): Expectation {
  return theItems(step, (items, seen) => {
    if (items.length === 0) return 'there is no event'
    return items.map((item) => test(item, seen)).find((wrong) => wrong !== undefined)
  })
}

/** An event shows the record as an answer showed it. */
function showsRecord(step: Reference, kind: string, record: Reference): Expectation {
  return answerOf(step, (_, seen, exchange) => {
    const event = eventsIn(step, seen).find((each) => each['kind'] === kind)
    if (event === undefined) return `there is no event ${kind}`
    const wanted = recordAt(record, seen)
    if (isSame(event['data'], wanted)) return undefined
    return finding(exchange, 'body', `data of ${kind} is ${short(event['data'])} in place of ${short(wanted)}`)
  })
}

const isMoment = (value: unknown) => typeof value === 'string' && !Number.isNaN(Date.parse(value))

/** What other callers are not shown. */
function excludes(step: Reference, record: Reference): Expectation {
  return answerOf(step, (answer, seen, exchange) => {
    if (answer.status >= 500) return finding(exchange, 'status', `${answer.status}, a failure of the server`)
    return unless(!answer.body.includes(seen.fill(record.id)), `events of the record ${seen.fill(record.id)} are shown`)
  })
}

const deletionEvents = [
  ...createAndDelete(one, gone),
  eventually(list.get(`${eventsOf(one)}&kind=deleted`), (seen) => eventsIn(list, seen).length > 0),
]

/** The second caller creates a record, and reads its events. */
const ownEvents = [
  createByOther(other),
  eventually(again.get(eventsOf(other), asOther), (seen) => eventsIn(again, seen).length > 0),
  readyIf((seen) => eventsIn(again, seen).length > 0, 'the second caller got no event of an own record'),
]

const filterRemedy = 'Filter events by collection, record and kind as lists of records are filtered.'

export const eventCases: readonly Case[] = common({ needs: ['create', 'read'] }).define({
  'EVT-1/each': {
    title: 'Each change of a record has exactly one event',
    needs: ['update', 'change'],
    steps: [create(one), update(change, one), awaitEvents(list, one, 2)],
    expect: [status(list, 200), kindsAre(list, 'created', 'updated')],
    remedy: 'Write an event in the transaction of each change, and only one.',
  },
  'EVT-1/deleted': {
    title: 'A deletion has exactly one event',
    needs: ['delete'],
    steps: deletionEvents,
    expect: [status(list, 200), kindsAre(list, 'deleted')],
    remedy: 'Write an event in the transaction of the deletion.',
  },
  'EVT-1/refused': {
    title: 'A refused change has no event',
    needs: ['update', 'change', 'invalid'],
    after: ['EVT-1/each'],
    steps: [
      create(one),
      refusal.patch(one, body.invalid),
      readyIf((seen) => (seen.of(refusal).answer?.status ?? 0) >= 400, 'an invalid change was not refused'),
      update(change, one),
      ...knownEvents(list, one, 2),
    ],
    expect: [kindsAre(list, 'created', 'updated')],
    remedy: 'Write events only in the transaction of the change, so that a refusal leaves none.',
  },
  'EVT-2/record': {
    title: 'The list of events is filtered by record',
    steps: [create(one), create(two), ...knownEvents(all, two), ...knownEvents(list, one)],
    expect: [
      everyEvent(list, ({ record }, seen) => unless(record === seen.fill(one.id), `one is of ${short(record)}`)),
    ],
    remedy: filterRemedy,
  },
  'EVT-2/kind': {
    title: 'The list of events is filtered by kind',
    needs: ['update', 'change'],
    steps: [create(one), update(change, one), ...knownEvents(all, one, 2), list.get(`${eventsOf(one)}&kind=updated`)],
    expect: [everyEvent(list, ({ kind }) => unless(kind === 'updated', `one is ${short(kind)}`))],
    remedy: filterRemedy,
  },
  'EVT-2/order': {
    title: 'The events of a record are in the order of its changes',
    needs: ['update', 'change'],
    after: ['EVT-1/each'],
    steps: [create(one), update(change, one), ...knownEvents(list, one, 2)],
    expect: [
      (seen) => {
        const kinds = kindsIn(list, seen)
        if (isSame(kinds, ['created', 'updated'])) return undefined
        return finding(seen.of(list), 'body', `${short(kinds)} in place of created, updated`)
      },
    ],
    remedy: 'List events in the order in which their changes were committed.',
  },
  'EVT-2/pages': {
    title: 'Pages of events contain each event once, in the order of the list',
    needs: ['update', 'change', 'cursor'],
    after: ['EVT-1/each'],
    steps: [
      create(one),
      update(change, one),
      ...knownEvents(list, one, 2),
      { kind: 'walk', as: pages.name, from: `${eventsOf(one)}&limit=1`, most: 5 },
    ],
    expect: [
      (seen) => {
        const walked = seen.all(pages).flatMap(({ answer }) => itemsOf(answer, seen) ?? [])
        const [ids, wanted] = [walked, eventsIn(list, seen)].map((events) => events.map(({ id }) => id))
        if (isSame(ids, wanted)) return undefined
        return finding(seen.of(pages), 'body', `the pages have ${short(ids)} in place of ${short(wanted)}`)
      },
    ],
    remedy: 'Continue after the last event of a page, in the order of the list.',
  },
  'EVT-3/members': {
    title: 'An event has id, collection, record, kind, data, created_at and updated_at',
    steps: [create(one), ...knownEvents(list, one)],
    expect: [
      everyEvent(list, (event, seen) => {
        const { id, collection: name, created_at: at, updated_at: updated } = event
        if (typeof id !== 'string') return `id is ${short(id)}`
        if (name !== seen.collection.name) return `collection is ${short(name)}`
        const wrong = Object.entries({ created_at: at, updated_at: updated }).find(([, value]) => !isMoment(value))
        if (wrong !== undefined) return `${wrong[0]} is ${short(wrong[1])}`
        return unless(Object.hasOwn(event, 'data'), 'there is no data')
      }),
    ],
    remedy: 'Show events with these members, and the name of the collection as it is in paths.',
  },
  'EVT-3/data': {
    title: 'data of an event is the record after the change',
    needs: ['update', 'change'],
    after: ['EVT-1/each', 'EVT-3/members'],
    steps: [
      create(one),
      setUp(read.get(one)),
      update(change, one),
      setUp(changed.get(one)),
      ...knownEvents(list, one, 2),
    ],
    expect: [showsRecord(list, 'created', read), showsRecord(list, 'updated', changed)],
    remedy: 'Keep with each event what the record was after the change, and show it as the record is shown.',
  },
  'EVT-3/null': {
    title: 'data of the event of a deletion is null',
    needs: ['delete'],
    after: ['EVT-1/deleted', 'EVT-3/members'],
    steps: [...deletionEvents, readyIf((seen) => eventsIn(list, seen).length > 0, 'the deletion has no event')],
    expect: [everyEvent(list, ({ data }) => unless(data === null, `it is ${short(data)}`))],
    remedy: 'Show null in place of a record that was deleted.',
  },
  'EVT-3/address': {
    title: 'GET of an event returns the event as the list shows it',
    after: ['EVT-3/members'],
    steps: [create(one), ...knownEvents(list, one), single.get(`${base}/events/${list.json('/data/0/id')}`)],
    expect: [
      status(single, 200),
      member(single, '', (body, seen) =>
        unless(isSame(body, eventsIn(list, seen)[0]), `it is ${short(body)}, and another one in the list`),
      ),
    ],
    remedy: 'Give each event an address below /events.',
  },
  'EVT-4/list': {
    title: 'The list of events excludes events of records that the caller may not read',
    needs: ['other', 'no read'],
    steps: [create(one), ...knownEvents(list, one), theirs.get(eventsOf(one), asOther)],
    expect: [excludes(theirs, one)],
    remedy: 'Show an event only to callers who may read its record at that moment.',
  },
  'EVT-4/address': {
    title: 'An event of a record that the caller may not read has no address for this caller',
    needs: ['other', 'no read'],
    after: ['EVT-3/address'],
    steps: [
      create(one),
      ...knownEvents(list, one),
      single.get(`${base}/events/${list.json('/data/0/id')}`),
      readyIf((seen) => seen.of(single).answer?.status === 200, 'the event has no address'),
      theirs.get(`${base}/events/${list.json('/data/0/id')}`, asOther),
    ],
    expect: [refused(theirs), excludes(theirs, one)],
    remedy: 'Check the caller for one event as for the list of events.',
  },
  'EVT-4/own': {
    title: 'A caller gets the events of own records, and not those of others',
    needs: ['other', 'owner'],
    steps: [
      create(one),
      ...knownEvents(list, one),
      ...ownEvents,
      theirs.get(`${base}/events?collection=${collectionName}&record=${one.id}&record=${other.id}`, asOther),
    ],
    expect: [
      excludes(theirs, one),
      theItems(theirs, (items) => unless(items.length > 0, 'the events of the own record are not shown')),
    ],
    remedy: 'Decide for each event by its record, not for the list as a whole.',
  },
  'EVT-4/deleted': {
    title: 'Of a deleted record, a caller who may not read deleted records gets the deletion alone',
    needs: ['other', 'owner', 'delete'],
    steps: [
      ...ownEvents,
      ...deleteRecord(gone, other),
      third.get(`${collection}?include_deleted=only&limit=1`, asOther),
      readyIf((seen) => (seen.of(third).answer?.status ?? 0) >= 400, 'the second caller may read deleted records'),
      eventually(theirs.get(eventsOf(other), asOther), (seen) => kindsIn(theirs, seen).includes('deleted')),
    ],
    expect: [kindsAre(theirs, 'deleted')],
    remedy: 'Leave out the earlier events of deleted records, unless the caller may read deleted records.',
  },
  'EVT-5/unknown': {
    title: 'Who continues after an event that is not kept is refused',
    steps: [
      create(one),
      ...knownEvents(list, one),
      setUp(again.get(`${eventsOf(one)}&after=${list.json('/data/0/id')}`)),
      third.get(`${eventsOf(one)}&after=${one.otherId}`),
    ],
    expect: [status(third, 410), code(third, 'EVENTS_EXPIRED')],
    remedy: 'Answer 410 EVENTS_EXPIRED, so that readers do not take a gap for silence.',
  },
})
