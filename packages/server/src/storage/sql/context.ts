/**
 * The context in which SQL is compiled: the catalog of an open database, the engine that runs the SQL, and cached
 * texts.
 */

import { simpleRules } from 'resourced-contract/model/access-rules'
import type { AccessRule } from 'resourced-contract/model/declaration'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import sql, { type Sql } from 'sql-template-tag'
import type { Statement, Transaction } from '../transaction.ts'
import type { Batch } from './batch.ts'
import { BoundedMap } from './bounded-map.ts'
import type { Attribution, Dialect } from './dialect.ts'

/**
 * The epochs of collections, by their names. The epoch is how many migrations have removed values from all records of
 * a collection. It is added to every record's revision, so that all entity tags change without a write to each row.
 */
export type Epochs = ReadonlyMap<string, number>

/** The key of a collection's epoch in `resourced_meta`. */
export function epochKey(collection: string): string {
  return `epoch:${collection}`
}

/** Reads the epochs when a database is opened, after migrations. */
export function* readEpochs(): Transaction<Epochs> {
  const prefix = epochKey('')
  const rows = yield sql`select key, value from resourced_meta where key like ${`${prefix}%`}`
  return new Map(rows.map((row) => [String(row['key']).slice(prefix.length), Number(row['value'])]))
}

/** The properties of an open database. */
export interface Opened {
  readonly catalog: Catalog
  readonly dialect: Dialect
  /** The epochs that collections had when the storage was opened, of collections that have more than the first. */
  readonly epochs?: Epochs
  /** The key of the entity tags of lists: the same on all servers. Pages cannot be read without it. */
  readonly tagSecret?: Uint8Array
  /**
   * The position up to which events are read, where others write at the same time. It was read before the snapshot, and
   * belongs to one read.
   */
  readonly horizon?: number
  /** Who makes the change of the running transaction, where changes are recorded. */
  readonly attribution?: Attribution
}

/** The context of every statement on one open database. */
export interface SqlContext extends Opened {
  /**
   * The collections that have a business rule that asks for records, or are asked for by one; and those whose changes
   * are permitted if another collection has no such record, and that collection: no lock covers what is not there.
   */
  readonly ruled: ReadonlySet<string>
  /** Column lists and representations of records, by resource, version and fields: the fields come from callers. */
  readonly texts: BoundedMap<Sql>
  /** The changes that the transaction makes together; left out: it makes one, or advances the clocks itself. */
  readonly batch?: Batch
  /** Whole statements, by what they do, resource and version. */
  readonly statements: BoundedMap<Statement>
}

/** The context of a database that has just been opened. */
export function sqlContext(opened: Opened): SqlContext {
  return { ...opened, ruled: ruledOf(opened.catalog), texts: new BoundedMap(1_000), statements: new BoundedMap(1_000) }
}

function ruledOf({ resources }: Catalog): ReadonlySet<string> {
  const names = [...resources.values()].flatMap(({ name, rules }) =>
    rules.flatMap((rule) => ('unless' in rule ? [name, rule.unless.none, rule.unless.some] : [])),
  )
  for (const resource of resources.values()) {
    const absent = changes.flatMap((action) => absentFor(resources, resource, resource.access[action]))
    const ofFields = [...(resource.fieldAccess?.values() ?? [])].flatMap(({ write }) => write ?? [])
    absent.push(...absentFor(resources, resource, ofFields))
    if (absent.length > 0) names.push(resource.name, ...absent)
  }
  return new Set(names.filter((name) => name !== undefined))
}

const changes = ['create', 'update', 'delete', 'restore'] as const

/**
 * The collections in which a record must be missing for some rules to permit a change. Rules have no cycles.
 *
 * @param rules `undefined` in threads, which write nothing on an engine with many writers
 */
function absentFor(
  resources: Catalog['resources'],
  resource: Resource,
  rules: readonly AccessRule[] | undefined = [],
): string[] {
  return simpleRules(rules).flatMap((rule) => {
    if (typeof rule !== 'object') return []
    if ('none' in rule) return [rule.none]
    const target =
      'through' in rule ? resources.get(resource.field.get(rule.through)?.reference?.collection ?? '') : undefined
    return target !== undefined && 'through' in rule ? absentFor(resources, target, target.access[rule.action]) : []
  })
}
