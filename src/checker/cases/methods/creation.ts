/** MET-2: POST creates. */
import type { Case } from '../../case/case.ts'
import { altogether, answerOf, done, field, finding, sameBody, short, status } from '../../case/expect.ts'
import { differing, holdsSent, madeBy, recordOf, sentAt, theRecord } from '../../case/records.ts'
import { given, record, together, when } from '../../case/steps.ts'

const sample = { from: 'example' } as const
const full = { from: 'example', plus: 'optional' } as const

export const creation: readonly Case[] = [
  {
    id: 'MET-2/created',
    title: 'POST to a collection is answered 201',
    kind: 'changing',
    needs: ['create'],
    steps: [record('other'), when('one', 'POST', '{collection}', { body: sample })],
    expect: [status('one', 201)],
    mend: 'Answer 201 Created where a record was made.',
  },
  {
    id: 'MET-2/whole',
    title: 'The answer to POST holds the record as it was made',
    kind: 'changing',
    needs: ['create', 'read'],
    steps: [record('other'), given('one', 'POST', '{collection}', { body: full }), given('read', 'GET', '{one}')],
    expect: [
      theRecord('one', 'has the values that were sent', (found, seen) => {
        const sent = sentAt(seen, 'one')
        const read = recordOf(seen.of('read').answer, seen) ?? {}
        const shown = Object.keys(sent).filter((name) => Object.hasOwn(read, name))
        const lacking = shown.find((name) => !Object.hasOwn(found, name))
        if (lacking !== undefined) return { message: `it lacks ${lacking}, which was sent and which GET shows` }
        return differing(found, sent, shown)
      }),
    ],
    mend: 'Answer with the record as it is after it was made, with all its members.',
  },
  {
    id: 'MET-2/kept',
    title: 'What POST has sent is there afterwards',
    kind: 'changing',
    needs: ['create', 'read'],
    steps: [record('other'), given('one', 'POST', '{collection}', { body: full }), when('read', 'GET', '{one}')],
    expect: [status('read', 200), holdsSent('read', 'one')],
    mend: 'Store all members that are sent, and refuse what cannot be stored.',
  },
  {
    id: 'MET-2/location',
    title: 'Location of the answer to POST leads to the new record',
    kind: 'changing',
    needs: ['create', 'read'],
    steps: [record(), when('read', 'GET', '{one}')],
    expect: [field('one', 'Location')],
    mend: 'Send the path of the new record in Location.',
  },
  {
    id: 'MET-2/location-leads',
    title: 'What Location leads to is the record that was made',
    kind: 'changing',
    needs: ['create', 'read'],
    after: ['MET-2/location'],
    steps: [record(), given('read', 'GET', '{one}'), when('there', 'GET', '{one.location}')],
    expect: [status('there', 200), sameBody('there', 'read')],
    mend: 'Write the path of the new record into Location, with the version that the request had, so that it can be followed.',
  },
  {
    id: 'MET-2/again',
    title: 'POST creates another record each time it is sent',
    kind: 'changing',
    needs: ['create'],
    steps: [
      record(),
      together(
        when('again', 'POST', '{collection}', { body: sample }),
        when('again', 'POST', '{collection}', { body: sample }),
      ),
      when('again', 'POST', '{collection}', { body: sample }),
    ],
    expect: [
      altogether('three records are made', (seen) => {
        const all = seen.all('again')
        const failed = all.find(({ answer }) => answer === undefined || answer.status >= 300)
        if (failed !== undefined) return finding(failed, 'status', `${failed.answer?.status ?? failed.failure}`)
        const made = all.map((exchange) => madeBy(exchange, seen))
        return new Set(made).size === 3 ? undefined : finding(all[1], 'body', `of three, two are one: ${short(made)}`)
      }),
    ],
    mend: 'Make a record for every POST; only Idempotency-Key says that two of them are one.',
  },
  {
    id: 'MET-2/nested',
    title: 'POST to a collection below a record creates one that belongs to it',
    kind: 'changing',
    needs: ['create', 'nested'],
    // The specification shows nested collections with GET alone.
    level: 'may',
    steps: [
      record(),
      when('below', 'POST', '{nested}', { body: { from: 'example', without: ['{member:reference}'] } }),
    ],
    expect: [
      done('below'),
      answerOf('below', 'refers to the record above', (answer, seen, exchange) => {
        const member = seen.fill('{member:reference}')
        const above = seen.fill('{nested}').split('/').at(-2) ?? ''
        const value = recordOf(answer, seen)?.[member]
        return String(value) === decodeURIComponent(above)
          ? undefined
          : finding(exchange, { pointer: `/${member}` }, `${member} is ${short(value)} in place of ${short(above)}`)
      }),
    ],
    mend: 'Take POST at /{collection}/{id}/{child_collection} too, and set the reference from the address.',
  },
]
