/** Finding related records (REL-1): which records each record of a page leads to by a path, and how many they are. */
import type { Position } from 'resourced-contract/model/predicate'
import { type Resource, resourceInVersion } from 'resourced-contract/model/resource'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import type { FoundPath } from '../../plan/include-load.ts'
import type { ReadPage, RelatedPath } from '../../plan/plan.ts'
import { columnSql, subject, subjectSql, tableSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { orderOf, orderTerms } from '../sql/keyset.ts'
import { type PredicateContext, predicateSql } from '../sql/predicate.ts'
import { predicateDigest } from '../sql/records.ts'
import { filled, firstRow, prebuilt, type Statement, slot, type Transaction } from '../transaction.ts'
import { readableRowsSql, recycleBin } from './list.ts'
import { between, keysSql } from './page-rows.ts'

const source = 'source'

/** The resources of a path: as stored, and as the version of the client has it. */
export function resourcesOf(
  { catalog }: Pick<SqlContext, 'catalog'>,
  { collection, version }: RelatedPath,
): Pick<ReadPage, 'resource' | 'versionResource'> {
  const resource = catalog.resources.get(collection) as Resource
  const ofVersion = version === undefined ? undefined : resourceInVersion(catalog, version, collection)
  return { resource, ...(ofVersion && { versionResource: ofVersion as NonNullable<ReadPage['versionResource']> }) }
}

/** Finds the records that a path leads to from each of some records. */
export function* findRelated(
  context: SqlContext,
  path: RelatedPath,
  ids: readonly string[],
): Transaction<FoundPath['found']> {
  if (ids.length === 0) return new Map()
  return yield* path.to === 'one' ? findOne(context, path, ids) : findMany(context, path, ids)
}

function* findOne(context: SqlContext, path: RelatedPath, ids: readonly string[]): Transaction<FoundPath['found']> {
  const row = yield* firstRow(statementOf(context, path, ids, toOneSql))
  const pairs = linesOf(row?.['pairs']).map((pair) => pair.split(' ') as [string, string])
  return new Map(pairs.map(([from, to]) => [from, { ids: [to], total: 1 }]))
}

function* findMany(context: SqlContext, path: RelatedPath, ids: readonly string[]): Transaction<FoundPath['found']> {
  const rows = yield statementOf(context, path, ids, toManySql)
  return new Map(
    rows.map((row) => {
      const places = linesOf(row['places'])
      // Without a sort, the id is the only key.
      const keys = path.sort.length === 0 ? undefined : places.map((place) => JSON.parse(place) as Position['keys'])
      const related = keys?.map((each) => String(each.at(-1))) ?? places
      const last = keys === undefined ? places.slice(-1) : keys.at(-1)
      return [
        String(row['source']),
        { ids: related, total: Number(row['total']), last: last?.length ? last : undefined },
      ]
    }),
  )
}

/** The texts that `Dialect.joinRows` has joined. */
function linesOf(text: unknown): string[] {
  return typeof text === 'string' ? text.split(between) : []
}

type MakeSql = (context: PredicateContext, resource: Resource, path: RelatedPath, list: Sql) => Sql

/** The statement of a path. Its text is built once for each permission. */
function statementOf(context: SqlContext, path: RelatedPath, ids: readonly string[], make: MakeSql): Statement {
  const { resource } = resourcesOf(context, path)
  const list = JSON.stringify(ids)
  const { deleted, to, source: from, field, permitted, referring, limit, sort } = path
  // Which deleted records a caller is shown depends on the time.
  if (deleted !== undefined) return make(recycleBin(context, { resource, deleted }), resource, path, sql`${list}`)
  const own = to === 'one' ? `${from} ${predicateDigest(referring)}` : `${limit} ${JSON.stringify(sort)}`
  const key = `related ${to} ${resource.name} ${field} ${predicateDigest(permitted)} ${own}`
  const slots = context.statements.of(key, () => {
    const asked = sql`${slot(({ list }: { list: string }) => list)}`
    return prebuilt(make(context, resource, path, asked))
  })
  return filled(slots, { list })
}

/** The pairs of ids, of the records that refer and of those that they refer to. */
function toOneSql(context: PredicateContext, resource: Resource, path: RelatedPath, list: Sql): Sql {
  const { dialect, catalog } = context
  const { source: from, field, referring } = path
  const [id, target] = [columnSql(source, 'id'), columnSql(subject, 'id')]
  const isAsked = dialect.isInSubquery(id, sql`select value from ${dialect.elements(list, 'asked')}`)
  const referrer = catalog.resources.get(from) as Resource
  const mayFollow =
    referring.kind === 'always' ? empty : sql` and ${predicateSql(context, referrer, referring, source)}`
  const refers = sql`${target} = ${columnSql(source, field)}`
  const tables = sql`${tableSql(from)} ${raw(source)} join ${subjectSql(resource.name)} on ${refers}`
  const where = sql`${isAsked}${mayFollow} and ${readableRowsSql(context, { resource, ...path })}`
  return sql`select ${dialect.joinRows(sql`${id} || ' ' || ${target}`)} as pairs from ${tables} where ${where}`
}

/** The first related records of each record, by their keys in the order of the list, and the number of all. */
function toManySql(context: PredicateContext, resource: Resource, path: RelatedPath, list: Sql): Sql {
  const { dialect } = context
  const { field, limit, sort } = path
  const isRelated = sql`${columnSql(subject, field)} = ${columnSql(source, 'value')}`
  const isReadable = readableRowsSql(context, { resource, ...path })
  const found = sql`from ${subjectSql(resource.name)} where ${isRelated} and ${isReadable}`
  const terms = orderTerms(context, resource, sort, subject)
  const place = sort.length === 0 ? columnSql(subject, 'id') : keysSql(context, terms)
  const first = sql`select ${place} as place ${found} order by ${orderOf(terms)} ${dialect.limit(limit)}`
  const places = limit === 0 ? raw('null') : sql`(select ${dialect.joinRows(raw('place'))} from (${first}) related)`
  const columns = join(
    [sql`${columnSql(source, 'value')} as source`, sql`(select count(*) ${found}) as total`, sql`${places} as places`],
    ', ',
  )
  return sql`select ${columns} from ${dialect.elements(list, source)}`
}
