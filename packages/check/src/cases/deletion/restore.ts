/** DEL-6, DEL-7, DEL-11: restoring records, the grace period, and unique values of deleted records. */

import type { Expectation } from '../../case/case.ts'
import { common } from '../../case/define.ts'
import { answerOf, done, finding, status, totalOf, totalPart } from '../../case/expect.ts'
import { asMade, isListed, oneWins, shows } from '../../case/expect-records.ts'
import { after, all, back, before, gone, one, other, second, two } from '../../case/names.ts'
import { answered, applicableIf, parentHas, readyIf, succeeded } from '../../case/preconditions.ts'
import { caseRecords, collection, parent, Reference } from '../../case/references.ts'
import {
  body,
  create,
  createAndDelete,
  createMany,
  deleteRecord,
  settled,
  setUp,
  simultaneous,
  together,
  wait,
} from '../../case/steps.ts'

const [holder, parentJob, child, earlier] = Reference.named('holder', 'parent job', 'child', 'earlier')
const [earlierJob, along, untouched] = Reference.named('earlier job', 'along', 'untouched')

const parentComesBack = applicableIf(parentHas('restore'), 'what its records refer to has no restore')
const restore = back.post(`${one}/restore`)

/** Deletes the parent of records, if the server does this at all. */
const deleteParent = [
  gone.delete(parent),
  applicableIf(succeeded(gone), 'what others refer to is not deleted'),
  settled(gone),
]

const untilGone = wait('grace')

