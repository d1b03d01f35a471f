/** RES-5 to RES-8: timestamps, names of members, and the same members in every representation. */

import type { Case, Expectation, Finding, Observations } from '../../case/case.ts'
import { common, define } from '../../case/define.ts'
import { answerOf, finding, itemsOf, type Objection, short, unless } from '../../case/expect.ts'
import { isListed, listed, recordAt, recordOf, theRecord, type Wrong, wrongIn } from '../../case/expect-records.ts'
import { createdMember } from '../../case/members.ts'
import {
  after,
  before,
  below,
  change,
  changed,
  empty,
  gone,
  list,
  listings,
  one,
  other,
  read,
  refusal,
} from '../../case/names.ts'
import { applicableWhere, outcomeOf, succeeded } from '../../case/preconditions.ts'
import { caseRecords, collection, listWithCase, members, nestedList, Reference } from '../../case/references.ts'
import { body, create, forEachCollection, setUp, wait } from '../../case/steps.ts'
import { type Answer, type Exchange, fieldOf, jsonOf } from '../../client/exchange.ts'
import { isObject, type JsonObject, memberPointer, pointerTo } from '../../values/json.ts'

const [live, replaced, restored, full] = Reference.named('live', 'replaced', 'restored', 'full')

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]00:?00)$/
const withMilliseconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const longAgo = '2001-02-03T04:05:06.789Z'

/** A time in milliseconds since 1970: servers write texts, and seconds or milliseconds. */
function momentOf(value: unknown): number {
  if (typeof value !== 'number') return Date.parse(String(value))
  return value < 1e11 ? value * 1_000 : value
}

function noTimestamp(record: JsonObject, member: string): Wrong | undefined {
  const value = record[member]
  if (value === undefined) return { message: `there is no ${member}` }
  if (typeof value === 'string' && timestamp.test(value)) return undefined
  return { member, message: `${member} is ${short(value)}, which is no ISO 8601 time in UTC` }
}

/** The time of creation that a record shows, under whatever name. */
function createdAt(record: JsonObject | undefined, { collection }: Observations): unknown {
  return record?.[createdMember(collection)]
}

/** Expects a time of creation in the record of a step. */
function theCreation(step: Reference, test: Objection<unknown>): Expectation {
  return theRecord(step, (record, seen) => {
    const message = test(createdAt(record, seen), seen)
    return message === undefined ? undefined : { member: createdMember(seen.collection), message }
  })
}

/** A client could not set the time of creation. */
function isNotSet(seen: Observations) {
  if (Date.parse(String(createdAt(recordAt(after, seen), seen))) !== Date.parse(longAgo)) return undefined
  const name = createdMember(seen.collection)
  return finding(seen.of(after), { pointer: memberPointer(name) }, `${name} is what the client sent`)
}

const isShown = applicableWhere(
  (seen) => createdAt(recordAt(one, seen), seen) !== undefined,
  'records do not show when they were created',
)

