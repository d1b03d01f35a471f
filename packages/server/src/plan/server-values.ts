/**
 * The values that the server sets when it writes a record: defaults from the caller or the clock (RES-14), and fields
 * with `set` (RES-15). Numbers of sequences are assigned later, when nothing can refuse the record any more.
 */
import { isDeepStrictEqual } from 'node:util'
import { canonicalValue } from 'resourced-contract/model/decimal'
import type { ServerValue } from 'resourced-contract/model/declaration'
import type { CallerView } from 'resourced-contract/model/declared-functions'
import { isObject, memberAt } from 'resourced-contract/model/plain-copy'
import type { Draft, Field } from 'resourced-contract/model/resource'
import { isStorableText } from 'resourced-contract/model/text'
import { isServer } from '../policy/permit.ts'
import type { Create, Update } from './plan.ts'

/** Where the server finds values: the caller, and the time of the change (ISO 8601, UTC, milliseconds). */
export interface ServerSources {
  readonly caller: CallerView
  readonly at: string
}

/**
 * The value that the server finds for a field; `undefined` if the caller does not have the attribute, or if its value
 * does not fit the field.
 */
export function serverValue(field: Field, wanted: ServerValue | undefined, { caller, at }: ServerSources): unknown {
  if (wanted === undefined) return undefined
  if ('now' in wanted) return field.format === 'date' ? at.slice(0, 10) : at
  const found = memberAt(caller, wanted.caller.split('.'))
  if (found === undefined || found === null || !isStorable(found) || field.validate(found).length > 0) return undefined
  return canonicalValue(field, found)
}

/** Whether a request could have the value: claims come from tokens and applications, which allow more. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return isStorableText(value)
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, each]) => isStorableText(name) && isStorable(each))
}

/** Whether the server alone decides about a field of a new record, so that a draft without a value is complete. */
export function isSetOnCreation({ set, sequence }: Field): boolean {
  return sequence !== undefined || set?.onCreate !== undefined
}

/** The caller lacks an attribute that sets a field which must have a value. */
export interface LackingAttribute {
  readonly kind: 'forbidden'
  /** `claims.tenant` */
  readonly lacks: string
}

/** A change whose record the server completes. */
type Completed = Pick<Create | Update, 'resource' | 'caller' | 'body'>

/** The fields that the server sets, except for those that its own client sets instead (EVT-12). */
function setFields({ resource, caller, body }: Completed): readonly Field[] {
  const given = isServer(caller) && isObject(body) ? body : {}
  return resource.fields.filter(({ name, set }) => set !== undefined && !Object.hasOwn(given, name))
}

/** Sets the fields of a new record, in stored terms. A missing attribute leaves the field to its default. */
export function withCreationValues(plan: Completed, draft: Draft): Draft | LackingAttribute {
  const { resource, caller } = plan
  const { fields } = resource
  if (!fields.some(({ set }) => set?.onCreate !== undefined)) return draft
  const values: Record<string, unknown> = { ...draft.values }
  const at = String(values['created_at'])
  for (const field of setFields(plan)) {
    const { name, set, required } = field
    if (set?.onCreate === undefined) continue
    const value = serverValue(field, set.onCreate, { caller, at }) ?? field.default ?? null
    if (value === null && required) return lacking(set.onCreate)
    values[name] = value
  }
  const changed = fields.map(({ name }) => name).filter((name) => values[name] !== null)
  return { ...draft, values, changed }
}

/**
 * Sets the fields of a record that a request changes, in stored terms. A request that changes nothing sets nothing.
 *
 * @param current the record before the change
 */
export function withUpdateValues(plan: Completed, draft: Draft, current: Draft['values']): Draft | LackingAttribute {
  const { caller } = plan
  const fields = setFields(plan)
  if (draft.changed.length === 0 || !fields.some(({ set }) => set?.onUpdate !== undefined)) return draft
  const values: Record<string, unknown> = { ...draft.values }
  const changed = [...draft.changed]
  const at = String(values['updated_at'])
  for (const field of fields) {
    const { name, set, required } = field
    if (set?.onUpdate === undefined) continue
    const value = serverValue(field, set.onUpdate, { caller, at }) ?? field.default ?? null
    if (value === null && required) return lacking(set.onUpdate)
    values[name] = value
    if (!isDeepStrictEqual(value, current[name] ?? null)) changed.push(name)
  }
  return { ...draft, values, changed }
}

function lacking(wanted: ServerValue): LackingAttribute {
  return { kind: 'forbidden', lacks: 'caller' in wanted ? wanted.caller : 'now' }
}
