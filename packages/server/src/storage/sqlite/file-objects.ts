/**
 * Compares the tables, indexes, views and triggers of a SQLite file with those that this program makes for the tables
 * that the file describes. A backup is data: nothing in it that others wrote as SQL may ever run.
 */
import { DatabaseSync } from 'node:sqlite'
import { type FoundSchema, isIndexOfOurs, readSchema } from '../migration/schema.ts'
import { identifier } from '../sql/columns.ts'
import type { TableTrigger } from '../sql/dialect.ts'
import { columnsFrom } from '../sql/found-tables.ts'
import { summarizedColumns } from '../sql/kept-summaries.ts'
import { allSystemTables } from '../sql/system-tables.ts'
import { type ColumnSpec, createIndex, searchTable, type TableSpec } from '../sql/tables.ts'
import { StorageFault } from '../storage.ts'
import { sqlite } from './dialect.ts'
import { earlierEventTriggers, eventTriggers } from './event-triggers.ts'
import { immutableAddress } from './file.ts'
import { migrationDialectOf, runOn } from './migrate.ts'
import { addParts, partNames, viewName } from './search-parts.ts'
import { summariesOf, summaryTriggers } from './summary-triggers.ts'
import { totalsOf, totalTriggers } from './total-triggers.ts'

/** An object of a SQLite file: a row of `sqlite_schema`. */
export interface FileObject {
  readonly kind: 'table' | 'index' | 'view' | 'trigger'
  readonly name: string
  /** The table of an index or of a trigger; of anything else, its own name. */
  readonly table: string
  /** The statement that created it; null for an index that a constraint made. */
  readonly text: string | null
}

/** What a SQLite file has besides the objects that this program makes. */
export interface Strangers {
  /** Tables of ours with another definition, and triggers of our tables that this program does not make. */
  readonly altered: readonly FileObject[]
  /** Everything else. */
  readonly foreign: readonly FileObject[]
}

// A declaration of a thousand collections with full-text indexes has fewer, and shorter texts.
const mostObjects = 100_000
const mostCharacters = 67_108_864

/**
 * Opens a file that may be forged, to read it. Whoever calls it closes it.
 */
export function openUntrusted(path: string): DatabaseSync {
  const database = new DatabaseSync(immutableAddress(path), { readOnly: true, defensive: true })
  database.exec('pragma trusted_schema = off; pragma cell_size_check = on; pragma mmap_size = 0')
  return database
}

/**
 * Finds the objects of a file that this program has not made.
 *
 * @throws StorageFault where the file describes no tables of this program, or has too many objects
 */
export function findStrangers(database: DatabaseSync): Strangers {
  const objects = readObjects(database)
  // These are read before anything else is known: a generated column would run.
  for (const { name, text } of objects) {
    if ((name === 'resourced_meta' || name === 'resourced_clocks') && text !== systemTexts.get(name))
      throw unknownFile()
  }
  if (!objects.some(({ name, kind }) => name === 'resourced_meta' && kind === 'table')) throw unknownFile()
  const made = madeBy(runOn(database, readSchema(migrationDialectOf(database))))
  const strange = objects.filter((object) => !isMade(object, made))
  const isAltered = ({ kind, name, table }: FileObject) => made.has(kind === 'trigger' ? table : name)
  return {
    altered: strange.filter(isAltered),
    foreign: strange.filter((object) => !isAltered(object)),
  }
}

/** The refusal of an object that was altered. */
export function alteredObject({ kind, name }: FileObject): StorageFault {
  const found = `The ${kind} ${JSON.stringify(name)} is not as this program makes it.`
  // What this program made has the records, their texts or their events.
  const isForeign = kind === 'trigger' && !name.startsWith('resourced_')
  const remedy = isForeign ? 'Somebody has made or changed it: drop it' : 'Somebody has changed it: undo the change'
  return new StorageFault('failed', `${found} ${remedy}.`)
}

