/** The first questions of a plan on a record: is it there, may the caller, is it in the expected state (CON-6). Pure. */
import { decidePreconditions } from '../http/preconditions.ts'
import { allOf, type Predicate } from '../model/predicate.ts'
import type { RecordValues } from '../model/resource.ts'
import type {
  Conditions,
  Delete,
  DeleteJob,
  DeleteMatching,
  Outcome,
  ReadPage,
  ReadRecord,
  Restore,
  RevokeKey,
  Update,
  Validators,
} from './plan.ts'
import { validatorsOf } from './validators.ts'

/** What a storage found at the plan's address. */
export interface Found extends Validators {
  /** Whether the plan's permission holds for the record. */
  readonly permitted: boolean
}

/** The record at the address of a change. */
export interface CurrentRecord {
  readonly found: Found | undefined
  readonly record: RecordValues | undefined
  /** Whether the caller may read it. */
  readonly isReadable: boolean
}

/** The refusal, or a 304, that ends a plan here; `undefined` where it goes on. */
export function admit(
  plan: ReadRecord | Update | Delete | Restore | RevokeKey | DeleteJob,
  found: Found | undefined,
): Outcome | undefined {
  if (found === undefined) return { kind: 'missing' }
  if (!found.permitted) return { kind: 'forbidden' }
  const reading = plan.kind === 'read-record'
  const conditional = plan.conditions.ifMatch !== undefined || plan.conditions.ifUnmodifiedSince !== undefined
  const mustHave = plan.kind !== 'restore' && !reading
  if (mustHave && plan.resource.preconditions === 'required' && !conditional) return { kind: 'precondition-required' }
  const verdict = decidePreconditions({
    method: reading ? 'GET' : 'PUT',
    conditions: plan.conditions,
    current: validatorsOf(plan.versionResource ?? plan.resource, found),
  })
  if (verdict === 'proceed') return undefined
  if (verdict !== 'not-modified') return { kind: 'stale', header: verdict.failed }
  return { kind: 'not-modified', revision: found.revision, updatedAt: found.updatedAt }
}

/**
 * The records on which a change can be decided for its caller. The operations of a JSON Patch read the record, and so does a
 * condition: both need permission to read it (AUT-9). `*` asks only whether there is a record, as 404 tells anyhow.
 */
export function decidable(
  plan: Pick<Update | Delete | Restore, 'kind' | 'permitted' | 'conditions'>,
  mayRead: Predicate,
): Predicate {
  const { ifMatch, ifNoneMatch, ifUnmodifiedSince } = plan.conditions
  const isOfState = (tags: Conditions['ifMatch']) => tags !== undefined && tags !== 'any'
  const reads = plan.kind === 'patch' || isOfState(ifMatch) || isOfState(ifNoneMatch) || ifUnmodifiedSince !== undefined
  return reads ? allOf([plan.permitted, mayRead]) : plan.permitted
}

/** The same for a list, which has an entity tag and no date. */
export function admitPage(plan: ReadPage, tag: string): Outcome | undefined {
  const verdict = decidePreconditions({
    method: 'GET',
    conditions: plan.conditions,
    current: { tag: { opaque: tag, weak: false } },
  })
  if (verdict === 'proceed') return undefined
  return verdict === 'not-modified' ? { kind: 'page-not-modified', tag } : { kind: 'stale', header: verdict.failed }
}

const untagged = { tag: { opaque: '', weak: true }, matchTags: [] }

/** The same for the records that match a filter: they have no entity tag together, so that none matches. */
export function admitMatching({ conditions }: Pick<DeleteMatching, 'conditions'>): Outcome | undefined {
  const verdict = decidePreconditions({ method: 'DELETE', conditions, current: untagged })
  return typeof verdict === 'object' ? { kind: 'stale', header: verdict.failed } : undefined
}

/** Whether a request has any condition at all. */
export function isConditional(conditions: Conditions): boolean {
  for (const condition of Object.values(conditions)) if (condition !== undefined) return true
  return false
}
