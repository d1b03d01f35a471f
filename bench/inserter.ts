/** Records straight into our tables, without the server: for the committer, and for a million records. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { RecordValues, Resource } from 'resourced-contract/model/resource'
import { columnsOf } from '../packages/server/src/storage/sql/columns.ts'
import { boundOf, searchWords } from '../packages/server/src/storage/sql/records.ts'
import { searchTable } from '../packages/server/src/storage/sql/tables.ts'
import { addParts, partNames, partOf, searchParts } from '../packages/server/src/storage/sqlite/search-parts.ts'

/** Makes a function that inserts a record (with its system fields) and its words; transactions are the caller's. */
export function inserterOf(resource: Resource, database: DatabaseSync): (record: RecordValues) => void {
  const columns = columnsOf(resource)
  const names = ['id', ...columns.map((column) => column.name), 'created_at', 'updated_at', '_revision']
  const places = names.map(() => '?').join(', ')
  const list = names.map((name) => `"${name}"`).join(', ')
  const row = database.prepare(`insert into "${resource.name}" (${list}) values (${places})`)
  const isSearched = resource.fields.some((field) => field.search)
  const search = searchTable(resource.name)
  // Servers add parts one by one, as rows come.
  if (isSearched) database.exec(addParts(search, countParts(database, search), searchParts).join('; '))
  const words = (isSearched ? partNames(search) : []).map((part) =>
    database.prepare(`insert into "${part}" (rowid, words) values (?, ?)`),
  )
  return (record) => {
    const values = columns.map((column) => boundOf(column, record))
    const bound = [record['id'], ...values, record['created_at'], record['updated_at'], 1] as SQLInputValue[]
    const { lastInsertRowid } = row.run(...bound)
    words[partOf(Number(lastInsertRowid))]?.run(lastInsertRowid, searchWords(resource, record))
  }
}

function countParts(database: DatabaseSync, search: string): number {
  const found = database.prepare('select count(*) as count from sqlite_schema where name = ?')
  return partNames(search).filter((part) => found.get(part)?.['count'] === 1).length
}
