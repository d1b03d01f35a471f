/** `resourced import --from postgres://…`: imports the tables of a database that Resourced did not create. */

import { interruption, showProgress } from 'resourced-check/terminal'
import type { Finding } from 'resourced-contract/model/check/parts'
import { suggest } from 'resourced-contract/model/nearest'
import { isObject } from 'resourced-contract/model/plain-copy'
import type { Resource } from 'resourced-contract/model/resource'
import { ConfigurationError, UsageError } from 'resourced-contract/spec/configuration-error'
import { type Incoming, type KeySpace, keyText, readRecords } from '../jobs/import-staged.ts'
import { readValue } from '../jobs/source.ts'
import { isElsewhere } from '../server/database-address.ts'
import { administer, placeOf } from '../server/open-database.ts'
import type { Storage } from '../storage/storage.ts'
import type { TableSource } from '../storage/table-description.ts'
import { callerOf, type ImportCommand, type ImportOptions, ImportReport } from './import-report.ts'
import { readMap } from './load-map.ts'
import { openToImport } from './open-operators.ts'
import { type PlannedTable, planTables, readTableMap, type TablePlan } from './plan-tables.ts'
import { runStaged } from './run-staged-import.ts'

const forFiles = ['format', 'delimiter', 'encoding', 'ignoreUnknown'] as const

/**
 * Imports the tables that become collections of the declaration. Without a key, everything is imported in one
 * transaction, because a second run could not know what is there.
 *
 * @param collection imports only its table
 */
export async function importTables(command: ImportCommand, collection: string | undefined): Promise<void> {
  const { catalog, database, options } = command
  const wrong = forFiles.find((name) => options[name] !== undefined)
  if (wrong !== undefined || options.null.length > 0) {
    throw new UsageError(`--${wrong ?? 'null'} is for files. A database has types, so leave it out with --from.`)
  }
  const from = { database: String(options.from), databasePooler: options.databasePooler, option: '--from' } as const
  const { foreign } = await administer(from)
  if (foreign === undefined) {
    throw new UsageError('Only tables of PostgreSQL can be imported: use --from postgres://USER@HOST:5432/DATABASE.')
  }
  const source = await foreign.open(options.schema)
  const interrupted = interruption()
  const progress = showProgress({ title: 'Importing tables', unit: 'records' })
  try {
    const { described } = source
    const check = (value: unknown, findings: Finding[]) => readTableMap(value, findings, { described, catalog })
    const map = options.map === undefined ? new Map() : await readMap(options.map, check)
    const plan = planTables(described, catalog, { map, key: options.key })
    const tables = chosenTables(plan, collection)
    const { hasTables } = await administer(database)
    const isNew = !(await hasTables())
    const storage = await openToImport(database, catalog)
    try {
      if (isNew) progress.say(`Made a new database at ${placeOf(database)}: there was none.`)
      const report = new ImportReport(progress)
      for (const line of plan.omissions) report.say(line)
      for (const table of tables) await mustBeEmpty(storage, table, options)
      if (options.key !== undefined && tables.every(({ keyField }) => keyField === undefined)) {
        throw new ConfigurationError(
          `No collection has the unique field ${options.key}. Declare it, or leave --key out.`,
        )
      }
      const resources = [...catalog.resources.values()]
      await runStaged({
        ...{ storage, progress, report, interrupted, isNew, resources, spaces: plan.spaces },
        rows: rowsOf(source, { tables, resources, spaces: plan.spaces }),
        caller: callerOf(options),
        skipInvalid: options.skipInvalid === true,
        isWhole: options.allOrNothing === true || options.key === undefined,
        isResumable: options.key !== undefined,
        isElsewhere: isElsewhere(options.database),
      })
    } finally {
      progress.end()
      await storage.close()
    }
  } finally {
    interrupted.stop()
    await source.close()
  }
}

