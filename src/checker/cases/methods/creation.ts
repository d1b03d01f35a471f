/** MET-2: POST creates. */
import { define } from '../../case/define.ts'
import { altogether, answerOf, done, field, finding, sameBody, short, status } from '../../case/expect.ts'
import { again, below, one, other, read as readStep } from '../../case/names.ts'
import { differing, holdsSent, madeBy, recordOf, sentAt, theRecord } from '../../case/records.ts'
import { collection, members, nestedList, references } from '../../case/references.ts'
import { body, create, setUp, together } from '../../case/steps.ts'

const [there] = references('there')

const sample = { from: 'example' } as const
const full = { from: 'example', plus: 'optional' } as const

export const creation = define({
  'MET-2/created': {
    title: 'POST to a collection is answered 201',
    steps: [create(other), one.post(collection, sample)],
    expect: [status(one, 201)],
    remedy: 'Answer 201 Created where a record was made.',
  },
  'MET-2/whole': {
    title: 'The answer to POST holds the record as it was made',
    steps: [create(other), setUp(one.post(collection, full)), setUp(readStep.get(one))],
    expect: [
      theRecord(one, 'has the values that were sent', (found, seen) => {
        const sent = sentAt(seen, one)
        const read = recordOf(seen.of(readStep).answer, seen) ?? {}
        const shown = Object.keys(sent).filter((name) => Object.hasOwn(read, name))
        const lacking = shown.find((name) => !Object.hasOwn(found, name))
        if (lacking !== undefined) return { message: `it lacks ${lacking}, which was sent and which GET shows` }
        return differing(found, sent, shown)
      }),
    ],
    remedy: 'Answer with the record as it is after it was made, with all its members.',
  },
  'MET-2/kept': {
    title: 'What POST has sent is there afterwards',
    steps: [create(other), setUp(one.post(collection, full)), readStep.get(one)],
    expect: [status(readStep, 200), holdsSent(readStep, one)],
    remedy: 'Store all members that are sent, and refuse what cannot be stored.',
  },
  'MET-2/location': {
    title: 'Location of the answer to POST leads to the new record',
    steps: [create(one), readStep.get(one)],
    expect: [field(one, 'Location')],
    remedy: 'Send the path of the new record in Location.',
  },
  'MET-2/location-leads': {
    title: 'What Location leads to is the record that was made',
    after: ['MET-2/location'],
    steps: [create(one), setUp(readStep.get(one)), there.get(one.location)],
    expect: [status(there, 200), sameBody(there, readStep)],
    remedy:
      'Write the path of the new record into Location, with the version that the request had, so that it can be followed.',
  },
  'MET-2/again': {
    title: 'POST creates another record each time it is sent',
    steps: [
      create(one),
      together(again.post(collection, sample), again.post(collection, sample)),
      again.post(collection, sample),
    ],
    expect: [
      altogether('three records are made', (seen) => {
        const all = seen.all(again)
        const failed = all.find(({ answer }) => answer === undefined || answer.status >= 300)
        if (failed !== undefined) return finding(failed, 'status', `${failed.answer?.status ?? failed.failure}`)
        const made = all.map((exchange) => madeBy(exchange, seen))
        return new Set(made).size === 3 ? undefined : finding(all[1], 'body', `of three, two are one: ${short(made)}`)
      }),
    ],
    remedy: 'Make a record for every POST; only Idempotency-Key says that two of them are one.',
  },
  'MET-2/nested': {
    title: 'POST to a collection below a record creates one that belongs to it',
    needsOnly: ['create', 'nested'],
    // The specification shows nested collections with GET alone.
    level: 'may',
    steps: [create(one), below.post(nestedList, { ...body.example, without: [members.reference] })],
    expect: [
      done(below),
      answerOf(below, 'refers to the record above', (answer, seen, exchange) => {
        const member = seen.fill(members.reference)
        const above = seen.fill(nestedList).split('/').at(-2) ?? ''
        const value = recordOf(answer, seen)?.[member]
        return String(value) === decodeURIComponent(above)
          ? undefined
          : finding(exchange, { pointer: `/${member}` }, `${member} is ${short(value)} in place of ${short(above)}`)
      }),
    ],
    remedy: 'Take POST at /{collection}/{id}/{child_collection} too, and set the reference from the address.',
  },
})
