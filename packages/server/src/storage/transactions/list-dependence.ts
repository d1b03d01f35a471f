/** What a list depends on, besides the records of its collection: its caller, and the records of other collections. */
import { hash } from 'node:crypto'
import { predicatesOf } from 'resourced-contract/model/field-grants'
import { exactText } from 'resourced-contract/model/plain-copy'
import { collectionsOf, type SortTerm } from 'resourced-contract/model/predicate'
import { isHistory } from 'resourced-contract/model/recorded'
import type { Include } from '../../plan/include.ts'
import type { ReadPage } from '../../plan/plan.ts'
import { predicateDigest } from '../sql/predicate-digest.ts'
import { grantsDigest } from '../sql/records.ts'

/**
 * The part of keys that depends on the caller: what may be read, and what the filter and the order have of it. A
 * condition of the request may hold values of its caller.
 */
export function allowedKey({ permitted, readableFields, filter, sort }: ReadPage): string {
  const order = sort.some(isRelated) ? hash('sha256', exactText(sort), 'base64url') : ''
  return `${predicateDigest(permitted)}${grantsDigest(readableFields)} ${predicateDigest(filter)}${order}`
}

/** Whether a term orders by the value of a related record. */
export function isRelated({ through }: SortTerm): boolean {
  return through !== undefined
}

/** The name of the first field of an order, with those of the references that lead to it, which no field has. */
export function firstField({ sort }: ReadPage): string | undefined {
  const [first] = sort
  return first && [...(first.through ?? []), first].map(({ field }) => field).join('.')
}

const none: ReadonlySet<string> = new Set()

/** The collections beside its own that a caller's view of a list depends on. */
export function otherCollections(
  plan: Pick<ReadPage, 'permitted' | 'deleted' | 'readableFields' | 'filter' | 'sort' | 'parent' | 'resource'>,
): ReadonlySet<string> {
  const { permitted, deleted, readableFields, parent, resource } = plan
  // The clock of a collection shows the states of its records, which other transactions may write in another order.
  const related = parent !== undefined && isHistory(resource) ? new Set([parent.resource.name]) : relatedTo(plan)
  const isWhole = permitted.kind === 'always' && deleted === undefined && readableFields === undefined
  if (isWhole) return related
  const others = collectionsOf(permitted, new Set(related))
  if (readableFields !== undefined) for (const each of predicatesOf(readableFields)) collectionsOf(each, others)
  if (deleted !== undefined) collectionsOf(deleted.permitted, others)
  return others
}

/** Adds the collections that the related records of a read depend on, with their permissions, to those of the read. */
export function withIncluded(others: ReadonlySet<string>, include: Include | undefined): ReadonlySet<string> {
  if (include === undefined) return others
  const all = new Set(others)
  for (const { collection, permitted, referring, readableFields, sort } of include.paths) {
    all.add(collection)
    collectionsOf(referring, all)
    for (const each of relatedTo({ filter: permitted, sort })) all.add(each)
    for (const each of predicatesOf(readableFields)) collectionsOf(each, all)
  }
  return all
}

/**
 * The part of keys that depends on related records: what is asked for, and what the caller may read of them.
 *
 * @returns `undefined`: which deleted records a caller is shown depends on the time
 */
export function includedKey({ paths }: Include): string | undefined {
  if (paths.some(({ deleted }) => deleted !== undefined)) return undefined
  return hash('sha256', exactText(paths), 'base64url')
}

/** The collections whose records the filter and the order of a list ask for. */
export function relatedTo({ filter, sort }: Pick<ReadPage, 'filter' | 'sort'>): ReadonlySet<string> {
  if (filter.kind === 'always' && !sort.some(isRelated)) return none
  const related = collectionsOf(filter)
  for (const { through = [] } of sort) {
    for (const { collection, permitted } of through) {
      related.add(collection)
      if (permitted !== undefined) collectionsOf(permitted, related)
    }
  }
  return related
}
