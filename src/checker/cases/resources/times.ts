/** RES-5 and RES-6: when a record was created, changed and deleted. */

import type { Case, Seen } from '../../case/case.ts'
import { altogether, finding, onlyWhere, short } from '../../case/expect.ts'
import { listed, recordOf, theRecord, type Wrong, wrongIn } from '../../case/records.ts'
import { given, record, when } from '../../case/steps.ts'
import { fieldOf } from '../../client/exchange.ts'
import type { JsonObject } from '../../values/json.ts'

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
  const after = seen.of('after')
  const value = recordOf(after.answer, seen)?.created_at
  return Date.parse(String(value)) === Date.parse(longAgo)
    ? finding(after, { pointer: '/created_at' }, 'created_at is what the client sent')
    : undefined
}

export const times: readonly Case[] = [
  {
    id: 'RES-5/created-at',
    title: 'A new record says in created_at when it was created, in ISO 8601 and UTC',
    kind: 'changing',
    needs: ['create'],
    steps: [record()],
    expect: [theRecord('one', 'has created_at', (found) => noTimestamp(found, 'created_at'))],
    mend: 'Set created_at on the server when a record is made, and write it like 2026-01-31T08:00:00.000Z.',
  },
  {
    id: 'RES-5/milliseconds',
    title: 'created_at has milliseconds',
    kind: 'changing',
    needs: ['create'],
    after: ['RES-5/created-at'],
    // The specification asks for ISO 8601 in UTC; how fine is our decision.
    level: 'should',
    steps: [record()],
    expect: [
      theRecord('one', 'has milliseconds in created_at', ({ created_at }) =>
        withMilliseconds.test(String(created_at))
          ? undefined
          : { member: 'created_at', message: `${short(created_at)} has not three digits after the seconds, and Z` },
      ),
    ],
    mend: 'Write all times with three digits after the seconds and Z, so that they sort as texts.',
  },
  {
    id: 'RES-5/now',
    title: 'created_at is the time at which the record was made',
    kind: 'changing',
    needs: ['create'],
    after: ['RES-5/created-at'],
    steps: [record()],
    expect: [
      theRecord('one', 'was made just now', ({ created_at }, seen) => {
        const { answer } = seen.of('one')
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
    mend: 'Set created_at from the clock in the transaction that makes the record.',
  },
  {
    id: 'RES-5/created-kept',
    title: 'created_at stays as it is when the record changes',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'change', 'unconditional'],
    after: ['RES-5/created-at'],
    steps: [
      record(),
      given('before', 'GET', '{one}'),
      given('changed', 'PATCH', '{one}', { body: { from: 'change' } }),
      when('after', 'GET', '{one}'),
    ],
    expect: [
      theRecord('after', 'has created_at as before', ({ created_at }, seen) => {
        const before = recordOf(seen.of('before').answer, seen)?.created_at
        return created_at === before
          ? undefined
          : { member: 'created_at', message: `${short(created_at)} in place of ${short(before)}` }
      }),
    ],
    mend: 'Write created_at once, on creation, and leave it out of every update.',
  },
  {
    id: 'RES-5/not-set-on-creation',
    title: 'A client cannot say in POST when a record was created',
    kind: 'changing',
    needs: ['create', 'read'],
    after: ['RES-5/created-at'],
    steps: [
      record(),
      when('after', 'POST', '{collection}', { body: { from: 'example', with: { created_at: longAgo } } }),
    ],
    expect: [altogether('created_at is not what was sent', isNotSet)],
    mend: 'Refuse created_at in bodies, or leave it aside.',
  },
  {
    id: 'RES-5/not-set-by-patch',
    title: 'A client cannot say in PATCH when a record was created',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'unconditional'],
    after: ['RES-5/created-at'],
    steps: [
      record(),
      when('change', 'PATCH', '{one}', { body: { json: { created_at: longAgo } } }),
      when('after', 'GET', '{one}'),
    ],
    expect: [altogether('created_at is not what was sent', isNotSet)],
    mend: 'Refuse created_at in bodies, or leave it aside.',
  },
  {
    id: 'RES-5/not-set-by-put',
    title: 'A client cannot say in PUT when a record was created',
    kind: 'changing',
    needs: ['create', 'read', 'replace', 'unconditional'],
    after: ['RES-5/created-at'],
    steps: [
      record(),
      when('change', 'PUT', '{one}', { body: { from: { sent: 'one' }, with: { created_at: longAgo } } }),
      when('after', 'GET', '{one}'),
    ],
    expect: [altogether('created_at is not what was sent', isNotSet)],
    mend: 'Refuse another created_at than the record has, or leave it aside.',
  },
  {
    id: 'RES-5/updated-at',
    title: 'A record says in updated_at when it was last changed',
    kind: 'changing',
    needs: ['create', 'read'],
    // Beyond the specification.
    level: 'may',
    steps: [record(), given('read', 'GET', '{one}')],
    expect: [theRecord('read', 'has updated_at', (found) => noTimestamp(found, 'updated_at'))],
    mend: 'Set updated_at on the server with every change, in the form of created_at.',
  },
  {
    id: 'RES-5/updated-moves',
    title: 'updated_at moves on with a change',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'change', 'unconditional'],
    after: ['RES-5/updated-at'],
    level: 'may',
    steps: [
      record(),
      given('before', 'GET', '{one}'),
      { kind: 'wait', milliseconds: 20 },
      given('changed', 'PATCH', '{one}', { body: { from: 'change' } }),
      when('after', 'GET', '{one}'),
    ],
    expect: [
      onlyWhere('times are fine enough', (seen) =>
        String(recordOf(seen.of('before').answer, seen)?.updated_at).includes('.')
          ? undefined
          : 'updated_at has whole seconds, and so long is not waited',
      ),
      theRecord('after', 'has a later updated_at', ({ updated_at }, seen) => {
        const before = recordOf(seen.of('before').answer, seen)?.updated_at
        return Date.parse(String(updated_at)) > Date.parse(String(before))
          ? undefined
          : { member: 'updated_at', message: `${short(updated_at)} after a change, ${short(before)} before it` }
      }),
    ],
    mend: 'Set updated_at in the statement that changes the record.',
  },
]

