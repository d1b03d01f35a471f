/** DEL-9: bulk deletion. No request could delete a record that the checker has not created. */

import type { Ask, Body } from '../../case/case.ts'
import { common } from '../../case/define.ts'
import { everyStatus, listsErrors, refused, short, status, unexpected, unless } from '../../case/expect.ts'
import { theItems } from '../../case/expect-list.ts'
import { oneWins } from '../../case/expect-records.ts'
import { after, both, first, gone, odd, one, second, three, two } from '../../case/names.ts'
import { answered, applicableIf, parentHas } from '../../case/preconditions.ts'
import { collection, parent, parentCollection, Reference } from '../../case/references.ts'
import { body, create, createMany, settled, setUp, together } from '../../case/steps.ts'
import { isSame } from '../../values/json.ts'

const [earlier, earlierJob, single, shared] = Reference.named('earlier', 'earlier job', 'single', 'shared')
const [firstAfter, secondAfter] = Reference.named('first after', 'second after')

export function ids(...list: readonly unknown[]): Body {
  return body.json({ ids: list })
}

export const toBulk = `${collection}/bulk-delete`

function bulkDelete(as: Reference, ...list: readonly unknown[]): Ask {
  return as.post(toBulk, ids(...list))
}

const isDone = applicableIf(answered(gone, 200), 'a bulk deletion was not answered 200')

export const bulkCases = common({ needs: ['read'] }).define({
  'DEL-9/all': {
    title: 'Bulk deletion deletes all records that it lists',
    after: ['DEL-1/gone'],
    steps: [
      createMany(three, 3),
      setUp(bulkDelete(gone, three.at(0).id, three.at(1).id, three.at(2).id)),
      settled(gone),
      after.get(three.at(0)),
      after.get(three.at(1)),
      after.get(three.at(2)),
    ],
    expect: [everyStatus(after, 404)],
    remedy: 'Delete each record of ids, in one transaction.',
  },
  'DEL-9/others-stay': {
    title: 'Bulk deletion keeps the records that it does not list',
    steps: [createMany(two, 2), setUp(bulkDelete(gone, two.at(0).id)), settled(gone), after.get(two.at(1))],
    expect: [status(after, 200)],
    remedy: 'Delete by the identifiers that were listed, and by nothing else.',
  },
  'DEL-9/status': {
    title: 'Bulk deletion returns 200 or 202',
    steps: [createMany(two, 2), bulkDelete(gone, two.at(0).id, two.at(1).id), settled(gone)],
    expect: [status(gone, 200, 202)],
    remedy: 'Answer 200 with what was deleted.',
  },
  'DEL-9/order': {
    title: 'Bulk deletion returns the deleted records in the order of the request',
    after: ['DEL-9/status'],
    steps: [
      createMany(three, 3),
      bulkDelete(gone, three.at(2).id, three.at(0).id, three.at(1).id),
      settled(gone),
      isDone,
    ],
    expect: [
      theItems(gone, (items, seen) => {
        const told = items.map((item) => String(item?.['id']))
        const asked = [2, 0, 1].map((each) => seen.fill(three.at(each).id))
        return unless(isSame(told, asked), `${short(told)} in place of ${short(asked)}`)
      }),
    ],
    remedy: 'Build the answer from the list that was sent, not from what the database returns.',
  },
  'DEL-9/members': {
    title: 'Bulk deletion returns exactly id and deleted_at of each record',
    after: ['DEL-9/status'],
    steps: [createMany(two, 2), bulkDelete(gone, two.at(0).id, two.at(1).id), settled(gone), isDone],
    expect: [
      theItems(gone, (items) => {
        if (items.length !== 2) return `${items.length} items in place of 2`
        const namesIn = (item: unknown) =>
          Object.keys(item ?? {})
            .toSorted()
            .join()
        const odd = items.find((item) => namesIn(item) !== 'deleted_at,id')
        return odd && `an item is ${short(odd)}`
      }),
    ],
    remedy: 'Answer { "data": [{ "id": …, "deleted_at": … }, …] }, as a single deletion does.',
  },
  'DEL-9/all-or-nothing': {
    title: 'Bulk deletion that lists a nonexistent record deletes none',
    steps: [
      createMany(two, 2),
      bulkDelete(gone, two.at(0).id, two.at(0).otherId, two.at(1).id),
      settled(gone),
      after.get(two.at(0)),
      after.get(two.at(1)),
    ],
    expect: [refused(gone), everyStatus(after, 200)],
    remedy: 'Delete in one transaction, and undo it where fewer rows were changed than were listed.',
  },
  'DEL-9/already-gone': {
    title: 'Bulk deletion that lists a deleted record deletes none',
    after: ['DEL-9/all-or-nothing'],
    steps: [
      createMany(two, 2),
      setUp(earlier.delete(two.at(0))),
      settled(earlier, earlierJob),
      bulkDelete(gone, two.at(1).id, two.at(0).id),
      settled(gone),
      after.get(two.at(1)),
    ],
    expect: [refused(gone), status(after, 200)],
    remedy: 'Count live records alone when you compare what was deleted with what was listed.',
  },
  'DEL-9/reasons': {
    title: 'A refused bulk deletion has an error for every identifier that prevents it',
    after: ['DEL-9/all-or-nothing'],
    steps: [create(one), bulkDelete(gone, one.otherId, one.id, `${one.otherId}z`), settled(gone)],
    expect: [listsErrors(gone, 2)],
    remedy: 'Collect what is wrong with every identifier before you answer, each with its place (/ids/0).',
  },
  'DEL-9/dependents': {
    title: 'Bulk deletion of a record with dependents returns 409 and deletes none',
    after: ['DEL-4/refused'],
    steps: [
      applicableIf(parentHas('bulk-delete'), 'what its records refer to has no bulk deletion'),
      create(one),
      single.delete(parent),
      applicableIf(answered(single, 409), 'what others refer to is deleted all the same'),
      gone.post(`${parentCollection}/bulk-delete`, ids(parent.id)),
      settled(gone),
      after.get(parent),
    ],
    expect: [status(gone, 409), status(after, 200)],
    remedy: 'Let bulk deletion pass through the same checks as a single one.',
  },
  'DEL-9/at-once': {
    title: 'Of two concurrent bulk deletions that share a record, one deletes all its records and the other none',
    after: ['DEL-1/gone', 'DEL-9/all', 'DEL-9/others-stay', 'DEL-9/all-or-nothing'],
    steps: [
      createMany(first, 2),
      createMany(second, 2),
      create(shared),
      together(
        bulkDelete(both, first.at(0).id, first.at(1).id, shared.id),
        bulkDelete(both, shared.id, second.at(1).id, second.at(0).id),
      ),
      applicableIf(
        (seen) => seen.all(both).every(({ answer }) => answer?.status !== 202),
        'bulk deletions are only accepted',
      ),
      firstAfter.get(first.at(0)),
      firstAfter.get(first.at(1)),
      secondAfter.get(second.at(0)),
      secondAfter.get(second.at(1)),
    ],
    expect: [
      oneWins(both, 404, 409),
      (seen) => {
        for (const [index, step] of [firstAfter, secondAfter].entries()) {
          const wanted = (seen.all(both)[index]?.answer?.status ?? 500) < 300 ? 404 : 200
          const odd = seen.all(step).find(({ answer }) => answer?.status !== wanted)
          if (odd !== undefined) return unexpected(odd, wanted)
        }
        return undefined
      },
    ],
    remedy: 'Lock the rows in one order, count the deleted rows in the transaction, and roll back if some are missing.',
  },
})