export const restoreCases = common({ needs: ['delete', 'read'] }).define({
  'DEL-6/restored': {
    title: 'A restoration returns 200 with the record as it was',
    steps: [...createAndDelete(one, gone), restore],
    expect: [status(back, 200), asMade(back, one)],
    remedy: 'Answer 200 with the whole record, all its members as they were before the deletion.',
  },
  'DEL-6/live-again': {
    title: 'GET of a restored record returns it',
    after: ['DEL-1/gone'],
    steps: [...createAndDelete(one, gone), setUp(restore), after.get(one)],
    expect: [status(after, 200)],
    remedy: 'Set deleted_at to null when you restore a record.',
  },
  'DEL-6/listed': {
    title: 'Lists and their totals include a restored record',
    after: ['DEL-1/list'],
    steps: [
      createMany(two, 2),
      ...deleteRecord(gone, two.at(0)),
      setUp(before.get(caseRecords)),
      setUp(back.post(`${two.at(0)}/restore`)),
      after.get(caseRecords),
    ],
    expect: [
      shows(before, [two.at(1)], [two.at(0)]),
      shows(after, [two.at(0), two.at(1)]),
      totalChanged(after, before, 1),
    ],
    remedy: 'Put a restored record back into whatever index or counter its deletion took it from.',
  },
  'DEL-6/never': {
    title: 'A restoration of a nonexistent identifier returns 404',
    steps: [create(one), back.post(`${collection}/${one.otherId}/restore`)],
    expect: [status(back, 404)],
    remedy: 'Answer 404 where no record, live or deleted, has the identifier.',
  },
  'DEL-6/live': {
    title: 'A restoration of a live record returns 409',
    steps: [create(one), restore],
    expect: [status(back, 409)],
    remedy: 'Answer 409 where the record is not deleted: there is nothing to restore.',
  },
  'DEL-6/once': {
    title: 'One of six concurrent restorations succeeds, and the others return 409',
    after: ['DEL-6/live'],
    steps: [...createAndDelete(one, gone), simultaneous(6, restore)],
    expect: [oneWins(back, 409)],
    remedy: 'Decide by the number of rows that the restore has changed, not by having looked before.',
  },
  'DEL-6/unique-taken': {
    title: 'A restoration returns 409 if another record has its unique value',
    steps: [
      ...createAndDelete(one, gone),
      second.post(collection, body.withUniqueValuesOf(one)),
      applicableIf(succeeded(second), 'unique values of deleted records stay taken'),
      restore,
      holder.get(second),
    ],
    expect: [status(back, 409), status(holder, 200)],
    remedy: 'Ask the unique index when you restore, and answer 409 where another record has the value now.',
  },
  'DEL-6/parent-gone': {
    title: 'A restoration returns 409 while the referenced record is deleted',
    steps: [
      ...createAndDelete(one, gone),
      parent.delete(parent),
      applicableIf(succeeded(parent), 'what deleted records refer to cannot be deleted'),
      settled(parent, parentJob),
      restore,
    ],
    expect: [status(back, 409)],
    remedy: 'Check that all referenced records are live before you restore a record, and answer 409 otherwise.',
  },
  'DEL-6/brings-back': {
    title: 'A restoration restores the dependents that the same deletion deleted',
    after: ['DEL-1/gone', 'DEL-5/no-dangling'],
    steps: [
      parentComesBack,
      create(one),
      ...deleteParent,
      child.get(one),
      applicableIf(answered(child, 404), 'dependents stay'),
      setUp(back.post(`${parent}/restore`)),
      after.get(one),
    ],
    expect: [status(after, 200)],
    remedy: 'Store the same deletion identifier with all records of one deletion, and restore by it.',
  },
  'DEL-6/only-that': {
    title: 'A restoration does not restore dependents that were deleted before',
    after: ['DEL-6/brings-back'],
    steps: [
      parentComesBack,
      createMany(two, 2),
      setUp(earlier.delete(two.at(0))),
      settled(earlier, earlierJob),
      ...deleteParent,
      child.get(two.at(1)),
      applicableIf(answered(child, 404), 'dependents stay'),
      setUp(back.post(`${parent}/restore`)),
      setUp(along.get(two.at(1))),
      after.get(two.at(0)),
    ],
    expect: [status(after, 404)],
    remedy: 'Restore only the records with the identifier of that deletion, not everything below the record.',
  },
  'DEL-7/restore': {
    title: 'After the grace period a record cannot be restored',
    needs: ['grace'],
    steps: [...createAndDelete(one, gone), untilGone, restore],
    expect: [status(back, 404)],
    remedy: 'Compare deleted_at with the clock when you restore: the purge may run later.',
  },
  'DEL-7/gone': {
    title: 'After the grace period include_deleted does not show a record',
    needs: ['grace'],
    steps: [
      ...createAndDelete(one, gone),
      before.get(`${caseRecords}&include_deleted=true`),
      applicableIf(isListed(before, one), 'include_deleted does not show what was deleted'),
      untilGone,
      after.get(`${caseRecords}&include_deleted=true`),
    ],
    expect: [status(after, 200), shows(after, [], [one])],
    remedy: 'Compare deleted_at with the clock when you read, so that nothing depends on when the purge comes by.',
  },
  'DEL-7/live': {
    title: 'A restored record is not purged after the grace period',
    needs: ['grace'],
    steps: [
      create(one),
      create(untouched),
      ...deleteRecord(gone, one),
      restore,
      readyIf(answered(back, 200), 'the record could not be restored in time'),
      untilGone,
      after.get(one),
      other.get(untouched),
    ],
    expect: [status(after, 200), status(other, 200)],
    remedy: 'Let the purge ask again, in the statement that removes, whether a record is deleted and past its time.',
  },
  'DEL-11/free-again': {
    title: 'A unique value can be used again after its record is deleted',
    steps: [...createAndDelete(one, gone), second.post(collection, body.withUniqueValuesOf(one))],
    expect: [done(second)],
    remedy: 'Make the unique index one of live records: "create unique index … where deleted_at is null".',
  },
  'DEL-11/taken': {
    title: 'A unique value of a live record is refused',
    steps: [create(one), second.post(collection, body.withUniqueValuesOf(one))],
    expect: [status(second, 409, 400, 422)],
    remedy: 'Give the column a unique index of live records, and answer 409 where it refuses.',
  },
  'DEL-11/at-once': {
    title: 'One of six concurrent creations with one unique value succeeds',
    needs: ['unique'],
    after: ['DEL-11/taken'],
    // The same body six times, after the records to which it refers.
    steps: [create(one), together({ ...all.post(collection, body.example), times: 6 })],
    expect: [oneWins(all, 409, 400, 422)],
    remedy: 'Leave it to a unique index of the database: to look first and write then lets two in.',
  },
})

/** The total of a list grew, or shrank, since another. */
function totalChanged(step: Reference, since: Reference, by: number): Expectation {
  return answerOf(step, (answer, seen, exchange) => {
    const [before, now] = [totalOf(seen.of(since).answer, seen), totalOf(answer, seen)]
    if (before !== undefined && now === before + by) return undefined
    return finding(exchange, totalPart(seen), `the total is ${now} after ${before}`)
  })
}
