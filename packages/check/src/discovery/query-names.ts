/** What the query parameters of lists are called on servers of many kinds, and which of them a document names. */
import type { PageStyle } from '../profile/profile.ts'
import type { ParameterName, QueryStyle } from '../profile/query-style.ts'

/** Usual names, those of this project's interface first. */
export const usual = {
  page: ['page', '_page', 'pageNumber', 'page_number', 'page[number]', 'p', 'pagination[page]'],
  size: [
    ...['per_page', 'page_size', 'perPage', 'pageSize', 'limit', 'size', '_limit', '$limit', 'take', '_per_page'],
    ...['page[size]', 'page[limit]', 'top', '$top', 'pagination[pageSize]'],
  ],
  offset: ['offset', 'skip', '$skip', '_start', 'start', 'page[offset]', '_offset', '$offset'],
} as const

const patterns = {
  page: /^(?:page|_page|p|page_?(?:number|num|no|index)|page\[number\]|current_?page)$/i,
  per_page: /^(?:_?per_?page|page_?size|page_?limit|(?:items|results)_?per_?page|page\[size\]|_?limit|size|rows)$/i,
  offset: /^(?:[$_]?offset|[$_]?skip|_?start|start_?index|page\[offset\])$/i,
  limit: /^(?:[$_]?limit|[$_]?take|\$?top|page\[limit\]|max_?results|count|size|_?per_?page|page_?size)$/i,
  cursor: /^(?:cursor|page\[(?:cursor|after)\]|(?:page|next|continuation)_?token|starting_?after)$/i,
} as const satisfies Partial<Record<ParameterName, RegExp>>

const sort = /^(?:[$_]?sort|sort_?by|order|[$_]?order_?by|ordering)$/i
const direction = /^(?:_?order|sort_?(?:order|dir|direction)|order_?(?:dir|direction)|dir|direction)$/i
const own = /^(?:page|per_page|limit|offset|cursor|sort|fields|q|include_deleted)$/

/** Whether a parameter of a list is certainly no filter. */
export function isListParameter(name: string): boolean {
  return own.test(name)
}

function isLikeListParameter(name: string): boolean {
  return [...Object.values(patterns), sort, direction, own].some((each) => each.test(name))
}

/** The styles of pages that documented parameters have, and their names. */
export function documentedPages(names: readonly string[]): {
  readonly pages: readonly PageStyle[]
  readonly query: QueryStyle
} {
  const find = (ours: keyof typeof patterns) =>
    names.includes(ours) ? ours : names.find((each) => patterns[ours].test(each))
  const [page, offset, cursor] = [find('page'), find('offset'), find('cursor')]
  const limit = find('limit')
  const isOffset = offset !== undefined && (offset === 'offset' || limit !== undefined)
  const found = {
    ...(page !== undefined && { page, per_page: find('per_page') }),
    ...(isOffset && { offset, limit }),
    ...(cursor !== undefined && { cursor, limit }),
  }
  const differing = Object.entries(found).filter(([ours, name]) => name !== undefined && name !== ours)
  const styles = { page: page !== undefined, offset: isOffset, cursor: cursor !== undefined }
  return {
    pages: (['page', 'offset', 'cursor'] as const).filter((style) => styles[style]),
    query: Object.fromEntries(differing),
  }
}

const filterForm = /^((?:filters?|where)[.[])?([a-z]\w*?)(\](?:\[\$?eq\])?|[._]{1,2}(?:eq|exact|equals))?$/i

/** The members by which lists can be filtered: `name=x`, or `filter[name]=x` if no other filter is documented. */
export function filtersIn(all: readonly string[], members: readonly string[], taken: readonly string[]) {
  const names = all.filter((name) => !isListParameter(name) && !taken.includes(name))
  const plain = names.filter((name) => members.includes(name))
  if (plain.length > 0) return { filterable: plain, form: {} }
  // Such as `filter[name]`, `where.name.eq` and `name__exact`: all of the same form.
  const formed = names.flatMap((name) => {
    const [, start = '', member = '', end = ''] = filterForm.exec(name) ?? []
    return members.includes(member) ? [{ member, form: `${start}{}${end}` }] : []
  })
  const form = formed[0]?.form
  return {
    filterable: formed.filter((each) => each.form === form).map(({ member }) => member),
    form: form === undefined ? {} : { filter: form },
  }
}

type Orders = Required<Pick<QueryStyle, 'ascending' | 'descending'>>

