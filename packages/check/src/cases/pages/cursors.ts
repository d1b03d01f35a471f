/** PAG-5 to PAG-7: cursors, stable walks, and links between pages. */
import type { Case, Expectation, Step } from '../../case/case.ts'
import { common, type Draft, define, defineOne } from '../../case/define.ts'
import { answerOf, code, everyStatus, fieldIs, finding, noFailure, status } from '../../case/expect.ts'
import { cursorAt, eachOnce, idsOf, itemsPart, lists, noList, showsNone } from '../../case/expect-list.ts'
import { back, first, gone, good, last, list, many, one, pages, refusal, second, three, two } from '../../case/names.ts'
import { caseRecords, collection, mark, members, ordered, paging, Reference } from '../../case/references.ts'
import { createMany, setUp, walk } from '../../case/steps.ts'
import { linksOf } from '../../client/exchange.ts'
import { isSame } from '../../values/json.ts'

const [walked, third, start, added, before] = Reference.named('walked', 'third', 'start', 'added', 'lesser')
const [next, prev, past, far] = Reference.named('next', 'prev', 'past', 'far')

const needs = ['create', 'list', 'finder', 'cursor'] as const
const after: readonly Case['id'][] = ['PAG-2/cursor']
const firstPage = `${caseRecords}&limit=2`

const cursor = `cursor=${first.next}`

const invalidCursors = [
  ..."x 2 0 -1 bnVsbA== e30 W10 %22 %00 __proto__ '%20or%201=1%20--".split(' '),
  'A'.repeat(1_500),
]

/** A case that uses a cursor with a request to which it does not belong. */
function elsewhere(name: string, title: string, to: string, from = firstPage, more: Partial<Draft> = {}): Case {
  return defineOne(`PAG-5/${name}`, {
    title,
    needsOnly: needs,
    level: 'should',
    after,
    steps: [createMany(many, 3), setUp(first.get(from)), setUp(good.get(`${from}&${cursor}`)), refusal.get(to)],
    expect: [status(refusal, 400)],
    remedy: sealed,
    ...more,
  })
}

/** The steps of another caller who uses a cursor. */
function byAnother(caller: 'nobody' | 'other'): Step[] {
  const steps = [createMany(many, 3), setUp(first.get(firstPage)), setUp(good.get(`${firstPage}&${cursor}`))]
  return [...steps, refusal.get(`${firstPage}&${cursor}`, { caller })]
}

const sealed =
  'Sign what a cursor says together with its list, sort and filters (HMAC), and refuse with 400 what does not fit.'

