/** Finds out how a list can be queried, while a record exists in it: pages, filters, orders, and its own records. */
import { finderOf, markedMember } from '../case/members.ts'
import { type CollectionProfile, canCreate } from '../profile/profile.ts'
import { filterBy, finderQuery, inForm, type QueryStyle, sizeOf } from '../profile/query-style.ts'
import { typeOf, withOtherUniqueValues } from '../values/generate.ts'
import { type JsonObject, without } from '../values/json.ts'
import { randomText } from '../values/random.ts'
import { filtersToTry, findersToTry, ordersToTry, usual } from './query-names.ts'
import type { Trial, TrialRecord } from './trial.ts'

type Facts = Partial<CollectionProfile>

/** Requests the list with a query. Returns its records, or `undefined` if the query is refused. */
type ListBy = (query: string) => Promise<readonly JsonObject[] | undefined>

const mostMembers = 12

/** With so many forms of a query, only few members are tried in all of them. */
const mostForms = 8

/**
 * Pages, filters and orders of a list, as far as its document and the user's profile leave them open. A parameter
 * counts only if it has an effect. If a document names a parameter for a purpose, no others are tried.
 */
export async function probeLists(trial: Trial, collection: CollectionProfile, { body }: TrialRecord): Promise<Facts> {
  const documented = trial.parametersOf(collection.name).map(({ name }) => name)
  const list = listBy(trial, collection)
  const whole = (await list('')) ?? []
  const isBare = documented.length === 0
  // Some documents leave out the parameters that a framework reads by itself. A strict server has no such ones.
  const isOpen = isBare || (await list(`no_such_${randomText()}=1`)) !== undefined
  const arePagesOpen = isOpen && collection.pages.length === 0
  const paged = arePagesOpen ? await probePages(list, whole) : await probeFirstPage(list, whole, collection)
  const forms = collection.filters.length > 0 ? [] : filtersToTry(documented)
  const filtered = forms.length > 0 ? await probeFilters(list, body, forms) : {}
  const most = await probeLargestPage(list, { ...collection, ...paged, query: { ...collection.query, ...paged.query } })
  const query: QueryStyle = { ...collection.query, ...paged.query, ...most, ...filtered.query }
  const named = ordersToTry(documented)
  const orders = named.length > 0 || !isOpen ? named : ordersToTry([])
  const sorted = collection.sorts.length > 0 ? {} : await probeOrders(list, whole, orders, collection)
  const type = trial.requester.client.types.typeAt(trial.profile.base + collection.path)
  const fields = await probeFields(list, whole, fieldsToTry(documented, type))
  return { ...paged, ...filtered, ...sorted, ...styled({ ...query, ...sorted.query, ...fields }) }
}

function styled(query: QueryStyle): Facts {
  return Object.keys(query).length === 0 ? {} : { query }
}

function listBy(trial: Trial, collection: CollectionProfile): ListBy {
  return (query) => trial.list(collection, query && `?${query}`)
}

/**
 * Parameters that may restrict the members of records: those that a document names, or all usual ones.
 *
 * @param type the type of the records, if they are resource objects of JSON:API
 */
function fieldsToTry(names: readonly string[], type: string | undefined): readonly string[] {
  const ofType = type === undefined ? [] : [`fields[${type}]`]
  if (names.length === 0) return [...ofType, 'fields', '_fields', 'select', '$select']
  return names.filter((each) => ofType.includes(each) || /^[_$]?(?:fields|select)$/i.test(each))
}

/** The parameter that restricts the members of records, if it has an effect. */
async function probeFields(list: ListBy, [record = {}]: readonly JsonObject[], names: readonly string[]) {
  const [kept, dropped] = Object.keys(record).filter((each) => each !== 'id')
  if (kept === undefined || dropped === undefined) return {}
  const fields = await firstOf(names, async (name) => {
    const [less = {}] = (await list(`${name}=${encodeURIComponent(kept)}`)) ?? []
    return kept in less && !(dropped in less)
  })
  return fields === undefined || fields === 'fields' ? {} : { fields }
}

