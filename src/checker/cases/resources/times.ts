/** RES-5 and RES-6: when a record was created, changed and deleted. */
import type { Case, Seen } from '../../case/case.ts'
import { define } from '../../case/define.ts'
import { altogether, applicableWhere, finding, short } from '../../case/expect.ts'
import { after as afterStep, before as beforeStep, change, changed, gone, list, one, read } from '../../case/names.ts'
import { listed, recordOf, theRecord, type Wrong, wrongIn } from '../../case/records.ts'
import { caseRecords, collection, references } from '../../case/references.ts'
import { body, create, setUp, wait } from '../../case/steps.ts'
import { fieldOf } from '../../client/exchange.ts'
import type { JsonObject } from '../../values/json.ts'

const [live] = references('live')

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]00:?00)$/
const withMilliseconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const longAgo = '2001-02-03T04:05:06.789Z'

function noTimestamp(record: JsonObject, member: string): Wrong | undefined {
  const value = record[member]
  if (value === undefined) return { message: `there is no ${member}` }
  if (typeof value === 'string' && timestamp.test(value)) return undefined
  return { member, message: `${member} is ${short(value)}, which is no ISO 8601 time in UTC` }
}

/** What a later reading says of the time of creation after a client wanted to set it. */
function isNotSet(seen: Seen) {
  const after = seen.of(afterStep)
  const value = recordOf(after.answer, seen)?.created_at
  return Date.parse(String(value)) === Date.parse(longAgo)
    ? finding(after, { pointer: '/created_at' }, 'created_at is what the client sent')
    : undefined
}

export const times = define({
  'RES-5/created-at': {
    title: 'A new record says in created_at when it was created, in ISO 8601 and UTC',
    steps: [create(one)],
    expect: [theRecord(one, 'has created_at', (found) => noTimestamp(found, 'created_at'))],
    remedy: 'Set created_at on the server when a record is made, and write it like 2026-01-31T08:00:00.000Z.',
  },
  'RES-5/milliseconds': {
    title: 'created_at has milliseconds',
    after: ['RES-5/created-at'],
    // The specification asks for ISO 8601 in UTC; how fine is our decision.
    level: 'should',
    steps: [create(one)],
    expect: [
      theRecord(one, 'has milliseconds in created_at', ({ created_at }) =>
        withMilliseconds.test(String(created_at))
          ? undefined
          : { member: 'created_at', message: `${short(created_at)} has not three digits after the seconds, and Z` },
      ),
    ],
    remedy: 'Write all times with three digits after the seconds and Z, so that they sort as texts.',
  },
  'RES-5/now': {
    title: 'created_at is the time at which the record was made',
    after: ['RES-5/created-at'],
    steps: [create(one)],
    expect: [
      theRecord(one, 'was made just now', ({ created_at }, seen) => {
        const { answer } = seen.of(one)
        const date = answer && fieldOf(answer, 'Date')
        const now = date === undefined ? Date.now() : Date.parse(date)
        const seconds = Math.abs(now - Date.parse(String(created_at))) / 1_000
        // Its own clock is compared with itself, unless it tells no Date.
        return seconds <= (date === undefined ? 3_600 : 60)
          ? undefined
          : {
              member: 'created_at',
              message: `${created_at} where the answer was given at ${new Date(now).toISOString()}`,
            }
      }),
    ],
    remedy: 'Set created_at from the clock in the transaction that makes the record.',
  },
  'RES-5/created-kept': {
    title: 'created_at stays as it is when the record changes',
    after: ['RES-5/created-at'],
    steps: [create(one), setUp(beforeStep.get(one)), setUp(changed.patch(one, body.change)), afterStep.get(one)],
    expect: [
      theRecord(afterStep, 'has created_at as before', ({ created_at }, seen) => {
        const before = recordOf(seen.of(beforeStep).answer, seen)?.created_at
        return created_at === before
          ? undefined
          : { member: 'created_at', message: `${short(created_at)} in place of ${short(before)}` }
      }),
    ],
    remedy: 'Write created_at once, on creation, and leave it out of every update.',
  },
  'RES-5/not-set-on-creation': {
    title: 'A client cannot say in POST when a record was created',
    needs: ['read'],
    after: ['RES-5/created-at'],
    steps: [create(one), afterStep.post(collection, { ...body.example, with: { created_at: longAgo } })],
    expect: [altogether('created_at is not what was sent', isNotSet)],
    remedy: 'Refuse created_at in bodies, or leave it aside.',
  },
  'RES-5/not-set-by-patch': {
    title: 'A client cannot say in PATCH when a record was created',
    after: ['RES-5/created-at'],
    steps: [create(one), change.patch(one, body.json({ created_at: longAgo })), afterStep.get(one)],
    expect: [altogether('created_at is not what was sent', isNotSet)],
    remedy: 'Refuse created_at in bodies, or leave it aside.',
  },
  'RES-5/not-set-by-put': {
    title: 'A client cannot say in PUT when a record was created',
    after: ['RES-5/created-at'],
    steps: [create(one), change.put(one, { ...body.sentBy(one), with: { created_at: longAgo } }), afterStep.get(one)],
    expect: [altogether('created_at is not what was sent', isNotSet)],
    remedy: 'Refuse another created_at than the record has, or leave it aside.',
  },
  'RES-5/updated-at': {
    title: 'A record says in updated_at when it was last changed',
    // Beyond the specification.
    level: 'may',
    steps: [create(one), setUp(read.get(one))],
    expect: [theRecord(read, 'has updated_at', (found) => noTimestamp(found, 'updated_at'))],
    remedy: 'Set updated_at on the server with every change, in the form of created_at.',
  },
  'RES-5/updated-moves': {
    title: 'updated_at moves on with a change',
    after: ['RES-5/updated-at'],
    level: 'may',
    steps: [
      create(one),
      setUp(beforeStep.get(one)),
      wait(20),
      setUp(changed.patch(one, body.change)),
      afterStep.get(one),
    ],
    expect: [
      applicableWhere('times are fine enough', (seen) =>
        String(recordOf(seen.of(beforeStep).answer, seen)?.updated_at).includes('.')
          ? undefined
          : 'updated_at has whole seconds, and so long is not waited',
      ),
      theRecord(afterStep, 'has a later updated_at', ({ updated_at }, seen) => {
        const before = recordOf(seen.of(beforeStep).answer, seen)?.updated_at
        return Date.parse(String(updated_at)) > Date.parse(String(before))
          ? undefined
          : { member: 'updated_at', message: `${short(updated_at)} after a change, ${short(before)} before it` }
      }),
    ],
    remedy: 'Set updated_at in the statement that changes the record.',
  },
})