export const cursorCases: readonly Case[] = [
  ...define({
    'PAG-5/forward': {
      title: 'Cursors lead from page to page through the whole list',
      after,
      steps: [createMany(many, 5), walk(walked, firstPage, 9)],
      expect: [eachOnce(walked, many), cameIn(walked, 3)],
      remedy: 'Let a cursor stand for the last record of its page, and go on behind it: "where (sort, id) > (?, ?)".',
    },
    'PAG-5/previous': {
      title: 'The second page has a previous cursor',
      level: 'should',
      after,
      steps: [createMany(many, 3), setUp(first.get(firstPage)), setUp(second.get(`${firstPage}&${cursor}`))],
      expect: [cursorAt(second, 'previous', 'a cursor')],
      remedy: 'Give with each page but the first a cursor to the page before.',
    },
    'PAG-5/backward': {
      title: 'Previous cursors lead back over the same pages',
      level: 'should',
      after: ['PAG-5/forward', 'PAG-5/previous'],
      steps: [
        createMany(many, 5),
        setUp(first.get(firstPage)),
        setUp(second.get(`${firstPage}&${cursor}`)),
        setUp(third.get(`${firstPage}&cursor=${second.next}`)),
        back.get(`${firstPage}&cursor=${third.previous}`),
        start.get(`${firstPage}&cursor=${back.previous}`),
      ],
      expect: [sameItems(back, second), sameItems(start, first)],
      remedy: 'Return a cursor to the previous page: reverse the conditions, then reverse the records.',
    },
    'PAG-5/other-size': {
      title: 'A cursor works with another page size',
      level: 'may',
      after: ['PAG-5/forward'],
      steps: [
        createMany(many, 4),
        setUp(pages.get(`${caseRecords}&limit=1`)),
        pages.get(`${caseRecords}&limit=3&cursor=${pages.next}`),
      ],
      expect: [eachOnce(pages, many)],
      remedy: 'Keep the size out of the cursor: it belongs to the request.',
    },
    'PAG-5/garbage': {
      title: 'An invalid cursor is refused',
      level: 'should',
      steps: [
        setUp(good.get(`${collection}?limit=1`)),
        ...invalidCursors.map((cursor) => refusal.get(`${collection}?limit=1&cursor=${cursor}`)),
      ],
      expect: [everyStatus(refusal, 400)],
      remedy: sealed,
    },
    'PAG-5/code': {
      title: 'An invalid cursor is refused with the code INVALID_CURSOR',
      level: 'may',
      after: ['PAG-5/garbage'],
      steps: [refusal.get(`${collection}?limit=1&cursor=x`)],
      expect: [code(refusal, 'INVALID_CURSOR')],
      remedy: 'Give this refusal a code of its own: a client that meets it starts its walk again.',
    },
  }),
  elsewhere('forged', 'A modified cursor is refused', `${firstPage}&cursor=${first.forgedNext}`),
  elsewhere('appended', 'A cursor with text appended is refused', `${firstPage}&${cursor}x`),
  elsewhere(
    'other-filter',
    'A cursor is refused with another filter',
    `${collection}?${members.marker}=${mark}-other&limit=2&${cursor}`,
  ),
  elsewhere(
    'other-sort',
    'A cursor is refused with another sort',
    `${firstPage}&sort=-${members.ranked}&${cursor}`,
    `${firstPage}&sort=${members.ranked}`,
    { needsOnly: [...needs, 'ranked'], after: [...after, 'QRY-3/descending'] },
  ),
  ...common({ expect: [eachOnce(walked, many)], after: ['PAG-5/forward'] }).define({
    'PAG-5/nobody': {
      title: 'A cursor without a credential is refused',
      needs: ['key'],
      after,
      steps: byAnother('nobody'),
      expect: [status(refusal, 401), showsNone(refusal, many)],
      remedy: 'Authenticate a request with a cursor like any other.',
    },
    'PAG-5/other-caller': {
      title: 'A cursor shows nothing to a caller who may not read the list',
      after,
      steps: byAnother('other'),
      expect: [showsNone(refusal, many)],
      remedy: 'Check permissions of a request with a cursor like of any other: a cursor grants nothing.',
    },
    'PAG-6/inserted': {
      title: 'A walk by cursor visits each record once while others are added',
      steps: [createMany(many, 5), walk(walked, firstPage, 9, [createMany(added, 3)])],
      remedy: 'Go on behind the last record shown, not after so many: what is added shifts everything behind it.',
    },
    'PAG-6/ties': {
      title: 'A sorted walk by cursor visits each record once if all have the same value',
      steps: [
        createMany(many, 5, { [members.ranked]: ordered.less.ranked }),
        walk(walked, `${firstPage}&sort=${members.ranked}`, 9),
      ],
      remedy: 'Put the identifier behind the fields of sort, in the order and in what the cursor remembers.',
    },
    'PAG-6/inserted-before': {
      title: 'A sorted walk by cursor visits each record once while others are added before its position',
      after: ['QRY-3/ascending', 'PAG-6/inserted', 'PAG-6/ties'],
      steps: [
        createMany(many, 5, { [members.ranked]: ordered.more.ranked }),
        walk(walked, `${firstPage}&sort=${members.ranked}`, 9, [
          createMany(before, 2, { [members.ranked]: ordered.less.ranked }),
        ]),
      ],
      remedy: 'Go on behind the values and the identifier of the last record shown, not after so many records.',
    },
    'PAG-6/deleted': {
      title: 'A walk by cursor visits each record once while visited records are deleted',
      steps: [createMany(many, 5), walk(walked, firstPage, 9, [setUp(gone.delete(`${collection}/${walked.item(0)}`))])],
      remedy: 'Go on behind the last record shown, not after so many: what is deleted shifts everything behind it.',
    },
    'PAG-6/deleted-beneath': {
      title: 'A cursor works after the deletion of the record that it points to',
      after: ['PAG-6/deleted'],
      steps: [createMany(many, 5), walk(walked, firstPage, 9, [setUp(gone.delete(`${collection}/${walked.item(1)}`))])],
      remedy: 'Let a cursor hold the values that it goes on from, not only an identifier that has to be looked up.',
    },
  }),
]

/** Link has these relation types and none of the unwanted ones. */
function links(step: Reference, wanted: readonly string[], unwanted: readonly string[] = []): Expectation {
  return answerOf(step, (answer, _, exchange) => {
    const found = linksOf(answer, exchange.asked.url)
    const missing = wanted.filter((rel) => !found.has(rel))
    const surplus = unwanted.filter((rel) => found.has(rel))
    if (missing.length === 0 && surplus.length === 0) return undefined
    const said = missing.length > 0 ? `no link with rel=${missing.join(', ')}` : `a link with rel=${surplus.join(', ')}`
    return finding(exchange, { field: 'Link' }, `there is ${said}`)
  })
}

