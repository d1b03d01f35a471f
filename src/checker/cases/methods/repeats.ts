/** MET-9: Idempotency-Key. */
import type { Case } from '../../case/case.ts'
import { altogether, answerOf, done, finding, itemsOf, onlyWhere, sameBody, status } from '../../case/expect.ts'
import { madeBy } from '../../case/records.ts'
import { alike, given, record, together, when } from '../../case/steps.ts'
import { fieldOf } from '../../client/exchange.ts'

// Text in quotes, as the draft has it; those who take the field as it stands get a text all the same.
const key = { 'Idempotency-Key': '"{mark}"' }
const keyOf = (name: string) => ({ 'Idempotency-Key': `"{mark}-${'0'.repeat(24)}-${name}"` })

const first = given('first', 'POST', '{collection}', { body: { from: 'example' }, headers: key })
const again = when('again', 'POST', '{collection}', { body: { from: { sent: 'first' } }, headers: key })

export const repeats: readonly Case[] = [
  {
    id: 'MET-9/replay',
    title: 'POST repeated with its Idempotency-Key makes no second record',
    kind: 'changing',
    needs: ['create'],
    steps: [record('other'), first, again],
    expect: [
      answerOf('again', 'is about the record of the first', (answer, seen, exchange) => {
        const [made, repeated] = [madeBy(seen.of('first'), seen), madeBy(exchange, seen)]
        if (made === repeated) return undefined
        return answer.status < 300
          ? finding(exchange, 'body', `it made ${repeated} beside ${made}`)
          : finding(exchange, 'status', `${answer.status}, where the first answer was to come again`)
      }),
    ],
    mend: 'Keep the answer to a POST with Idempotency-Key for a day, in the transaction that creates, and give it again.',
  },
  {
    id: 'MET-9/same-answer',
    title: 'POST repeated with its Idempotency-Key gets the first answer again: status, Location and body',
    kind: 'changing',
    needs: ['create'],
    after: ['MET-9/replay'],
    steps: [record('other'), first, again],
    expect: [
      answerOf('again', 'has the status of the first', (answer, seen, exchange) => {
        const before = seen.of('first').answer?.status
        return answer.status === before
          ? undefined
          : finding(exchange, 'status', `${answer.status} in place of ${before}`)
      }),
      answerOf('again', 'has the Location of the first', (answer, seen, exchange) => {
        const before = fieldOf(seen.of('first').answer ?? answer, 'Location')
        const value = fieldOf(answer, 'Location')
        return value === before
          ? undefined
          : finding(exchange, { field: 'Location' }, `${value ?? 'nothing'} in place of ${before ?? 'nothing'}`)
      }),
      sameBody('again', 'first'),
    ],
    mend: 'Keep the whole answer, with its status and header fields.',
  },
  {
    id: 'MET-9/other-payload',
    title: 'Another payload under the same Idempotency-Key is answered 422',
    kind: 'changing',
    needs: ['create', 'change'],
    after: ['MET-9/replay'],
    steps: [
      record('other'),
      first,
      when('again', 'POST', '{collection}', { body: { from: { sent: 'first' }, plus: 'change' }, headers: key }),
    ],
    expect: [status('again', 422)],
    mend: 'Keep a digest of the payload with the key, and answer 422 where another comes.',
  },
  {
    id: 'MET-9/other-key',
    title: 'POST with another Idempotency-Key makes another record, however alike the keys are',
    kind: 'changing',
    needs: ['create'],
    after: ['MET-9/replay'],
    steps: [
      record('other'),
      given('first', 'POST', '{collection}', { body: { from: 'example' }, headers: keyOf('a') }),
      when('next', 'POST', '{collection}', { body: { from: 'example' }, headers: keyOf('b') }),
    ],
    expect: [
      done('next'),
      answerOf('next', 'is about another record', (_, seen, exchange) =>
        madeBy(exchange, seen) === madeBy(seen.of('first'), seen)
          ? finding(exchange, 'body', 'it answers with the record of another key')
          : undefined,
      ),
    ],
    mend: 'Compare whole keys.',
  },
  {
    id: 'MET-9/other-caller',
    title: 'An Idempotency-Key gives nobody the answer that another caller got',
    kind: 'changing',
    needs: ['create', 'key', 'other'],
    after: ['MET-9/replay'],
    steps: [
      record('other'),
      first,
      when('again', 'POST', '{collection}', { body: { from: { sent: 'first' } }, headers: key, caller: 'other' }),
      when('again', 'POST', '{collection}', { body: { from: { sent: 'first' } }, headers: key, caller: 'nobody' }),
    ],
    expect: [
      altogether('somebody else gets no answer of the caller', (seen) => {
        const made = madeBy(seen.of('first'), seen)
        const told = seen.all('again').find((exchange) => made !== undefined && madeBy(exchange, seen) === made)
        return told && finding(told, 'body', 'somebody who may not create got the answer of who may')
      }),
    ],
    mend: 'Keep answers by caller and key, and look for them after permission was decided.',
  },
  {
    id: 'MET-9/at-once',
    title: 'Of five POSTs at once with one Idempotency-Key one makes a record; the others get its answer, or 409',
    kind: 'changing',
    needs: ['create', 'list', 'marker'],
    after: ['MET-9/replay'],
    steps: [
      record('other'),
      given('before', 'GET', '{collection}?{mine}'),
      together(alike(5, when('all', 'POST', '{collection}', { body: { from: 'example' }, headers: key }))),
      when('list', 'GET', '{collection}?{mine}'),
    ],
    expect: [
      altogether('all tell of one record, or of a conflict', (seen) => {
        const all = seen.all('all')
        const odd = all.find(({ answer }) => answer === undefined || (answer.status >= 300 && answer.status !== 409))
        if (odd !== undefined)
          return finding(odd, 'status', `${odd.answer?.status ?? odd.failure} in place of 201 or 409`)
        const made = new Set(all.map((exchange) => madeBy(exchange, seen)).filter((each) => each !== undefined))
        return made.size === 1 ? undefined : finding(all[1], 'body', `${made.size} records were made with one key`)
      }),
      onlyWhere('there is a list', (seen) =>
        itemsOf(seen.of('list').answer, seen) === undefined ? 'there is no list' : undefined,
      ),
      altogether('the list holds one more', (seen) => {
        const [before, after] = ['before', 'list'].map((step) => itemsOf(seen.of(step).answer, seen)?.length ?? 0)
        return after === (before ?? 0) + 1
          ? undefined
          : finding(seen.of('list'), 'body', `${after} records in place of ${(before ?? 0) + 1}`)
      }),
    ],
    mend: 'Put a unique index on caller, path and key, and insert the key before the record, in one transaction.',
  },
]
