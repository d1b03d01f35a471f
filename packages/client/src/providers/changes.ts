/** What a form has changed in a record, and the record that the change was made from. */
import { etagOf } from '../index.ts'

/** A record of any collection. */
export type AnyRecord = { readonly id: string } & Readonly<Record<string, unknown>>

// The server sets these fields.
const systemFields: ReadonlySet<string> = new Set(['id', 'created_at', 'updated_at', 'deleted_at'])

/** The fields of a new record: without those that the server sets, and without those that have no value. */
export function newRecord(values: object): Record<string, unknown> {
  return Object.fromEntries(sendable(values).filter(([, value]) => value !== null))
}

/**
 * The changed fields, as a JSON Merge Patch. Fields that the server sets are left out.
 *
 * @param before the record as it was; `undefined`: unknown, so that all fields count as changed
 * @param after the values of a form, which may be some of the fields
 */
export function changesBetween(before: object | undefined, after: object): Record<string, unknown> {
  const entries = sendable(after)
  if (before === undefined) return Object.fromEntries(entries)
  return patchOf(
    before,
    after,
    entries.map(([name]) => name),
  )
}

function sendable(values: object): [string, unknown][] {
  return Object.entries(values).filter(([name, value]) => !systemFields.has(name) && value !== undefined)
}

function patchOf(before: object, after: object, names: readonly string[]): Record<string, unknown> {
  const changed = names.filter((name) => !isSame(memberOf(before, name), memberOf(after, name)))
  return Object.fromEntries(changed.map((name) => [name, patchOfValue(memberOf(before, name), memberOf(after, name))]))
}

function patchOfValue(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after)) return after ?? null
  return patchOf(before, after, [...new Set([...Object.keys(before), ...Object.keys(after)])])
}

function isSame(left: unknown, right: unknown): boolean {
  if (typeof left !== 'object' || typeof right !== 'object' || !left || !right)
    return (left ?? null) === (right ?? null)
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const names = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...names].every((name) => isSame(memberOf(left, name), memberOf(right, name)))
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function memberOf(record: object, name: string): unknown {
  return Object.hasOwn(record, name) ? Reflect.get(record, name) : undefined
}

/**
 * The record that a change was made from, for the condition of the change. The client sends the entity tag of a record
 * that it returned; a copy has none, so the client reads the record again and compares. A copy in the cache of an
 * application may contain the last change of its own user beside the time of the change before, so that
 * `updated_at` is not compared.
 */
export function madeFrom(record: AnyRecord): AnyRecord {
  if (etagOf(record) !== undefined) return record
  const { updated_at: _, ...compared } = record
  return compared
}
