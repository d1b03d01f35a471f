/** The included records of one response: each is read once, with the fields of all paths that lead to it. */
import sql, { empty, raw, type Sql } from 'sql-template-tag'
import { type AskedRecord, type FoundPath, reachedFrom, type Sizes } from '../../plan/include-load.ts'
import type { WithRelated } from '../../plan/outcome.ts'
import type { RelatedPath } from '../../plan/plan.ts'
import { columnSql, subject, subjectSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { grantsDigest, versionedName } from '../sql/records.ts'
import { filled, firstRow, prebuilt, type Statement, slot, type Transaction } from '../transaction.ts'
import { resourcesOf } from './find-related.ts'
import { recycleBin } from './list.ts'
import { between, bytesOf, valueSql } from './page-rows.ts'

/** A record to be included. */
interface Wanted {
  /** Of the record: see `Reached`. */
  readonly key: string
  readonly id: string
  readonly path: RelatedPath
  /** Of all paths that lead to it, each once, sorted; `undefined`: all. */
  readonly fields: readonly string[] | undefined
}

/** Wanted records of a collection that have the same fields. */
type Group = readonly [Wanted, ...Wanted[]]

/** What is read of a record: its JSON, or the least bytes that it can have. */
type Known = { readonly json: string; readonly bytes: number } | { readonly json?: undefined; readonly bytes: number }

/** Reads included records, and keeps them. */
export class IncludedRecords {
  readonly #context: SqlContext
  readonly #paths: readonly FoundPath[]
  readonly #known = new Map<string, Known>()
  #bytes = 0
  /** Those of the first so many records that were asked for. */
  #grouped: { readonly count: number; readonly groups: readonly Group[] } | undefined

  constructor(context: SqlContext, paths: readonly FoundPath[]) {
    this.#context = context
    this.#paths = paths
  }

  /** Reads the related records of some records, unless they are known. `small`: of large ones only their sizes. */
  *read(asked: readonly AskedRecord[], which: 'small' | 'all'): Transaction<void> {
    for (const group of this.#groups(asked)) {
      const unread = group.filter((each) => this.#known.get(shownKey(each))?.json === undefined)
      if (isGroup(unread)) yield* this.#readGroup(unread, which)
    }
  }

  /** The bytes of all records that were read. */
  get bytes(): number {
    return this.#bytes
  }

  /** The bytes of the related records of some records, as far as they are known. */
  sizes(asked: readonly AskedRecord[]): Sizes {
    const all = this.#groups(asked).flat()
    return new Map(all.map((each) => [each.key, this.#known.get(shownKey(each))?.bytes ?? 0]))
  }

  /** The JSON of the related records of some records, all of which were read. */
  included(asked: readonly AskedRecord[]): WithRelated['included'] {
    return this.#groups(asked).map((group) => {
      const texts = group.map((each) => this.#known.get(shownKey(each))?.json)
      return { collection: group[0].path.collection, json: texts.join(between) }
    })
  }

  /** @param asked the first ones of the same records each time */
  #groups(asked: readonly AskedRecord[]): readonly Group[] {
    const count = asked.length
    if (this.#grouped?.count !== count) this.#grouped = { count, groups: this.#groupsOf(asked) }
    return this.#grouped.groups
  }

  #groupsOf(asked: readonly AskedRecord[]): Group[] {
    const wanted = new Map<string, Wanted>()
    for (const { id } of asked) {
      for (const { key, path, id: related } of reachedFrom(id, this.#paths)) {
        const known = wanted.get(key)
        const fields = known === undefined ? path.fields : unionOf(known.fields, path.fields)
        if (known === undefined || fields !== known.fields) wanted.set(key, { key, id: related, path, fields })
      }
    }
    const sorted = [...wanted.values()].sort((left, right) => (left.key < right.key ? -1 : 1))
    const groups = Map.groupBy(sorted, ({ path, fields }) => `${path.collection} ${fields?.join() ?? '*'}`)
    return [...groups.values()].flatMap((group) => (isGroup(group) ? [group] : []))
  }

  *#readGroup(group: Group, which: 'small' | 'all'): Transaction<void> {
    const share = Math.floor(this.#context.catalog.limits.pageBytes / group.length)
    const { statement, isSized } = statementOf(this.#context, group, which === 'small' ? share : undefined)
    const row = yield* firstRow(statement)
    const texts = String(row?.['json'] ?? '').split(between)
    const sizes = isSized ? String(row?.['sizes'] ?? '').split(between) : []
    if (texts.length !== group.length) throw new Error('A record was found, and then is not there.')
    for (const [index, json] of texts.entries()) {
      const known = json === 'null' ? { bytes: Number(sizes[index]) } : { json, bytes: Buffer.byteLength(json) }
      this.#known.set(shownKey(group[index] as Wanted), known)
      this.#bytes += known.bytes
    }
  }
}

function isGroup(wanted: readonly Wanted[]): wanted is Group {
  return wanted.length > 0
}

/** What identifies a record with the fields that are shown of it. */
function shownKey({ key, fields }: Wanted): string {
  return fields === undefined ? key : `${key} ${fields.join()}`
}

function unionOf(left: readonly string[] | undefined, right: readonly string[] | undefined) {
  if (left === undefined || right === undefined || left === right) return left === right ? left : undefined
  return [...new Set([...left, ...right])].sort()
}

/** What a statement of included records depends on. */
interface Asked {
  /** The ids, as a JSON array. */
  readonly list: string
  /** The most bytes of a small record, without its small fields. */
  readonly large: number
}

/**
 * The statement that reads records in the order of their ids.
 *
 * @param share the most bytes of a record that is read; `undefined`: all are
 */
function statementOf(
  context: SqlContext,
  group: Group,
  share: number | undefined,
): { readonly statement: Statement; readonly isSized: boolean } {
  const [{ path, fields }] = group
  const { deleted, readableFields } = path
  const resources = resourcesOf(context, path)
  const scope = recycleBin(context, { ...resources, deleted })
  const shown = { ...resources, fields, deleted, readableFields }
  const bytes = bytesOf(scope, shown)
  const isSized = share !== undefined && bytes.small + bytes.large > share
  const asked: Asked = { list: JSON.stringify(group.map(({ id }) => id)), large: (share ?? 0) - bytes.small }
  const make = (list: Sql, large: Sql) => {
    const value = valueSql(scope, shown)
    const json = isSized ? sql`case when ${bytes.escaped} <= ${large} then ${value} else 'null' end` : value
    const size = isSized ? sql`, cast(${bytes.stored} as text) as size` : empty
    const { dialect } = context
    const id = columnSql(subject, 'id')
    const isAsked = dialect.isInSubquery(id, sql`select value from ${dialect.elements(list, 'asked')}`)
    const rows = sql`select ${json} as json${size} from ${subjectSql(path.collection)} where ${isAsked} order by ${id}`
    const sizes = isSized ? sql`, ${dialect.joinRows(raw('size'))} as sizes` : empty
    return sql`select ${dialect.joinRows(raw('json'))} as json${sizes} from (${rows}) page`
  }
  // Which deleted records a caller is shown depends on the time.
  if (deleted !== undefined) return { statement: make(sql`${asked.list}`, sql`${asked.large}`), isSized }
  const name = versionedName(resources.versionResource ?? resources.resource)
  const key = `included ${name} ${fields?.join() ?? '*'} ${isSized}${grantsDigest(readableFields)}`
  const slots = context.statements.of(key, () => {
    const list = sql`${slot(({ list }: Asked) => list)}`
    return prebuilt(make(list, sql`cast(${slot(({ large }: Asked) => large)} as integer)`))
  })
  return { statement: filled(slots, asked), isSized }
}
