/** PAG-4: totals. */
import type { Case } from '../case/case.ts'
import { lists, totals } from '../case/expect-list.ts'
import { given, record, records, together, walk, when } from '../case/steps.ts'

const needs = ['create', 'list', 'marker'] as const

export const totalCases: readonly Case[] = [
  {
    id: 'PAG-4/filtered',
    title: 'The total is of the records that match, not of all and not of the page',
    kind: 'changing',
    needs: [...needs, 'paged'],
    steps: [
      records('many', 3),
      record('other', { '{member:marker}': 'other-{mark}' }),
      given('page', 'GET', '{collection}?{mine}&{size}=2'),
    ],
    expect: [totals('page', 3)],
    mend: 'Count with the conditions of the list and without its limit, in the same transaction.',
  },
  {
    id: 'PAG-4/none',
    title: 'The total of nothing is 0',
    kind: 'changing',
    needs,
    after: ['QRY-1/none'],
    steps: [record(), given('none', 'GET', '{collection}?{member:marker}={mark}-none')],
    expect: [totals('none', 0)],
    mend: 'Tell a total of 0 where nothing matches, rather than none.',
  },
  {
    id: 'PAG-4/creation',
    title: 'The total grows with a creation, at once',
    kind: 'changing',
    needs,
    after: ['PAG-4/filtered'],
    steps: [
      record(),
      given('before', 'GET', '{collection}?{mine}'),
      record('two'),
      when('after', 'GET', '{collection}?{mine}'),
    ],
    expect: [totals('before', 1), totals('after', 2)],
    mend: 'Do not keep totals longer than until the next change.',
  },
  {
    id: 'PAG-4/deletion',
    title: 'The total shrinks with a deletion, at once',
    kind: 'changing',
    needs: [...needs, 'delete', 'unconditional'],
    after: ['PAG-4/filtered'],
    steps: [
      records('many', 2),
      given('before', 'GET', '{collection}?{mine}'),
      given('gone', 'DELETE', '{many.0}'),
      when('after', 'GET', '{collection}?{mine}'),
    ],
    expect: [totals('before', 2), totals('after', 1)],
    mend: 'Leave deleted records out of the total as out of the list.',
  },
  {
    id: 'PAG-4/at-once',
    title: 'Eight creations at once are all counted',
    kind: 'changing',
    needs,
    after: ['PAG-4/filtered'],
    steps: [
      record(),
      together(
        ...Array.from({ length: 8 }, () => given('made', 'POST', '{collection}', { body: { from: 'example' } })),
      ),
      given('list', 'GET', '{collection}?{mine}'),
    ],
    expect: [lists('list', 'one', 'made'), totals('list', 9)],
    mend: 'Count records, or keep counts in the transaction that changes them, with a lock: "count = count + 1".',
  },
  {
    id: 'PAG-4/styles',
    title: 'Each page of each style tells the same total',
    kind: 'changing',
    needs: [...needs, 'page', 'offset', 'cursor'],
    after: ['PAG-4/filtered'],
    steps: [
      records('many', 3),
      given('list', 'GET', '{collection}?{mine}&page=2&per_page=2'),
      given('list', 'GET', '{collection}?{mine}&offset=1&limit=1'),
      walk('list', '{collection}?{mine}&limit=2'),
    ],
    expect: [totals('list', 3)],
    mend: 'Count without what says which page it is: neither cursor nor offset changes the total.',
  },
  {
    id: 'PAG-4/deleted',
    title: 'With include_deleted the total counts deleted records too',
    kind: 'changing',
    needs: [...needs, 'delete', 'unconditional', 'soft'],
    level: 'may',
    after: ['QRY-6/included', 'PAG-4/filtered'],
    steps: [
      records('many', 2),
      given('gone', 'DELETE', '{many.0}'),
      given('list', 'GET', '{collection}?{mine}&include_deleted=true'),
    ],
    expect: [totals('list', 2)],
    mend: 'Count what the list holds: the total belongs to the same conditions.',
  },
]
