/** Plans of deletions: of one record, of a list of ids (DEL-9), and of what matches a filter (DEL-10). */
import { uuidv7 } from 'uuidv7'
import type { OnDelete } from '../model/declaration.ts'
import { escapeStep } from '../model/place.ts'
import { isObject } from '../model/plain-copy.ts'
import type { Predicate } from '../model/predicate.ts'
import type { Resource } from '../model/resource.ts'
import { permit } from '../policy/permit.ts'
import type { Input } from '../request/input.ts'
import type { Issue } from '../spec/faults.ts'
import type { BulkDelete, Delete, DeleteMatching, Removal } from './plan.ts'
import { idempotencyOf, type Planning } from './planning.ts'

/** Plans the deletion of one record. */
export function planDeletion(
  planning: Planning,
  resource: Resource,
  id: string,
  { conditions, permitted }: Pick<Delete, 'conditions' | 'permitted'>,
): Delete {
  return { kind: 'delete', id, conditions, ...removalOf(planning, resource, permitted) }
}

/** Plans the deletion of several records, of which the caller sees only those that they may read (AUT-9). */
export function planBulkDeletion(
  planning: Planning,
  resource: Resource,
  input: Extract<Input, { readonly kind: 'bulk-delete' | 'delete-matching' }>,
  permitted: Predicate,
): BulkDelete | DeleteMatching {
  const removal = removalOf(planning, resource, permitted)
  if (input.kind === 'delete-matching') {
    const { filter, conditions } = input
    return { kind: 'delete-matching', filter, conditions, most: planning.preferred.most, ...removal }
  }
  const read = readBulkIds(input.body, resource.deletion.bulk?.max ?? 0)
  const { ids, issues } = 'issues' in read ? { ids: [], issues: read.issues } : { ids: read.ids, issues: [] }
  const idempotency = idempotencyOf(planning, [resource.name, 'bulk-delete'], input)
  return { kind: 'bulk-delete', ids, issues, idempotency, ...removal }
}

function removalOf(planning: Planning, resource: Resource, permitted: Predicate): Removal {
  const { caller, catalog, now, preferred, basePath } = planning
  const deletion = uuidv7()
  const { above } = resource.deletion.asynchronous
  // Clients cannot turn deletions into jobs where the declaration rules jobs out.
  const asynchronously = preferred.asynchronously && above !== Number.POSITIVE_INFINITY
  const concerned = [...catalog.resources.values()].filter(
    (each) => each === resource || each.fields.some(({ reference }) => isDecisive(reference?.onDelete)),
  )
  return {
    resource,
    deletion,
    statusUrl: `${basePath}/jobs/${deletion}`,
    above: asynchronously ? 0 : above,
    permitted,
    readable: readableOf(planning, concerned),
    caller,
    now,
  }
}

/** Whether the records that refer to a deleted one are deleted with it, or prevent its deletion. */
function isDecisive(onDelete: OnDelete | undefined): boolean {
  return onDelete === 'restrict' || onDelete === 'cascade'
}

/** What the caller may read of some collections, by their names. */
export function readableOf(
  { catalog, caller }: Planning,
  resources: Iterable<Resource>,
): ReadonlyMap<string, Predicate> {
  return new Map([...resources].map((each) => [each.name, permit(catalog, caller, 'read', each)]))
}

/** The most unknown keys that one response names. */
const mostUnknown = 100

type BulkIds = { readonly ids: readonly string[] } | { readonly issues: readonly Issue[] }

/**
 * Reads `{ "ids": ["…", …] }`.
 *
 * @param most how many there may be
 *
 * @example
 * readBulkIds({ ids: ['a', 'a'] }, 1000) // { issues: [{ code: 'INVALID_VALUE', pointer: '/ids/1', … }] }
 */
export function readBulkIds(body: unknown, most: number): BulkIds {
  if (!isObject(body)) {
    return { issues: [{ code: 'INVALID_TYPE', message: 'The body must be a JSON object with ids.', pointer: '' }] }
  }
  const unknown = Object.keys(body).filter((name) => name !== 'ids')
  const issues: Issue[] = unknown.slice(0, mostUnknown).map((name) => ({
    code: 'UNKNOWN_FIELD',
    message: `${name} means nothing here: send ids alone.`,
    pointer: `/${escapeStep(name)}`,
  }))
  const ids: unknown = body['ids']
  if (!Array.isArray(ids)) {
    issues.push({ code: 'REQUIRED', message: 'ids must be an array of ids.', pointer: '/ids' })
    return { issues }
  }
  if (ids.length === 0) issues.push({ code: 'TOO_FEW_ITEMS', message: 'ids must name a record.', pointer: '/ids' })
  if (ids.length > most) {
    const message = `ids may have ${most} items, not ${ids.length}; delete the others by another request.`
    issues.push({ code: 'TOO_MANY_ITEMS', message, pointer: '/ids' })
    return { issues }
  }
  const places = new Map<unknown, number>()
  for (const [index, id] of ids.entries()) {
    const pointer = `/ids/${index}`
    const before = places.get(id)
    if (typeof id !== 'string') issues.push({ code: 'INVALID_TYPE', message: 'An id is a string.', pointer })
    else if (before !== undefined) {
      issues.push({ code: 'INVALID_VALUE', message: `It repeats /ids/${before}; name each record once.`, pointer })
    }
    places.set(id, before ?? index)
  }
  return issues.length > 0 ? { issues } : { ids: ids as string[] }
}
