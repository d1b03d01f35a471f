/** MET-8 to MET-10: Prefer, Idempotency-Key and QUERY. */

import type { Expectation } from '../../case/case.ts'
import { common, define } from '../../case/define.ts'
import {
  answerOf,
  done,
  field,
  finding,
  itemsOf,
  noBody,
  sameBody,
  status,
  unexpected,
  unless,
} from '../../case/expect.ts'
import { ownCount } from '../../case/expect-list.ts'
import { listed, madeBy, theRecord } from '../../case/expect-records.ts'
import { again, all, before, first, list, made, one, other, patch } from '../../case/names.ts'
import { applicableWhere } from '../../case/preconditions.ts'
import { collection, listWithCase, mark, members, Reference } from '../../case/references.ts'
import { body, create, setUp, together } from '../../case/steps.ts'
import { fieldOf } from '../../client/exchange.ts'

const [next, query, plain] = Reference.named('next', 'query', 'plain')

function preferring(preference: string) {
  return patch.patch(one, body.change, { headers: { Prefer: preference } })
}

function applied(step: Reference, preference: string): Expectation {
  return field(step, 'Preference-Applied', (value) =>
    unless(value.replaceAll(/["\s]/g, '').split(',').includes(preference), `${value} in place of ${preference}`),
  )
}

export const preferences = common({ after: ['MET-8/minimal'] }).define({
  'MET-8/minimal': {
    title: 'PATCH with Prefer: return=minimal returns no body',
    after: [],
    steps: [create(one), plain.patch(one, body.change), preferring('return=minimal')],
    expect: [
      applicableWhere((seen) => seen.of(plain).answer?.body !== '', 'PATCH returns no body, whatever is preferred'),
      status(patch, 204, 200),
      noBody(patch),
    ],
    remedy: 'Answer 204 where a client says that it does not want the record back (RFC 7240).',
  },
  'MET-8/applied': {
    title: 'Preference-Applied names return=minimal',
    steps: [create(one), preferring('return=minimal')],
    expect: [applied(patch, 'return=minimal')],
    remedy: 'Name in Preference-Applied what was done (RFC 7240 section 3).',
  },
  'MET-8/minimal-creation': {
    title: 'POST with Prefer: return=minimal returns 201 with Location and without a body',
    steps: [create(one), made.post(collection, body.example, { headers: { Prefer: 'return=minimal' } })],
    expect: [status(made, 201, 204), noBody(made), field(made, 'Location')],
    remedy: 'Answer 201 with Location alone where a client says that it does not want the record back.',
  },
  'MET-8/representation': {
    title: 'PATCH with Prefer: return=representation returns the record and Preference-Applied',
    steps: [create(one), preferring('return=representation')],
    expect: [status(patch, 200), theRecord(patch, () => undefined), applied(patch, 'return=representation')],
    remedy: 'Answer 200 with the record, and name the preference in Preference-Applied.',
  },
  'MET-8/unknown': {
    title: 'An unknown preference is ignored',
    after: [],
    steps: [create(one), preferring('x-unheard-of=1; with="parts, and more"')],
    expect: [done(patch)],
    remedy: 'Leave unknown preferences aside: they are wishes (RFC 7240 section 2).',
  },
  'MET-8/strict': {
    title: 'With handling=strict an unknown preference is refused',
    steps: [create(one), preferring('handling=strict, x-unheard-of=1')],
    expect: [status(patch, 400)],
    remedy: 'Answer 400 under handling=strict where a preference cannot be followed.',
  },
})

// In quotes, as in the draft. Servers that do not parse the field get a text too.
const key = { 'Idempotency-Key': `"${mark}"` }
const keyOf = (name: string) => ({ 'Idempotency-Key': `"${mark}-${'0'.repeat(24)}-${name}"` })

const withKey = setUp(first.post(collection, body.example, { headers: key }))
const repeatedWithKey = again.post(collection, body.sentBy(first), { headers: key })

export const repeats = common({ after: ['MET-9/replay'], prepare: [create(other)] }).define({
  'MET-9/replay': {
    title: 'POST repeated with its Idempotency-Key succeeds, and creates no second record',
    after: [],
    steps: [withKey, repeatedWithKey],
    expect: [
      answerOf(again, (answer, seen, exchange) => {
        const [made, repeated] = [madeBy(seen.of(first), seen), madeBy(exchange, seen)]
        if (made === repeated) return undefined
        return answer.status < 300
          ? `it made ${repeated} beside ${made}`
          : finding(exchange, 'status', `${answer.status}, where the first answer was to come again`)
      }),
    ],
    remedy: 'Store the response to a POST with Idempotency-Key in the creating transaction, and replay it for a day.',
  },
  'MET-9/same-answer': {
    title: 'POST repeated with its Idempotency-Key returns the same status, Location and body',
    steps: [withKey, repeatedWithKey],
    expect: [
      answerOf(again, (answer, seen, exchange) => {
        const original = seen.of(first).answer ?? answer
        if (answer.status !== original.status) {
          return finding(exchange, 'status', `${answer.status} in place of ${original.status}`)
        }
        const [location, wanted] = [fieldOf(answer, 'Location'), fieldOf(original, 'Location')]
        if (location === wanted) return undefined
        return finding(exchange, { field: 'Location' }, `${location ?? 'nothing'} in place of ${wanted ?? 'nothing'}`)
      }),
      sameBody(again, first),
    ],
    remedy: 'Keep the whole answer, with its status and header fields.',
  },
  'MET-9/other-payload': {
    title: 'Another payload with the same Idempotency-Key returns 422',
    steps: [withKey, again.post(collection, { ...body.sentBy(first), plus: 'change' }, { headers: key })],
    expect: [status(again, 422)],
    remedy: 'Keep a digest of the payload with the key, and answer 422 where another comes.',
  },
  'MET-9/other-key': {
    title: 'POST with another Idempotency-Key creates another record, however similar the keys',
    steps: [
      setUp(first.post(collection, body.example, { headers: keyOf('a') })),
      next.post(collection, body.example, { headers: keyOf('b') }),
    ],
    expect: [
      done(next),
      answerOf(next, (_, seen, exchange) =>
        unless(madeBy(exchange, seen) !== madeBy(seen.of(first), seen), 'it answers with the record of another key'),
      ),
    ],
    remedy: 'Compare whole keys.',
  },
  'MET-9/other-caller': {
    title: 'An Idempotency-Key never returns the response to another caller',
    needs: ['key'],
    steps: [
      withKey,
      again.post(collection, body.sentBy(first), { headers: key, caller: 'other' }),
      again.post(collection, body.sentBy(first), { headers: key, caller: 'nobody' }),
    ],
    expect: [
      (seen) => {
        const made = madeBy(seen.of(first), seen)
        const told = seen.all(again).find((exchange) => made !== undefined && madeBy(exchange, seen) === made)
        return told && finding(told, 'body', 'somebody who may not create got the answer of who may')
      },
    ],
    remedy: 'Keep answers by caller and key, and look for them after permission was decided.',
  },
  'MET-9/at-once': {
    title: 'Five concurrent POSTs with one Idempotency-Key create one record',
    steps: [
      setUp(before.get(listWithCase)),
      together({ ...all.post(collection, body.example, { headers: key }), times: 5 }),
      list.get(listWithCase),
    ],
    expect: [
      (seen) => {
        const isOdd = (status: number) => status >= 300 && status !== 409
        const odd = seen.all(all).find(({ answer }) => isOdd(answer?.status ?? 500))
        if (odd !== undefined) return unexpected(odd, '201 or 409')
        const made = new Set(seen.all(all).flatMap((exchange) => madeBy(exchange, seen) ?? []))
        if (made.size === 1) return undefined
        return finding(seen.all(all)[1], 'body', `${made.size} records were created with one key`)
      },
      applicableWhere((seen) => itemsOf(seen.of(list).answer, seen) !== undefined, 'there is no list'),
      (seen) => {
        const [existing = 0, count = 0] = [before, list].map((step) => ownCount(step, seen))
        if (count === existing + 1) return undefined
        return finding(seen.of(list), 'body', `${count} records in place of ${existing + 1}`)
      },
    ],
    remedy: 'Put a unique index on caller, path and key, and insert the key before the record, in one transaction.',
  },
})

/** The list of a step contains a record, and not the other one. */
function finds(step: Reference, record: Reference, other?: Reference) {
  return answerOf(step, (answer, seen) => {
    if (itemsOf(answer, seen) === undefined) return 'there is no list in it'
    if (listed(answer, seen, seen.fill(record.id)) === undefined) return `${record.name} is not in it`
    return other !== undefined && listed(answer, seen, seen.fill(other.id)) !== undefined
      ? `${other.name} is in it, which does not match`
      : undefined
  })
}

export const searches = define({
  'MET-10/query': {
    title: 'A collection accepts QUERY with its parameters in a JSON body',
    steps: [create(one), query.send('QUERY', collection, { body: body.json({ [members.marker]: mark }) })],
    expect: [status(query, 200), finds(query, one)],
    remedy: 'Accept QUERY (RFC 10008) on collections, with the parameters of GET as members of a JSON object.',
  },
  'MET-10/filters': {
    title: 'QUERY finds only the records that match its body',
    after: ['MET-10/query'],
    steps: [
      create(one),
      create(other, { [members.marker]: `${mark}-other` }),
      query.send('QUERY', collection, { body: body.json({ [members.marker]: mark }) }),
    ],
    expect: [finds(query, one, other)],
    remedy: 'Read the body of QUERY with the code that reads the parameters of GET.',
  },
  'MET-10/long': {
    title: 'QUERY accepts parameters that are too long for a URL',
    after: ['MET-10/query'],
    steps: [
      create(one),
      query.send('QUERY', collection, {
        body: body.json({
          [members.marker]: [...Array.from({ length: 300 }, (_, at) => `${mark}-${at}-${'x'.repeat(40)}`), mark],
        }),
      }),
    ],
    expect: [status(query, 200), finds(query, one)],
    remedy: 'Let the body of QUERY be as long as that of other requests: long filters are what it is for.',
  },
})
