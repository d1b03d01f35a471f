/** A collection of every kind of field, and exports of it from end to end. */

import { completeCatalog } from 'resourced-contract/model/catalog'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { always, type SortTerm } from 'resourced-contract/model/predicate'
import type { RecordValues, Resource } from 'resourced-contract/model/resource'
import sql, { join, raw } from 'sql-template-tag'
import { Type } from 'typebox'
import { exportHead, exportTail, joinTexts } from '../../plan/export-document.ts'
import { columnsOf } from '../sql/columns.ts'
import { sqlContext } from '../sql/context.ts'
import { boundOf } from '../sql/records.ts'
import { Connection } from '../sqlite/connection.ts'
import { sqlite } from '../sqlite/dialect.ts'
import { migrate } from '../sqlite/migrate.ts'
import { type ExportBatch, exportRows } from './export-rows.ts'
import { tickAll } from './rows/clock.ts'

export const catalog = completeCatalog(
  defineInterface({
    name: 'library',
    resources: {
      books: {
        fields: {
          title: Type.String({ sort: true, filter: true }),
          note: Type.Optional(Type.String({ sort: true })),
          kind: Type.Enum(['novel', 'atlas'], { sort: true }),
          lent: Type.Optional(Type.Boolean()),
          pages: Type.Optional(Type.Integer({ sort: true, filter: true })),
          weight: Type.Optional(Type.Number({ sort: true })),
          due: Type.Optional(Type.String({ format: 'date-time', sort: true })),
          labels: Type.Optional(Type.Array(Type.String())),
          more: Type.Optional(Type.Object({}, { additionalProperties: true })),
          any: Type.Optional(Type.Unknown()),
          secret: Type.Optional(Type.String({ writeOnly: true })),
          owner_id: Type.String({ readOnly: true }),
        },
        owner: 'owner_id',
      },
    },
  }),
)
export const books = catalog.resources.get('books') as Resource
export const context = sqlContext({ catalog, dialect: sqlite, tagSecret: new Uint8Array(32) })

/** Opens an empty library. */
export function openLibrary(): Connection {
  const connection = new Connection(':memory:')
  migrate(connection.database, catalog, { apply: 'additive', now: 0 })
  return connection
}

/** The id of the book with a number. */
export function idOf(number: number): string {
  return `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
}

/** Puts books in. */
export function plant(connection: Connection, records: readonly RecordValues[]): void {
  const columns = columnsOf(books)
  const system = ['id', 'created_at', 'updated_at', 'deleted_at']
  const names = raw([...columns.map((column) => `"${column.name}"`), ...system].join())
  connection.execute('begin')
  for (const record of records) {
    const bound = [...columns.map((column) => boundOf(column, record)), ...system.map((name) => record[name] ?? null)]
    connection.all(sql`insert into books (${names}, _revision) values (${join(bound)}, 1)`)
  }
  const live = records.filter((record) => record['deleted_at'] == null).length
  connection.run(tickAll(context, new Map([[books.name, { live, deleted: records.length - live }]])))
  connection.execute('commit')
}

/** A sort as addresses have it. */
export function sorted(text: string): SortTerm[] {
  if (text === '') return []
  return text.split(',').map((part) => ({ field: part.replace('-', ''), descending: part.startsWith('-') }))
}

/** An export of all books as JSON, except for the given options. */
export function batchOf(more: Partial<ExportBatch>): ExportBatch {
  return {
    ...{ resource: books, filter: always, permitted: always, sort: [], fields: undefined },
    ...{ format: 'json', after: undefined, limit: 1_000 },
    ...more,
  }
}

/** The texts of an export, batch by batch. */
export function* batches(connection: Connection, batch: ExportBatch): Generator<readonly string[]> {
  let after: ExportBatch['after']
  do {
    // A job keeps the place, and may go on from it after a restart.
    const { texts, last } = connection.run(exportRows(context, { ...batch, after }))
    yield texts
    after = last && JSON.parse(JSON.stringify(last))
  } while (after !== undefined)
}

/** The whole document of an export. */
export function documentOf(connection: Connection, batch: ExportBatch): string {
  let written = exportHead(batch.resource, batch.fields, batch.format)
  let isFirst = true
  for (const texts of batches(connection, batch)) {
    written += joinTexts(texts, batch.format, isFirst)
    isFirst &&= texts.length === 0
  }
  return written + exportTail(batch.format)
}
