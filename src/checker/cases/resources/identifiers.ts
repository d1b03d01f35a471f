/** RES-4: the server gives every record its identifier. */
import { define } from '../../case/define.ts'
import { altogether, finding, short, status } from '../../case/expect.ts'
import { after as afterStep, change, one, other as otherStep, read } from '../../case/names.ts'
import { recordOf, theRecord } from '../../case/records.ts'
import { absentId, collection, idMember, references } from '../../case/references.ts'
import { body, create, nobodyThere, setUp } from '../../case/steps.ts'

const [chosenStep] = references('chosen')

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export const identifiers = define({
  'RES-4/id': {
    title: 'A new record has an identifier in the member id, which the client did not send',
    steps: [create(one)],
    expect: [
      theRecord(one, 'has an id', ({ id }) =>
        id === undefined || id === null || id === '' ? { member: 'id', message: 'there is no id' } : undefined,
      ),
    ],
    remedy: 'Make the identifier on the server, and put it into the answer to POST as id.',
  },
  'RES-4/string': {
    title: 'Identifiers are strings',
    after: ['RES-4/id'],
    steps: [create(one), setUp(read.get(one))],
    expect: [
      theRecord(read, 'has a text for id', ({ id }) =>
        typeof id === 'string' ? undefined : { member: 'id', message: `id is ${short(id)}, which is no string` },
      ),
    ],
    remedy:
      'Write identifiers as JSON strings, numbers too: clients must not do sums with them, and large ones lose digits.',
  },
  'RES-4/uuid': {
    title: 'Identifiers are UUIDs of version 7 in lower case',
    after: ['RES-4/id'],
    // Our decision: the specification leaves the form open.
    level: 'may',
    steps: [create(one)],
    expect: [
      theRecord(one, 'has a UUIDv7 for id', ({ id }) =>
        uuid.test(String(id)) ? undefined : { member: 'id', message: `${short(id)} is no UUIDv7 in lower case` },
      ),
    ],
    remedy: 'Use UUIDv7 (RFC 9562): nobody can guess or count them, and they still sort by time.',
  },
  'RES-4/not-chosen': {
    title: 'A client cannot choose the identifier of a new record',
    steps: [
      create(one),
      ...nobodyThere,
      chosenStep.post(collection, { ...body.example, with: { [idMember]: absentId } }),
      afterStep.get(`${collection}/${absentId}`),
    ],
    expect: [
      altogether('no record has the identifier that was sent', (seen) => {
        const chosen = seen.of(chosenStep)
        const id = recordOf(chosen.answer, seen)?.[seen.collection.id]
        if (chosen.answer !== undefined && chosen.answer.status < 300 && String(id) === seen.fill(absentId)) {
          return finding(chosen, 'body', `the record was made with the identifier that was sent, ${short(id)}`)
        }
        const after = seen.of(afterStep)
        return after.answer?.status === 200 ? finding(after, 'status', 'a record is there: 200') : undefined
      }),
    ],
    remedy: 'Leave an identifier in the body of POST aside, or better refuse it, and always make one on the server.',
  },
  'RES-4/refused': {
    title: 'POST with an identifier in its body is refused',
    after: ['RES-4/not-chosen'],
    // The specification says that a client does not choose it; that it is told so is our decision.
    level: 'should',
    steps: [
      create(one),
      ...nobodyThere,
      chosenStep.post(collection, { ...body.example, with: { [idMember]: absentId } }),
    ],
    expect: [status(chosenStep, 400)],
    remedy: 'Answer 400 with an error at /id: a client that sends one believes that it will be kept.',
  },
  'RES-4/kept': {
    title: 'A change does not give a record another identifier',
    steps: [
      create(one),
      change.patch(one, body.json({ [idMember]: absentId })),
      afterStep.get(one),
      otherStep.get(`${collection}/${absentId}`),
    ],
    expect: [
      status(afterStep, 200),
      altogether('nothing is at the other address', (seen) => {
        const other = seen.of(otherStep)
        return other.answer?.status === 200 ? finding(other, 'status', 'the record is there now: 200') : undefined
      }),
    ],
    remedy: 'Take the identifier from the address alone, and refuse another in the body.',
  },
})
