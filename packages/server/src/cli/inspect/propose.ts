/** Makes a declaration from the tables of a database. What does not fit becomes a comment that says why. */
import { checkCollectionName, checkFieldName, kebab } from 'resourced-contract/model/check/names'
import { Part } from 'resourced-contract/model/check/parts'
import { longestName } from 'resourced-contract/model/names'
import { isSingular, pluralOf } from 'resourced-contract/model/plural'
import { oneOf } from 'resourced-contract/spec/words'
import type {
  DatabaseDescription,
  ForeignKeyDescription,
  OtherRelation,
  TableDescription,
} from '../../storage/table-description.ts'
import {
  type IndexUse,
  type ProposedField,
  type ProposedReference,
  proposeField,
  textOfComment,
} from './propose-field.ts'

export interface ProposedResource {
  readonly name: string
  readonly description: string | undefined
  fields: ProposedField[]
  readonly unique: string[][]
  /** The reference whose target also nests the records; `undefined`: none. */
  within: string | undefined
  /** About the whole table. */
  readonly comments: string[]
  /** About columns that became no field. */
  readonly omissions: string[]
}

/** A proposed declaration. */
export interface Proposal {
  readonly name: string
  readonly comments: string[]
  resources: ProposedResource[]
}

/** The most collections and fields that a declaration can have. */
const most = { resources: 500, fields: 500 }

/** A table, and the names that it and its columns get. */
export interface NamedTable {
  readonly table: TableDescription
  readonly name: string
  /** The names of its fields by column; columns that become no field are left out. */
  readonly fields: Map<string, string>
  readonly omissions: string[]
}

/** Proposes a declaration. It may still contain mistakes, which `repair` removes. */
export function propose(described: DatabaseDescription): Proposal {
  const isOurs = described.tables.some(({ name }) => name === 'resourced_meta')
  const own = described.tables.filter(({ name }) => isOwnTable(name, isOurs))
  const tables = described.tables.filter((table) => !own.includes(table))
  const named = nameTables(tables.slice(0, most.resources), described.schemas.length > 1)
  const usable = named.filter(({ fields }) => fields.size > 0)
  const places = new Map(usable.map((each) => [placeOf(each.table), each]))
  const comments = [
    ...tables.slice(most.resources).map((table) => {
      return `Left out: the table ${labelOf(table)}. A declaration has at most ${most.resources} collections.`
    }),
    ...named
      .filter(({ fields }) => fields.size === 0)
      .map(({ table }) => `Left out: the table ${labelOf(table)}, which has no column for a field.`),
    ...own.map((table) => `Left out: the table ${labelOf(table)}, which belongs to Resourced.`),
    ...described.others.map((other) => `Left out: the ${other.kind} ${labelOf(other)}. ${reasonOf(other)}`),
  ]
  const resources = usable.map((each) => proposeResource(each, places, isOurs))
  return { name: interfaceName(described.database), comments, resources }
}

function reasonOf({ kind }: OtherRelation): string {
  if (kind === 'partition') return 'The partitioned table has its rows.'
  if (kind === 'inheriting table') return 'Collections do not inherit fields.'
  return 'A collection is a table of its own.'
}

/** Tables that servers create beside those of collections. */
function isOwnTable(name: string, isOurs: boolean): boolean {
  return /^resourced_/.test(name) || (isOurs && (name === 'jobs' || name === 'api-keys' || name === 'api_keys'))
}

/** The tables that become collections, with the names that `propose` gives them and their columns. */
export function namedTables({ tables, schemas }: Pick<DatabaseDescription, 'tables' | 'schemas'>): NamedTable[] {
  const isOurs = tables.some(({ name }) => name === 'resourced_meta')
  return nameTables(tables.filter(({ name }) => !isOwnTable(name, isOurs)).slice(0, most.resources), schemas.length > 1)
}

