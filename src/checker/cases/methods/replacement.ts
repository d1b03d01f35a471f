/** MET-3: PUT replaces. */

import type { Case, Seen } from '../../case/case.ts'
import { answerOf, done, finding, onlyWhere, refused, sameBody, short, status } from '../../case/expect.ts'
import { differing, holdsSent, recordOf, sentAt, theRecord } from '../../case/records.ts'
import { given, record, when } from '../../case/steps.ts'
import { isSame } from '../../values/json.ts'

const needs: Case['needs'] = ['create', 'read', 'replace', 'change', 'unconditional']
const changed = { from: { sent: 'one' }, plus: 'change' } as const

/** Whether a member that was left out is empty: it has not the value any more that it had. */
function isCleared(step: string) {
  return theRecord(step, 'has no value for what was left out', (found, seen: Seen) => {
    const member = seen.fill('{member:optional}')
    const before = recordOf(seen.of('before').answer, seen)?.[member]
    return isSame(found[member], before)
      ? { member, message: `${member} still has the value ${short(before)}` }
      : undefined
  })
}

/** What is to be cleared was there. */
export const onlyWhereOptional = onlyWhere('the optional member has a value before', (seen) => {
  const member = seen.fill('{member:optional}')
  const value = recordOf(seen.of('before').answer, seen)?.[member]
  return value === undefined || value === null ? `${member} was sent, and has no value` : undefined
})

export const replacement: readonly Case[] = [
  {
    id: 'MET-3/status',
    title: 'PUT of the whole record is answered 200',
    kind: 'changing',
    needs,
    steps: [record(), when('put', 'PUT', '{one}', { body: changed })],
    expect: [status('put', 200)],
    mend: 'Answer PUT with 200 and the record as it is now.',
  },
  {
    id: 'MET-3/answer',
    title: 'The answer to PUT holds the record as it is now',
    kind: 'changing',
    needs,
    steps: [record(), when('put', 'PUT', '{one}', { body: changed })],
    expect: [holdsSent('put', 'put')],
    mend: 'Read the record after it was written, and answer with that.',
  },
  {
    id: 'MET-3/kept',
    title: 'What PUT has sent is there afterwards',
    kind: 'changing',
    needs,
    steps: [record(), given('put', 'PUT', '{one}', { body: changed }), when('read', 'GET', '{one}')],
    expect: [status('read', 200), holdsSent('read', 'put')],
    mend: 'Store all members that are sent, and refuse what cannot be stored.',
  },
  {
    id: 'MET-3/clears',
    title: 'PUT clears what it leaves out',
    kind: 'changing',
    needs: ['create', 'read', 'replace', 'optional', 'unconditional'],
    steps: [
      record('other'),
      given('one', 'POST', '{collection}', { body: { from: 'example', plus: 'optional' } }),
      given('before', 'GET', '{one}'),
      when('put', 'PUT', '{one}', { body: { from: { sent: 'one' }, without: ['{member:optional}'] } }),
      when('read', 'GET', '{one}'),
    ],
    expect: [onlyWhereOptional, done('put'), isCleared('read')],
    mend: 'Write every member with PUT: what is not in the body becomes its default, or null. PATCH is there for the rest.',
  },
  {
    id: 'MET-3/required',
    title: 'PUT without a member that a record must have is refused, and changes nothing',
    kind: 'changing',
    needs: ['create', 'read', 'replace', 'required', 'unconditional'],
    steps: [
      record(),
      given('before', 'GET', '{one}'),
      when('put', 'PUT', '{one}', { body: { from: { sent: 'one' }, without: ['{member:required}'] } }),
      when('after', 'GET', '{one}'),
    ],
    expect: [refused('put'), status('after', 200), sameBody('after', 'before')],
    mend: 'Validate the body of PUT as that of POST: what is required is required in both.',
  },
  {
    id: 'MET-3/twice',
    title: 'PUT sent twice leaves what it leaves when it is sent once',
    kind: 'changing',
    needs,
    steps: [
      record(),
      given('first', 'PUT', '{one}', { body: changed }),
      given('once', 'GET', '{one}'),
      when('second', 'PUT', '{one}', { body: { from: { sent: 'first' } } }),
      when('twice', 'GET', '{one}'),
    ],
    expect: [
      onlyWhere('PUT is taken', (seen) =>
        (seen.of('first').answer?.status ?? 500) < 300 ? undefined : 'PUT was not taken',
      ),
      done('second'),
      answerOf('twice', 'is as after the first', (answer, seen, exchange) => {
        const once = recordOf(seen.of('once').answer, seen) ?? {}
        const names = [...Object.keys(sentAt(seen, 'first')), seen.collection.id, 'created_at']
        const wrong = differing(recordOf(answer, seen) ?? {}, once, names)
        return wrong && finding(exchange, 'body', `after the second PUT ${wrong.message}`)
      }),
    ],
    mend: 'Let PUT set values, and never add to them.',
  },
]
