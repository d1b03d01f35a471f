/** RES-4: the server gives every record its identifier. */
import type { Case } from '../../case/case.ts'
import { altogether, finding, short, status } from '../../case/expect.ts'
import { recordOf, theRecord } from '../../case/records.ts'
import { given, nobodyThere, record, when } from '../../case/steps.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export const identifiers: readonly Case[] = [
  {
    id: 'RES-4/id',
    title: 'A new record has an identifier in the member id, which the client did not send',
    kind: 'changing',
    needs: ['create'],
    steps: [record()],
    expect: [
      theRecord('one', 'has an id', ({ id }) =>
        id === undefined || id === null || id === '' ? { member: 'id', message: 'there is no id' } : undefined,
      ),
    ],
    mend: 'Make the identifier on the server, and put it into the answer to POST as id.',
  },
  {
    id: 'RES-4/string',
    title: 'Identifiers are strings',
    kind: 'changing',
    needs: ['create', 'read'],
    after: ['RES-4/id'],
    steps: [record(), given('read', 'GET', '{one}')],
    expect: [
      theRecord('read', 'has a text for id', ({ id }) =>
        typeof id === 'string' ? undefined : { member: 'id', message: `id is ${short(id)}, which is no string` },
      ),
    ],
    mend: 'Write identifiers as JSON strings, numbers too: clients must not do sums with them, and large ones lose digits.',
  },
  {
    id: 'RES-4/uuid',
    title: 'Identifiers are UUIDs of version 7 in lower case',
    kind: 'changing',
    needs: ['create'],
    after: ['RES-4/id'],
    // Our decision: the specification leaves the form open.
    level: 'may',
    steps: [record()],
    expect: [
      theRecord('one', 'has a UUIDv7 for id', ({ id }) =>
        uuid.test(String(id)) ? undefined : { member: 'id', message: `${short(id)} is no UUIDv7 in lower case` },
      ),
    ],
    mend: 'Use UUIDv7 (RFC 9562): nobody can guess or count them, and they still sort by time.',
  },
  {
    id: 'RES-4/not-chosen',
    title: 'A client cannot choose the identifier of a new record',
    kind: 'changing',
    needs: ['create', 'read'],
    steps: [
      record(),
      ...nobodyThere,
      when('chosen', 'POST', '{collection}', { body: { from: 'example', with: { '{id}': '{absent}' } } }),
      when('after', 'GET', '{collection}/{absent}'),
    ],
    expect: [
      altogether('no record has the identifier that was sent', (seen) => {
        const chosen = seen.of('chosen')
        const id = recordOf(chosen.answer, seen)?.[seen.collection.id]
        if (chosen.answer !== undefined && chosen.answer.status < 300 && String(id) === seen.fill('{absent}')) {
          return finding(chosen, 'body', `the record was made with the identifier that was sent, ${short(id)}`)
        }
        const after = seen.of('after')
        return after.answer?.status === 200 ? finding(after, 'status', 'a record is there: 200') : undefined
      }),
    ],
    mend: 'Leave an identifier in the body of POST aside, or better refuse it, and always make one on the server.',
  },
  {
    id: 'RES-4/refused',
    title: 'POST with an identifier in its body is refused',
    kind: 'changing',
    needs: ['create', 'read'],
    after: ['RES-4/not-chosen'],
    // The specification says that a client does not choose it; that it is told so is our decision.
    level: 'should',
    steps: [
      record(),
      ...nobodyThere,
      when('chosen', 'POST', '{collection}', { body: { from: 'example', with: { '{id}': '{absent}' } } }),
    ],
    expect: [status('chosen', 400)],
    mend: 'Answer 400 with an error at /id: a client that sends one believes that it will be kept.',
  },
  {
    id: 'RES-4/kept',
    title: 'A change does not give a record another identifier',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'unconditional'],
    steps: [
      record(),
      when('change', 'PATCH', '{one}', { body: { json: { '{id}': '{absent}' } } }),
      when('after', 'GET', '{one}'),
      when('other', 'GET', '{collection}/{absent}'),
    ],
    expect: [
      status('after', 200),
      altogether('nothing is at the other address', (seen) => {
        const other = seen.of('other')
        return other.answer?.status === 200 ? finding(other, 'status', 'the record is there now: 200') : undefined
      }),
    ],
    mend: 'Take the identifier from the address alone, and refuse another in the body.',
  },
]
