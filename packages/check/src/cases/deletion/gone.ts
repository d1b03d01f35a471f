/** DEL-1 to DEL-3, DEL-8: deleted records, and the responses to deletions. */

import { common } from '../../case/define.ts'
import {
  answerOf,
  everyAnswerOf,
  field,
  finding,
  isAddress,
  isText,
  itemsOf,
  member,
  memberIs,
  refused,
  short,
  status,
  unexpected,
  unless,
} from '../../case/expect.ts'
import { ownCount } from '../../case/expect-list.ts'
import { asMade, deleted, isListed, listed, recordAt, recordOf, shows } from '../../case/expect-records.ts'
import {
  after,
  again,
  all,
  before,
  first,
  gone,
  job,
  odd,
  one,
  other,
  patch,
  plain,
  put,
  second,
  two,
} from '../../case/names.ts'
import { answered, applicableIf, applicableWhere, readyIf, succeeded } from '../../case/preconditions.ts'
import { caseRecords, collection, listWithCase, nestedList, Reference } from '../../case/references.ts'
import {
  body,
  create,
  createAndDelete,
  createMany,
  deleteRecord,
  settled,
  setUp,
  simultaneous,
} from '../../case/steps.ts'
import { fieldOf, jsonOf } from '../../client/exchange.ts'
import { isSame, valueAt } from '../../values/json.ts'

const [kept, onceMore, waited] = Reference.named('kept', 'once more', 'waited')

export const goneCases = common({ needs: ['read'] }).define({
  'DEL-1/gone': {
    title: 'GET of a deleted record returns 404 (or 410)',
    steps: [create(one), setUp(before.get(one)), ...deleteRecord(gone, one), after.get(one)],
    expect: [status(after, 404, 410)],
    remedy: 'Answer 404 for a record that is marked as deleted, exactly as for one that never was.',
  },
  'DEL-1/put': {
    title: 'PUT to a deleted record is refused and does not restore it',
    after: ['DEL-1/gone'],
    steps: [...createAndDelete(one, gone), put.put(one, body.example), after.get(one)],
    expect: [
      // RFC 9110, section 9.3.4: PUT may create what is not there, from nothing but the body.
      applicableWhere(
        (seen) => !answered(put, 201)(seen) && !(seen.collection.deletion === 'hard' && succeeded(put)(seen)),
        'PUT creates records that do not exist',
      ),
      refused(put),
      status(after, 404, 410),
    ],
    remedy: 'Let PUT look for a live record before it writes; it never makes one.',
  },
  'DEL-1/patch': {
    title: 'PATCH of a deleted record is refused',
    after: ['DEL-1/gone'],
    steps: [...createAndDelete(one, gone), patch.patch(one, body.change)],
    expect: [refused(patch)],
    remedy: 'Let PATCH change live records alone: "update … where id = ? and deleted_at is null".',
  },
  'DEL-1/list': {
    title: 'Lists exclude a deleted record and keep the others',
    steps: [
      createMany(two, 2),
      setUp(before.get(listWithCase)),
      readyIf((seen) => ownCount(before, seen) === 2, 'the list did not show what had been made'),
      ...deleteRecord(gone, two.at(0)),
      after.get(listWithCase),
    ],
    expect: [shows(before, [two.at(0), two.at(1)]), shows(after, [two.at(1)], [two.at(0)])],
    remedy: 'Leave deleted records out of every list that does not ask for them: "where deleted_at is null".',
  },
  'DEL-1/nested': {
    title: 'The nested list excludes a deleted record and keeps the others',
    needsOnly: ['create', 'delete', 'nested', 'parent', 'read'],
    steps: [
      createMany(two, 2),
      setUp(before.get(nestedList)),
      readyIf(
        (seen) => itemsOf(seen.of(before).answer, seen)?.length === 2,
        'the list did not show what had been made',
      ),
      ...deleteRecord(gone, two.at(0)),
      after.get(nestedList),
    ],
    expect: [shows(after, [two.at(1)], [two.at(0)])],
    remedy: 'Read the list below a parent with the same conditions as the collection itself.',
  },
  'DEL-1/others-stay': {
    title: 'A deletion does not change other records',
    steps: [create(other), create(one), setUp(before.get(other)), ...deleteRecord(gone, one), after.get(other)],
    expect: [
      status(after, 200),
      answerOf(after, (answer, seen) => {
        const [was, is] = [recordAt(before, seen), recordOf(answer, seen)]
        return isSame(was, is) ? undefined : `${short(is)}, and was ${short(was)}`
      }),
    ],
    remedy: 'Delete by the identifier of the record alone, and touch no other row.',
  },
  'DEL-1/kept': {
    title: 'A softly deleted record keeps its members',
    steps: [
      ...createAndDelete(one, gone),
      kept.get(`${caseRecords}&include_deleted=true`),
      // QRY-6 covers whether deleted records are shown at all.
      applicableIf(isListed(kept, one), 'include_deleted does not show what was deleted'),
    ],
    expect: [asMade(kept, one, (answer, seen) => listed(answer, seen, seen.fill(one.id)))],
    remedy: 'Set deleted_at and leave all other columns as they are; include_deleted=true shows them.',
  },
  'DEL-1/for-good': {
    title: 'include_deleted does not show a record that was deleted permanently',
    needs: ['hard'],
    steps: [
      createMany(two, 2),
      setUp(before.get(listWithCase)),
      ...deleteRecord(gone, two.at(0)),
      after.get(`${listWithCase}&include_deleted=true`),
      // Some servers do not support include_deleted. Others take it for a filter, and find nothing.
      applicableIf(
        (seen) => ![400, 422].includes(seen.of(after).answer?.status ?? 0),
        'there is no asking for deleted records',
      ),
      applicableIf(
        (seen) => seen.of(after).answer?.status !== 200 || isListed(after, two.at(1))(seen),
        'with include_deleted a list does not show what is there',
      ),
    ],
    expect: [shows(before, [two.at(0), two.at(1)]), status(after, 200), shows(after, [two.at(1)], [two.at(0)])],
    remedy: 'Remove the row itself where the variant is hard.',
  },
})

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/