export const times = common({ steps: [create(one)], expect: [isShown, isNotSet] }).define({
  'RES-5/created-at': {
    title: 'A new record has created_at, an ISO 8601 time in UTC',
    expect: [theRecord(one, (found) => noTimestamp(found, 'created_at'))],
    remedy: 'Set created_at on the server when a record is made, and write it like 2026-01-31T08:00:00.000Z.',
  },
  'RES-5/milliseconds': {
    title: 'The time of creation has milliseconds',
    after: ['RES-5/created-at'],
    // The specification asks for ISO 8601 in UTC. The precision is our decision.
    level: 'should',
    expect: [
      isShown,
      theCreation(one, (value) =>
        unless(withMilliseconds.test(String(value)), `${short(value)} has not three digits after the seconds, and Z`),
      ),
    ],
    remedy: 'Write all times with three digits after the seconds and Z, so that they sort as texts.',
  },
  'RES-5/now': {
    title: 'The time of creation is that at which the record was created',
    expect: [
      isShown,
      theCreation(one, (value, seen) => {
        const date = fieldOf(seen.of(one).answer, 'Date')
        const now = date === undefined ? Date.now() : Date.parse(date)
        const seconds = Math.abs(now - momentOf(value)) / 1_000
        // The time is compared with the server's own Date, if there is one.
        const isNow = seconds <= (date === undefined ? 3_600 : 60)
        return unless(isNow, `${short(value)} where the answer was given at ${new Date(now).toISOString()}`)
      }),
    ],
    remedy: 'Set created_at from the clock in the transaction that makes the record.',
  },
  'RES-5/created-kept': {
    title: 'The time of creation does not change when the record changes',
    steps: [create(one), setUp(before.get(one)), setUp(changed.change(one)), after.get(one)],
    expect: [
      isShown,
      theCreation(after, (now, seen) => {
        const old = createdAt(recordAt(before, seen), seen)
        return unless(now === old, `${short(now)} in place of ${short(old)}`)
      }),
    ],
    remedy: 'Write created_at once, on creation, and leave it out of every update.',
  },
  'RES-5/not-set-on-creation': {
    title: 'A client cannot set the time of creation with POST',
    needs: ['read'],
    steps: [create(one), after.post(collection, { ...body.example, with: { [members.created]: longAgo } })],
    remedy: 'Refuse created_at in bodies, or ignore it.',
  },
  'RES-5/not-set-by-patch': {
    title: 'A client cannot set the time of creation with PATCH',
    steps: [create(one), change.patch(one, body.json({ [members.created]: longAgo })), after.get(one)],
    remedy: 'Refuse created_at in bodies, or ignore it.',
  },
  'RES-5/not-set-by-put': {
    title: 'A client cannot set the time of creation with PUT',
    steps: [
      create(one),
      change.put(one, { ...body.sentBy(one), with: { [members.created]: longAgo } }),
      after.get(one),
    ],
    remedy: 'Refuse a created_at that differs from the record, or ignore it.',
  },
  'RES-5/updated-at': {
    title: 'A record has updated_at, the time of its last change',
    // Beyond the specification.
    level: 'may',
    steps: [create(one), setUp(read.get(one))],
    expect: [theRecord(read, (found) => noTimestamp(found, 'updated_at'))],
    remedy: 'Set updated_at on the server with every change, in the form of created_at.',
  },
  'RES-5/updated-moves': {
    title: 'A change increases updated_at',
    after: ['RES-5/updated-at'],
    level: 'may',
    steps: [create(one), setUp(before.get(one)), wait(20), setUp(changed.change(one)), after.get(one)],
    expect: [
      applicableWhere(
        (seen) => String(recordAt(before, seen)?.updated_at).includes('.'),
        'updated_at has whole seconds, and the checker does not wait that long',
      ),
      theRecord(after, ({ updated_at }, seen) => {
        const old = recordAt(before, seen)?.updated_at
        if (Date.parse(String(updated_at)) > Date.parse(String(old))) return undefined
        return { member: 'updated_at', message: `${short(updated_at)} after a change, ${short(old)} before it` }
      }),
    ],
    remedy: 'Set updated_at in the statement that changes the record.',
  },
})

const liveSteps: Case['steps'] = [create(one), setUp(live.get(one)), setUp(live.change(one))]

/** No response with a live record has a wrong deleted_at. */
function noneDeleted(isWrong: (value: unknown) => boolean): Expectation {
  return (seen) => {
    for (const exchange of [seen.of(one), ...seen.all(live)]) {
      const found = recordOf(exchange.answer, seen)
      const member = Object.keys(found ?? {}).find((name) => /^deleted_?at$/i.test(name))
      if (found === undefined || member === undefined || !isWrong(found[member])) continue
      return wrongIn(exchange, found, { member, message: `${member} is ${short(found[member])}` })
    }
    return undefined
  }
}

// DEL-2 covers the response to a deletion.
export const deletionTimes = define({
  'RES-6/live': {
    title: 'A live record has no time of deletion',
    needs: ['soft'],
    steps: liveSteps,
    expect: [noneDeleted((value) => value !== undefined && value !== null)],
    remedy: 'Set deleted_at only on deleted records.',
  },
  'RES-6/absent': {
    title: 'A live record has no member deleted_at',
    needs: ['soft'],
    after: ['RES-6/live'],
    // The specification defines deleted_at of deleted records. That live records omit it is our reading.
    level: 'should',
    steps: liveSteps,
    expect: [noneDeleted((value) => value !== undefined)],
    remedy: 'Leave deleted_at out of live records, rather than writing null.',
  },
  'RES-6/deleted': {
    title: 'A deleted record in a list has deleted_at, the time of its deletion',
    steps: [create(one), setUp(gone.delete(one)), list.get(`${caseRecords}&include_deleted=true`)],
    expect: [
      applicableWhere(isListed(list, one), 'deleted records are not shown with include_deleted=true'),
      (seen) => {
        const exchange = seen.of(list)
        const found = listed(exchange.answer, seen, seen.fill(one.id)) ?? {}
        const wrong = noTimestamp(found, 'deleted_at')
        return wrong && wrongIn(exchange, found, wrong)
      },
    ],
    remedy: 'Keep the time of the deletion with the record, and show it as deleted_at, in the form of created_at.',
  },
})

