/**
 * A file with many records and reads that take long, for tests. Run as a process, `node slow-reads.fixture.ts FILE`
 * reads slowly and creates records until it is killed, and prints the id of each record that it has created.
 */
import { DatabaseSync } from 'node:sqlite'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { always, type Predicate } from 'resourced-contract/model/predicate'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { uuidv7 } from 'uuidv7'
import type { Create, Page, ReadPage } from '../../plan/plan.ts'
import { openSqlite } from './storage.ts'

/** A limit that no read of a test reaches, on a busy machine either. */
export const patient = 3_600_000

/** The declaration of the file. */
export function catalogOf(readTime: number): Catalog {
  const notes = { type: 'string', filter: true, maxLength: 500 } as const
  const title = { type: 'string', search: true, sort: true, optional: true } as const
  const fields = { title, notes, team: { type: 'integer', filter: true, optional: true } } as const
  return completeCatalog({ name: 'slow', resources: { tasks: { fields } }, limits: { readTime } })
}

/** Creates the tables, and so many records in one statement. */
export async function fill(path: string, count: number): Promise<void> {
  await openSqlite(catalogOf(patient), { path }).close()
  const database = new DatabaseSync(path)
  const notes = "printf('%0100d', number)"
  const values = `printf('%032d', number), 'title ' || number, ${notes}, ${notes}, number % 100, 'now', 'now', 1`
  const numbers = `with recursive numbers(number) as (select 1 union all select number + 1 from numbers limit ${count})`
  const columns = 'id, title, notes, _folded_notes, team, created_at, updated_at, _revision'
  database.exec(
    `pragma synchronous = off; begin; insert into tasks (${columns}) ${numbers} select ${values} from numbers`,
  )
  database.exec("insert into resourced_words_tasks_0 (rowid, words) select _row, 'title ' || _row from tasks; commit")
  database.prepare("update resourced_clocks set live = ?, revision = ? where collection = 'tasks'").run(count, count)
  database.close()
}

let keys = 0
export const firstPage: Page = { style: 'page', page: 1, perPage: 20 }

/** A page of the records. */
export function pageOf({ resources }: Catalog, over: Partial<ReadPage> = {}): ReadPage {
  const resource = resources.get('tasks') as Resource
  return {
    ...{ kind: 'read-page', resource, parent: undefined, filter: always, permitted: always, search: undefined },
    ...{ deleted: undefined, sort: [], page: firstPage, fields: undefined, conditions: {}, key: `${++keys}` },
    ...over,
  }
}

let filters = 0

/**
 * The records that contain one of many texts, which none does: each record is searched for each text. The texts are new
 * each time, so that no total is remembered.
 *
 * @param texts 900 at most: SQLite limits the depth of expressions
 */
export function containing(texts: number): Predicate {
  const filter = ++filters
  const term = (number: number): Predicate => {
    return { kind: 'compare', field: 'notes', operator: 'contains', value: `nowhere ${filter} ${number}` }
  }
  return { kind: 'or', terms: Array.from({ length: texts }, (_, number) => term(number)) }
}

/** The creation of a record. */
export function creation({ resources }: Catalog, notes: string): Create {
  const caller = { id: 'ann', roles: [], claims: {} }
  const resource = resources.get('tasks') as Resource
  const who = { caller, now: Date.now(), permitted: always, mayAssignOwner: false, parent: undefined }
  return { kind: 'create', resource, id: uuidv7(), body: { notes }, ...who }
}

if (import.meta.main) {
  const catalog = catalogOf(patient)
  const storage = openSqlite(catalog, { path: String(process.argv[2]) })
  const readOn = async (callerId: string): Promise<void> => {
    for (;;) await storage.run(pageOf(catalog, { filter: containing(100) }), { callerId })
  }
  void readOn('ann')
  void readOn('bob')
  for (;;) {
    const plan = creation(catalog, 'kept')
    if ((await storage.run(plan)).kind === 'created') process.stdout.write(`${plan.id}\n`)
  }
}