function nameTables(tables: readonly TableDescription[], isPrefixed: boolean): NamedTable[] {
  const names = chooseNames(tables, (table, taken) => collectionName(table.name, isPrefixed ? table.schema : '', taken))
  return tables.map((table) => ({ table, name: names.get(table) as string, ...nameColumns(table) }))
}

/** Chooses names that differ. Whatever can keep its name keeps it. */
function chooseNames<T extends { readonly name: string }>(
  all: readonly T[],
  choose: (one: T, taken: ReadonlySet<string>) => string,
): Map<T, string> {
  const chosen = new Map<T, string>()
  const taken = new Set<string>()
  const keeps = (one: T) => choose(one, new Set()) === one.name
  for (const one of [...all.filter(keeps), ...all.filter((each) => !keeps(each))]) {
    const name = choose(one, taken)
    chosen.set(one, name)
    taken.add(name)
  }
  return chosen
}

/** Columns that every record has already, under the names that they have here. */
const systemColumns = new Map([
  ['created_at', 'the server sets created_at of every record'],
  ['updated_at', 'the server sets updated_at of every record'],
  ['deleted_at', 'the server sets deleted_at of a deleted record'],
])

function nameColumns(table: TableDescription): Pick<NamedTable, 'fields' | 'omissions'> {
  const omissions: string[] = []
  const kept = table.columns.filter((column) => {
    const reason = whyOmitted(table, column)
    if (reason !== undefined && reason !== '') omissions.push(`Left out: the column ${quoted(column.name)}: ${reason}.`)
    return reason === undefined
  })
  for (const { name } of kept.splice(most.fields)) {
    omissions.push(`Left out: the column ${quoted(name)}: a resource has at most ${most.fields} fields.`)
  }
  const names = chooseNames(kept, ({ name }, taken) => fieldName(name, taken))
  return { fields: new Map(kept.map((column) => [column.name, names.get(column) as string])), omissions }
}

/** Why a column becomes no field; empty: it is the id, so there is nothing to say. */
function whyOmitted(table: TableDescription, column: TableDescription['columns'][number]): string | undefined {
  const { name, type, generated, numbered } = column
  if (generated) return 'the database computes it'
  if (type.name === 'tsvector') return 'it is a search index; write "search": true on fields of text'
  if (/^_/.test(name) && table.columns.some((each) => each.name === '_deletion')) return 'it belongs to Resourced'
  const system = systemColumns.get(snakeCase(name))
  if (system !== undefined && /^timestamp/.test(type.name)) return system
  if (table.primaryKey.length !== 1 || table.primaryKey[0] !== name) return undefined
  if (type.name === 'uuid') return name === 'id' ? '' : 'it is the primary key, which becomes the id of the record'
  if (!numbered) return undefined
  return 'the database numbers it, and ids of records are UUIDs that the server assigns'
}

type Places = ReadonlyMap<string, NamedTable>

function proposeResource(named: NamedTable, places: Places, isOurs: boolean): ProposedResource {
  const { table, name, fields, omissions } = named
  const comments = [...(name === table.name ? [] : [`The table ${labelOf(table)}.`]), ...keyComments(named)]
  const references = referencesOf(named, places, comments)
  const single = new Set(table.uniqueSets.flatMap((set) => (set.length === 1 ? set : [])))
  const [key, ...more] = table.primaryKey
  if (key !== undefined && more.length === 0) single.add(key)
  const indexed = indexUses(table)
  const proposed = table.columns.flatMap((column): ProposedField[] => {
    const field = fields.get(column.name)
    if (field === undefined) return []
    const isKey = column.name === key && more.length === 0
    return [
      proposeField(column, {
        name: field,
        unique: single.has(column.name),
        immutable: isKey,
        reference: references.get(column.name),
        indexed: indexed.get(column.name),
        checks: table.checks.filter(({ columns }) => columns.length === 1 && columns[0] === column.name),
      }),
    ]
  })
  for (const check of table.checks.filter(({ columns }) => columns.length !== 1)) {
    comments.push(`Does not fit: the check ${check.name}: ${check.condition}`)
  }
  comments.push(...table.others.map((each) => `Does not fit: ${each.charAt(0).toLowerCase()}${each.slice(1)}`))
  if (isOurs) comments.push('This table may be a collection of Resourced already.')
  const description = table.comment === undefined ? undefined : textOfComment(table.comment)
  const unique = uniqueSets(named, comments)
  return { name, description, fields: proposed, unique, within: parentOf(named, references), comments, omissions }
}