const orders = (ascending: string, descending: string): Orders => ({ ascending, descending })

/** Forms of queries that sort, to be tried one after the other: those that fit documented names, or all usual ones. */
export function ordersToTry(names: readonly string[]): readonly Orders[] {
  if (names.length === 0) {
    return [
      ...formsOf('sort').slice(0, 5),
      orders('sort={}&order=asc', 'sort={}&order=desc'),
      ...['ordering', 'order_by', 'orderBy', 'order'].map((each) => orders(`${each}={}`, `${each}=-{}`)),
      orders('_sort={}&_order=asc', '_sort={}&_order=desc'),
      orders('_sort={}', '_sort=-{}'),
      orders('sortBy={}&order=asc', 'sortBy={}&order=desc'),
      orders('sort_by={}&order=asc', 'sort_by={}&order=desc'),
      orders('$sort[{}]=1', '$sort[{}]=-1'),
    ]
  }
  const [, start] =
    names.map((each) => /^((?:order_?by|sort)[.[])\w+\]?$/i.exec(each)).find((each) => each !== null) ?? []
  if (start !== undefined) {
    const each = `${start}{}${start.endsWith('[') ? ']' : ''}`
    return [orders(`${each}=asc`, `${each}=desc`), orders(`${each}=1`, `${each}=-1`)]
  }
  const name = names.find((each) => sort.test(each) && !direction.test(each)) ?? names.find((each) => sort.test(each))
  if (name === undefined) return []
  const way = names.find((each) => each !== name && direction.test(each))
  if (way === undefined) return formsOf(name)
  return [
    orders(`${name}={}&${way}=asc`, `${name}={}&${way}=desc`),
    orders(`${name}={}&${way}=ASC`, `${name}={}&${way}=DESC`),
    orders(`${name}={}`, `${name}=-{}`),
  ]
}

function formsOf(name: string): Orders[] {
  return [
    orders(`${name}={}`, `${name}=-{}`),
    orders(`${name}={},asc`, `${name}={},desc`),
    orders(`${name}={},ASC`, `${name}={},DESC`),
    orders(`${name}={}:asc`, `${name}={}:desc`),
    orders(`${name}={}%20asc`, `${name}={}%20desc`),
    orders(`${name}[{}]=asc`, `${name}[{}]=desc`),
    orders(`${name}[{}]=1`, `${name}[{}]=-1`),
  ]
}

/** Forms of filters to be tried one after the other: those that fit a documented name, or all usual ones. */
export function filtersToTry(names: readonly string[]): readonly string[] {
  const expressions = (name: string) => [`${name}={}||$eq||{value}`, `${name}={}=={value}`, `${name}={}:{value}`]
  if (names.length > 0) return names.filter((each) => /^(?:filters?|where|search)$/i.test(each)).flatMap(expressions)
  return ['{}', 'filter[{}]', 'filters[{}][$eq]', '{}=eq.{value}']
}

const searches = /^(?:q|search|query|_?search_?term|term|keywords?|text|s|find|filter)$/i

/**
 * Forms of queries that may find records by a text in a member, to be tried one after the other.
 *
 * @param names documented parameters that take a text; empty if nothing is documented
 */
export function findersToTry(member: string, names: readonly string[]): readonly string[] {
  const expressions = (name: string) => [
    `${name}=(${member}~'{mark}')`,
    `${name}={"where":{"${member}":{"like":"%25{mark}%25"}}}`,
    `${name}={"${member}":{"contains":"{mark}"}}`,
  ]
  if (names.length === 0) {
    const guesses = ['q', 'search', `${member}_like`, `${member}__icontains`, `${member}_contains`, `${member}[like]`]
    return [...guesses.map((each) => `${each}={mark}`), ...expressions('filter').slice(0, 2)]
  }
  const rank = (name: string) => (name.toLowerCase().includes(member.toLowerCase()) ? 0 : searches.test(name) ? 1 : 2)
  const ordered = names
    .filter((each) => !isLikeListParameter(each) || each === 'q')
    .toSorted((a, b) => rank(a) - rank(b))
  return ordered
    .slice(0, mostFinders)
    .flatMap((each) => [
      `${each}={mark}`,
      ...(/like/i.test(each) ? [`${each}=%25{mark}%25`] : []),
      ...(/^(?:filters?|where)$/i.test(each) ? expressions(each) : []),
    ])
}

const mostFinders = 10
