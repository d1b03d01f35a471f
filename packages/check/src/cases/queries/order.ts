/** QRY-3, QRY-5: sorting and search. */
import type { Expectation, Observations } from '../../case/case.ts'
import { define } from '../../case/define.ts'
import { everyStatus, finding, status } from '../../case/expect.ts'
import { eachOnce, idsOf, lists, theItems } from '../../case/expect-list.ts'
import { memberOf, twoValuesOf } from '../../case/members.ts'
import { again, both, found, many, one, other, pages, plain } from '../../case/names.ts'
import {
  caseRecords,
  collection,
  mark,
  members,
  ordered,
  paging,
  Reference,
  uppercase,
  word,
} from '../../case/references.ts'
import { create, createMany } from '../../case/steps.ts'

const [more1, less1, more2, less2, sorted] = Reference.named('more1', 'less1', 'more2', 'less2', 'sorted')
const [descending, moreB, lessB, moreA, lessA] = Reference.named('descending', 'moreB', 'lessB', 'moreA', 'lessA')
const [sortedBack, small, capitals, marked] = Reference.named('sorted-', 'small', 'capitals', 'marked')

const ranked = (which: 'less' | 'more') => ({ [members.ranked]: ordered[which].ranked })

// Two of each value, alternating, so that neither insertion order nor its reverse is right.
const four = [
  create(more1, ranked('more')),
  create(less1, ranked('less')),
  create(more2, ranked('more')),
  create(less2, ranked('less')),
]

/** Names of records whose order among themselves does not matter. */
type Group = readonly Reference[]

/**
 * The records come in groups. Where nobody knows how the values compare, such as names in an unknown language, other
 * orders are as good.
 */
function groups(step: Reference, order: readonly Group[], ...asGood: readonly (readonly Group[])[]): Expectation {
  const says = order.map((group) => group.map(({ name }) => name).join(' and ')).join(', then ')
  return theItems(step, (items, seen) => {
    const ids = items.map((item) => String(item[seen.collection.id]))
    if ([order, ...(isComparable(seen) ? [] : asGood)].some((each) => isSoGrouped(ids, each, seen))) return undefined
    const names = new Map(order.flat().map(({ id, name }) => [seen.fill(id), name]))
    const found = items.map((item, index) => `${names.get(ids[index] ?? '') ?? ids[index]}${valueSaid(item, seen)}`)
    return `it has ${found.join(', ')} in place of ${says}`
  })
}

function isSoGrouped(ids: readonly string[], order: readonly Group[], { fill }: Observations): boolean {
  let at = 0
  for (const group of order) {
    const part = new Set(ids.slice(at, at + group.length))
    if (!group.every(({ id }) => part.has(fill(id)))) return false
    at += group.length
  }
  return at === ids.length
}

function isComparable({ collection }: Observations): boolean {
  const values = twoValuesOf(collection, memberOf(collection, 'ranked') ?? '')
  return typeof values?.less === 'number' || [values?.less, values?.more].every((value) => isDate(value))
}

function isDate(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d([T ][\d:.]+Z?)?$/.test(value)
}

function valueSaid(item: Readonly<Record<string, unknown>>, { collection }: Observations): string {
  return ` (${JSON.stringify(item[memberOf(collection, 'ranked') ?? '']) ?? 'no value'})`
}

const less = [less1, less2]
const more = [more1, more2]

