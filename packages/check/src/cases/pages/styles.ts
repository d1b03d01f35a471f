/** PAG-1 to PAG-4: sizes of pages, styles of pagination, and totals. */
import type { Case, Expectation, Observations, Step } from '../../case/case.ts'
import { common, define, defineOne } from '../../case/define.ts'
import {
  answerOf,
  everyAnswerOf,
  everyStatus,
  finding,
  itemsOf,
  noFailure,
  status,
  totalOf,
  totalPart,
} from '../../case/expect.ts'
import { cursorAt, eachOnce, holds, isPart, itemsPart, lists, noList } from '../../case/expect-list.ts'
import {
  after,
  before,
  first,
  gone,
  good,
  last,
  list,
  made,
  many,
  one,
  other,
  pages,
  refusal,
  two,
  whole,
} from '../../case/names.ts'
import { caseRecords, collection, mark, members, paging, Reference } from '../../case/references.ts'
import { body, create, createMany, setUp, simultaneous, walk } from '../../case/steps.ts'
import { type Answer, jsonOf } from '../../client/exchange.ts'
import type { CollectionProfile } from '../../profile/profile.ts'
import { pageNumberOf } from '../../profile/query-style.ts'
import { isSame, valueAt } from '../../values/json.ts'

const [asked, pageStep, page, none] = Reference.named('answered', 'page', 'page', 'none')

// More than the default of the greatest page size.
const most = 101

/** A case of refused page sizes. */
function refused(name: string, title: string, sizes: readonly string[], remedy: string): Case {
  return defineOne(`PAG-1/${name}`, {
    title,
    level: 'should',
    steps: ofSizes(refusal, sizes),
    expect: [everyStatus(refusal, 400)],
    remedy,
  })
}

/** Requests pages of a good size, and of these. */
function ofSizes(as: Reference, sizes: readonly string[]): Step[] {
  return [
    setUp(good.get(`${collection}?${paging.size}=${paging.smallest}`)),
    ...sizes.map((size) => as.get(`${collection}?${paging.size}=${size}`)),
  ]
}

export const sizeCases: readonly Case[] = [
  ...define({
    'PAG-1/default': {
      title: 'A list is paginated by default',
      alone: true,
      steps: [outgrow(list, most)],
      expect: [
        (seen) => {
          const exchange = seen.of(list)
          const count = itemsOf(exchange.answer, seen)?.length
          if (exchange.answer === undefined || count === undefined) {
            return finding(exchange, 'body', `there is no array at ${seen.profile.names.items || 'the root'}`)
          }
          if (isPart(exchange.answer, seen, seen.ids(list))) return undefined
          const isSized = numbersBeside(exchange.answer, seen).some(
            ({ name, value }) => /limit|size|per_?page/i.test(name) && value > count,
          )
          if (isSized) return undefined
          const message = `all ${count} records came at once, and nothing tells of a size that pages have`
          return finding(exchange, 'body', message)
        },
      ],
      remedy: 'Limit the size of every list, for instance to 20 records, if the request does not specify one.',
    },
  }),
  refused('zero', 'A page size of 0 is refused with 400', ['0'], 'Refuse sizes of pages below 1.'),
  refused('negative', 'A negative page size is refused with 400', ['-1'], 'Refuse sizes of pages below 1.'),
  refused(
    'fraction',
    'A page size that is not written as a whole number is refused with 400',
    ['1.5', '1e1', '0x10', 'many', '%201'],
    'Read sizes of pages with a pattern such as ^\\d+$: parsers of numbers forgive too much.',
  ),
  refused(
    'huge',
    'A page size of a billion is refused with 400',
    ['1000000000'],
    'Refuse sizes above the greatest that you allow: who is given fewer records than asked for may take them for all.',
  ),
  ...define({
    'PAG-1/no-number': {
      title: 'A page size beyond all number types causes no failure',
      steps: ofSizes(asked, ['9223372036854775808', '9'.repeat(400), '-9223372036854775809', 'Infinity', 'NaN']),
      expect: [noFailure(asked)],
      remedy: 'Validate the size before it reaches the database: answer 400, not 500, if it is too large.',
    },
  }),
]

/** The response has these numbers beside its records, under any names. */
function tells(step: Reference, numbersIn: (collection: CollectionProfile) => readonly number[]): Expectation {
  return answerOf(step, (answer, seen) => {
    const told = numbersBeside(answer, seen)
    const missing = numbersIn(seen.collection).filter((number) => !told.some(({ value }) => value === number))
    if (missing.length === 0) return undefined
    const all = told.map(({ name, value }) => `${name} ${value}`).join(', ') || 'no number at all'
    return `${missing.join(', ')} is not there, only ${all}`
  })
}