function badName(exchange: Exchange, value: unknown, where: string): Finding | undefined {
  if (!isObject(value)) return undefined
  const name = Object.keys(value).find((one) => !snakeCase.test(one))
  if (name === undefined) return undefined
  const at = pointerTo(jsonOf(exchange.answer), value) ?? ''
  return finding(exchange, { pointer: at + memberPointer(name) }, `${where} has a member ${name}`)
}

/** The response to a PUT or POST may omit the record. */
function onlyWhereRecord(step: Reference): Expectation {
  return applicableWhere(
    (seen) => succeeded(step)(seen) && recordAt(step, seen) !== undefined,
    'the response has no record',
  )
}

export const names = define({
  'RES-7/records': {
    title: 'The members of records are named in snake_case',
    steps: [create(one), forEachCollection(listings.get(collection))],
    expect: [
      (seen) => {
        for (const exchange of seen.all(listings)) {
          const where = `a record of ${new URL(exchange.asked.url).pathname}`
          for (const item of itemsOf(exchange.answer, seen) ?? []) {
            const wrong = badName(exchange, item, where)
            if (wrong !== undefined) return wrong
          }
        }
        const created = seen.of(one)
        return badName(created, recordOf(created.answer, seen), 'the record')
      },
    ],
    remedy: 'Write the members of all records in lower case with underscores between words: created_at.',
  },
  'RES-7/lists': {
    title: 'The other members of lists are named in snake_case',
    steps: [setUp(list.get(collection))],
    expect: [
      applicableWhere((seen) => {
        const { answer } = seen.of(list)
        return answer !== undefined && isObject(jsonOf(answer))
      }, 'a list is an array, without other members'),
      (seen) => {
        const exchange = seen.of(list)
        const body = jsonOf(exchange.answer)
        const inner = isObject(body) ? Object.entries(body) : []
        return (
          badName(exchange, body, 'the list') ??
          inner.map(([name, value]) => badName(exchange, value, name)).find((wrong) => wrong !== undefined)
        )
      },
    ],
    remedy: 'Write what stands around the records of a list in the convention of the records: total_count.',
  },
  'RES-7/errors': {
    title: 'The members of errors are named in snake_case',
    needs: ['required'],
    steps: [refusal.post(collection, body.json({}))],
    expect: [
      applicableWhere(
        (seen) => {
          const { answer } = seen.of(refusal)
          return answer !== undefined && answer.status >= 400 && isObject(jsonOf(answer))
        },
        (seen) => `POST of an empty object was answered ${outcomeOf(refusal, seen)}, without an error in JSON`,
      ),
      (seen) => {
        const refused = seen.of(refusal)
        const whole = jsonOf(refused.answer)
        const inner = isObject(whole) ? Object.values(whole) : []
        // An error may have an envelope: {"error": {"code": …}}.
        const body = inner.length === 1 && isObject(inner[0]) ? inner[0] : whole
        const errors = isObject(body) ? Object.values(body).filter(Array.isArray).flat() : []
        return (
          badName(refused, whole, 'the error') ??
          badName(refused, body, 'the error') ??
          errors.map((one) => badName(refused, one, 'one of the errors')).find((wrong) => wrong !== undefined)
        )
      },
    ],
    remedy: 'Write the members of errors in the convention of the records.',
  },
})