const liveSteps: Case['steps'] = [
  record(),
  given('live', 'GET', '{one}'),
  given('live', 'PATCH', '{one}', { body: { from: 'change' } }),
]

/** No answer with a live record has a deleted_at of which `isWrong` is so. */
function noneDeleted(says: string, isWrong: (value: unknown) => boolean) {
  return altogether(says, (seen) => {
    for (const exchange of [seen.of('one'), ...seen.all('live')]) {
      const found = recordOf(exchange.answer, seen)
      if (found === undefined || !isWrong(found.deleted_at)) continue
      return wrongIn(exchange, found, { member: 'deleted_at', message: `deleted_at is ${short(found.deleted_at)}` })
    }
    return undefined
  })
}

// What the answer to a deletion holds is tried with DEL-2.
export const deletionTimes: readonly Case[] = [
  {
    id: 'RES-6/live',
    title: 'A record that is not deleted has no time of deletion',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'change', 'unconditional'],
    steps: liveSteps,
    expect: [noneDeleted('deleted_at has no value', (value) => value !== undefined && value !== null)],
    mend: 'Give deleted_at to deleted records alone.',
  },
  {
    id: 'RES-6/absent',
    title: 'A record that is not deleted has no member deleted_at at all',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'change', 'unconditional'],
    after: ['RES-6/live'],
    // The specification says where it is; that null is nowhere else is our reading.
    level: 'should',
    steps: liveSteps,
    expect: [noneDeleted('deleted_at is absent', (value) => value !== undefined)],
    mend: 'Leave deleted_at out of live records, rather than writing null.',
  },
  {
    id: 'RES-6/deleted',
    title: 'A deleted record, where it is shown, says in deleted_at when it was deleted',
    kind: 'changing',
    needs: ['create', 'list', 'delete', 'soft', 'marker', 'unconditional'],
    steps: [
      record(),
      given('gone', 'DELETE', '{one}'),
      when('list', 'GET', '{collection}?{mine}&include_deleted=true'),
    ],
    expect: [
      onlyWhere('deleted records are shown', (seen) =>
        listed(seen.of('list').answer, seen, seen.fill('{one.id}')) === undefined
          ? 'deleted records are not shown with include_deleted=true'
          : undefined,
      ),
      altogether('the deleted record has deleted_at', (seen) => {
        const exchange = seen.of('list')
        const found = listed(exchange.answer, seen, seen.fill('{one.id}')) ?? {}
        const wrong = noTimestamp(found, 'deleted_at')
        return wrong && wrongIn(exchange, found, wrong)
      }),
    ],
    mend: 'Keep the time of the deletion with the record, and show it as deleted_at, in the form of created_at.',
  },
]
