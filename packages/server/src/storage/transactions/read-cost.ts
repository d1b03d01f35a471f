/**
 * Whether a page may take long to read: decided by what is known without asking the database, and by how long the same
 * list, or a list of the same form, took before.
 */
import { namesIds, type Predicate, partsOf } from 'resourced-contract/model/predicate'
import type { ReadPage } from '../../plan/plan.ts'
import { BoundedMap } from '../sql/bounded-map.ts'
import { isIndexRange, type List, rangeOf, skippedRows } from './list.ts'
import type { Place } from './places.ts'

/** What is known of a list before its page is read. */
export interface KnownList {
  /** The live records of its collection. */
  readonly live: number
  /** Its exact total, if it is known. */
  readonly total: number | undefined
  /** The nearest known place before the page. */
  readonly place?: Place | undefined
}

/** Collections of so few records are read quickly, whatever is asked. */
const fewRecords = 10_000

/** So many rows are skipped quickly. */
const fewSkipped = 3_000

/** A prefix of fewer characters may begin very many words. The index merges all of them before it gives a row. */
const shortPrefix = 3

/** Whether a list that is not known yet may take long. */
export function mayTakeLong(plan: ReadPage, known: KnownList): boolean {
  if (known.live <= fewRecords || namesIds(plan.filter)) return false
  if (skippedBy(plan, known) > fewSkipped || hasShortPrefix(plan)) return true
  return known.total === undefined && !isIndexRange(plan)
}

function skippedBy({ page }: ReadPage, { total = Number.POSITIVE_INFINITY, place }: KnownList): number {
  const skipped = skippedRows(page, total)
  return place === undefined ? skipped : Math.min(skipped, rangeOf(page).offset - place.rows)
}

function hasShortPrefix({ search }: ReadPage): boolean {
  const last = search?.at(-1)
  return last !== undefined && [...last].length < shortPrefix
}

/** How many milliseconds a read takes that is quick enough to run where requests are answered. */
export const quick = 2

/** What was learned: whether the page takes long, by what is known of the list before (`keyOf`). */
type Pace = Map<string, boolean>

/** Learns how long lists take. */
export class Paces {
  readonly #lists = new WeakMap<List, Pace>()
  // For lists that are not kept, and for those that are asked for the first time. Forms come from callers.
  readonly #forms = new BoundedMap<Pace>(1_000)

  /** Whether the page of a list is expected to take long. */
  isLong(list: List, known: KnownList): boolean {
    const { plan } = list
    const key = keyOf(plan, known)
    const learned = this.#lists.get(list)?.get(key)
    if (learned !== undefined) return learned
    if (known.live <= fewRecords) return false
    // How many words begin with a prefix differs from one search to the next.
    const alike = hasShortPrefix(plan) ? undefined : this.#forms.get(formOf(plan))?.get(key)
    return alike ?? mayTakeLong(plan, known)
  }

  /** Learns how many milliseconds a page took: more than `quick` is long. */
  learn(list: List, known: KnownList, took: number): void {
    const key = keyOf(list.plan, known)
    const isLong = took > quick
    const pace = this.#lists.get(list)
    if (pace?.get(key) === isLong) return
    if (pace === undefined) this.#lists.set(list, new Map([[key, isLong]]))
    else pace.set(key, isLong)
    this.#forms.of(formOf(list.plan), () => new Map()).set(key, isLong)
  }
}

/** Whether the total is known or has to be counted first, and about how many rows are skipped. */
function keyOf(plan: ReadPage, known: KnownList): string {
  return `${known.total !== undefined} ${32 - Math.clz32(skippedBy(plan, known))}`
}

/** What lists have in common that differ in the values of their conditions only. */
function formOf({ resource, filter, permitted, parent, search, deleted, sort, page }: ReadPage): string {
  const conditions = [
    formOfPredicate(filter),
    formOfPredicate(permitted),
    parent?.field,
    search?.length,
    deleted === undefined,
  ]
  const order = sort.map(({ field, descending }) => (descending ? `-${field}` : field))
  const direction = page.style === 'cursor' ? page.position?.direction : undefined
  return `${resource.name} ${conditions.join(' ')} ${order.join()} ${direction}`
}

function formOfPredicate(predicate: Predicate): string {
  const { kind } = predicate
  if (kind === 'event')
    return predicate.grants.map((each) => `${each.collection}(${formOfPredicate(each.read)})`).join()
  if (kind === 'compare') return `${predicate.field} ${predicate.operator}`
  if (kind === 'through') return `${predicate.field} ${kind}(${formOfPredicate(predicate.predicate)})`
  if ('field' in predicate) return `${predicate.field} ${kind}`
  const parts = partsOf(predicate)
  return parts.length === 0 ? kind : `${kind}(${parts.map(formOfPredicate).join()})`
}
