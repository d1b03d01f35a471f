/** The engine that tests run on: SQLite, or with TEST_ENGINE=postgres PostgreSQL (see CONTRIBUTING.md). */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after } from 'node:test'
import type { Catalog } from 'resourced-contract/model/resource'
import { declarationOf } from '../packages/server/src/storage/migration/apply.ts'
import type { Apply } from '../packages/server/src/storage/migration/migration-step.ts'
import { openSqlite } from '../packages/server/src/storage/sqlite/storage.ts'
import type { OnCommit, Storage } from '../packages/server/src/storage/storage.ts'
import { overMessages } from './over-messages.ts'
import { fastFolder } from './postgres/account.ts'
import { copyOf, type EmptyDatabase, emptyDatabase } from './postgres/database.ts'
import { query } from './postgres/query.ts'

/** How a test opens its database. */
export interface OpenOptions {
  readonly migrate?: Apply
  readonly onCommit?: OnCommit
}

/** A database of a test's own, empty at first. */
export interface TrialDatabase {
  /** As `--database` takes it. */
  readonly address: string
  /** Opens it for a catalog: as often as there are servers on it. */
  open(catalog: Catalog, options?: OpenOptions): Promise<Storage>
  /** What a query finds in its tables, past the storage: in words of SQL that every engine knows. */
  rows(query: string): Promise<Record<string, unknown>[]>
  /** Everything that is kept in it, as text. */
  contents(): Promise<string>
  /** Makes a copy of it, while nobody has it open. */
  copy(): Promise<TrialDatabase>
  /**
   * Removes it; where another server has it open still, at the end of the test file, like those that nobody removes.
   */
  remove(): Promise<void>
}

/** What an engine has to give. */
type Place = Omit<TrialDatabase, 'remove' | 'copy'> & {
  readonly drop: () => void | Promise<void>
  readonly duplicate: () => Place | Promise<Place>
}

type PostgresOptions = OpenOptions & { readonly session?: 'off' }

type Engine = 'sqlite' | 'postgres'

/** Which engine it is. */
export const engine = readEngine()

// The cluster of tests does not wait for a disk. Commands inherit it.
if (engine === 'postgres') process.env.DATABASE_UNSAFE = 'true'

function readEngine(): Engine {
  const asked = process.env.TEST_ENGINE ?? 'sqlite'
  if (asked === 'sqlite' || asked === 'postgres') return asked
  throw new Error(`TEST_ENGINE is ${asked}: sqlite and postgres are known.`)
}

/** For the option `skip` of a test that is about SQLite alone: the reason, where another engine is tried. */
export function sqliteOnly(reason: string): string | false {
  return engine === 'sqlite' ? false : `SQLite only: ${reason}`
}

/** The name of a database file in its folder. */
const file = 'data.db'

const left = new Set<Pick<Place, 'drop'>>()
after(async () => {
  for (const place of left) {
    // A trial that is closed later must not drop it again.
    left.delete(place)
    await place.drop()
  }
})

/**
 * Makes a database.
 *
 * @param options `memory`: SQLite may keep it there, where one storage is opened and nobody else looks into it;
 * `prepared`: it may have the tables of this catalog already
 */
export async function newDatabase(
  options: { readonly memory?: boolean; readonly prepared?: Catalog } = {},
): Promise<TrialDatabase> {
  const { memory = false, prepared } = options
  if (engine === 'postgres') return asDatabase(await inPostgres(prepared))
  const template = prepared && (await fileFor(prepared))
  return asDatabase(memory ? inMemory(template) : inFile(template))
}

function asDatabase(place: Place): TrialDatabase {
  left.add(place)
  let opened = 0
  return {
    ...place,
    async open(catalog, options) {
      const storage = await place.open(catalog, options)
      opened++
      const { close } = storage
      return Object.assign(storage, {
        async close() {
          await close()
          opened--
        },
      })
    },
    copy: async () => asDatabase(await place.duplicate()),
    async remove() {
      if (opened > 0 || !left.delete(place)) return
      await place.drop()
    },
  }
}

function inMemory(original?: string): Place {
  const contents = original === undefined ? undefined : readFileSync(join(original, file))
  const unseen = () => Promise.reject(new Error('Nobody sees into a database in memory: make it without `memory`.'))
  return {
    address: 'sqlite::memory:',
    open: async (catalog, options) => openSqlite(catalog, { ...options, path: ':memory:', contents }),
    ...{ rows: unseen, contents: unseen, duplicate: unseen, drop: () => {} },
  }
}

