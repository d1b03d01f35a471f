/** PAG-4: totals. */
import { define } from '../case/define.ts'
import { lists, totals } from '../case/expect-list.ts'
import { after, before, gone, list, made, many, one, other, two } from '../case/names.ts'
import { caseRecords, collection, mark, members, references, sizeParameter } from '../case/references.ts'
import { body, create, createMany, setUp, simultaneous, walk } from '../case/steps.ts'

const [page, none] = references('page', 'none')

export const totalCases = define({
  'PAG-4/filtered': {
    title: 'The total is of the records that match, not of all and not of the page',
    steps: [
      createMany(many, 3),
      create(other, { [members.marker]: `other-${mark}` }),
      setUp(page.get(`${caseRecords}&${sizeParameter}=2`)),
    ],
    expect: [totals(page, 3)],
    remedy: 'Count with the conditions of the list and without its limit, in the same transaction.',
  },
  'PAG-4/none': {
    title: 'The total of nothing is 0',
    after: ['QRY-1/none'],
    steps: [create(one), setUp(none.get(`${collection}?${members.marker}=${mark}-none`))],
    expect: [totals(none, 0)],
    remedy: 'Tell a total of 0 where nothing matches, rather than none.',
  },
  'PAG-4/creation': {
    title: 'The total grows with a creation, at once',
    after: ['PAG-4/filtered'],
    steps: [create(one), setUp(before.get(caseRecords)), create(two), after.get(caseRecords)],
    expect: [totals(before, 1), totals(after, 2)],
    remedy: 'Do not keep totals longer than until the next change.',
  },
  'PAG-4/deletion': {
    title: 'The total shrinks with a deletion, at once',
    after: ['PAG-4/filtered'],
    steps: [
      createMany(many, 2),
      setUp(before.get(caseRecords)),
      setUp(gone.delete(many.at(0))),
      after.get(caseRecords),
    ],
    expect: [totals(before, 2), totals(after, 1)],
    remedy: 'Leave deleted records out of the total as out of the list.',
  },
  'PAG-4/at-once': {
    title: 'Eight creations at once are all counted',
    after: ['PAG-4/filtered'],
    steps: [create(one), simultaneous(8, setUp(made.post(collection, body.example))), setUp(list.get(caseRecords))],
    expect: [lists(list, one, made), totals(list, 9)],
    remedy: 'Count records, or keep counts in the transaction that changes them, with a lock: "count = count + 1".',
  },
  'PAG-4/styles': {
    title: 'Each page of each style tells the same total',
    after: ['PAG-4/filtered'],
    steps: [
      createMany(many, 3),
      setUp(list.get(`${caseRecords}&page=2&per_page=2`)),
      setUp(list.get(`${caseRecords}&offset=1&limit=1`)),
      walk(list, `${caseRecords}&limit=2`),
    ],
    expect: [totals(list, 3)],
    remedy: 'Count without what says which page it is: neither cursor nor offset changes the total.',
  },
  'PAG-4/deleted': {
    title: 'With include_deleted the total counts deleted records too',
    level: 'may',
    after: ['QRY-6/included', 'PAG-4/filtered'],
    steps: [
      createMany(many, 2),
      setUp(gone.delete(many.at(0))),
      setUp(list.get(`${caseRecords}&include_deleted=true`)),
    ],
    expect: [totals(list, 2)],
    remedy: 'Count what the list holds: the total belongs to the same conditions.',
  },
})