const threePages = [
  createMany(many, 5),
  ...[one, two, three].map((page, at) => setUp(page.get(`${caseRecords}&page=${at + 1}&${paging.perPage}=2`))),
]

export const linkCases = define({
  'PAG-7/link-page': {
    title: 'Link on a page has first, prev, next and last',
    after: ['PAG-2/page'],
    steps: threePages,
    expect: [
      links(one, ['first', 'next', 'last'], ['prev']),
      links(two, ['first', 'prev', 'next', 'last']),
      links(three, ['first', 'prev', 'last'], ['next']),
    ],
    remedy: 'Send Link (RFC 8288) with the addresses of the first, prev, next and last page, as far as there are such.',
  },
  'PAG-7/link-followed': {
    title: 'The targets of Link are the right pages',
    after: ['PAG-7/link-page'],
    steps: [
      ...threePages,
      next.get(one.link('next')),
      prev.get(two.link('prev')),
      last.get(two.link('last')),
      first.get(three.link('first')),
    ],
    expect: [sameItems(next, two), sameItems(prev, one), sameItems(last, three), sameItems(first, one)],
    remedy: 'Repeat in the addresses of Link all parameters of the request, with those of the page replaced.',
  },
  'PAG-7/link-cursor': {
    title: 'Link on a page by cursor has next and prev if these pages exist',
    after: ['PAG-2/cursor'],
    steps: [createMany(many, 4), setUp(first.get(firstPage)), setUp(last.get(`${firstPage}&${cursor}`))],
    expect: [links(first, ['next'], ['prev']), links(last, ['prev'], ['next'])],
    remedy: 'Send the cursors in Link too, as addresses with rel="next" and rel="prev".',
  },
  'PAG-7/link-cursor-followed': {
    title: 'The target of rel="next" is the next page by cursor',
    after: ['PAG-5/forward', 'PAG-7/link-cursor'],
    steps: [createMany(many, 4), setUp(pages.get(firstPage)), pages.get(pages.link('next'))],
    expect: [eachOnce(pages, many)],
    remedy: 'Repeat all parameters of the request in the URLs of Link, with the cursor of the linked page.',
  },
  'PAG-7/total-header': {
    title: 'X-Total-Count repeats the total',
    after: ['PAG-4/filtered'],
    steps: [createMany(many, 3), setUp(list.get(`${caseRecords}&${paging.size}=2`))],
    expect: [fieldIs(list, 'X-Total-Count', '3')],
    remedy: 'Send the total in X-Total-Count too, for clients that look no further.',
  },
  'PAG-7/past-end': {
    title: 'A page past the end is empty',
    steps: [createMany(many, 2), past.get(`${caseRecords}&page=9&${paging.perPage}=2`)],
    expect: [lists(past)],
    remedy: 'Answer 200 with an empty list: records may be deleted while a client pages.',
  },
  'PAG-7/offset-past-end': {
    title: 'An offset past the end returns an empty list',
    steps: [createMany(many, 2), past.get(`${caseRecords}&offset=9&limit=2`)],
    expect: [lists(past)],
    remedy: 'Answer 200 with an empty list: records may be deleted while a client pages.',
  },
  'PAG-7/far': {
    title: 'An enormous page number causes no failure',
    needsOnly: ['list', 'page'],
    level: 'should',
    steps: ['1000000000', '9007199254740993', '9223372036854775807', '9'.repeat(60)].flatMap((page) => [
      far.get(`${collection}?page=${page}`),
      far.get(`${collection}?page=${page}&${paging.perPage}=2`),
    ]),
    expect: [noFailure(far)],
    remedy: 'Check that page times per_page is a number that the database has; otherwise answer 400.',
  },
})

/** A list shows the same records in the same order as that of another step. */
function sameItems(step: Reference, other: Reference): Expectation {
  return answerOf(step, (answer, seen, exchange) => {
    const [ids, wanted] = [idsOf(answer, seen), idsOf(seen.of(other).answer, seen)]
    if (ids === undefined) return noList(exchange, seen)
    if (isSame(ids, wanted)) return undefined
    return finding(exchange, itemsPart(seen), `it holds ${ids.join(', ') || 'none'} in place of ${wanted?.join(', ')}`)
  })
}

/** A list came in so many pages at least. */
function cameIn(step: Reference, pages: number): Expectation {
  return (seen) => {
    const { length } = seen.all(step)
    return length >= pages ? undefined : finding(seen.of(step), 'body', `the list ended after ${length} pages`)
  }
}
