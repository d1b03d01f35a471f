/** Looks into a database from the inside: what no client can see must be right too. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { searchTable } from '../../packages/server/src/storage/sql/tables.ts'

/**
 * Checks a database of `diary`: its structure, its clocks, that nothing refers to what is gone, and that the full-text
 * index holds the words of the records and nothing else.
 *
 * @throws AssertionError at the first fault
 */
export function inspect(file: string): void {
  // Other workers may still be starting.
  const database = new DatabaseSync(file, { timeout: 10_000 })
  const all = (statement: string) =>
    database
      .prepare(statement)
      .all()
      .map((row) => ({ ...row }))
  try {
    assert.deepEqual(all('pragma integrity_check'), [{ integrity_check: 'ok' }])
    for (const collection of ['folders', 'notes']) {
      const counted = all(
        `select count(*) filter (where deleted_at is null) as live, count(*) filter (where deleted_at is not null) as deleted from ${collection}`,
      )
      assert.deepEqual(all(`select live, deleted from resourced_clocks where collection = '${collection}'`), counted)
      const parts = all(
        `select name from sqlite_schema where name glob '${searchTable(collection)}_[0-9]*' and sql like 'create virtual%'`,
      )
      const indexed = parts.flatMap(({ name: part }) => {
        database.exec(`insert into ${part} (${part}) values ('integrity-check')`)
        database.exec(`create virtual table temp.words_${part} using fts5vocab('main', '${part}', 'instance')`)
        return all(`select doc, term from temp.words_${part} order by doc, "offset"`)
      })
      const wanted = all(`select _row, title from ${collection} order by _row`).flatMap(({ _row, title }) =>
        String(title)
          .split(' ')
          .map((term) => ({ doc: _row, term })),
      )
      assert.deepEqual(indexed, wanted, `the words of ${collection}`)
    }
    const orphans = all('select name from notes where deleted_at is null and folder_id not in (select id from folders)')
    assert.deepEqual(orphans, [])
  } finally {
    database.close()
  }
}