/** Two pages of all records show the same ones in the same order as one of twice their size. */
function joins(style: 'page' | 'offset', title: string, queries: readonly string[], remedy: string): Case {
  const steps = [first, last, whole]
  return defineOne(`PAG-2/${style}-joined`, {
    title,
    // Meanwhile no other case creates or deletes records.
    alone: true,
    steps: [
      createMany(many, 3),
      ...queries.map((query, index) => setUp((steps[index] as Reference).get(`${collection}?${query}`))),
    ],
    expect: [
      (seen) => {
        const [one, two, both] = steps.map((step) => textsIn(seen, step))
        if (one === undefined || two === undefined || both === undefined) return noList(seen.of(whole), seen)
        const isJoined = isSame([...one, ...two], both)
        return isJoined ? undefined : finding(seen.of(last), itemsPart(seen), 'it does not go on where the first ended')
      },
    ],
    remedy,
  })
}

/** The identities of the records in a list: their identifiers, or their content. */
function textsIn(seen: Observations, step: Reference): readonly string[] | undefined {
  const { id } = seen.collection
  return itemsOf(seen.of(step).answer, seen)?.map((each) => JSON.stringify(each[id] ?? each))
}

/** A case that sends parameters of two styles together, each of which works alone. */
function mixed(name: string, left: string, right: string, styles: Case['needs']): Case {
  const names = [left, right].map((parameter) => parameter.split('=')[0])
  return defineOne(`PAG-2/${name}`, {
    title: `Pagination styles do not mix: ${names.join(' with ')} is refused`,
    needsOnly: ['create', 'list', 'finder', ...styles],
    level: 'should',
    ...(styles.includes('cursor') ? { after: ['PAG-2/cursor'] } : {}),
    steps: [
      createMany(many, 2),
      setUp(first.get(`${caseRecords}${styles.includes('cursor') ? '&limit=1' : ''}`)),
      setUp(one.get(`${caseRecords}&${left}`)),
      setUp(other.get(`${caseRecords}&${right}`)),
      refusal.get(`${caseRecords}&${left}&${right}`),
    ],
    expect: [status(refusal, 400)],
    remedy: 'Refuse parameters of two styles in one request: whichever wins, somebody gets another page than meant.',
  })
}

export const styleCases: readonly Case[] = [
  ...define({
    'PAG-2/page': {
      title: 'Pages by page and per_page cover the list without overlap',
      steps: [
        createMany(many, 5),
        ...[1, 2, 3].map((page) => pages.get(`${caseRecords}&page=${page}&${paging.perPage}=2`)),
      ],
      expect: [holds(pages, 1), eachOnce(pages, many)],
      remedy: 'Skip (page − 1) · per_page records of an order that is total, and show the next per_page.',
    },
    'PAG-2/offset': {
      title: 'Pages by offset and limit cover the list without overlap',
      steps: [
        createMany(many, 5),
        ...['offset=0&limit=2', 'offset=2&limit=1', 'offset=3&limit=4'].map((page) =>
          pages.get(`${caseRecords}&${page}`),
        ),
      ],
      expect: [holds(pages, 2), eachOnce(pages, many)],
      remedy: 'Skip offset records of an order that is total, and show the next limit.',
    },
    'PAG-2/cursor': {
      title: 'With limit alone a list returns so many records and a next cursor',
      steps: [createMany(many, 2), first.get(`${caseRecords}&limit=1`)],
      expect: [holds(first, 1), cursorAt(first, 'next', 'a cursor')],
      remedy: 'Treat a list without page or offset as the first page by cursor, and return the next cursor.',
    },
  }),
  joins(
    'page',
    'Two pages by number show the same records as one of twice their size',
    [`page=1&${paging.perPage}=2`, `page=2&${paging.perPage}=2`, `page=1&${paging.perPage}=4`],
    'Skip (page − 1) · per_page records of an order that is total, and show the next per_page.',
  ),
  joins(
    'offset',
    'Two pages by offset show the same records as one of twice their size',
    ['offset=0&limit=2', 'offset=2&limit=2', 'offset=0&limit=4'],
    'Skip offset records of an order that is total, and show the next limit.',
  ),
  mixed('page-with-offset', 'page=1', 'offset=0', ['page', 'offset']),
  mixed('page-with-limit', 'page=1', 'limit=1', ['page', 'cursor']),
  mixed('cursor-with-page', `cursor=${first.next}`, 'page=1', ['page', 'cursor']),
  mixed('cursor-with-offset', `cursor=${first.next}`, 'offset=1', ['offset', 'cursor']),
  ...define({
    'PAG-3/page': {
      title: 'A page has its number, its size and the number of pages',
      steps: [createMany(many, 5), setUp(pageStep.get(`${caseRecords}&page=1&${paging.perPage}=2`))],
      expect: [tells(pageStep, (it) => [pageNumberOf(it, 1), 2, 3])],
      remedy: 'Put page, per_page and total_pages beside total_count.',
    },
    'PAG-3/offset': {
      title: 'A page by offset has its offset and its size',
      steps: [createMany(many, 5), setUp(pageStep.get(`${caseRecords}&offset=1&limit=3`))],
      expect: [tells(pageStep, () => [1, 3])],
      remedy: 'Put offset and limit beside total_count.',
    },
    'PAG-3/cursor': {
      title: 'A page by cursor has its size',
      steps: [createMany(many, 2), setUp(pageStep.get(`${caseRecords}&limit=4`))],
      expect: [tells(pageStep, () => [4])],
      remedy: 'Put limit beside total_count.',
    },
    'PAG-3/ends': {
      title: 'The first page has no previous cursor, the last no next cursor',
      after: ['PAG-2/cursor'],
      steps: [
        createMany(many, 2),
        setUp(first.get(`${caseRecords}&limit=1`)),
        setUp(last.get(`${caseRecords}&limit=1&cursor=${first.next}`)),
      ],
      expect: [cursorAt(first, 'previous', 'none'), cursorAt(last, 'next', 'none')],
      remedy: 'Return a cursor only if more records follow: query one record more than the page shows.',
    },
  }),
]

