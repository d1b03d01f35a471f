/**
 * The first decision about a record (CON-6): is there one, may the caller use it, and do the preconditions of the
 * request hold? Here are also the validators that preconditions compare.
 */
import { createHmac, hash } from 'node:crypto'
import { allOf, collectionsOf, fieldsOf, type Predicate } from 'resourced-contract/model/predicate'
import type { RecordValues, Resource } from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import { type CurrentState, decidePreconditions } from '../http/preconditions.ts'
import { isServer } from '../policy/permit.ts'
import type { Outcome, Validators } from './outcome.ts'
import type {
  Conditions,
  Delete,
  DeleteJob,
  DeleteMatching,
  DeleteWebhook,
  EraseHistory,
  ReadPage,
  ReadRecord,
  Restore,
  RevokeKey,
  Update,
  UpdateMatching,
} from './plan.ts'

/** The state of the record at the address of a plan. */
export interface Found extends Validators {
  /** Whether the plan's permission holds for the record. */
  readonly permitted: boolean
}

/** The record at the address of a change. */
export interface CurrentRecord extends RecordAccess {
  readonly found: Found | undefined
  readonly record: RecordValues | undefined
}

/** What the caller may see and write of a record. */
export interface RecordAccess {
  /** Whether the caller may read it. */
  readonly isReadable: boolean
  /** The fields whose values the caller may not read; left out: there are none. */
  readonly hidden?: ReadonlySet<string>
  /** The fields that the caller may not write; left out: there are none. */
  readonly locked?: ReadonlySet<string>
}

type Checked = ReadRecord | Update | Delete | Restore | EraseHistory | RevokeKey | DeleteJob | DeleteWebhook

/** The refusal, or the 304, that ends a plan; `undefined`: the plan goes on. */
export function checkRecord(plan: Checked, found: Found | undefined): Outcome | undefined {
  return checkAccess(found) ?? checkConditions(plan, found as Found)
}

/** Whether there is a record, and the caller may use it. */
export function checkAccess(found: Found | undefined): Outcome | undefined {
  if (found === undefined) return { kind: 'missing' }
  return found.permitted ? undefined : { kind: 'forbidden' }
}

/** The same for a record that is there, and that the caller may use. */
export function checkConditions(plan: Checked, found: Validators): Outcome | undefined {
  const { kind, resource, versionResource, conditions } = plan
  const isRead = kind === 'read-record'
  const { ifMatch, ifNoneMatch, ifUnmodifiedSince } = conditions
  const isConditioned = ifMatch !== undefined || ifUnmodifiedSince !== undefined || ifNoneMatch === 'any'
  const mayBeUnconditioned = kind === 'restore' || isRead || isServer(plan.caller)
  const mustBeConditioned = resource.preconditions === 'required' && !mayBeUnconditioned
  if (mustBeConditioned && !isConditioned) return { kind: 'precondition-required' }
  if (!isConditional(conditions)) return undefined
  const current = validatorsOf(versionResource ?? resource, found, conditions)
  const verdict = decidePreconditions({ method: isRead ? 'GET' : 'PUT', conditions, current })
  if (verdict === 'proceed') return undefined
  if (verdict !== 'not-modified') return { kind: 'stale', header: verdict.failed }
  const { revision, updatedAt, hidden } = found
  return { kind: 'not-modified', revision, updatedAt, ...(hidden !== undefined && { hidden }) }
}

/** The same for a list, which has an entity tag and no date. */
export function checkPage({ conditions }: Pick<ReadPage, 'conditions'>, tag: string): Outcome | undefined {
  const verdict = decidePreconditions({ method: 'GET', conditions, current: { tag: { opaque: tag, weak: false } } })
  if (verdict === 'proceed') return undefined
  return verdict === 'not-modified' ? { kind: 'page-not-modified', tag } : { kind: 'stale', header: verdict.failed }
}

const untagged = { tag: { opaque: '', weak: true }, matchTags: [] }

/** The same for the records that match a filter: together they have no entity tag, so no tag matches. */
export function checkFilterConditions({
  conditions,
}: Pick<DeleteMatching | UpdateMatching, 'conditions'>): Outcome | undefined {
  const verdict = decidePreconditions({ method: 'DELETE', conditions, current: untagged })
  return typeof verdict === 'object' ? { kind: 'stale', header: verdict.failed } : undefined
}

/** Whether a request has any precondition. */
export function isConditional(conditions: Conditions): boolean {
  const { ifMatch, ifNoneMatch } = conditions
  return ifMatch !== undefined || ifNoneMatch !== undefined || hasDate(conditions)
}

function hasDate({ ifModifiedSince, ifUnmodifiedSince }: Conditions): boolean {
  return ifModifiedSince !== undefined || ifUnmodifiedSince !== undefined
}

/**
 * The opaque tag of a text in a database: callers cannot make it themselves, and it fits nothing of another tenant, not
 * even the same text (TEN-2).
 *
 * @param secret of the database
 */
export function keyedTag(secret: Uint8Array, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url').slice(0, 22)
}

/**
 * The opaque tag of a record: its revision, and the shape of its representation, so that a changed declaration also
 * changes the tags of unchanged records (CON-2). Where the caller may not read some fields, their names are a part of
 * it: a caller who gains or loses access to a field gets another representation.
 */
export function tagOf(resource: Resource, { revision, hidden }: Validators): string {
  const tag = `${revision}-${resource.shape}`
  return hidden === undefined ? tag : `${tag}-${hash('sha256', hidden, 'base64url').slice(0, 6)}`
}

/** What the conditions compare: the strong tag, and the date in seconds since 1970 where one of them is a date. */
function validatorsOf(resource: Resource, validators: Validators, conditions: Conditions): CurrentState {
  const tag = { opaque: tagOf(resource, validators), weak: false }
  return hasDate(conditions) ? { tag, lastModified: Math.floor(Date.parse(validators.updatedAt) / 1000) } : { tag }
}

/**
 * The records whose change may be decided for the caller. The operations of a JSON Patch and preconditions depend on
 * the record, so they need permission to read it (AUT-9). `*` only asks whether there is a record, which a 404 tells
 * anyway.
 */
export function decidableRecords(
  plan: Pick<Update | Delete | Restore, 'kind' | 'permitted' | 'conditions'>,
  mayRead: Predicate,
): Predicate {
  const { ifMatch, ifNoneMatch, ifUnmodifiedSince } = plan.conditions
  const isOfState = (tags: Conditions['ifMatch']) => tags !== undefined && tags !== 'any'
  const reads = plan.kind === 'patch' || isOfState(ifMatch) || isOfState(ifNoneMatch) || ifUnmodifiedSince !== undefined
  return reads ? allOf([plan.permitted, mayRead]) : plan.permitted
}

/**
 * Whether changes of some fields can change the result of a predicate: also by way of other records that it looks at.
 */
export function dependsOn({ name }: Resource, predicate: Predicate, changed: readonly string[]): boolean {
  return fieldsOf(predicate).some((field) => changed.includes(field)) || collectionsOf(predicate).has(name)
}

/** A restoration of more records than this is a job (DEL-13), whatever is declared for deletions. */
export const mostRestored = 5_000

/**
 * The start of the grace period (DEL-7). A record that was deleted before is gone for every caller, purged or not.
 *
 * @param now milliseconds since 1970
 */
export function retainedSince({ deletion }: Pick<Resource, 'deletion'>, now: number): string {
  return timestamp(now - deletion.gracePeriod)
}