const liveSteps: Case['steps'] = [create(one), setUp(live.get(one)), setUp(live.patch(one, body.change))]

/** No answer with a live record has a deleted_at of which `isWrong` is so. */
function noneDeleted(says: string, isWrong: (value: unknown) => boolean) {
  return altogether(says, (seen) => {
    for (const exchange of [seen.of(one), ...seen.all(live)]) {
      const found = recordOf(exchange.answer, seen)
      if (found === undefined || !isWrong(found.deleted_at)) continue
      return wrongIn(exchange, found, { member: 'deleted_at', message: `deleted_at is ${short(found.deleted_at)}` })
    }
    return undefined
  })
}

// What the answer to a deletion holds is tried with DEL-2.
export const deletionTimes = define({
  'RES-6/live': {
    title: 'A record that is not deleted has no time of deletion',
    steps: liveSteps,
    expect: [noneDeleted('deleted_at has no value', (value) => value !== undefined && value !== null)],
    remedy: 'Give deleted_at to deleted records alone.',
  },
  'RES-6/absent': {
    title: 'A record that is not deleted has no member deleted_at at all',
    after: ['RES-6/live'],
    // The specification says where it is; that null is nowhere else is our reading.
    level: 'should',
    steps: liveSteps,
    expect: [noneDeleted('deleted_at is absent', (value) => value !== undefined)],
    remedy: 'Leave deleted_at out of live records, rather than writing null.',
  },
  'RES-6/deleted': {
    title: 'A deleted record, where it is shown, says in deleted_at when it was deleted',
    steps: [create(one), setUp(gone.delete(one)), list.get(`${caseRecords}&include_deleted=true`)],
    expect: [
      applicableWhere('deleted records are shown', (seen) =>
        listed(seen.of(list).answer, seen, seen.fill(one.id)) === undefined
          ? 'deleted records are not shown with include_deleted=true'
          : undefined,
      ),
      altogether('the deleted record has deleted_at', (seen) => {
        const exchange = seen.of(list)
        const found = listed(exchange.answer, seen, seen.fill(one.id)) ?? {}
        const wrong = noTimestamp(found, 'deleted_at')
        return wrong && wrongIn(exchange, found, wrong)
      }),
    ],
    remedy: 'Keep the time of the deletion with the record, and show it as deleted_at, in the form of created_at.',
  },
})
