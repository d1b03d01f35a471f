/**
 * Describes the tables of a PostgreSQL database. It only reads the catalog, in one read-only transaction with time
 * limits, so that it neither changes nor blocks anything.
 */
import type { ClientBase } from 'pg'
import { StorageFault } from '../storage.ts'
import type {
  ColumnDescription,
  ColumnTypeDescription,
  DatabaseDescription,
  ForeignKeyDescription,
  OtherRelation,
  TableDescription,
} from '../table-description.ts'
import type { Row } from '../transaction.ts'
import { toStorageFault } from './errors.ts'
import { inTransaction, query, withConnection } from './session.ts'
import type { ConnectionOptions } from './settings.ts'

/** The oldest version whose catalog has all columns that are read, as `server_version_num` has it. */
const oldest = 120_000

/** Milliseconds for one statement, and for a lock that another session holds on a table. */
const limits = { statement: 30_000, lock: 5_000 }

/**
 * Describes the tables of a database.
 *
 * @param schemas default: the first schema of the connection's search_path
 * @throws StorageFault where the database cannot be reached or read, or a schema does not exist
 */
export function describePostgres(
  options: ConnectionOptions,
  schemas: readonly string[] = [],
): Promise<DatabaseDescription> {
  return withConnection(options, async (client) => {
    try {
      return await inTransaction(client, beginSnapshot, () => describeSnapshot(client, schemas))
    } catch (error) {
      throw toStorageFault(error)
    }
  })
}

/** Begins a transaction that only reads, on one snapshot. */
export const beginSnapshot = 'begin isolation level repeatable read read only'

/** Describes the tables in the transaction of a connection, and limits its statements. See `describePostgres`. */
export async function describeSnapshot(client: ClientBase, schemas: readonly string[]): Promise<DatabaseDescription> {
  const { database, schema } = await beginReading(client)
  const asked = schemas.length > 0 ? [...new Set(schemas)] : [schema]
  await mustExist(client, asked)
  return { database, schemas: asked, ...(await describe(client, asked)) }
}

