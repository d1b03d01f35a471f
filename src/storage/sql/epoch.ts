/**
 * The epoch of a collection: how often a migration has taken values out of all of its records at once. It counts in
 * every record's revision, so that entity tags change, and no row has to be written for it.
 */
import sql, { raw, type Sql } from 'sql-template-tag'
import type { Transaction } from '../transaction.ts'
import { isSystemTable } from './tables.ts'

/** The epochs of collections, by their names. */
export type Epochs = ReadonlyMap<string, number>

const prefix = 'epoch:'

/**
 * The key under which `resourced_meta` has the epoch of a collection, as an SQL literal. Names come from the catalog
 * only.
 */
function keyOf(collection: string): string {
  return `'${prefix}${collection}'`
}

/** The revision of a row as anybody is told it, and tells it. */
export function revisionSql({ epochs }: { readonly epochs?: Epochs }, collection: string): Sql {
  const epoch = epochs?.get(collection)
  return raw(epoch === undefined ? '_revision' : `(_revision + ${epoch})`)
}

/** The column of a select that gives the revision as `_revision`. */
export function revisionColumn(opened: { readonly epochs?: Epochs }, collection: string): Sql {
  return opened.epochs?.has(collection) ? sql`${revisionSql(opened, collection)} as _revision` : raw('_revision')
}

/** Reads the epochs of a database that is being opened: a migration that begins another is over by then. */
export function* readEpochs(): Transaction<Epochs> {
  const rows = yield sql`select key, value from resourced_meta where key like ${`${prefix}%`}`
  return new Map(rows.map((row) => [String(row['key']).slice(prefix.length), Number(row['value'])]))
}

/** Statements that begin the next epoch of a collection, and move its clock on: its records are not what they were. */
export function beginEpoch(collection: string): string[] {
  if (isSystemTable(collection)) return []
  const next = 'cast(cast(resourced_meta.value as bigint) + 1 as text)'
  return [
    `insert into resourced_meta (key, value) values (${keyOf(collection)}, '1') on conflict (key) do update set value = ${next}`,
    `update resourced_clocks set revision = revision + 1 where collection = '${collection}'`,
  ]
}

/** A statement that gives the epoch to the name that a collection has now. */
export function renameEpoch(from: string, to: string): string {
  return `update resourced_meta set key = ${keyOf(to)} where key = ${keyOf(from)}`
}

/** A statement that forgets the epoch of a collection that is gone: others may come by that name, with other ids. */
export function forgetEpoch(collection: string): string {
  return `delete from resourced_meta where key = ${keyOf(collection)}`
}