function chosenTables({ tables }: TablePlan, collection: string | undefined): readonly PlannedTable[] {
  const found = tables.filter(({ resource }) => collection === undefined || resource.name === collection)
  if (found.length > 0) return found
  const names = tables.map(({ resource }) => resource.name)
  const what =
    collection === undefined
      ? 'No table is a collection of the declaration'
      : `No table is the collection ${collection}`
  const remedy =
    collection === undefined
      ? 'Make one with resourced inspect, or name the collections with --map.'
      : suggest(collection, names)
  throw new ConfigurationError(`${what}. ${remedy}`)
}

/** @throws ConfigurationError where records are there already that a second run would import again */
async function mustBeEmpty(
  storage: Storage,
  { resource, keyField }: PlannedTable,
  { key }: ImportOptions,
): Promise<void> {
  if (keyField !== undefined || (await readRecords(storage, resource, { limit: 1, fields: [] })).total === 0) return
  const field = key ?? 'old_id'
  const example = `${field}: { type: string, optional: true, unique: true }`
  throw new ConfigurationError(
    `${resource.name} has records already, and no field that says which rows they are. Empty it, or declare ` +
      `${example} before the first import, and import with --key ${field}.`,
  )
}

/** The rows of all tables, one table after the other. The source is closed at the end: writing needs no snapshot. */
async function* rowsOf(
  source: TableSource,
  { tables, resources, spaces }: Pick<TablePlan, 'tables' | 'spaces'> & { readonly resources: readonly Resource[] },
): AsyncGenerator<Incoming> {
  for (const planned of tables) {
    const { table, columns, keys, links } = planned
    const names = [...new Set([...keys.flatMap((each) => each.columns), ...links.map(({ column }) => column)])]
    let number = 0
    const title = source.described.schemas.length > 1 ? `${table.schema}.${table.name}` : table.name
    for await (const row of source.rows({ table, columns, keys: names })) {
      const texts = new Map(names.map((name, index) => [name, row.keys[index] ?? undefined]))
      const label = table.primaryKey.map((name) => `${name} ${texts.get(name)}`).join(', ')
      const place = `${title}, ${label === '' ? `row ${++number}` : label}`
      yield incomingOf(planned, row.value, { place, texts, spaces, collection: resources.indexOf(planned.resource) })
    }
  }
  await source.close()
}

interface Read {
  readonly place: string
  readonly texts: ReadonlyMap<string, string | undefined>
  readonly collection: number
  readonly spaces: readonly KeySpace[]
}

function incomingOf(planned: PlannedTable, bytes: Uint8Array, { place, texts, collection, spaces }: Read): Incoming {
  const { keys, links, keyField, table } = planned
  const read = readValue(bytes, 1, 1)
  if ('issues' in read) return { place, issues: read.issues }
  const value: Record<string, unknown> = isObject(read.value) ? { ...read.value } : {}
  if (keyField !== undefined) {
    const key = textOf(table.primaryKey, texts)
    value[keyField.name] = keyField.type === 'integer' ? Number(key) : key
  }
  return {
    ...{ place, collection, value, size: bytes.length },
    keys: keys.flatMap(({ columns, space }) => {
      const text = textOf(columns, texts)
      return text === undefined ? [] : [[space, keyIn(spaces, space, text)] as const]
    }),
    references: links.flatMap(({ column, field, space }) => {
      const text = textOf([column], texts)
      return text === undefined ? [] : [{ field: field.name, space, key: keyIn(spaces, space, text) }]
    }),
  }
}

/** The text of a key; `undefined`: a column is null, so the row has none. */
function textOf(columns: readonly string[], texts: Read['texts']): string | undefined {
  const parts = columns.map((name) => texts.get(name))
  if (parts.includes(undefined)) return undefined
  // The text of another key must not be the same.
  return parts.length > 1 && parts.some((part) => part?.includes(',')) ? JSON.stringify(parts) : parts.join(',')
}

function keyIn(spaces: readonly KeySpace[], space: number, text: string): string {
  const { resource, field } = spaces[space] as KeySpace
  return field === undefined ? text : (keyText(resource, field, text) ?? JSON.stringify(text))
}
