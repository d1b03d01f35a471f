/** DEL-9: lists that are none, are too long, or hold what is no identifier. Nothing of it may be taken for "everything". */
import type { Case } from '../../case/case.ts'
import { everyStatus, refused, status } from '../../case/expect.ts'
import { record, settled, when } from '../../case/steps.ts'
import { base, ids, toBulk } from './bulk.ts'

// Nothing of these can be taken for a record of the server, or for a condition: no text that begins with a digit, no object (`{}` is
// "any" to some), no number (MySQL compares texts with one as numbers, and most texts are 0), nothing that is no list. What is
// more dangerous is left to those who say that nothing is lost (`disposable`).
const oddIds: readonly unknown[] = [
  ...['__proto__', 'constructor', "o'clock", 'never\u0000was', 'x'.repeat(5_000)],
  ...[null, ['never-was']],
]

/** Ways to say nothing at all, of which some servers make "everything". */
const nothing: readonly string[] = [
  '{}',
  '{"ids":null}',
  '{"ids":{}}',
  '{"ids":[{}]}',
  '{"ids":"never-was"}',
  '{"ids":[true]}',
  '{"ids":[0]}',
  '{"ids":[-1]}',
  '[]',
  'null',
  '{"ids":["never-was"',
]

export const refusedBulkCases: readonly Case[] = [
  {
    id: 'DEL-9/twice',
    title: 'Bulk deletion that lists a record twice is refused',
    kind: 'changing',
    needs: base,
    level: 'may',
    steps: [record(), when('gone', 'POST', toBulk, ids('{one.id}', '{one.id}')), settled('gone')],
    expect: [refused('gone')],
    mend: 'Answer 400 where an identifier is repeated: the list is not what its sender thinks.',
  },
  {
    id: 'DEL-9/many',
    title: 'Bulk deletion of 2,000 records of which one is there deletes none',
    kind: 'changing',
    needs: base,
    after: ['DEL-9/all-or-nothing'],
    steps: [
      record(),
      when(
        'gone',
        'POST',
        toBulk,
        ids('{one.id}', ...Array.from({ length: 1_999 }, (_, turn) => `{one.other}-${turn}`)),
      ),
      settled('gone'),
      when('after', 'GET', '{one}'),
    ],
    expect: [refused('gone'), status('after', 200)],
    mend: 'Bound how many records may be listed, and refuse a longer list whole: 400 or 413.',
  },
  {
    id: 'DEL-9/odd',
    title: 'Bulk deletion refuses what is no identifier, and breaks nothing',
    kind: 'changing',
    needs: base,
    steps: [record(), ...oddIds.map((id) => when('odd', 'POST', toBulk, ids('{one.id}', id)))],
    expect: [refused('odd')],
    mend: 'Check that ids is a list of texts before anything is deleted, and hand them to the database as parameters.',
  },
  {
    id: 'DEL-9/empty',
    title: 'Bulk deletion of no records is refused',
    kind: 'changing',
    needs: [...base, 'disposable'],
    level: 'may',
    after: ['DEL-9/others-stay'],
    steps: [record(), when('gone', 'POST', toBulk, ids()), when('after', 'GET', '{one}')],
    expect: [status('gone', 400), status('after', 200)],
    mend: 'Answer 400 where ids is empty: the sender has made a mistake.',
  },
  {
    id: 'DEL-9/no-list',
    title: 'Bulk deletion without a list of identifiers is refused, and deletes nothing',
    kind: 'changing',
    needs: [...base, 'disposable'],
    after: ['DEL-9/others-stay'],
    steps: [
      record(),
      ...nothing.map((text) => when('odd', 'POST', toBulk, { body: { text } })),
      when('after', 'GET', '{one}'),
    ],
    expect: [everyStatus('odd', 400), status('after', 200)],
    mend: 'Answer 400 unless ids is a list of texts: a condition that is missing must never become "all".',
  },
]