/** Which columns requests may filter or sort by, because an index serves it. */
function indexUses({ indexes }: TableDescription): Map<string, IndexUse> {
  const uses = new Map<string, IndexUse>()
  const add = (column: string, use: IndexUse) => {
    const before = uses.get(column) ?? { filter: false, sort: false }
    uses.set(column, { filter: before.filter || use.filter, sort: before.sort || use.sort })
  }
  for (const { columns, unique, ordered } of indexes) {
    const [first, second] = columns
    // A unique index is there to keep values unique, and finds records by them.
    if (first !== undefined) add(first, { filter: true, sort: ordered && !unique })
    // The records of one value of the first column, in the order of the second one.
    if (second !== undefined && ordered && !unique) add(second, { filter: false, sort: true })
  }
  return uses
}

/** The one reference whose target takes the records along when it is deleted: they are its parts. */
function parentOf({ table, fields }: NamedTable, references: ReadonlyMap<string, ProposedReference>) {
  const parts = table.columns.filter(({ name, required }) => {
    const { key } = references.get(name) ?? {}
    const isOther = key?.table !== table.name || key.schema !== table.schema
    return required && key?.onDelete === 'cascade' && isOther
  })
  return parts.length === 1 ? fields.get(String(parts[0]?.name)) : undefined
}

function keyComments({ table, fields }: NamedTable): string[] {
  const { primaryKey, columns } = table
  if (primaryKey.length === 0) return ['The table has no primary key. Every record gets an id.']
  if (primaryKey.length > 1) {
    const names = primaryKey.map(quoted).join(', ')
    return [`The primary key has several columns (${names}). Every record gets an id, and they become a unique set.`]
  }
  const key = columns.find(({ name }) => name === primaryKey[0])
  if (key === undefined || key.type.name === 'uuid') return []
  const kept = fields.get(key.name)
  const start = `The primary key ${quoted(key.name)} is ${key.type.label}, and ids of records are UUIDs.`
  return [kept === undefined ? start : `${start} It becomes the field ${kept}.`]
}

function uniqueSets({ table, fields }: NamedTable, comments: string[]): string[][] {
  const { primaryKey, uniqueSets: declared } = table
  const several = [...(primaryKey.length > 1 ? [primaryKey] : []), ...declared.filter((set) => set.length > 1)]
  const sets = new Map<string, string[]>()
  for (const columns of several) {
    const names = columns.map((column) => fields.get(column))
    if (names.every((each) => each !== undefined)) sets.set(names.join(' '), names)
    else comments.push(`Does not fit: the unique set ${columns.map(quoted).join(', ')}, which has a column left out.`)
  }
  return [...sets.values()]
}

function referencesOf({ table }: NamedTable, places: Places, comments: string[]): Map<string, ProposedReference> {
  const references = new Map<string, ProposedReference>()
  for (const key of table.foreignKeys) {
    const [column, ...others] = key.columns
    const label = `the foreign key ${key.name}`
    const target = places.get(placeOf({ schema: key.schema, name: key.table }))
    if (column === undefined || others.length > 0) {
      comments.push(`Does not fit: ${label} of ${oneOf(key.columns.map(quoted))}: a reference is one field.`)
    } else if (target === undefined) {
      const place = labelOf({ schema: key.schema, name: key.table })
      comments.push(`Does not fit: ${label} to ${place}, which is no collection here.`)
    } else if (references.has(column)) {
      comments.push(`Does not fit: ${label}: the column ${quoted(column)} is a reference already.`)
    } else {
      references.set(column, { collection: target.name, key, remarks: remarksOf(target.table, key) })
    }
  }
  return references
}