/** Whether an object belongs to a program that works beside this one, so that restored databases do without it. */
export function isOfHelper({ name, table }: FileObject): boolean {
  return /^_litestream_/.test(table) || /^sqlite_stat[1-4]$/.test(name)
}

/** Drops objects. */
export function dropObjects(database: DatabaseSync, objects: readonly FileObject[]): void {
  database.exec('pragma foreign_keys = off')
  // Indexes of constraints, and the tables of a full-text index, go with their table.
  const rank = ({ kind, text }: FileObject) =>
    ['trigger', 'view', 'index'].indexOf(kind) + (/^create virtual/i.test(String(text)) ? 0 : kind === 'table' ? 10 : 1)
  for (const { kind, name, text } of objects.toSorted((left, right) => rank(left) - rank(right))) {
    if (text !== null) database.exec(`drop ${kind} if exists ${identifier(name)}`)
  }
}

function readObjects(database: DatabaseSync): FileObject[] {
  const { count, characters } = database
    .prepare(
      'select count(*) as count, total(length(name) + coalesce(length(sql), 0)) as characters from sqlite_schema',
    )
    .get() as Record<string, number>
  if (count! > mostObjects || characters! > mostCharacters) throw unknownFile()
  const rows = database.prepare('select type as kind, name, tbl_name as "table", sql as text from sqlite_schema').all()
  return rows as unknown as FileObject[]
}

function unknownFile(): StorageFault {
  return new StorageFault('failed', 'The file describes no tables that this program makes.')
}

/** What this program makes under a name. */
interface Made {
  readonly kind: FileObject['kind']
  /** The texts of the object: a view has one for each number of parts. None where the table cannot be ours. */
  readonly texts: readonly string[]
  /** Of a table: the names of its columns. */
  readonly columns: ReadonlySet<string>
}

const systemTables = new Map(allSystemTables.map((table) => [table.name, table] as const))
const systemTexts = new Map([...systemTables].map(([name, table]) => [name, asStored(sqlite.createTable(table))]))

/** A statement as SQLite stores it: it writes the first words itself. */
function asStored(statement: string): string {
  return statement.replace(/^create (?:unique |virtual )?(?:table|index|view)/, (words) => words.toUpperCase())
}

/** Everything but indexes and triggers that this program makes for the tables of a file. */
function madeBy({ shape, tables }: FoundSchema): ReadonlyMap<string, Made> {
  const made = new Map<string, Made>()
  const nothing = new Set<string>()
  for (const { name, columns } of systemTables.values()) {
    made.set(name, { kind: 'table', texts: [systemTexts.get(name)!], columns: namesOf(columns) })
  }
  // The description is the only place that names a table as ours, whatever the file has under that name.
  for (const { name } of shape.tables) made.set(name, { kind: 'table', texts: [], columns: nothing })
  for (const { name, columns } of tables) {
    // In the order of the file: migrations add columns at the end. An earlier release may have had fewer.
    const system = systemTables.get(name)
    const specs = system === undefined ? columnsFrom(columns) : columnsOf(system, columns)
    const text = asStored(sqlite.createTable({ name, columns: specs, search: undefined }))
    const texts = specs.length === columns.length ? [text] : []
    made.set(name, { kind: 'table', texts, columns: namesOf(columns) })
    if (system !== undefined) continue
    for (const [part, text] of searchTexts(name)) made.set(part, { ...text, columns: nothing })
  }
  return made
}

function namesOf(columns: readonly { readonly name: string }[]): ReadonlySet<string> {
  return new Set(columns.map(({ name }) => name))
}

/** The columns of a table of the system that it is known to have, in the order of the file. */
function columnsOf({ columns }: TableSpec, found: readonly { readonly name: string }[]): readonly ColumnSpec[] {
  return found.flatMap(({ name }) => columns.find((column) => column.name === name) ?? [])
}

