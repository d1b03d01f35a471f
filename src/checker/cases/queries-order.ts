/** QRY-3: order. */
import type { Case, Expectation, Seen } from '../case/case.ts'
import { altogether, finding } from '../case/expect.ts'
import { eachOnce, idsOf, inOrder } from '../case/expect-list.ts'
import { memberOf, twoValuesOf } from '../case/members.ts'
import { record, records, when } from '../case/steps.ts'

const needs = ['create', 'list', 'marker', 'ranked'] as const
const ranked = (which: 'less' | 'more') => ({ '{member:ranked}': `{${which}:ranked}` })

// Two of each value, in turn: no order that comes by itself is the right one.
const four = [
  record('more1', ranked('more')),
  record('less1', ranked('less')),
  record('more2', ranked('more')),
  record('less2', ranked('less')),
]

/** Names of records whose order among themselves does not matter. */
type Group = readonly string[]

/** The records come in groups. Where nobody knows how the values compare, such as names in an unknown language, other orders are as good. */
function groups(step: string, order: readonly Group[], ...asGood: readonly (readonly Group[])[]): Expectation {
  const says = order.map((group) => group.join(' and ')).join(', then ')
  return inOrder(step, `has ${says}`, (items, seen) => {
    const ids = items.map((item) => String(item[seen.collection.id]))
    if ([order, ...(isComparable(seen) ? [] : asGood)].some((each) => isSoGrouped(ids, each, seen))) return undefined
    const names = new Map(order.flat().map((name) => [seen.fill(`{${name}.id}`), name]))
    const found = items.map((item, index) => `${names.get(ids[index] ?? '') ?? ids[index]}${valueSaid(item, seen)}`)
    return `it has ${found.join(', ')} in place of ${says}`
  })
}

function isSoGrouped(ids: readonly string[], order: readonly Group[], { fill }: Seen): boolean {
  let at = 0
  for (const group of order) {
    const part = new Set(ids.slice(at, at + group.length))
    if (!group.every((name) => part.has(fill(`{${name}.id}`)))) return false
    at += group.length
  }
  return at === ids.length
}

function isComparable({ collection }: Seen): boolean {
  const values = twoValuesOf(collection, memberOf(collection, 'ranked') ?? '')
  return typeof values?.less === 'number' || [values?.less, values?.more].every((value) => isDate(value))
}

function isDate(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d([T ][\d:.]+Z?)?$/.test(value)
}

function valueSaid(item: Readonly<Record<string, unknown>>, { collection }: Seen): string {
  return ` (${JSON.stringify(item[memberOf(collection, 'ranked') ?? '']) ?? 'no value'})`
}

const less = ['less1', 'less2']
const more = ['more1', 'more2']

export const orderCases: readonly Case[] = [
  {
    id: 'QRY-3/ascending',
    title: 'sort puts records in the order of a field, the least first',
    kind: 'changing',
    needs,
    steps: [...four, when('sorted', 'GET', '{collection}?{mine}&sort={member:ranked}')],
    expect: [groups('sorted', [less, more], [more, less])],
    mend: 'Order the list by the field that sort names, compared as its type.',
  },
  {
    id: 'QRY-3/descending',
    title: 'sort with a minus before the field puts the greatest first',
    kind: 'changing',
    needs,
    after: ['QRY-3/ascending'],
    steps: [
      ...four,
      when('sorted', 'GET', '{collection}?{mine}&sort={member:ranked}'),
      when('descending', 'GET', '{collection}?{mine}&sort=-{member:ranked}'),
    ],
    expect: [
      groups('descending', [more, less], [less, more]),
      altogether('is the other way round than without the minus', (seen) => {
        const [up, down] = ['sorted', 'descending'].map((step) => idsOf(seen.of(step).answer, seen)?.[0])
        const firsts = less.map((name) => seen.fill(`{${name}.id}`))
        const isOther = firsts.includes(up ?? '') !== firsts.includes(down ?? '')
        return isOther ? undefined : finding(seen.of('descending'), 'body', 'the same values come first as without it')
      }),
    ],
    mend: 'Read a leading "-" in sort as descending order.',
  },
  {
    id: 'QRY-3/several',
    title: 'sort by several fields orders by the second what is equal in the first',
    kind: 'changing',
    needs: [...needs, 'marker-sort'],
    level: 'may',
    after: ['QRY-1/any-of', 'QRY-3/ascending'],
    steps: [
      ...(['moreB', 'lessB', 'moreA', 'lessA'] as const).map((name) =>
        record(name, {
          ...ranked(name.startsWith('more') ? 'more' : 'less'),
          '{member:marker}': `{mark}-${name.at(-1)?.toLowerCase()}`,
        }),
      ),
      ...(['', '-'] as const).map((sign) =>
        when(
          `sorted${sign}`,
          'GET',
          `{collection}?{member:marker}={mark}-a&{member:marker}={mark}-b&sort={member:ranked},${sign}{member:marker}`,
        ),
      ),
    ],
    expect: [
      groups('sorted', [['lessA'], ['lessB'], ['moreA'], ['moreB']], [['moreA'], ['moreB'], ['lessA'], ['lessB']]),
      groups('sorted-', [['lessB'], ['lessA'], ['moreB'], ['moreA']], [['moreB'], ['moreA'], ['lessB'], ['lessA']]),
    ],
    mend: 'Take sort apart at commas, and order by each of its fields in turn.',
  },
  {
    id: 'QRY-3/ties',
    title: 'Records with equal values keep their places: pages of them leave none out and show none twice',
    kind: 'changing',
    needs: [...needs, 'page'],
    level: 'should',
    steps: [
      records('many', 5, ranked('less')),
      ...[1, 2, 3].map((page) =>
        when('pages', 'GET', `{collection}?{mine}&sort={member:ranked}&page=${page}&per_page=2`),
      ),
    ],
    expect: [eachOnce('pages', 'many')],
    mend: 'Put the identifier behind the fields of sort: "order by price, id". Without it a database may order ties anew each time.',
  },
]
