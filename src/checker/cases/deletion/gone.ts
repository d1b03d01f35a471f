/** DEL-1: what is deleted is gone, and nothing else is. */
import { define } from '../../case/define.ts'
import { answerOf, finding, itemsOf, short, status } from '../../case/expect.ts'
import { asMade, isListed, listed, recordOf, shows } from '../../case/expect-records.ts'
import { after, before, gone, one, other, patch, put, two } from '../../case/names.ts'
import { caseRecords, nestedList, references } from '../../case/references.ts'
import {
  applicableIf,
  body,
  create,
  createAndDelete,
  createMany,
  deleteRecord,
  readyIf,
  setUp,
} from '../../case/steps.ts'
import { isSame } from '../../values/json.ts'

const [kept] = references('kept')

export const goneCases = define(
  {
    'DEL-1/gone': {
      title: 'A deleted record is answered 404',
      steps: [create(one), setUp(before.get(one)), ...deleteRecord(gone, one), after.get(one)],
      expect: [status(after, 404)],
      remedy: 'Answer 404 for a record that is marked as deleted, exactly as for one that never was.',
    },
    'DEL-1/put': {
      title: 'PUT to a deleted record is answered 404, and does not bring it back',
      after: ['DEL-1/gone'],
      steps: [...createAndDelete(one, gone), put.put(one, body.example), after.get(one)],
      expect: [status(put, 404), status(after, 404)],
      remedy: 'Let PUT look for a live record before it writes; it never makes one.',
    },
    'DEL-1/patch': {
      title: 'PATCH of a deleted record is answered 404',
      after: ['DEL-1/gone'],
      steps: [...createAndDelete(one, gone), patch.patch(one, body.change)],
      expect: [status(patch, 404)],
      remedy: 'Let PATCH change live records alone: "update … where id = ? and deleted_at is null".',
    },
    'DEL-1/list': {
      title: 'Lists leave a deleted record out, and keep the others',
      steps: [
        createMany(two, 2),
        setUp(before.get(caseRecords)),
        readyIf(
          (seen) => itemsOf(seen.of(before).answer, seen)?.length === 2,
          'the list did not show what had been made',
        ),
        ...deleteRecord(gone, two.at(0)),
        after.get(caseRecords),
      ],
      expect: [shows(before, [two.at(0), two.at(1)]), shows(after, [two.at(1)], [two.at(0)])],
      remedy: 'Leave deleted records out of every list that does not ask for them: "where deleted_at is null".',
    },
    'DEL-1/nested': {
      title: 'The list below a parent leaves a deleted record out, and keeps the others',
      needsOnly: ['create', 'delete', 'nested', 'parent', 'read', 'unconditional'],
      steps: [
        createMany(two, 2),
        setUp(before.get(nestedList)),
        readyIf(
          (seen) => itemsOf(seen.of(before).answer, seen)?.length === 2,
          'the list did not show what had been made',
        ),
        ...deleteRecord(gone, two.at(0)),
        after.get(nestedList),
      ],
      expect: [shows(after, [two.at(1)], [two.at(0)])],
      remedy: 'Read the list below a parent with the same conditions as the collection itself.',
    },
    'DEL-1/others-stay': {
      title: 'A deletion leaves other records as they were',
      steps: [create(other), create(one), setUp(before.get(other)), ...deleteRecord(gone, one), after.get(other)],
      expect: [
        status(after, 200),
        answerOf(after, 'shows the other record as it was', (answer, seen, exchange) => {
          const [was, is] = [recordOf(seen.of(before).answer as typeof answer, seen), recordOf(answer, seen)]
          return isSame(was, is) ? undefined : finding(exchange, 'body', `${short(is)}, and was ${short(was)}`)
        }),
      ],
      remedy: 'Delete by the identifier of the record alone, and touch no other row.',
    },
    'DEL-1/kept': {
      title: 'What was deleted softly keeps the members that it had',
      steps: [
        ...createAndDelete(one, gone),
        kept.get(`${caseRecords}&include_deleted=true`),
        // Whether they are shown at all is a rule of its own (QRY-6).
        applicableIf(isListed(kept, one), 'include_deleted does not show what was deleted'),
      ],
      expect: [asMade(kept, one, (answer, seen) => listed(answer, one, seen))],
      remedy: 'Set deleted_at and leave all other columns as they are; include_deleted=true shows them.',
    },
    'DEL-1/for-good': {
      title: 'What was deleted for good is not shown to those who ask for deleted records',
      needs: ['hard'],
      steps: [
        create(one),
        setUp(before.get(caseRecords)),
        ...deleteRecord(gone, one),
        after.get(`${caseRecords}&include_deleted=true`),
        // It may be that nobody can ask for them at all.
        applicableIf((seen) => seen.of(after).answer?.status !== 400, 'there is no asking for deleted records'),
      ],
      expect: [shows(before, [one]), status(after, 200), shows(after, [], [one])],
      remedy: 'Remove the row itself where the variant is hard.',
    },
  },
  'read',
)