/** The parameters for pages, if nothing is known of them. */
async function probePages(list: ListBy, whole: readonly JsonObject[]): Promise<Facts> {
  if (whole.length < 2) return { pages: [] }
  // Not by their identifiers: the records of some servers have none, only links.
  const textsBy = async (query: string) => (await list(query))?.map((each) => JSON.stringify(each))
  const size = await firstOf(usual.size, async (name) => (await textsBy(`${name}=1`))?.length === 1)
  if (size === undefined) return { pages: [] }
  const second = JSON.stringify(whole[1])
  // Pages are counted from 0 or from 1.
  let firstPage = 1
  const page = await firstOf(usual.page, async (name) => {
    const [one, two] = [await textsBy(`${name}=1&${size}=1`), await textsBy(`${name}=2&${size}=1`)]
    if (one?.length !== 1 || one[0] === two?.[0]) return false
    firstPage = one[0] === second ? 0 : 1
    return true
  })
  const offset = await firstOf(usual.offset, async (name) => (await textsBy(`${name}=1&${size}=1`))?.[0] === second)
  const query = {
    ...(page !== undefined && { page, per_page: size, ...(firstPage === 0 && { firstPage: 0 as const }) }),
    ...(offset !== undefined && { offset, limit: size }),
  }
  const differing = Object.entries(query).filter(([own, name]) => own !== name)
  return {
    pages: [...(page === undefined ? [] : ['page' as const]), ...(offset === undefined ? [] : ['offset' as const])],
    query: Object.fromEntries(differing),
  }
}

/** The size of the largest page, if a page of 100 is refused. */
async function probeLargestPage(list: ListBy, collection: CollectionProfile): Promise<QueryStyle> {
  if (collection.pages.length === 0 || collection.query?.most !== undefined) return {}
  const most = await firstOf([100, 50, 25, 20, 10], async (size) => {
    return (await list(`${sizeOf(collection)}=${size}`)) !== undefined
  })
  return most === undefined || most === 100 ? {} : { most }
}

/** Whether documented pages are counted from 0. */
async function probeFirstPage(list: ListBy, whole: readonly JsonObject[], { pages, query = {} }: CollectionProfile) {
  if (!pages.includes('page') || whole.length < 2) return {}
  const { page = 'page', per_page: size = 'per_page' } = query
  const shows = async (number: number, place: number) =>
    JSON.stringify((await list(`${page}=${number}&${size}=1`))?.[0]) === JSON.stringify(whole[place])
  return (await shows(0, 0)) && (await shows(1, 1)) ? { query: { firstPage: 0 as const } } : {}
}

/** The members by which a list can be filtered, and the form of its filters. */
async function probeFilters(list: ListBy, body: JsonObject, forms: readonly string[]): Promise<Facts> {
  const members = Object.entries(body)
    .filter(([, value]) => typeof value !== 'object')
    .slice(0, mostMembers)
  const absent = (value: unknown) => (typeof value === 'string' ? `no-such-${randomText()}` : -987654321)
  for (const form of forms) {
    const by = (...filters: readonly (readonly [name: string, value: unknown])[]) =>
      list(filters.map(([name, value]) => filterBy(form, ...encoded(name, value))).join('&'))
    const filters: string[] = []
    for (const [name, value] of members) {
      const hit = await by([name, value])
      if (hit === undefined || hit.length === 0 || !hit.every((each) => each[name] === value)) continue
      const miss = await by([name, absent(value)])
      if (miss === undefined || miss.length === 0) filters.push(name)
    }
    if (filters.length === 0) continue
    const [one = '', other = one] = filters
    // A second expression may replace the first one.
    const both = form.includes('{value}') ? await by([one, body[one]], [other, absent(body[other])]) : []
    if (both === undefined || both.length === 0) return { filters, ...(form !== '{}' && { query: { filter: form } }) }
  }
  return { filters: [] }
}

function encoded(name: string, value: unknown): readonly [name: string, value: string] {
  return [encodeURIComponent(name), encodeURIComponent(String(value))]
}

/** The form in which a list is sorted, and the members by which it can be. */
async function probeOrders(
  list: ListBy,
  whole: readonly JsonObject[],
  forms: ReturnType<typeof ordersToTry>,
  { id, example = {} }: CollectionProfile,
): Promise<Facts> {
  const [first = {}] = whole
  const isDistinct = (name: string) => new Set(whole.map((each) => each[name])).size > 1
  const members = [id, ...Object.keys(example), ...Object.keys(first)].filter(
    (name, index, all) => ['string', 'number'].includes(typeof first[name]) && all.indexOf(name) === index,
  )
  const distinct = members.filter(isDistinct).toSorted((left, right) => rank(first[left]) - rank(first[right]))
  const isSorted = async (form: (typeof forms)[number], name: string) => {
    const [up, down] = [await list(inForm(form.ascending, name)), await list(inForm(form.descending, name))]
    const [rising, falling] = [up ?? [], down ?? []].map((each) => each.map((item) => item[name])) as [
      unknown[],
      unknown[],
    ]
    return isRising(rising) && isRising(falling.toReversed())
  }
  // Many servers sort only by some members, and ignore all others.
  const samples = distinct.slice(0, forms.length > mostForms ? 2 : 6)
  const tries = samples.flatMap((name) => forms.map((form) => ({ name, form })))
  const { form } = (await firstOf(tries, (each) => isSorted(each.form, each.name))) ?? {}
  if (form === undefined) return {}
  const sorts: string[] = []
  for (const name of distinct.slice(0, mostMembers)) if (await isSorted(form, name)) sorts.push(name)
  return { sorts, ...(form.ascending !== 'sort={}' && { query: form }) }
}