export const structure = define({
  'RES-8/created': {
    title: 'The response to POST has the same members as GET',
    steps: [create(one), setUp(read.get(one))],
    expect: [onlyWhereRecord(one), sameMembers(one, read)],
    remedy: 'Write records in one place of the code, whichever address answers them.',
  },
  'RES-8/listed': {
    title: 'A record in a list has the same members as GET of the record',
    steps: [create(one), setUp(read.get(one)), setUp(list.get(listWithCase))],
    expect: [
      applicableWhere(isListed(list, one), 'the list does not show the record'),
      sameMembers(list, read, (answer, seen) => listed(answer, seen, seen.fill(one.id))),
    ],
    remedy: 'Write records of lists as single ones are written, and let clients ask for less with fields.',
  },
  'RES-8/updated': {
    title: 'The response to PATCH has the same members as GET',
    steps: [create(one), setUp(changed.patch(one, body.change)), setUp(read.get(one))],
    expect: [onlyWhereRecord(changed), sameMembers(changed, read)],
    remedy: 'Answer PATCH with the whole record as GET does, not only with what was changed.',
  },
  'RES-8/replaced': {
    title: 'The response to PUT has the same members as GET',
    steps: [create(one), setUp(replaced.put(one, body.sentBy(one))), setUp(read.get(one))],
    expect: [onlyWhereRecord(replaced), sameMembers(replaced, read)],
    remedy: 'Answer PUT with the whole record as GET does.',
  },
  'RES-8/nested': {
    title: 'A record in a nested list has the same members as GET of the record',
    after: ['RES-2/nested'],
    steps: [create(one), setUp(read.get(one)), setUp(below.get(nestedList))],
    expect: [sameMembers(below, read, (answer, where) => itemsOf(answer, where)?.[0])],
    remedy: 'Write records of nested lists as all others, with the reference to what they belong to.',
  },
  'RES-8/restored': {
    title: 'The response to a restoration has the same members as GET',
    needs: ['soft'],
    steps: [create(one), setUp(gone.delete(one)), restored.post(`${one}/restore`), read.get(one)],
    expect: [onlyWhereRecord(restored), onlyWhereRecord(read), sameMembers(restored, read)],
    remedy: 'Answer restore with the whole record as GET does.',
  },
  'RES-8/empty': {
    title: 'Records include the members that have no value',
    needs: ['optional'],
    // The specification asks for one structure. How to write empty members is our decision.
    level: 'should',
    steps: [
      create(other),
      setUp(full.post(collection, body.fullExample)),
      setUp(before.get(full)),
      setUp(empty.post(collection, body.least)),
      after.get(empty),
    ],
    expect: [
      applicableWhere((seen) => {
        const found = recordAt(after, seen) ?? {}
        return Object.keys(seen.collection.optional).some((name) => (found[name] ?? null) === null)
      }, 'every member that is left out gets a value'),
      theRecord(after, (found, seen) => {
        const full = recordAt(before, seen) ?? {}
        const lacking = namesOf(full).filter((name) => !Object.hasOwn(found, name))
        return lacking.length === 0 ? undefined : { message: `it lacks ${lacking.join(', ')}, which another has` }
      }),
    ],
    remedy: 'Write null where a member has no value, so that every record of a kind has the same members.',
  },
})

/** Lower case, words joined by underscores (RES-7). Formats such as HAL begin their own members with an underscore. */
const snakeCase = /^_?[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/

/**
 * The records of two steps have the same members, whatever their values. `deleted_at` is a matter of its own (RES-6).
 */
function sameMembers(
  step: Reference,
  other: Reference,
  find: (answer: Answer | undefined, seen: Observations) => JsonObject | undefined = recordOf,
): Expectation {
  return answerOf(step, (answer, seen) => {
    const record = find(answer, seen)
    const wanted = recordAt(other, seen)
    if (record === undefined || wanted === undefined) return 'there is no record in it'
    const lacking = namesOf(wanted).filter((name) => !Object.hasOwn(record, name))
    const added = namesOf(record).filter((name) => !Object.hasOwn(wanted, name))
    if (lacking.length === 0 && added.length === 0) return undefined
    const said = [lacking.length > 0 && `lacks ${lacking.join(', ')}`, added.length > 0 && `adds ${added.join(', ')}`]
    return `${said.filter(Boolean).join(' and ')}, other than ${other.name}`
  })
}

/** The names of a record's members, but for `deleted_at`. */
function namesOf(record: JsonObject): string[] {
  return Object.keys(record).filter((name) => name !== 'deleted_at')
}
