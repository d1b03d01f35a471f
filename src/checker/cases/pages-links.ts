/** PAG-7: links between pages, and pages past the end. */

import type { Expectation } from '../case/case.ts'
import { define } from '../case/define.ts'
import { answerOf, everyStatus, field, finding, unless } from '../case/expect.ts'
import { eachOnce, lists, sameItems } from '../case/expect-list.ts'
import { first, last, list, many, one, pages, three, two } from '../case/names.ts'
import { caseRecords, collection, type Reference, references, sizeParameter } from '../case/references.ts'
import { createMany, setUp } from '../case/steps.ts'
import { linksOf } from '../client/exchange.ts'

const [next, prev, past, far] = references('next', 'prev', 'past', 'far')

/** Link has these relation types, and none of those. */
function links(step: Reference, wanted: readonly string[], unwanted: readonly string[] = []): Expectation {
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

export const linkCases = define({
  'PAG-7/link-page': {
    title: 'Link on a page leads to the first, the previous, the next and the last',
    after: ['PAG-2/page'],
    steps: [
      createMany(many, 5),
      setUp(one.get(`${caseRecords}&page=1&per_page=2`)),
      setUp(two.get(`${caseRecords}&page=2&per_page=2`)),
      setUp(three.get(`${caseRecords}&page=3&per_page=2`)),
    ],
    expect: [
      links(one, ['first', 'next', 'last'], ['prev']),
      links(two, ['first', 'prev', 'next', 'last']),
      links(three, ['first', 'prev', 'last'], ['next']),
    ],
    remedy: 'Send Link (RFC 8288) with the addresses of the first, prev, next and last page, as far as there are such.',
  },
  'PAG-7/link-followed': {
    title: 'Where Link leads is the page that it says',
    after: ['PAG-7/link-page'],
    steps: [
      createMany(many, 5),
      setUp(one.get(`${caseRecords}&page=1&per_page=2`)),
      setUp(two.get(`${caseRecords}&page=2&per_page=2`)),
      setUp(three.get(`${caseRecords}&page=3&per_page=2`)),
      next.get(one.link('next')),
      prev.get(two.link('prev')),
      last.get(two.link('last')),
      first.get(three.link('first')),
    ],
    expect: [sameItems(next, two), sameItems(prev, one), sameItems(last, three), sameItems(first, one)],
    remedy: 'Repeat in the addresses of Link all parameters of the request, with those of the page replaced.',
  },
  'PAG-7/link-cursor': {
    title: 'Link on a page by cursor leads to the next and the previous, as far as there are such',
    after: ['PAG-2/cursor'],
    steps: [
      createMany(many, 4),
      setUp(first.get(`${caseRecords}&limit=2`)),
      setUp(last.get(`${caseRecords}&limit=2&cursor=${first.next}`)),
    ],
    expect: [links(first, ['next'], ['prev']), links(last, ['prev'], ['next'])],
    remedy: 'Send the cursors in Link too, as addresses with rel="next" and rel="prev".',
  },
  'PAG-7/link-cursor-followed': {
    title: 'Where Link leads by cursor is the next page',
    after: ['PAG-5/forward', 'PAG-7/link-cursor'],
    steps: [createMany(many, 4), setUp(pages.get(`${caseRecords}&limit=2`)), pages.get(pages.link('next'))],
    expect: [eachOnce(pages, many)],
    remedy:
      'Repeat in the addresses of Link all parameters of the request, with the cursor of the page that they lead to.',
  },
  'PAG-7/total-header': {
    title: 'X-Total-Count repeats the total',
    after: ['PAG-4/filtered'],
    steps: [createMany(many, 3), setUp(list.get(`${caseRecords}&${sizeParameter}=2`))],
    expect: [field(list, 'X-Total-Count', 'is 3', (value) => unless(value === '3', `${value} in place of 3`))],
    remedy: 'Send the total in X-Total-Count too, for clients that look no further.',
  },
  'PAG-7/past-end': {
    title: 'A page past the end is an empty one',
    steps: [createMany(many, 2), past.get(`${caseRecords}&page=9&per_page=2`)],
    expect: [lists(past)],
    remedy: 'Answer 200 with an empty list: the last page may have gone while somebody turned to it.',
  },
  'PAG-7/offset-past-end': {
    title: 'An offset past the end gives an empty list',
    steps: [createMany(many, 2), past.get(`${caseRecords}&offset=9&limit=2`)],
    expect: [lists(past)],
    remedy: 'Answer 200 with an empty list: what was there may have gone since.',
  },
  'PAG-7/far': {
    title: 'A page beyond all numbers does no harm',
    level: 'should',
    steps: ['1000000000', '9007199254740993', '9223372036854775807', '9'.repeat(60)].map((page) =>
      far.get(`${collection}?page=${page}&per_page=2`),
    ),
    expect: [everyStatus(far, 200, 400)],
    remedy: 'Check that page times per_page is a number that the database has; otherwise answer 400.',
  },
})
