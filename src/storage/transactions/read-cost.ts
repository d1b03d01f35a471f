/**
 * Whether a page may take long to read: decided by what is known without asking the database, and by how long the same
 * list, or a list of the same form, took before.
 */
import type { Predicate } from '../../model/predicate.ts'
import type { ReadPage } from '../../plan/plan.ts'
import { BoundedMap } from '../sql/bounded-map.ts'
import { isIndexRange, type List } from './list.ts'

/** What is known of a list before its page is read. */
export interface KnownList {
  /** The live records of its collection. */
  readonly live: number
  /** Whether its exact total is known. */
  readonly hasTotal: boolean
}

/** Collections of so few records are read quickly, whatever is asked. */
const fewRecords = 10_000

/** So many rows are skipped quickly. */
const fewSkipped = 10_000

/** A prefix of fewer characters may begin very many words. The index merges all of them before it gives a row. */
const shortPrefix = 3

/** Whether a list that is not known yet may take long. */
export function mayTakeLong(plan: ReadPage, { live, hasTotal }: KnownList): boolean {
  if (live <= fewRecords) return false
  return skippedBy(plan) > fewSkipped || hasShortPrefix(plan) || !(hasTotal || isIndexRange(plan))
}

function skippedBy({ page }: ReadPage): number {
  if (page.style === 'cursor') return 0
  return page.style === 'page' ? (page.page - 1) * page.perPage : page.offset
}

function hasShortPrefix({ search }: ReadPage): boolean {
  const last = search?.at(-1)
  return last !== undefined && [...last].length < shortPrefix
}

/** How many milliseconds a read takes that is quick enough to run where requests are answered. */
export const quick = 4

/** What was learned: whether the page takes long if the total is known, and if it has to be counted first. */
interface Pace {
  withTotal?: boolean
  counting?: boolean
}

/** Learns how long lists take. */
export class Paces {
  readonly #lists = new WeakMap<List, Pace>()
  // For lists that are not kept, and for those that are asked for the first time. Forms come from callers.
  readonly #forms = new BoundedMap<Pace>(1_000)

  /** Whether the page of a list is expected to take long. */
  isLong(list: List, known: KnownList): boolean {
    const key = keyOf(known)
    const { plan } = list
    const learned = this.#lists.get(list)?.[key]
    if (learned !== undefined) return learned
    if (known.live <= fewRecords) return false
    // How many words begin with a prefix differs from one search to the next.
    const alike = hasShortPrefix(plan) ? undefined : this.#forms.get(formOf(plan))?.[key]
    return alike ?? mayTakeLong(plan, known)
  }

  /** Learns how many milliseconds a page took: more than `quick` is long. */
  learn(list: List, known: KnownList, took: number): void {
    const key = keyOf(known)
    const isLong = took > quick
    const pace = this.#lists.get(list)
    if (pace === undefined) this.#lists.set(list, { [key]: isLong })
    else if (pace[key] !== isLong) pace[key] = isLong
    else return
    const form = this.#forms.of(formOf(list.plan), () => ({}))
    form[key] = isLong
  }
}

function keyOf({ hasTotal }: KnownList): keyof Pace {
  return hasTotal ? 'withTotal' : 'counting'
}

/** What lists have in common that differ in the values of their conditions only, and in nearby pages. */
function formOf(plan: ReadPage): string {
  const { resource, filter, permitted, parent, search, deleted, sort, page } = plan
  const depth = page.style === 'cursor' ? (page.position?.direction ?? '') : 32 - Math.clz32(skippedBy(plan))
  const conditions = [
    formOfPredicate(filter),
    formOfPredicate(permitted),
    parent?.field,
    search?.length,
    deleted === undefined,
  ]
  const order = sort.map(({ field, descending }) => (descending ? `-${field}` : field))
  return `${resource.name} ${conditions.join(' ')} ${order.join()} ${depth}`
}

function formOfPredicate(predicate: Predicate): string {
  switch (predicate.kind) {
    case 'and':
    case 'or':
      return `${predicate.kind}(${predicate.terms.map(formOfPredicate).join()})`
    case 'not':
      return `not(${formOfPredicate(predicate.term)})`
    case 'compare':
      return `${predicate.field} ${predicate.operator}`
    case 'through':
      return `${predicate.field} ${predicate.kind}(${formOfPredicate(predicate.predicate)})`
    case 'in':
    case 'differs':
    case 'null':
      return `${predicate.field} ${predicate.kind}`
    default:
      return predicate.kind
  }
}
