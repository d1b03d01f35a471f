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

/** As above; `isCurrent`: it has the tables of the catalog, and need not be looked at. */
interface PlaceOptions extends OpenOptions {
  readonly isCurrent?: boolean
}

/** What an engine has to give. */
type Place = Omit<TrialDatabase, 'open' | 'remove' | 'copy'> & {
  open(catalog: Catalog, options?: PlaceOptions): Promise<Storage>
  readonly drop: () => void | Promise<void>
  readonly duplicate: () => Place | Promise<Place>
}

/** A database whose tables may be copied from another one. */
interface Prepared {
  readonly catalog: Catalog
  /** Writes what every database for the catalog has at first: always the same. */
  fill(storage: Storage): Promise<void>
}

/** What has the tables of a catalog and is filled: databases for the catalog are copies of it. */
interface Template {
  /** Its folder, or its name on PostgreSQL. */
  readonly name: string
  readonly catalog: Catalog
}

type PostgresOptions = PlaceOptions & { readonly session?: 'off' }

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
 * `prepared`: what is in it from the first time that it is opened
 */
export async function newDatabase(
  options: { readonly memory?: boolean; readonly prepared?: Prepared } = {},
): Promise<TrialDatabase> {
  const { memory = false, prepared } = options
  const template = prepared && (await templateFor(prepared))
  return asDatabase(await newPlace(memory, template?.name), prepared, template)
}

async function newPlace(memory: boolean, template: string | undefined): Promise<Place> {
  if (engine === 'sqlite') return memory ? inMemory(template) : inFile(template)
  return placeOf(await (template === undefined ? emptyDatabase() : copyOf(template)))
}

function asDatabase(place: Place, prepared?: Prepared, template?: Template): TrialDatabase {
  left.add(place)
  let opened = 0
  let isNew = true
  return {
    ...place,
    async open(catalog, options) {
      const storage = await place.open(catalog, { ...options, isCurrent: isNew && catalog === template?.catalog })
      if (isNew && template === undefined) await prepared?.fill(storage)
      isNew = false
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
const templates = new Map<string, Promise<Template> | undefined>()

/**
 * The template of a catalog from the second time that a database is made for it. To copy tables takes a third of the
 * time of making them. Opening a copy adds what its declaration has more.
 */
function templateFor(prepared: Prepared): Promise<Template> | undefined {
  const { version, hash } = declarationOf(prepared.catalog)
  const tables = `${version} ${hash}`
  const template = templates.has(tables) ? (templates.get(tables) ?? makeTemplate(prepared)) : undefined
  templates.set(tables, template)
  return template
}

async function makeTemplate({ catalog, fill }: Prepared): Promise<Template> {
  const { name, storage } = await (engine === 'postgres' ? databaseFor(catalog) : folderFor(catalog))
  await fill(storage)
  await storage.close()
  if (engine === 'sqlite') {
    // A database in memory has no log.
    const database = new DatabaseSync(join(name, file))
    database.exec('pragma journal_mode = delete')
    database.close()
  }
  return { name, catalog }
}

async function folderFor(catalog: Catalog) {
  const name = mkdtempSync(join(fastFolder(), 'resourced-'))
  left.add({ drop: () => rmSync(name, { recursive: true }) })
  return { name, storage: openSqlite(catalog, { path: join(name, file) }) }
}

async function databaseFor(catalog: Catalog) {
  const { url, remove } = await emptyDatabase()
  left.add({ drop: remove })
  // Not through a pooler, which would stay connected.
  return { name: nameOf(url), storage: await openDirectly(url, catalog) }
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

async function openDirectly(url: string, catalog: Catalog, options: PostgresOptions = {}): Promise<Storage> {
  const { openPostgres } = await import('../packages/server/src/storage/postgres/storage.ts')
  // The cluster of tests does not wait for a disk; tests do wait, where thousands of them come at once on a busy
  // machine.
  return openPostgres(catalog, { ...options, url, unsafe: true, limits: { connect: 60_000 } })
}

function placeOf({ url, remove }: EmptyDatabase): Place {
  const rows = (text: string) => query(url, text)
  return {
    ...{ address: url, rows, drop: remove },
    duplicate: async () => placeOf(await copyOf(nameOf(url))),
    async open(catalog, options) {
      if (pooler === undefined) return openDirectly(url, catalog, options)
      // Tables are made past the pooler, as people have to.
      await (await openDirectly(url, catalog, options)).close()
      const through = Object.assign(new URL(url), { port: pooler }).href
      return openDirectly(through, catalog, { ...options, isCurrent: false, session: 'off' })
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