function remarksOf(target: TableDescription, { targets }: ForeignKeyDescription): string[] {
  const [to] = targets
  const type = target.columns.find(({ name }) => name === to)?.type
  const place = `${labelOf(target)}.${quoted(String(to))}`
  if (target.primaryKey.length !== 1 || target.primaryKey[0] !== to) {
    return [`It referred to ${place}, which is not the primary key. A reference holds the id of the record.`]
  }
  return type?.name === 'uuid' ? [] : [`It held ${place} (${type?.label}). A reference holds the id of the record.`]
}

function placeOf({ schema, name }: { readonly schema: string; readonly name: string }): string {
  return JSON.stringify([schema, name])
}

function labelOf({ schema, name }: { readonly schema: string; readonly name: string }): string {
  return schema === 'public' ? quoted(name) : `${quoted(schema)}.${quoted(name)}`
}

function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name}"`
}

// Names that a declaration accepts, for names of tables and columns, which may be any text.

/**
 * A name for a collection, other than those that are taken.
 *
 * @param schema a prefix if the name alone is taken; empty: none
 */
export function collectionName(table: string, schema: string, taken: ReadonlySet<string>): string {
  const base = plain(table) || 'tables'
  const name = isSingular(base) ? pluralOf(base) : base
  const prefix = plain(schema)
  const names = [name, ...(prefix === '' ? [] : [`${prefix}-${name}`])]
  const spare = [`my-${name}`, `${base}-records`, 'records']
  return firstFree({ names, spare, joint: '-' }, taken, checkCollectionName)
}

/** A name for a field, other than those that are taken. */
export function fieldName(column: string, taken: ReadonlySet<string>): string {
  const base = snakeCase(column) || 'field'
  return firstFree({ names: [base], spare: [`${base}_value`, 'field'], joint: '_' }, taken, checkFieldName)
}

/** A name as lower-case words joined by underscores; empty if no character remains. */
export function snakeCase(name: string): string {
  return plain(name).replaceAll('-', '_')
}

function interfaceName(database: string): string {
  return plain(database).slice(0, longestName).replace(/-+$/, '') || 'api'
}

/** Lower-case words joined by hyphens; accents are removed, other characters of other scripts too. */
function plain(name: string): string {
  return kebab(name.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss'), 200)
}

type CheckName = (part: Part, name: string) => void

interface Candidates {
  /** The names to try, the best first. */
  readonly names: readonly string[]
  /** The names to try where none of `names` is allowed at all. */
  readonly spare: readonly string[]
  /** Between a name and a number. */
  readonly joint: '-' | '_'
}

/** The first name that is allowed and free, or else the first allowed one with a number. */
function firstFree({ names, spare, joint }: Candidates, taken: ReadonlySet<string>, check: CheckName): string {
  const allowed = names.map((each) => cut(each, longestName)).filter((each) => isAllowed(each, check))
  const free = allowed.find((each) => !taken.has(each))
  if (free !== undefined) return free
  const base = allowed[0] ?? spare.map((each) => cut(each, longestName)).find((each) => isAllowed(each, check))
  if (base === undefined) throw new Error(`No name is like ${names[0]}.`)
  let name = base
  for (let number = 2; taken.has(name); number++) {
    const suffix = `${joint}${number}`
    name = `${cut(base, longestName - suffix.length)}${suffix}`
  }
  return name
}

function isAllowed(name: string, check: CheckName): boolean {
  const part = new Part(name)
  check(part, name)
  return part.findings.length === 0
}

/** The end of a name, which says more than its beginning, and has the plural. It begins with a whole word if it can. */
function cut(name: string, most: number): string {
  if (name.length <= most) return name
  const end = name.slice(-most)
  return /^[^-_]*[-_]+([a-z].*)$/.exec(end)?.[1] ?? end.replace(/^[^a-z]+/, '')
}