/** Numbers first: their order is beyond doubt. */
function rank(value: unknown): number {
  return typeof value === 'number' ? 0 : 1
}

/** Whether values rise by one of the usual orders of texts, and not all are equal. Empty ones may be at either end. */
function isRising(all: readonly unknown[]): boolean {
  const values = all.filter((each) => each !== null && each !== undefined) as (string | number)[]
  const orders = [
    (left: string | number, right: string | number) => (left < right ? -1 : left > right ? 1 : 0),
    (left: string | number, right: string | number) => String(left).localeCompare(String(right)),
  ]
  return (
    new Set(values).size > 1 &&
    orders
      .slice(0, typeof values[0] === 'number' ? 1 : 2)
      .some((order) =>
        values.every((each, index) => index === 0 || order(values[index - 1] as string | number, each) <= 0),
      )
  )
}

/**
 * A query that finds the checker's own records among others, if no filter by a marker does: a search for the mark in
 * their text, or a filter by the record to which they refer.
 */
export async function probeFinder(trial: Trial, collection: CollectionProfile, { body }: TrialRecord): Promise<Facts> {
  if (finderOf(collection) !== undefined) return {}
  // The record that exists may have been changed.
  const sent = withOtherUniqueValues(body, collection)
  const record = trial.note(collection, await trial.request(collection, 'POST', { body: sent }), sent)
  if (record === undefined) return {}
  try {
    return await finderFor(trial, collection, record)
  } finally {
    await trial.remove(record)
  }
}

async function finderFor(trial: Trial, collection: CollectionProfile, record: TrialRecord): Promise<Facts> {
  const list = listBy(trial, collection)
  const { id, query, references, change } = collection
  const documented = trial.parametersOf(collection.name)
  const finds = async (finder: string, hit: string, miss: string, isOwn: (each: JsonObject) => boolean) => {
    const by = async (value: string) => list(finderQuery(finder, () => value) ?? '')
    const found = await by(hit)
    if (!found?.some((each) => String(each[id]) === record.id) || !found.every(isOwn)) return false
    const missed = await by(miss)
    return missed === undefined || missed.length === 0
  }
  const member = markedMember(collection)
  if (member !== undefined && String(record.body[member]).includes(trial.mark)) {
    const texts = documented.filter(
      ({ name, schema }) =>
        /^(?:filters?|where)$/i.test(name) || ([undefined, 'string'].includes(typeOf(schema)) && !('enum' in schema)),
    )
    const forms = findersToTry(member, documented.length === 0 ? [] : texts.map(({ name }) => name))
    const isOwn = (each: JsonObject) => JSON.stringify(each).includes(trial.mark)
    const found =
      documented.length > 0 && texts.length === 0
        ? undefined
        : await firstOf(forms, (form) => finds(form, trial.mark, `checked-${randomText()}`, isOwn))
    const others = without(change, [member])
    // A change of the member would hide the record.
    if (found !== undefined && Object.keys(others).length > 0)
      return { change: others, query: { ...query, finder: found } }
  }
  for (const [reference, other] of Object.entries(references)) {
    const parent = trial.profile.collections.find(({ name }) => name === other)
    const isKnown = documented.length === 0 || documented.some(({ name }) => name === reference)
    const value = record.body[reference]
    if (parent === undefined || !canCreate(parent) || !isKnown || value === undefined) continue
    const finder = `${encodeURIComponent(reference)}={${other}}`
    const isOwn = (each: JsonObject) => String(each[reference]) === String(value)
    const absent = typeof value === 'number' ? '987654321' : `no-such-${randomText()}`
    if (await finds(finder, String(value), absent, isOwn)) return { query: { ...query, finder } }
  }
  return {}
}

/** The first element that passes, tried one after the other. */
async function firstOf<Element>(all: readonly Element[], passes: (element: Element) => Promise<boolean>) {
  for (const each of all) if (await passes(each)) return each
  return undefined
}
