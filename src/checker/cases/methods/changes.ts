/** MET-4: PATCH changes. */

import type { Body, Case, Need } from '../../case/case.ts'
import { done, onlyWhere, refused, sameBody, short, status } from '../../case/expect.ts'
import { differing, holdsSent, recordOf, sentAt, theRecord } from '../../case/records.ts'
import { given, record, when } from '../../case/steps.ts'
import { isObject, isSame } from '../../values/json.ts'
import { onlyWhereOptional } from './replacement.ts'

const needs: readonly Need[] = ['create', 'read', 'update', 'change', 'unconditional']
const change: Body = { from: 'change' }
const mergePatch = { 'Content-Type': 'application/merge-patch+json' }
const jsonPatch = { 'Content-Type': 'application/json-patch+json' }

const full = [
  record('other'),
  given('one', 'POST', '{collection}', { body: { from: 'example', plus: 'optional' } }),
  given('before', 'GET', '{one}'),
]

/** The optional member has no value any more. */
const isCleared = theRecord('after', 'has no value for what was cleared', (found, seen) => {
  const member = seen.fill('{member:optional}')
  const value = found[member]
  return value === undefined || value === null ? undefined : { member, message: `${member} is ${short(value)}` }
})

export const changes: readonly Case[] = [
  {
    id: 'MET-4/status',
    title: 'PATCH is answered 200',
    kind: 'changing',
    needs,
    steps: [record(), when('patch', 'PATCH', '{one}', { body: change })],
    expect: [status('patch', 200)],
    mend: 'Answer PATCH with 200 and the record as it is now.',
  },
  {
    id: 'MET-4/answer',
    title: 'The answer to PATCH holds the record as it is now',
    kind: 'changing',
    needs,
    steps: [record(), when('patch', 'PATCH', '{one}', { body: change })],
    expect: [holdsSent('patch', 'patch')],
    mend: 'Read the record after it was written, and answer with that.',
  },
  {
    id: 'MET-4/kept',
    title: 'What PATCH has changed is so afterwards',
    kind: 'changing',
    needs,
    steps: [record(), given('patch', 'PATCH', '{one}', { body: change }), when('after', 'GET', '{one}')],
    expect: [status('after', 200), holdsSent('after', 'patch')],
    mend: 'Store all members that are sent, and refuse what cannot be stored.',
  },
  {
    id: 'MET-4/others',
    title: 'PATCH leaves alone what it does not send',
    kind: 'changing',
    needs,
    steps: [...full, given('patch', 'PATCH', '{one}', { body: change }), when('after', 'GET', '{one}')],
    expect: [
      status('after', 200),
      theRecord('after', 'has all else as before', (found, seen) => {
        const before = recordOf(seen.of('before').answer, seen) ?? {}
        const sent = sentAt(seen, 'patch')
        const names = [...Object.keys(sentAt(seen, 'one')), seen.collection.id]
        return differing(
          found,
          before,
          names.filter((name) => !Object.hasOwn(sent, name)),
        )
      }),
    ],
    mend: 'Write only the members that are in the body: what is not there is not null.',
  },
  {
    id: 'MET-4/merge-patch',
    title: 'PATCH takes application/merge-patch+json',
    kind: 'changing',
    needs,
    after: ['MET-4/kept'],
    // The specification asks for JSON; the name of the format is our decision.
    level: 'should',
    steps: [
      record(),
      when('patch', 'PATCH', '{one}', { body: change, headers: mergePatch }),
      when('after', 'GET', '{one}'),
    ],
    expect: [done('patch'), holdsSent('after', 'patch')],
    mend: 'Read application/merge-patch+json (RFC 7396) as plain JSON is read: it says what is meant.',
  },
  {
    id: 'MET-4/null',
    title: 'PATCH with null clears a member',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'optional', 'unconditional'],
    // RFC 7396 is our decision; the specification says only that what is sent is changed.
    level: 'should',
    steps: [
      ...full,
      when('patch', 'PATCH', '{one}', { body: { json: { '{member:optional}': null } } }),
      when('after', 'GET', '{one}'),
    ],
    expect: [onlyWhereOptional, done('patch'), isCleared],
    mend: 'Take null in PATCH as "no value" (RFC 7396), not as "not sent".',
  },
  {
    id: 'MET-4/nested',
    title: 'PATCH of a part of a member that is an object leaves its other parts alone',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'object', 'unconditional'],
    level: 'should',
    steps: [...full, when('patch', 'PATCH', '{one}', { body: { from: 'part' } }), when('after', 'GET', '{one}')],
    expect: [
      onlyWhere('the member is shown', (seen) =>
        isObject(recordOf(seen.of('before').answer, seen)?.[seen.fill('{member:object}')])
          ? undefined
          : 'no member that is an object is shown',
      ),
      done('patch'),
      theRecord('after', 'has the whole object', (found, seen) => {
        const member = seen.fill('{member:object}')
        const before = recordOf(seen.of('before').answer, seen)?.[member]
        return isSame(found[member], before)
          ? undefined
          : { member, message: `${member} is ${short(found[member])} in place of ${short(before)}` }
      }),
    ],
    mend: 'Merge objects member by member (RFC 7396), rather than putting the new one in place of the old.',
  },
  {
    id: 'MET-4/json-patch',
    title: 'PATCH takes application/json-patch+json',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'optional', 'unconditional'],
    // Beyond the specification.
    level: 'may',
    steps: [
      ...full,
      when('patch', 'PATCH', '{one}', {
        body: { json: [{ op: 'remove', path: '/{member:optional}' }] },
        headers: jsonPatch,
      }),
      when('after', 'GET', '{one}'),
    ],
    expect: [onlyWhereOptional, done('patch'), isCleared],
    mend: 'Carry out JSON Patch (RFC 6902) too: it can test, and change parts of arrays.',
  },
  {
    id: 'MET-4/json-patch-test',
    title: 'A JSON Patch of which one operation fails changes nothing',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'optional', 'unconditional'],
    after: ['MET-4/json-patch'],
    level: 'may',
    steps: [
      ...full,
      when('patch', 'PATCH', '{one}', {
        body: {
          json: [
            { op: 'remove', path: '/{member:optional}' },
            { op: 'test', path: '/{id}', value: '{one.other}' },
          ],
        },
        headers: jsonPatch,
      }),
      when('after', 'GET', '{one}'),
    ],
    expect: [onlyWhereOptional, refused('patch'), sameBody('after', 'before')],
    mend: 'Apply all operations to a copy, and store it only where none has failed (RFC 5789 section 2, RFC 6902 section 5).',
  },
]