// Nothing of these can be taken for a record of the server, or for a condition: no text that begins with a digit, no
// object (`{}` is "any" to some), no number (MySQL compares texts with one as numbers, and most texts are 0), nothing
// that is no list. What is more dangerous is left to those who say that nothing is lost (`disposable`).
const oddIds: readonly unknown[] = [
  ...['__proto__', 'constructor', "o'clock", 'never\u0000was', 'x'.repeat(5_000)],
  ...[null, ['never-was']],
]

/** Bodies without a list of identifiers, which some servers understand as "everything". */
const nothing: readonly string[] = [
  ...['{}', '{"ids":null}', '{"ids":{}}', '{"ids":[{}]}', '{"ids":"never-was"}', '{"ids":[true]}', '{"ids":[0]}'],
  ...['{"ids":[-1]}', '[]', 'null', '{"ids":["never-was"'],
]

export const refusedBulkCases = common({ needs: ['read'] }).define({
  'DEL-9/twice': {
    title: 'Bulk deletion that lists a record twice is refused',
    level: 'may',
    steps: [create(one), bulkDelete(gone, one.id, one.id), settled(gone)],
    expect: [refused(gone)],
    remedy: 'Answer 400 where an identifier is repeated: the list is not what its sender thinks.',
  },
  'DEL-9/many': {
    title: 'Bulk deletion of 2,000 identifiers, one of them existing, deletes none',
    after: ['DEL-9/all-or-nothing'],
    steps: [
      create(one),
      bulkDelete(gone, one.id, ...Array.from({ length: 1_999 }, (_, turn) => `${one.otherId}-${turn}`)),
      settled(gone),
      after.get(one),
    ],
    expect: [refused(gone), status(after, 200)],
    remedy: 'Bound how many records may be listed, and refuse a longer list whole: 400 or 413.',
  },
  'DEL-9/odd': {
    title: 'Bulk deletion refuses malformed identifiers and causes no failure',
    steps: [create(one), ...oddIds.map((id) => bulkDelete(odd, one.id, id))],
    expect: [refused(odd)],
    remedy: 'Check that ids is an array of strings before you delete, and pass them as statement parameters.',
  },
  'DEL-9/empty': {
    title: 'Bulk deletion of no records is refused',
    needs: ['disposable'],
    level: 'may',
    after: ['DEL-9/others-stay'],
    steps: [create(one), bulkDelete(gone), after.get(one)],
    expect: [status(gone, 400), status(after, 200)],
    remedy: 'Answer 400 where ids is empty: the sender has made a mistake.',
  },
  'DEL-9/no-list': {
    title: 'Bulk deletion without a list of identifiers is refused and deletes nothing',
    needs: ['disposable'],
    after: ['DEL-9/others-stay'],
    steps: [create(one), ...nothing.map((text) => odd.post(toBulk, body.text(text))), after.get(one)],
    expect: [everyStatus(odd, 400), status(after, 200)],
    remedy: 'Answer 400 unless ids is a list of texts: a condition that is missing must never become "all".',
  },
})
