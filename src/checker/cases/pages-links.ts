/** PAG-7: links between pages, and pages past the end. */

import type { Case, Expectation } from '../case/case.ts'
import { answerOf, everyStatus, field, finding } from '../case/expect.ts'
import { eachOnce, lists, sameItems } from '../case/expect-list.ts'
import { given, records, when } from '../case/steps.ts'
import { linksOf } from '../client/exchange.ts'

const needs = ['create', 'list', 'marker'] as const

/** Link has these relation types, and none of those. */
function links(step: string, wanted: readonly string[], unwanted: readonly string[] = []): Expectation {
  const says = `Link has ${wanted.join(', ')}${unwanted.length === 0 ? '' : ` and no ${unwanted.join(', ')}`}`
  return answerOf(step, says, (answer, _, exchange) => {
    const found = linksOf(answer, exchange.asked.url)
    const missing = wanted.filter((rel) => !found.has(rel))
    if (missing.length > 0)
      return finding(exchange, { field: 'Link' }, `there is no link with rel=${missing.join(', ')}`)
    const surplus = unwanted.filter((rel) => found.has(rel))
    return surplus.length === 0
      ? undefined
      : finding(exchange, { field: 'Link' }, `there is a link with rel=${surplus.join(', ')}`)
  })
}

export const linkCases: readonly Case[] = [
  {
    id: 'PAG-7/link-page',
    title: 'Link on a page leads to the first, the previous, the next and the last',
    kind: 'changing',
    needs: [...needs, 'page'],
    after: ['PAG-2/page'],
    steps: [
      records('many', 5),
      given('one', 'GET', '{collection}?{mine}&page=1&per_page=2'),
      given('two', 'GET', '{collection}?{mine}&page=2&per_page=2'),
      given('three', 'GET', '{collection}?{mine}&page=3&per_page=2'),
    ],
    expect: [
      links('one', ['first', 'next', 'last'], ['prev']),
      links('two', ['first', 'prev', 'next', 'last']),
      links('three', ['first', 'prev', 'last'], ['next']),
    ],
    mend: 'Send Link (RFC 8288) with the addresses of the first, prev, next and last page, as far as there are such.',
  },
  {
    id: 'PAG-7/link-followed',
    title: 'Where Link leads is the page that it says',
    kind: 'changing',
    needs: [...needs, 'page'],
    after: ['PAG-7/link-page'],
    steps: [
      records('many', 5),
      given('one', 'GET', '{collection}?{mine}&page=1&per_page=2'),
      given('two', 'GET', '{collection}?{mine}&page=2&per_page=2'),
      given('three', 'GET', '{collection}?{mine}&page=3&per_page=2'),
      when('next', 'GET', '{one.link:next}'),
      when('prev', 'GET', '{two.link:prev}'),
      when('last', 'GET', '{two.link:last}'),
      when('first', 'GET', '{three.link:first}'),
    ],
    expect: [sameItems('next', 'two'), sameItems('prev', 'one'), sameItems('last', 'three'), sameItems('first', 'one')],
    mend: 'Repeat in the addresses of Link all parameters of the request, with those of the page replaced.',
  },
  {
    id: 'PAG-7/link-cursor',
    title: 'Link on a page by cursor leads to the next and the previous, as far as there are such',
    kind: 'changing',
    needs: [...needs, 'cursor'],
    after: ['PAG-2/cursor'],
    steps: [
      records('many', 4),
      given('first', 'GET', '{collection}?{mine}&limit=2'),
      given('last', 'GET', '{collection}?{mine}&limit=2&cursor={first.next}'),
    ],
    expect: [links('first', ['next'], ['prev']), links('last', ['prev'], ['next'])],
    mend: 'Send the cursors in Link too, as addresses with rel="next" and rel="prev".',
  },
  {
    id: 'PAG-7/link-cursor-followed',
    title: 'Where Link leads by cursor is the next page',
    kind: 'changing',
    needs: [...needs, 'cursor'],
    after: ['PAG-5/forward', 'PAG-7/link-cursor'],
    steps: [
      records('many', 4),
      given('pages', 'GET', '{collection}?{mine}&limit=2'),
      when('pages', 'GET', '{pages.link:next}'),
    ],
    expect: [eachOnce('pages', 'many')],
    mend: 'Repeat in the addresses of Link all parameters of the request, with the cursor of the page that they lead to.',
  },
  {
    id: 'PAG-7/total-header',
    title: 'X-Total-Count repeats the total',
    kind: 'changing',
    needs: [...needs, 'paged'],
    after: ['PAG-4/filtered'],
    steps: [records('many', 3), given('list', 'GET', '{collection}?{mine}&{size}=2')],
    expect: [field('list', 'X-Total-Count', 'is 3', (value) => (value === '3' ? undefined : `${value} in place of 3`))],
    mend: 'Send the total in X-Total-Count too, for clients that look no further.',
  },
  {
    id: 'PAG-7/past-end',
    title: 'A page past the end is an empty one',
    kind: 'changing',
    needs: [...needs, 'page'],
    steps: [records('many', 2), when('past', 'GET', '{collection}?{mine}&page=9&per_page=2')],
    expect: [lists('past')],
    mend: 'Answer 200 with an empty list: the last page may have gone while somebody turned to it.',
  },
  {
    id: 'PAG-7/offset-past-end',
    title: 'An offset past the end gives an empty list',
    kind: 'changing',
    needs: [...needs, 'offset'],
    steps: [records('many', 2), when('past', 'GET', '{collection}?{mine}&offset=9&limit=2')],
    expect: [lists('past')],
    mend: 'Answer 200 with an empty list: what was there may have gone since.',
  },
  {
    id: 'PAG-7/far',
    title: 'A page beyond all numbers does no harm',
    kind: 'reading',
    needs: ['list', 'page'],
    level: 'should',
    steps: ['1000000000', '9007199254740993', '9223372036854775807', '9'.repeat(60)].map((page) =>
      when('far', 'GET', `{collection}?page=${page}&per_page=2`),
    ),
    expect: [everyStatus('far', 200, 400)],
    mend: 'Check that page times per_page is a number that the database has; otherwise answer 400.',
  },
]
