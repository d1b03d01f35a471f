/**
 * How a server's lists are queried. Cases write the query parameters of this project's interface (`?page=2&per_page=5`,
 * `?sort=-name`, `?name=x`). Other servers have other names and forms for the same, and this file translates to them.
 */

const names = ['page', 'per_page', 'offset', 'limit', 'cursor', 'fields', 'q'] as const

/** A query parameter of lists that may have another name. */
export type ParameterName = (typeof names)[number]

/** What differs from the interface that cases know. In forms, `{}` stands for the name of a member. */
export interface QueryStyle extends Readonly<Partial<Record<ParameterName, string>>> {
  /** The sizes of the smallest and the largest page, if they are not 1 and at least 100. */
  readonly least?: number
  readonly most?: number
  /** The number of the first page, if it is not 1. */
  readonly firstPage?: 0 | 1
  /** Form of a filter, `filter={}||eq||{value}`, or of its name alone, `filter[{}]`. */
  readonly filter?: string
  /** Forms of queries that sort: `ordering={}` and `ordering=-{}`. */
  readonly ascending?: string
  readonly descending?: string
  /**
   * Query that finds the records of a case: `q={mark}`, with the text by which the checker recognizes them; or
   * `team_id={teams}`, with the identifier of the record of another collection to which they refer.
   */
  readonly finder?: string
}

const text = { type: 'string', minLength: 1 }
const size = { type: 'integer', minimum: 1 }
const form = { type: 'string', pattern: '\\{\\}' }

export const queryStyleSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...Object.fromEntries(names.map((name) => [name, text])),
    ...{
      least: size,
      most: size,
      firstPage: { enum: [0, 1] },
      filter: form,
      ascending: form,
      descending: form,
    },
    finder: { type: 'string', pattern: '=.*\\{[\\w-]+\\}' },
  },
}

interface Styled {
  readonly query?: QueryStyle | undefined
}

export function parameterOf({ query = {} }: Styled, name: ParameterName): string {
  return query[name] ?? name
}

/** The parameter for the size of a page: that of pages by number, if there are such. */
export function sizeOf(collection: Styled & { readonly pages: readonly string[] }): string {
  return parameterOf(collection, collection.pages.includes('page') ? 'per_page' : 'limit')
}

export function smallestPage({ query: { least = 1 } = {} }: Styled): number {
  return least
}

/** The size of a page that shows as much as possible. */
export function largestPage({ query: { most = 100 } = {} }: Styled): number {
  return Math.min(100, most)
}

/** The query that shows as much of a list as fits on a page, the newest records first if it can be sorted. */
export function wholeQuery(
  collection: Styled & { readonly pages: readonly string[]; readonly sorts: readonly string[]; readonly id: string },
): string {
  const { pages, sorts, id, query = {} } = collection
  return [
    ...(pages.length > 0 ? [`${sizeOf(collection)}=${largestPage(collection)}`] : []),
    ...(sorts.includes(id) ? [sortedBy(`-${id}`, query)] : []),
  ].join('&')
}

/** The number that a server gives to a page that is counted from 1. */
export function pageNumberOf({ query: { firstPage = 1 } = {} }: Styled, page: number): number {
  return page - 1 + firstPage
}

const anyParameter = new RegExp(`(?<=[?&])(${names.join('|')}|sort)=([^&]*)`, 'g')
const memberFilter = /(?<=[?&])(«member:[a-z-]+»)(?:%5B(\w+)%5D)?=([^&]*)/g

/**
 * Translates an address that a case wrote, before its references are replaced: what a server wrote itself, such as the
 * link to the next page, stays as it is.
 */
export function inQueryStyle(to: string, collection: Styled): string {
  const { query } = collection
  if (query === undefined || !to.includes('«')) return to
  const { filter = '{}' } = query
  return to
    .replace(memberFilter, (_, name: string, operator: string | undefined, value: string) =>
      filterBy(operatorForm(filter, operator), name, value),
    )
    .replace(anyParameter, (_, name: ParameterName | 'sort', value: string) => {
      if (name === 'sort') return sortedBy(value, query)
      const isPage = name === 'page' && /^-?\d{1,9}$/.test(value)
      return `${parameterOf(collection, name)}=${isPage ? pageNumberOf(collection, Number(value)) : value}`
    })
}

/** `-price,name` in the forms of a server. */
function sortedBy(value: string, { ascending = 'sort={}', descending = 'sort=-{}' }: QueryStyle): string {
  // Such servers have the sign and the commas of our own form.
  if (ascending.endsWith('={}') && descending.endsWith('=-{}')) return inForm(ascending, value)
  return value
    .split(',')
    .map((each) => (each.startsWith('-') ? inForm(descending, each.slice(1)) : inForm(ascending, each)))
    .join('&')
}

/** What servers with an operator for equality call the others. */
const otherOperators: Readonly<Record<string, string>> = { not: 'ne', starts_with: 'startsWith' }

/** The form of a filter with another operator: beside `filters[{}][$eq]` there is `filters[{}][$gt]`. */
function operatorForm(filter: string, operator: string | undefined): string {
  if (operator === undefined) return filter
  const equal = /\beq\b/
  return equal.test(filter)
    ? filter.replace(equal, () => otherOperators[operator] ?? operator)
    : `${filter}%5B${operator}%5D`
}

/** A filter by a member, in the form of a server. */
export function filterBy(form: string, name: string, value: string): string {
  const named = inForm(form, name)
  return named.includes('{value}') ? named.replaceAll('{value}', () => value) : `${named}=${value}`
}

export function inForm(form: string, name: string): string {
  return form.replaceAll('{}', () => name)
}

/**
 * The query that finds the records of a case.
 *
 * @param valueFor the value for a name in braces
 */
export function finderQuery(finder: string, valueFor: (name: string) => string | undefined): string | undefined {
  let isKnown = true
  const query = finder.replace(/\{([\w-]+)\}/g, (_, name: string) => {
    const value = valueFor(name)
    isKnown &&= value !== undefined
    return encodeURIComponent(value ?? '')
  })
  return isKnown ? query : undefined
}