function inFile(original?: string): Place {
  // Like the cluster of PostgreSQL: a disk takes longer to sync than most tests take.
  const folder = mkdtempSync(join(fastFolder(), 'resourced-'))
  if (original !== undefined) cpSync(original, folder, { recursive: true })
  const path = join(folder, file)
  return {
    address: `sqlite:${path}`,
    async open(catalog, options) {
      const storage = openSqlite(catalog, { ...options, path })
      return process.env.TEST_WORKERS === undefined ? storage : overMessages(catalog, storage)
    },
    async rows(text) {
      const database = new DatabaseSync(path, { readOnly: true })
      try {
        const found = database.prepare(text).all()
        return found.map((row) => ({ ...row }))
      } finally {
        database.close()
      }
    },
    async contents() {
      const files = readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))
      return files
        .filter((file) => statSync(file).isFile())
        .map((file) => readFileSync(file, 'latin1'))
        .join('\n')
    },
    duplicate: () => inFile(folder),
    drop: () => rmSync(folder, { recursive: true }),
  }
}

/** The port of a pooler in front of the cluster, through which databases are used. */
const pooler = process.env.TEST_POSTGRES_POOLER

/** Templates of databases by the tables that they have; `undefined`: one with these has been asked for once. */
const templates = new Map<string, Promise<string> | undefined>()

/**
 * The template of a catalog from the second time that a database is made for it. To copy tables takes a third of the
 * time of making them. Opening a copy adds what its declaration has more.
 */
function templateFor(catalog: Catalog, make: (catalog: Catalog) => Promise<string>): Promise<string> | undefined {
  const { version, hash } = declarationOf(catalog)
  const tables = `${version} ${hash}`
  const template = templates.has(tables) ? (templates.get(tables) ?? make(catalog)) : undefined
  templates.set(tables, template)
  return template
}

/** The folder of a file with the tables of a catalog. */
function fileFor(catalog: Catalog): Promise<string> | undefined {
  return templateFor(catalog, async () => {
    const folder = mkdtempSync(join(fastFolder(), 'resourced-'))
    left.add({ drop: () => rmSync(folder, { recursive: true }) })
    const path = join(folder, file)
    await openSqlite(catalog, { path }).close()
    // A database in memory has no log.
    const database = new DatabaseSync(path)
    database.exec('pragma journal_mode = delete')
    database.close()
    return folder
  })
}

async function madeFor(catalog: Catalog): Promise<EmptyDatabase> {
  const template = templateFor(catalog, templateOf)
  return template === undefined ? emptyDatabase() : copyOf(await template)
}

async function templateOf(catalog: Catalog): Promise<string> {
  const { url, remove } = await emptyDatabase()
  left.add({ drop: remove })
  // Not through a pooler, which would stay connected.
  await (await openDirectly(url, catalog)).close()
  return new URL(url).pathname.slice(1)
}

async function openDirectly(url: string, catalog: Catalog, options: PostgresOptions = {}): Promise<Storage> {
  const { openPostgres } = await import('../packages/server/src/storage/postgres/storage.ts')
  // The cluster of tests does not wait for a disk; tests do wait, where thousands of them come at once on a busy
  // machine.
  return openPostgres(catalog, { ...options, url, unsafe: true, limits: { connect: 60_000 } })
}

async function inPostgres(prepared?: Catalog): Promise<Place> {
  return placeOf(prepared === undefined ? await emptyDatabase() : await madeFor(prepared))
}

function placeOf({ url, remove }: EmptyDatabase): Place {
  const rows = (text: string) => query(url, text)
  return {
    ...{ address: url, rows, drop: remove },
    duplicate: async () => placeOf(await copyOf(new URL(url).pathname.slice(1))),
    async open(catalog, options) {
      if (pooler === undefined) return openDirectly(url, catalog, options)
      // Tables are made past the pooler, as people have to.
      await (await openDirectly(url, catalog, options)).close()
      return openDirectly(Object.assign(new URL(url), { port: pooler }).href, catalog, { ...options, session: 'off' })
    },
    async contents() {
      const named = "quote_ident(schemaname) || '.' || quote_ident(tablename) as name"
      const ours = "schemaname = 'public' or schemaname like 'resourced\\_%'"
      const tables = await rows(`select ${named} from pg_tables where ${ours}`)
      const found = await Promise.all(tables.map(({ name }) => rows(`select kept::text as text from ${name} as kept`)))
      return found.flatMap((each) => each.map(({ text }) => text)).join('\n')
    },
  }
}
