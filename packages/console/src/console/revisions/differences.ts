/** What a change has made different, and what a restoration of a state would. */
import { sameJson, type Values } from '../forms/draft.ts'
import type { Collection, Field } from '../interface/catalog.ts'
import { own } from '../interface/own.ts'
import type { JsonValue, RecordData } from '../interface/records.ts'

/** A state of a record, and the change that led to it (HIS-2). */
export interface Revision {
  readonly id: string
  readonly kind: 'created' | 'updated' | 'deleted' | 'restored'
  readonly created_at: string
  /** Who made the change; `null`: unknown, or the server. */
  readonly caller: string | null
  /** The version that the change was made in. */
  readonly version: string | null
  /** The record after the change; `null`: it was deleted. */
  readonly record: RecordData | null
}

/** A field whose value a change has made different. */
export interface Difference {
  readonly field: Field
  readonly before: JsonValue | undefined
  readonly after: JsonValue | undefined
}

/** Every change alters these. */
const stamps: ReadonlySet<string> = new Set(['id', 'created_at', 'updated_at'])

/** @param before the record before the change; `undefined`: there was none, or its state is not kept */
export function differences(
  { fields }: Collection,
  before: RecordData | undefined,
  after: RecordData,
): readonly Difference[] {
  return fields
    .filter(({ name }) => !stamps.has(name))
    .map((field) => ({ field, before: before && own(before, field.name), after: own(after, field.name) }))
    .filter((each) => !sameJson(each.before ?? null, each.after ?? null))
}

/**
 * The record before each change, in the order of the revisions: newest first. A deletion leaves the record as it was.
 *
 * @returns `undefined` where no state before is known
 */
export function recordsBefore(revisions: readonly Revision[]): readonly (RecordData | undefined)[] {
  const found: (RecordData | undefined)[] = []
  let before: RecordData | undefined
  for (const { record } of revisions.toReversed()) {
    found.unshift(before)
    before = record ?? before
  }
  return found
}

/** The values that give a record the state that it had, as far as the fields can be changed. */
export function restoringValues(fields: readonly Field[], present: RecordData, state: RecordData): Values {
  const values = fields
    .filter(({ name, immutable }) => !immutable && own(state, name) !== undefined)
    .map(({ name }) => [name, own(state, name)] as const)
    .filter(([name, value]) => !sameJson(own(present, name), value))
  return Object.fromEntries(values)
}
