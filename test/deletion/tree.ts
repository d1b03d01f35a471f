/** A tree of records four levels deep, of any size, made directly in the database; and what is left of it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { searchTable } from '../../packages/server/src/storage/sql/tables.ts'
import { viewName } from '../../packages/server/src/storage/sqlite/search-parts.ts'

const name = { type: 'string', search: true, sort: true }
const deletion = { asynchronous: { above: 100 }, byFilter: true }

/** The declaration: the third level is deleted for good, badges only note whom they belong to. */
const declaration = {
  name: 'trees',
  resources: {
    companies: { fields: { name }, deletion },
    departments: { fields: { name, company_id: { reference: 'companies', onDelete: 'cascade' } }, deletion },
    teams: {
      fields: { name, department_id: { reference: 'departments', onDelete: 'cascade' } },
      deletion: { ...deletion, variant: 'hard' },
    },
    members: { fields: { name, team_id: { reference: 'teams', onDelete: 'cascade' } }, deletion },
    badges: { fields: { name, member_id: { reference: 'members', onDelete: 'clear', optional: true } } },
  },
}

/** Its collections. */
export const collections = Object.keys(declaration.resources)

// Nothing is in there, but it could stand in the way: somebody has to look.
const audits = { fields: { name, member_id: { reference: 'members', onDelete: 'restrict' } } }

/** Writes the declaration into a folder, under the name that servers of tests look for. */
export function declare(folder: string, canBeBlocked = false): void {
  const resources = canBeBlocked ? { ...declaration.resources, audits } : declaration.resources
  writeFileSync(join(folder, 'diary.json'), JSON.stringify({ ...declaration, resources }))
}

/** How many records each level has: of the tree, and as many again of a tree beside it. */
export interface Size {
  readonly departments: number
  readonly teams: number
  readonly members: number
  readonly badges: number
}

/** The number of records that go with the tree. */
export function sizeOf({ departments, teams, members }: Size): number {
  return 1 + departments + teams + members
}

/** The id of the record of a number; every level has its own range of numbers. */
export function idOf(level: number, number: number): string {
  return `0000000${level}-0000-7000-8000-${String(number).padStart(12, '0')}`
}

/** Fills a database that a server has made: two trees alike, of which the first, number 0, is to be deleted. */
export function fill(path: string, size: Size): void {
  const database = new DatabaseSync(path)
  const stamp = `'2026-01-01T00:00:00.000Z'`
  const level = (table: string, number: number, count: number, reference?: string, above?: number) => {
    // Even numbers belong to the first tree, odd ones to the other.
    const parents = (above ?? 1) * 2
    const parent = `printf('0000000${number - 1}-0000-7000-8000-%012d', (i % 2) + 2 * ((i / 2) % ${parents / 2}))`
    const [column, value] = reference === undefined ? ['', ''] : [`, ${reference}`, `, ${parent}`]
    database.exec(`
      with recursive n(i) as (select 0 union all select i + 1 from n where i < ${count * 2 - 1})
      insert into ${table} (id, name${column}, created_at, updated_at, _revision)
        select printf('0000000${number}-0000-7000-8000-%012d', i), '${table} ' || iif(i % 2, 'odd', 'even')${value}, ${stamp}, ${stamp}, 1 from n;
      update resourced_clocks set live = ${count * 2} where collection = '${table}';`)
  }
  database.exec('begin')
  level('companies', 1, 1)
  level('departments', 2, size.departments, 'company_id', 1)
  level('teams', 3, size.teams, 'department_id', size.departments)
  level('members', 4, size.members, 'team_id', size.teams)
  level('badges', 5, size.badges, 'member_id', size.members)
  database.exec('commit')
  // The next start misses the full-text indexes, and builds them.
  const indexes = database.prepare("select name from sqlite_schema where sql like 'create virtual table%'").all()
  for (const { name } of indexes) database.exec(`drop table "${name}"`)
  database.exec('pragma wal_checkpoint(truncate)')
  database.close()
}

/** What a database holds, without the times at which it came to hold it. */
export function stateOf(path: string): unknown {
  const database = new DatabaseSync(path)
  const all = (text: string) =>
    database
      .prepare(text)
      .all()
      .map((row) => ({ ...row }))
  const tables = collections.map((table) => {
    const reference = table === 'badges' ? 'member_id is null as cleared' : '0 as cleared'
    return [
      table,
      all(`select count(*) as count, deleted_at is not null as deleted, _deletion is not null as marked, _revision & 1048575 as revision,
        ${reference}, name from ${table} group by 2, 3, 4, 5, 6 order by 2, 3, 4, 5, 6`),
      all(`select "row" from ${viewName(searchTable(table))} where words match 'even'`).length,
      all(`select live, deleted from resourced_clocks where collection = '${table}'`),
    ]
  })
  const rest =
    all(`select (select count(*) from resourced_queue) as queue, (select count(*) from resourced_work) as work,
    (select count(*) from jobs) as jobs, (select group_concat(status || progress) from jobs) as status`)
  const integrity = all('pragma integrity_check')
  database.close()
  return { tables, rest, integrity }
}