export const totalCases = common({ after: ['PAG-4/filtered'] }).define({
  'PAG-4/filtered': {
    title: 'The total counts the records that match, not all and not the page',
    after: [],
    steps: [
      createMany(many, 3),
      // Without the mark: some filters find every text that contains theirs.
      create(other, { [members.marker]: 'left alone' }),
      setUp(page.get(`${caseRecords}&${paging.size}=2`)),
    ],
    expect: [totals(page, 3)],
    remedy: 'Count with the conditions of the list and without its limit, in the same transaction.',
  },
  'PAG-4/sizes': {
    title: 'The total does not depend on the size of the page',
    after: [],
    alone: true,
    steps: [setUp(list.get(collection)), setUp(page.get(`${collection}?${paging.size}=${paging.smallest}`))],
    expect: [
      answerOf(page, (answer, seen, exchange) => {
        const [whole, part] = [totalOf(seen.of(list).answer, seen), totalOf(answer, seen)]
        if (part !== undefined && part === whole) return undefined
        const said = [part, whole].map((each) => each ?? 'none')
        return finding(exchange, totalPart(seen), `${said[0]}, and ${said[1]} on a page of the usual size`)
      }),
    ],
    remedy: 'Count with the conditions of the list and without its limit.',
  },
  'PAG-4/none': {
    title: 'The total of an empty list is 0',
    after: ['QRY-1/none'],
    steps: [create(one), setUp(none.get(`${collection}?${members.marker}=${mark}-none`))],
    expect: [totals(none, 0)],
    remedy: 'Return a total of 0 if nothing matches, instead of omitting it.',
  },
  'PAG-4/creation': {
    title: 'A creation increases the total immediately',
    steps: [create(one), setUp(before.get(caseRecords)), create(two), after.get(caseRecords)],
    expect: [totals(before, 1), totals(after, 2)],
    remedy: 'Do not keep totals longer than until the next change.',
  },
  'PAG-4/deletion': {
    title: 'A deletion decreases the total immediately',
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
    title: 'The total counts eight concurrent creations',
    steps: [create(one), simultaneous(8, setUp(made.post(collection, body.example))), setUp(list.get(caseRecords))],
    expect: [lists(list, one, made), totals(list, 9)],
    remedy: 'Count records, or keep counts in the transaction that changes them, with a lock: "count = count + 1".',
  },
  'PAG-4/styles': {
    title: 'Each page of each style has the same total',
    steps: [
      createMany(many, 3),
      setUp(list.get(`${caseRecords}&page=2&${paging.perPage}=2`)),
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

function totals(step: Reference, count: number): Expectation {
  return everyAnswerOf(step, (answer, seen, exchange) => {
    const told = totalOf(answer, seen)
    if (told === count) return undefined
    return finding(exchange, totalPart(seen), told === undefined ? 'no total is told' : `${told} in place of ${count}`)
  })
}

/** Numbers in a response beside its records. */
function numbersBeside(answer: Answer, { profile }: Observations): { readonly name: string; readonly value: number }[] {
  const records = valueAt(jsonOf(answer), profile.names.items)
  const found: { name: string; value: number }[] = []
  const look = (name: string, value: unknown): void => {
    if (typeof value === 'number') found.push({ name, value })
    if (value === records || typeof value !== 'object' || value === null) return
    for (const [each, inner] of Object.entries(value)) look(each, inner)
  }
  look('', jsonOf(answer))
  return found
}

/** Creates records until the collection's list does not contain all of them; `most` records at most. */
function outgrow(as: Reference, most: number): Step {
  return { kind: 'outgrow', as: as.name, most }
}
