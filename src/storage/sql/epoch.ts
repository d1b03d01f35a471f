/**
 * The epoch of a collection: how many migrations have removed values from all of its records. It is added to every
 * record's revision, so that all entity tags change without a write to each row.
 */
import sql from 'sql-template-tag'
import type { Transaction } from '../transaction.ts'
import { isSystemTable } from './tables.ts'

/** The epochs of collections, by their names. */
export type Epochs = ReadonlyMap<string, number>

const prefix = 'epoch:'

/** The key of a collection's epoch in `resourced_meta`, as an SQL literal. Names come from the catalog only. */
function keyOf(collection: string): string {
  return `'${prefix}${collection}'`
}

/** Reads the epochs when a database is opened, after migrations. */
export function* readEpochs(): Transaction<Epochs> {
  const rows = yield sql`select key, value from resourced_meta where key like ${`${prefix}%`}`
  return new Map(rows.map((row) => [String(row['key']).slice(prefix.length), Number(row['value'])]))
}

/** Statements that begin the next epoch of a collection and advance its clock. */
export function beginEpoch(collection: string): string[] {
  if (isSystemTable(collection)) return []
  const next = 'cast(cast(resourced_meta.value as bigint) + 1 as text)'
  return [
    `insert into resourced_meta (key, value) values (${keyOf(collection)}, '1') on conflict (key) do update set ` +
      `value = ${next}`,
    `update resourced_clocks set revision = revision + 1 where collection = '${collection}'`,
  ]
}

/** A statement that moves the epoch of a collection to its new name. */
export function renameEpoch(from: string, to: string): string {
  return `update resourced_meta set key = ${keyOf(to)} where key = ${keyOf(from)}`
}

/** A statement that deletes the epoch of a dropped collection: another collection may get its name. */
export function forgetEpoch(collection: string): string {
  return `delete from resourced_meta where key = ${keyOf(collection)}`
}