/** The objects of the full-text index of a collection. */
function searchTexts(collection: string): Map<string, Omit<Made, 'columns'>> {
  const search = searchTable(collection)
  const found = new Map<string, Omit<Made, 'columns'>>()
  const views: string[] = []
  for (const [index, part] of partNames(search).entries()) {
    const statements = addParts(search, index, index + 1)
    found.set(part, { kind: 'table', texts: [asStored(statements[0]!)] })
    views.push(asStored(statements.at(-1)!))
    for (const [suffix, columns] of Object.entries(partTables)) {
      found.set(`${part}_${suffix}`, { kind: 'table', texts: [`CREATE TABLE '${part}_${suffix}'${columns}`] })
    }
  }
  return found.set(viewName(search), { kind: 'view', texts: views })
}

/** The tables of a part, as FTS5 creates them. */
const partTables = {
  data: '(id INTEGER PRIMARY KEY, block BLOB)',
  idx: '(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID',
  docsize: '(id INTEGER PRIMARY KEY, sz BLOB, origin INTEGER)',
  config: '(k PRIMARY KEY, v) WITHOUT ROWID',
}

function isMade(object: FileObject, made: ReadonlyMap<string, Made>): boolean {
  const { kind, name, table, text } = object
  const known = made.get(name)
  if (known !== undefined) return known.kind === kind && table === name && known.texts.includes(String(text))
  // SQLite keeps this table as soon as any table of a file has had automatic numbers.
  if (name === 'sqlite_sequence') return text === 'CREATE TABLE sqlite_sequence(name,seq)'
  const { columns } = made.get(table) ?? {}
  if (columns === undefined) return false
  if (kind === 'trigger') return isTrigger(object, columns)
  return kind === 'index' && (text === null ? name.startsWith(`sqlite_autoindex_${table}_`) : isIndex(object, columns))
}

const indexedRows = ['everything', 'live', 'deleted', 'deletion', 'removal'] as const

function isIndex({ kind, name, table, text }: FileObject, columns: ReadonlySet<string>): boolean {
  if (!isIndexOfOurs({ kind, name, owner: table })) return false
  const [, unique, list] = /^CREATE (UNIQUE )?INDEX [^(]*\(([^)]*)\)/.exec(String(text)) ?? []
  const names = list?.split(', ').map((column) => column.slice(1, -1)) ?? []
  if (names.length === 0 || !names.every((column) => columns.has(column))) return false
  const index = { name, table, columns: names, unique: unique !== undefined }
  return indexedRows.some((where) => asStored(createIndex({ ...index, where })) === text)
}

/** Whether a trigger is one that this program makes. Which columns it reads, the declaration decides. */
function isTrigger(object: FileObject, columns: ReadonlySet<string>): boolean {
  const { table, text } = object
  const totals = totalsOf(String(text))
  if (totals !== undefined) {
    const isKnown = totals.every(({ reference, amount }) => columns.has(reference) && columns.has(amount))
    return isKnown && isOneOf(object, totalTriggers(table, totals))
  }
  const kept = summariesOf(String(text))
  if (kept !== undefined) {
    const isKnown = summarizedColumns(kept).every((column) => columns.has(column))
    return isKnown && isOneOf(object, summaryTriggers(table, kept))
  }
  const named = new Set([...String(text).matchAll(/\('([a-z\d_]+)', (?:new|old)\."/g)].map(([, column]) => column!))
  if (![...named].every((column) => columns.has(column))) return false
  const found = [...named].map((column) => ({ name: column, type: 'text' as const }))
  const spec = { hasEvents: true, hasHistory: true, columns: found, kept: found }
  const specs = [true, false].map((isSoft) => ({ ...spec, isSoft }))
  return specs.some((each) => isOneOf(object, [...eventTriggers(table, each), ...earlierEventTriggers(table, each)]))
}

function isOneOf({ name, text }: FileObject, triggers: readonly TableTrigger[]): boolean {
  return triggers.some((trigger) => trigger.name === name && trigger.definition('main') === text)
}