/** A deletion that the server only accepts, without being asked to. */
const accepted = [
  create(one),
  gone.delete(one),
  applicableIf(answered(gone, 202), 'a deletion was not answered 202'),
] as const

export const answerCases = common({ needs: ['read'], steps: [...accepted, settled(gone)] }).define({
  'DEL-2/answer': {
    title: 'DELETE returns 204, 200 or 202',
    steps: [create(one), gone.delete(one), settled(gone)],
    expect: [deleted(gone)],
    remedy: 'Answer a deletion with 204; with 200 where there is something to say, with 202 where it is not done yet.',
  },
  'DEL-2/no-body': {
    title: 'A deletion with 204 announces no body',
    steps: [create(one), gone.delete(one), applicableIf(answered(gone, 204), 'a deletion was not answered 204')],
    // Clients read no body after 204. They would parse an announced one as the next response.
    expect: [
      answerOf(gone, (answer, _, exchange) => {
        const length = fieldOf(answer, 'Content-Length')
        if (length !== undefined && length !== '0') {
          return finding(exchange, { field: 'Content-Length' }, `a body of ${length} bytes is announced`)
        }
        const coding = fieldOf(answer, 'Transfer-Encoding')
        if (coding !== undefined) return finding(exchange, { field: 'Transfer-Encoding' }, `${coding} is announced`)
        return answer.body === '' ? undefined : `there is a body: ${short(answer.body)}`
      }),
    ],
    remedy: 'Send 204 without body, Content-Length and Transfer-Encoding; use 200 for a response with a body.',
  },
  'DEL-2/summary': {
    title: 'A deletion with 200 returns exactly id and deleted_at',
    needs: ['summary'],
    steps: [create(one), gone.delete(one), applicableIf(answered(gone, 200), 'a deletion was not answered 200')],
    expect: [
      member(gone, '', (body, seen) => {
        if (typeof body !== 'object' || body === null) return `it is ${short(body)}`
        const { id, deleted_at: deletedAt, ...rest } = body as Readonly<Record<string, unknown>>
        const more = Object.keys(rest)
        if (more.length > 0) return `it has ${more.join(', ')} as well`
        if (id !== seen.fill(one.id)) return `id is ${short(id)} in place of ${seen.fill(one.id)}`
        if (typeof deletedAt === 'string' && instant.test(deletedAt)) return undefined
        return `deleted_at is ${short(deletedAt)}, which is no ISO 8601 timestamp in UTC`
      }),
    ],
    remedy: 'Answer { "id": …, "deleted_at": … } and nothing else, or 204 without a body.',
  },
  'DEL-3/again': {
    title: 'A repeated DELETE returns 404 or 204',
    after: ['DEL-1/gone'],
    steps: [...createAndDelete(one, gone), again.delete(one), onceMore.delete(one)],
    expect: [
      status(again, 404, 204),
      answerOf(onceMore, (answer, seen, exchange) => {
        const earlier = seen.of(again).answer?.status
        return answer.status === earlier ? undefined : finding(exchange, 'status', `${answer.status} after ${earlier}`)
      }),
    ],
    remedy: 'Find a live record to delete, and answer 404 if there is none.',
  },
  'DEL-3/never': {
    title: 'DELETE of a nonexistent identifier returns 404 or 204',
    steps: [create(one), gone.delete(`${collection}/${one.otherId}`)],
    expect: [status(gone, 404, 204)],
    remedy: 'Answer 404 where no record has the identifier.',
  },
  'DEL-3/odd': {
    title: 'DELETE of malformed identifiers finds nothing and causes no failure',
    needs: ['create'],
    // None of these begins with a digit, and none is a condition: nobody can mistake them for one of the server's
    // records.
    steps: [
      '__proto__',
      'constructor',
      'o%27clock',
      'never%00was',
      'never%0D%0AX-Was:%20so',
      'n%C3%A9',
      'x'.repeat(2_000),
    ].map((text) => odd.delete(`${collection}/${text}`)),
    expect: [
      everyAnswerOf(odd, ({ status }, _, exchange) => {
        // 200 says as well as 204 that nothing is there any more.
        if (status === 200 || status === 204 || (status >= 400 && status < 500)) return undefined
        return unexpected(exchange, '4xx, 200 or 204')
      }),
    ],
    remedy: 'Hand the identifier to the database as a parameter, and answer 404 for whatever it does not find.',
  },
  'DEL-3/at-once': {
    title: 'One of eight concurrent deletions of a record succeeds',
    after: ['DEL-1/gone', 'DEL-3/again'],
    steps: [
      create(before),
      ...deleteRecord(first, before),
      second.delete(before),
      applicableIf((seen) => {
        const [deleted, repeated] = [first, second].map((step) => seen.of(step).answer?.status)
        return deleted !== 202 && deleted !== repeated
      }, 'a deletion is only accepted, or a repeated one has the same status'),
      create(one),
      simultaneous(8, all.delete(one)),
      after.get(one),
    ],
    expect: [
      (seen) => {
        const [deleted, repeated] = [first, second].map((step) => seen.of(step).answer?.status)
        const others = seen.all(all).filter(({ answer }) => answer?.status !== deleted)
        // A transaction that loses to another one may be answered 409.
        const odd = others.find(({ answer }) => answer?.status !== repeated && answer?.status !== 409)
        if (odd !== undefined) return unexpected(odd, String(repeated))
        const won = seen.all(all).filter((exchange) => !others.includes(exchange))
        if (won.length === 1) return undefined
        return finding(won[1] ?? seen.all(all)[0], 'status', `${won.length} were answered ${deleted}`)
      },
      status(after, 404),
    ],
    remedy: 'Decide by the number of rows that the deletion has changed, not by having looked before.',
  },
  'DEL-8/body': {
    title: 'A deferred deletion returns status, job_id and status_url',
    needs: ['deferred'],
    expect: [
      memberIs(gone, '/status', (it) => it === 'pending'),
      memberIs(gone, '/job_id', (it) => isText(it) && it !== ''),
      memberIs(gone, '/status_url', isAddress),
    ],
    remedy: 'Answer 202 with { "status": "pending", "job_id": "…", "status_url": "/…/jobs/…" }.',
  },
  'DEL-8/location': {
    title: 'A deferred deletion has the address of its job in Location',
    needs: ['deferred'],
    expect: [
      field(gone, 'Location', (value, seen) => {
        const { answer, asked } = seen.of(gone)
        const told = valueAt(jsonOf(answer), '/status_url')
        const isSame = !isText(told) || new URL(value, asked.url).href === new URL(told, asked.url).href
        return unless(isSame, `${value} in place of ${told}`)
      }),
    ],
    remedy: 'Send the address of the job in Location, as in status_url.',
  },
  'DEL-8/retry-after': {
    title: 'A deferred deletion has Retry-After',
    needs: ['deferred'],
    expect: [
      field(gone, 'Retry-After', (value) =>
        unless(/^\d+$/.test(value) || !Number.isNaN(Date.parse(value)), `${value} is neither`),
      ),
    ],
    remedy: 'Send Retry-After with 202, in whole seconds: 1 will do.',
  },
  'DEL-8/done': {
    title: 'The record is deleted when the job of its deletion has succeeded',
    needs: ['deferred'],
    after: ['DEL-1/gone'],
    steps: [...accepted, settled(gone), after.get(one)],
    expect: [memberIs(job, '/status', (it, { profile }) => it === profile.names.finished[0]), status(after, 404)],
    remedy: 'Say that a job has succeeded only when its work is done, in the same transaction.',
  },
  'DEL-8/preferred': {
    title: 'A deletion with Prefer: respond-async returns 202',
    needs: ['deferred'],
    steps: [
      create(plain),
      setUp(waited.delete(plain)),
      applicableIf((seen) => seen.of(waited).answer?.status !== 202, 'every deletion is answered 202'),
      create(one),
      gone.delete(one, { headers: { Prefer: 'respond-async' } }),
      settled(gone),
    ],
    expect: [status(gone, 202)],
    remedy: 'Answer 202 to Prefer: respond-async (RFC 7240) if deletions can be jobs.',
  },
})
