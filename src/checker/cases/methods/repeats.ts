/** MET-9: Idempotency-Key. */
import { define } from '../../case/define.ts'
import { altogether, answerOf, applicableWhere, done, finding, itemsOf, sameBody, status } from '../../case/expect.ts'
import {
  again as againStep,
  all as allStep,
  before as beforeStep,
  first as firstStep,
  list,
  other,
} from '../../case/names.ts'
import { madeBy } from '../../case/records.ts'
import { caseRecords, collection, mark, references } from '../../case/references.ts'
import { body, create, repeated, setUp, together } from '../../case/steps.ts'
import { fieldOf } from '../../client/exchange.ts'

const [next] = references('next')

// Text in quotes, as the draft has it; those who take the field as it stands get a text all the same.
const key = { 'Idempotency-Key': `"${mark}"` }
const keyOf = (name: string) => ({ 'Idempotency-Key': `"${mark}-${'0'.repeat(24)}-${name}"` })

const first = setUp(firstStep.post(collection, body.example, { headers: key }))
const again = againStep.post(collection, body.sentBy(firstStep), { headers: key })

export const repeats = define({
  'MET-9/replay': {
    title: 'POST repeated with its Idempotency-Key makes no second record',
    steps: [create(other), first, again],
    expect: [
      answerOf(againStep, 'is about the record of the first', (answer, seen, exchange) => {
        const [made, repeated] = [madeBy(seen.of(firstStep), seen), madeBy(exchange, seen)]
        if (made === repeated) return undefined
        return answer.status < 300
          ? finding(exchange, 'body', `it made ${repeated} beside ${made}`)
          : finding(exchange, 'status', `${answer.status}, where the first answer was to come again`)
      }),
    ],
    remedy:
      'Keep the answer to a POST with Idempotency-Key for a day, in the transaction that creates, and give it again.',
  },
  'MET-9/same-answer': {
    title: 'POST repeated with its Idempotency-Key gets the first answer again: status, Location and body',
    after: ['MET-9/replay'],
    steps: [create(other), first, again],
    expect: [
      answerOf(againStep, 'has the status of the first', (answer, seen, exchange) => {
        const before = seen.of(firstStep).answer?.status
        return answer.status === before
          ? undefined
          : finding(exchange, 'status', `${answer.status} in place of ${before}`)
      }),
      answerOf(againStep, 'has the Location of the first', (answer, seen, exchange) => {
        const before = fieldOf(seen.of(firstStep).answer ?? answer, 'Location')
        const value = fieldOf(answer, 'Location')
        return value === before
          ? undefined
          : finding(exchange, { field: 'Location' }, `${value ?? 'nothing'} in place of ${before ?? 'nothing'}`)
      }),
      sameBody(againStep, firstStep),
    ],
    remedy: 'Keep the whole answer, with its status and header fields.',
  },
  'MET-9/other-payload': {
    title: 'Another payload under the same Idempotency-Key is answered 422',
    after: ['MET-9/replay'],
    steps: [
      create(other),
      first,
      againStep.post(collection, { ...body.sentBy(firstStep), plus: 'change' }, { headers: key }),
    ],
    expect: [status(againStep, 422)],
    remedy: 'Keep a digest of the payload with the key, and answer 422 where another comes.',
  },
  'MET-9/other-key': {
    title: 'POST with another Idempotency-Key makes another record, however alike the keys are',
    after: ['MET-9/replay'],
    steps: [
      create(other),
      setUp(firstStep.post(collection, body.example, { headers: keyOf('a') })),
      next.post(collection, body.example, { headers: keyOf('b') }),
    ],
    expect: [
      done(next),
      answerOf(next, 'is about another record', (_, seen, exchange) =>
        madeBy(exchange, seen) === madeBy(seen.of(firstStep), seen)
          ? finding(exchange, 'body', 'it answers with the record of another key')
          : undefined,
      ),
    ],
    remedy: 'Compare whole keys.',
  },
  'MET-9/other-caller': {
    title: 'An Idempotency-Key gives nobody the answer that another caller got',
    needs: ['key'],
    after: ['MET-9/replay'],
    steps: [
      create(other),
      first,
      againStep.post(collection, body.sentBy(firstStep), { headers: key, caller: 'other' }),
      againStep.post(collection, body.sentBy(firstStep), { headers: key, caller: 'nobody' }),
    ],
    expect: [
      altogether('somebody else gets no answer of the caller', (seen) => {
        const made = madeBy(seen.of(firstStep), seen)
        const told = seen.all(againStep).find((exchange) => made !== undefined && madeBy(exchange, seen) === made)
        return told && finding(told, 'body', 'somebody who may not create got the answer of who may')
      }),
    ],
    remedy: 'Keep answers by caller and key, and look for them after permission was decided.',
  },
  'MET-9/at-once': {
    title: 'Of five POSTs at once with one Idempotency-Key one makes a record; the others get its answer, or 409',
    after: ['MET-9/replay'],
    steps: [
      create(other),
      setUp(beforeStep.get(caseRecords)),
      together(repeated(5, allStep.post(collection, body.example, { headers: key }))),
      list.get(caseRecords),
    ],
    expect: [
      altogether('all tell of one record, or of a conflict', (seen) => {
        const all = seen.all(allStep)
        const odd = all.find(({ answer }) => answer === undefined || (answer.status >= 300 && answer.status !== 409))
        if (odd !== undefined)
          return finding(odd, 'status', `${odd.answer?.status ?? odd.failure} in place of 201 or 409`)
        const made = new Set(all.map((exchange) => madeBy(exchange, seen)).filter((each) => each !== undefined))
        return made.size === 1 ? undefined : finding(all[1], 'body', `${made.size} records were made with one key`)
      }),
      applicableWhere('there is a list', (seen) =>
        itemsOf(seen.of(list).answer, seen) === undefined ? 'there is no list' : undefined,
      ),
      altogether('the list holds one more', (seen) => {
        const [before, after] = [beforeStep, list].map((step) => itemsOf(seen.of(step).answer, seen)?.length ?? 0)
        return after === (before ?? 0) + 1
          ? undefined
          : finding(seen.of(list), 'body', `${after} records in place of ${(before ?? 0) + 1}`)
      }),
    ],
    remedy: 'Put a unique index on caller, path and key, and insert the key before the record, in one transaction.',
  },
})