export const orderCases = define({
  'QRY-3/ascending': {
    title: 'sort orders records by a field, ascending',
    steps: [...four, sorted.get(`${caseRecords}&sort=${members.ranked}`)],
    expect: [groups(sorted, [less, more], [more, less])],
    remedy: 'Order the list by the field that sort names, compared as its type.',
  },
  'QRY-3/descending': {
    title: 'sort with a minus before the field orders descending',
    after: ['QRY-3/ascending'],
    steps: [
      ...four,
      sorted.get(`${caseRecords}&sort=${members.ranked}`),
      descending.get(`${caseRecords}&sort=-${members.ranked}`),
    ],
    expect: [
      groups(descending, [more, less], [less, more]),
      (seen) => {
        const [up, down] = [sorted, descending].map((step) => idsOf(seen.of(step).answer, seen)?.[0])
        const firsts = less.map(({ id }) => seen.fill(id))
        const isOther = firsts.includes(up ?? '') !== firsts.includes(down ?? '')
        return isOther ? undefined : finding(seen.of(descending), 'body', 'the same values come first as without it')
      },
    ],
    remedy: 'Read a leading "-" in sort as descending order.',
  },
  'QRY-3/several': {
    title: 'sort by several fields orders ties of the first by the second',
    needs: ['marker-sort'],
    level: 'may',
    after: ['QRY-1/any-of', 'QRY-3/ascending'],
    steps: [
      ...[moreB, lessB, moreA, lessA].map((step) =>
        create(step, {
          ...ranked(step.name.startsWith('more') ? 'more' : 'less'),
          [members.marker]: `${mark}-${step.name.at(-1)?.toLowerCase()}`,
        }),
      ),
      ...[[sorted, ''] as const, [sortedBack, '-'] as const].map(([step, sign]) =>
        step.get(
          `${collection}?${members.marker}=${mark}-a&${members.marker}=${mark}-b` +
            `&sort=${members.ranked},${sign}${members.marker}`,
        ),
      ),
    ],
    expect: [
      groups(sorted, [[lessA], [lessB], [moreA], [moreB]], [[moreA], [moreB], [lessA], [lessB]]),
      groups(sortedBack, [[lessB], [lessA], [moreB], [moreA]], [[moreB], [moreA], [lessB], [lessA]]),
    ],
    remedy: 'Split sort at commas, and order by each of its fields in turn.',
  },
  'QRY-3/ties': {
    title: 'Pages of records with equal values omit none and repeat none',
    level: 'should',
    steps: [
      createMany(many, 5, ranked('less')),
      ...[1, 2, 3].map((page) => pages.get(`${caseRecords}&sort=${members.ranked}&page=${page}&${paging.perPage}=2`)),
    ],
    expect: [eachOnce(pages, many)],
    remedy: 'Append the identifier to the sort fields ("order by price, id"): databases may order ties differently.',
  },
})

/** A text in the member that searches find. */
const text = (words: string) => ({ [members.search]: words })

/** Searches with special characters of search languages, separated by spaces. */
const special = '%22 * %28 a%20OR NOT%20b %27%20or%201=1%20-- %3A*%20%26%20%21 %25 a%5C x%5E2'

export const searchCases = define({
  'QRY-5/word': {
    title: 'q finds only the records whose text contains the word',
    steps: [
      create(one, text(`Brass ${word} lamp`)),
      create(other, text('Brass lamp')),
      found.get(`${collection}?q=${word}`),
    ],
    expect: [lists(found, one)],
    remedy: 'Search all searchable fields for the words of q, at any position.',
  },
  'QRY-5/every-word': {
    title: 'A search for two words finds only records with both',
    level: 'should',
    after: ['QRY-5/word'],
    steps: [
      create(both, text(`${word} brass lamp`)),
      create(one, text(`${word} lamp`)),
      found.get(`${collection}?q=brass%20${word}`),
    ],
    expect: [lists(found, both)],
    remedy: 'Split q into words, and find the records with all of them, in any order.',
  },
  'QRY-5/capitals': {
    title: 'A search is case-insensitive',
    level: 'should',
    after: ['QRY-5/word'],
    steps: [
      create(small, text(`lamp ${word}`)),
      create(capitals, text(`LAMP ${uppercase.word}`)),
      found.get(`${collection}?q=${word}`),
      again.get(`${collection}?q=${uppercase.word}`),
    ],
    expect: [lists(found, small, capitals), lists(again, small, capitals)],
    remedy: 'Fold texts and words to one case before they are compared.',
  },
  'QRY-5/diacritics': {
    title: 'A search ignores diacritics',
    level: 'should',
    after: ['QRY-5/word'],
    steps: [
      create(marked, text(`lamp ${word}é`)),
      create(plain, text(`lamp ${word}e`)),
      found.get(`${collection}?q=${word}e`),
      again.get(`${collection}?q=${word}%C3%A9`),
    ],
    expect: [lists(found, marked, plain), lists(again, marked, plain)],
    remedy: 'Decompose texts and words (Unicode NFD) and leave out the combining marks before they are compared.',
  },
  'QRY-5/begun': {
    title: 'The last word of a search matches as a prefix',
    level: 'should',
    after: ['QRY-5/word'],
    steps: [create(one, text(`lamp ${word}lights`)), found.get(`${collection}?q=lamp%20${word}lig`)],
    expect: [lists(found, one)],
    remedy: 'Compare the last word of q with the beginnings of words: people search while they type.',
  },
  'QRY-5/nothing': {
    title: 'A search without matches returns an empty list',
    steps: [found.get(`${collection}?q=${word}`)],
    expect: [status(found, 200), lists(found)],
    remedy: 'Answer 200 with an empty list where no record has the words of q.',
  },
  'QRY-5/syntax': {
    title: 'Special characters of search languages cause no failure',
    steps: special.split(' ').map((q) => found.get(`${collection}?q=${q}`)),
    expect: [everyStatus(found, 200, 400)],
    remedy: 'Quote the words of q before they are handed to a search engine, or refuse what it cannot read with 400.',
  },
})