async function beginReading(client: ClientBase): Promise<{ database: string; schema: string }> {
  const [found] = await query(
    client,
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
       current_database() as database, coalesce(current_schema(), 'public') as schema`,
  )
  if (Number(found?.['number']) < oldest) {
    throw new StorageFault('failed', `PostgreSQL ${found?.['version']} is too old. Use PostgreSQL 12 or newer.`)
  }
  // Without a search_path the catalog writes names of types with their schemas.
  await query(client, `set local statement_timeout = ${limits.statement}`)
  await query(client, `set local lock_timeout = ${limits.lock}`)
  await query(client, `set local search_path = ''`)
  await query(client, `set local timezone = 'UTC'`)
  await query(client, `set local datestyle = 'ISO, YMD'`)
  return { database: String(found?.['database']), schema: String(found?.['schema']) }
}

async function mustExist(client: ClientBase, schemas: readonly string[]): Promise<void> {
  const all = await query(
    client,
    `select nspname as name from pg_namespace
     where nspname <> 'information_schema' and nspname !~ '^pg_' order by nspname`,
  )
  const names = all.map(({ name }) => String(name))
  const missing = schemas.find((schema) => !names.includes(schema))
  if (missing === undefined) return
  const known = names.length === 0 ? 'It has none.' : `It has ${names.join(', ')}.`
  throw new StorageFault('failed', `The database has no schema ${JSON.stringify(missing)}. ${known}`)
}

type Described = Pick<DatabaseDescription, 'tables' | 'others'>

async function describe(client: ClientBase, schemas: readonly string[]): Promise<Described> {
  const relations = await query(client, relationsText, [schemas])
  const types = typesOf(await query(client, typesText, [schemas]))
  const columns = grouped(await query(client, columnsText, [schemas]))
  const constraints = grouped(await query(client, constraintsText, [schemas]))
  const indexes = grouped(await query(client, indexesText, [schemas]))
  const triggers = grouped(await query(client, triggersText, [schemas]))
  const tables: TableDescription[] = []
  const others: OtherRelation[] = []
  for (const relation of relations) {
    const place = { schema: String(relation['schema']), name: String(relation['name']) }
    const kind = kindOf(relation)
    if (kind !== undefined) {
      others.push({ ...place, kind })
      continue
    }
    const id = String(relation['id'])
    const named = constraints.get(id) ?? []
    const ofKind = (type: string) => named.filter((each) => each['type'] === type)
    const plain = (indexes.get(id) ?? []).filter(isPlain)
    const unique = [...ofKind('u').map(columnsIn), ...plain.filter(isUniqueAlone).map(columnsIn)]
    tables.push({
      ...place,
      comment: textOf(relation['comment']),
      columns: (columns.get(id) ?? []).map((row) => columnOf(row, types)),
      primaryKey: ofKind('p').flatMap(columnsIn),
      uniqueSets: unique,
      indexes: plain.map((row) => ({
        columns: columnsIn(row),
        unique: row['unique'] === 1,
        ordered: row['method'] === 'btree',
      })),
      foreignKeys: ofKind('f').map(foreignKeyOf),
      checks: ofKind('c').map((row) => ({
        name: String(row['name']),
        columns: columnsIn(row),
        condition: String(row['condition']),
      })),
      others: [
        ...ofKind('x').map((row) => `The exclusion constraint ${row['name']}: ${row['definition']}`),
        ...(indexes.get(id) ?? []).filter((row) => !isPlain(row)).map(indexNote),
        ...(triggers.get(id) ?? []).map((row) => `The trigger ${row['name']}`),
        ...(relation['rules'] === 1 ? ['Its row-level security policies'] : []),
      ],
    })
  }
  return { tables, others }
}

function indexNote(row: Row): string {
  const kind = row['unique'] === 1 ? 'unique index' : 'index'
  return `The ${kind} ${row['name']}, which is no index of columns and all rows: ${row['definition']}`
}

const plainMethods: readonly unknown[] = ['btree', 'hash', 'brin']

function isPlain(row: Row): boolean {
  return row['plain'] === 1 && plainMethods.includes(row['method'])
}

/** Whether an index makes columns unique without a constraint that is read by itself. */
function isUniqueAlone(row: Row): boolean {
  return row['unique'] === 1 && row['constrained'] !== 1
}

const otherKinds: Readonly<Record<string, OtherRelation['kind']>> = {
  v: 'view',
  m: 'materialized view',
  f: 'foreign table',
}

function kindOf({ kind, partition, inherits }: Row): OtherRelation['kind'] | undefined {
  if (partition === 1) return 'partition'
  return otherKinds[String(kind)] ?? (inherits === 1 ? 'inheriting table' : undefined)
}

function grouped(rows: readonly Row[]): Map<string, Row[]> {
  return Map.groupBy(rows, (row) => String(row['relation']))
}

function columnsIn({ columns }: Row): string[] {
  return JSON.parse(String(columns ?? '[]'))
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

const onDelete: Readonly<Record<string, ForeignKeyDescription['onDelete']>> = {
  a: 'no action',
  r: 'restrict',
  c: 'cascade',
  n: 'set null',
  d: 'set default',
}

function foreignKeyOf(row: Row): ForeignKeyDescription {
  return {
    name: String(row['name']),
    columns: columnsIn(row),
    schema: String(row['target_schema']),
    table: String(row['target_table']),
    targets: JSON.parse(String(row['targets'])),
    onDelete: onDelete[String(row['on_delete'])] ?? 'no action',
  }
}

type Types = ReadonlyMap<string, Row>

function typesOf(rows: readonly Row[]): Types {
  return new Map(rows.map((row) => [String(row['id']), row]))
}

function columnOf(row: Row, types: Types): ColumnDescription {
  const checks: string[] = []
  const read = { required: row['required'] === 1, default: textOf(row['default']) }
  let id = String(row['type'])
  let modifier = Number(row['modifier'])
  // A domain can be based on another one.
  for (let type = types.get(id); type?.['kind'] === 'd'; type = types.get(id)) {
    checks.push(...(JSON.parse(String(type['checks'] ?? '[]')) as string[]))
    if (type['required'] === 1) read.required = true
    read.default ??= textOf(type['default'])
    modifier = Number(type['modifier'])
    id = String(type['base'])
  }
  return {
    name: String(row['name']),
    type: typeOf(id, modifier, types, String(row['label'])),
    comment: textOf(row['comment']),
    ...read,
    numbered: row['numbered'] === 1 || /^nextval\(/.test(read.default ?? ''),
    generated: row['generated'] === 1,
    domainChecks: checks,
  }
}

function typeOf(id: string, modifier: number, types: Types, label?: string): ColumnTypeDescription {
  const type = types.get(id)
  const name = String(type?.['name'] ?? 'unknown')
  const shown = label ?? String(type?.['label'] ?? name)
  const isText = name === 'varchar' || name === 'bpchar'
  const isArray = type?.['category'] === 'A' && Number(type['element']) > 0
  return {
    name,
    label: shown,
    // Both modifiers contain the four bytes of a header.
    length: isText && modifier >= 4 ? modifier - 4 : undefined,
    digits: name === 'numeric' && modifier >= 4 ? digitsOf(modifier - 4) : undefined,
    values: type?.['kind'] === 'e' ? JSON.parse(String(type['values'] ?? '[]')) : undefined,
    element: isArray ? elementOf(String(type?.['element']), modifier, types) : undefined,
  }
}

/** The modifier of an array is that of its elements; a domain has its own. */
function elementOf(id: string, modifier: number, types: Types): ColumnTypeDescription {
  const type = types.get(id)
  if (type?.['kind'] !== 'd') return typeOf(id, modifier, types)
  return elementOf(String(type['base']), Number(type['modifier']), types)
}

/** Precision in the upper half; the scale has eleven bits and a sign. */
function digitsOf(modifier: number) {
  return { precision: (modifier >> 16) & 0xffff, scale: ((modifier & 0x7ff) ^ 1_024) - 1_024 }
}

const ofSchemas = 'n.nspname = any($1)'
const tables = `pg_class c join pg_namespace n on n.oid = c.relnamespace`
const named = (keys: string, relation: string) =>
  `(select json_agg(a.attname order by k.place)::text from unnest(${keys}) with ordinality k (number, place)
    join pg_attribute a on a.attrelid = ${relation} and a.attnum = k.number)`

const relationsText = `select c.oid as id, n.nspname as schema, c.relname as name, c.relkind as kind,
    c.relispartition as partition, c.relrowsecurity as rules, obj_description(c.oid, 'pg_class') as comment,
    exists (select 1 from pg_inherits i where i.inhrelid = c.oid) as inherits
  from ${tables} where ${ofSchemas} and c.relkind in ('r', 'p', 'v', 'm', 'f')
  order by n.nspname, c.relname`

const columnsText = `select a.attrelid as relation, a.attname as name, a.atttypid as type, a.atttypmod as modifier,
    format_type(a.atttypid, a.atttypmod) as label, a.attnotnull as required, a.attidentity <> '' as numbered,
    a.attgenerated <> '' as generated, pg_get_expr(d.adbin, d.adrelid) as default,
    col_description(a.attrelid, a.attnum) as comment
  from ${tables} join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where ${ofSchemas} and c.relkind in ('r', 'p') and not c.relispartition order by a.attrelid, a.attnum`

// Exclusion constraints are read as a whole; so are their columns, which may be expressions.
const constraintsText = `select o.conrelid as relation, o.conname as name, o.contype as type,
    ${named('o.conkey', 'o.conrelid')} as columns, o.confdeltype as on_delete,
    case when o.contype = 'c' then pg_get_expr(o.conbin, o.conrelid) end as condition,
    case when o.contype = 'x' then pg_get_constraintdef(o.oid) end as definition,
    case when o.contype = 'f' then ${named('o.confkey', 'o.confrelid')} end as targets,
    t.relname as target_table, m.nspname as target_schema
  from ${tables} join pg_constraint o on o.conrelid = c.oid
  left join pg_class t on t.oid = o.confrelid left join pg_namespace m on m.oid = t.relnamespace
  where ${ofSchemas} and o.conparentid = 0 and o.contype in ('p', 'u', 'f', 'c', 'x') order by o.conrelid, o.conname`

const indexesText = `select i.indrelid as relation, x.relname as name, pg_get_indexdef(i.indexrelid) as definition,
    i.indpred is null and i.indexprs is null as plain, i.indisunique as unique, m.amname as method,
    exists (select 1 from pg_constraint o where o.conindid = i.indexrelid and o.contype = 'u') as constrained,
    (select json_agg(a.attname order by k.place)::text
     from unnest(i.indkey::int2[]) with ordinality k (number, place)
     join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
     where k.place <= i.indnkeyatts) as columns
  from ${tables} join pg_index i on i.indrelid = c.oid and not i.indisprimary and i.indisvalid
  join pg_class x on x.oid = i.indexrelid join pg_am m on m.oid = x.relam
  where ${ofSchemas} and not exists (select 1 from pg_constraint o where o.conindid = i.indexrelid and o.contype = 'x')
  order by i.indrelid, x.relname`

const triggersText = `select t.tgrelid as relation, t.tgname as name from ${tables}
  join pg_trigger t on t.tgrelid = c.oid and not t.tgisinternal where ${ofSchemas} order by t.tgrelid, t.tgname`

const typesText = `with recursive used (id) as (
    select a.atttypid from ${tables} join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
    where ${ofSchemas}
    union
    select case when t.typtype = 'd' then t.typbasetype else t.typelem end
    from used join pg_type t on t.oid = used.id
    where t.typtype = 'd' or (t.typcategory = 'A' and t.typelem <> 0)
  )
  select t.oid as id, t.typname as name, t.typtype as kind, t.typcategory as category, t.typelem as element,
    format_type(t.oid, null) as label, t.typbasetype as base, t.typtypmod as modifier, t.typnotnull as required,
    pg_get_expr(t.typdefaultbin, 0) as default,
    (select json_agg(e.enumlabel order by e.enumsortorder)::text from pg_enum e where e.enumtypid = t.oid) as values,
    (select json_agg(pg_get_expr(o.conbin, 0) order by o.conname)::text from pg_constraint o
     where o.contypid = t.oid and o.contype = 'c') as checks
  from used join pg_type t on t.oid = used.id`
