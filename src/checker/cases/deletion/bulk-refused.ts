/** DEL-9: lists that are none, are too long, or hold what is no identifier. Nothing of it may be taken for "everything". */
import { define } from '../../case/define.ts'
import { everyStatus, refused, status } from '../../case/expect.ts'
import { after, gone, odd, one } from '../../case/names.ts'
import { body, create, settled } from '../../case/steps.ts'
import { ids, toBulk } from './bulk.ts'

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

export const refusedBulkCases = define(
  {
    'DEL-9/twice': {
      title: 'Bulk deletion that lists a record twice is refused',
      level: 'may',
      steps: [create(one), gone.send('POST', toBulk, ids(one.id, one.id)), settled(gone)],
      expect: [refused(gone)],
      remedy: 'Answer 400 where an identifier is repeated: the list is not what its sender thinks.',
    },
    'DEL-9/many': {
      title: 'Bulk deletion of 2,000 records of which one is there deletes none',
      after: ['DEL-9/all-or-nothing'],
      steps: [
        create(one),
        gone.send('POST', toBulk, ids(one.id, ...Array.from({ length: 1_999 }, (_, turn) => `${one.otherId}-${turn}`))),
        settled(gone),
        after.get(one),
      ],
      expect: [refused(gone), status(after, 200)],
      remedy: 'Bound how many records may be listed, and refuse a longer list whole: 400 or 413.',
    },
    'DEL-9/odd': {
      title: 'Bulk deletion refuses what is no identifier, and breaks nothing',
      steps: [create(one), ...oddIds.map((id) => odd.send('POST', toBulk, ids(one.id, id)))],
      expect: [refused(odd)],
      remedy:
        'Check that ids is a list of texts before anything is deleted, and hand them to the database as parameters.',
    },
    'DEL-9/empty': {
      title: 'Bulk deletion of no records is refused',
      needs: ['disposable'],
      level: 'may',
      after: ['DEL-9/others-stay'],
      steps: [create(one), gone.send('POST', toBulk, ids()), after.get(one)],
      expect: [status(gone, 400), status(after, 200)],
      remedy: 'Answer 400 where ids is empty: the sender has made a mistake.',
    },
    'DEL-9/no-list': {
      title: 'Bulk deletion without a list of identifiers is refused, and deletes nothing',
      needs: ['disposable'],
      after: ['DEL-9/others-stay'],
      steps: [create(one), ...nothing.map((text) => odd.post(toBulk, body.text(text))), after.get(one)],
      expect: [everyStatus(odd, 400), status(after, 200)],
      remedy: 'Answer 400 unless ids is a list of texts: a condition that is missing must never become "all".',
    },
  },
  'read',
)
