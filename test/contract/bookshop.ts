/** What the contract of an engine is tried on: an interface with every kind of value, and plans without HTTP. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { always, type Position, type Predicate, type SortTerm } from 'resourced-contract/model/predicate'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { uuidv7 } from 'uuidv7'
import { tagOf } from '../../packages/server/src/plan/check-record.ts'
import type { Outcome, PageOutcome } from '../../packages/server/src/plan/outcome.ts'
import type { Conditions, Plan } from '../../packages/server/src/plan/plan.ts'
import { administer } from '../../packages/server/src/server/open-database.ts'
import type { Administration } from '../../packages/server/src/storage/administration/administration.ts'
import type { Storage } from '../../packages/server/src/storage/storage.ts'
import type { TrialDatabase } from '../engine.ts'

/** An engine on trial: makes an empty database of its own. */
export type Engine = () => Promise<Pick<TrialDatabase, 'address' | 'open' | 'remove'>>

/** The declaration, and the one that a migration brings the database to. */
export const bookshop = {
  name: 'bookshop',
  resources: {
    shelves: { fields: { name: { type: 'string', unique: true } } },
    books: {
      fields: {
        title: { type: 'string', search: true, filter: true, sort: true },
        code: { type: 'string', optional: true, unique: true },
        stock: { type: 'integer', optional: true, filter: true, sort: true },
        price: { type: 'decimal', precision: 38, scale: 18, optional: true, filter: true, sort: true },
        weight: { type: 'number', optional: true, filter: true, sort: true },
        printed: { type: 'string', format: 'date-time', optional: true, filter: true, sort: true },
        more: { type: 'object', optional: true },
        shelf_id: { reference: 'shelves', optional: true, onDelete: 'cascade' },
      },
    },
    loans: { fields: { book_id: { reference: 'books', onDelete: 'restrict' } } },
    notes: { fields: { book_id: { reference: 'books', optional: true, onDelete: 'clear' } } },
  },
} as const satisfies InterfaceDeclaration

const { books } = bookshop.resources
/** The next declaration: a field and a collection more, which loses nothing. */
export const larger = completeCatalog({
  ...bookshop,
  resources: {
    ...bookshop.resources,
    books: { fields: { ...books.fields, pages: { type: 'integer', default: 1, sort: true } } },
    readers: { fields: { name: { type: 'string' } } },
  },
})

export const catalog = completeCatalog(bookshop)

/** A moment of the trials: milliseconds since 1970. */
export const noon = Date.UTC(2026, 10, 21, 12)

type Name = keyof typeof bookshop.resources
// biome-ignore lint/suspicious/noExplicitAny: records of every collection
type Json = any

/** Plans as a client would cause them, on one open database. */
export class Shop {
  readonly storage: Storage
  readonly #catalog: Catalog

  constructor(storage: Storage, opened = catalog) {
    this.storage = storage
    this.#catalog = opened
  }

  resource(name: Name): Resource {
    return this.#catalog.resources.get(name) as Resource
  }

  run(kind: Plan['kind'], name: Name, more: object): Promise<Outcome> {
    const caller = { id: 'ann', roles: [], claims: {} }
    const access = { permitted: always, mayCreate: always, mayRead: always, mayAssignOwner: true, movedBy: [] }
    const readable = new Map([...this.#catalog.resources.keys()].map((each) => [each, always]))
    const removal = { deletion: uuidv7(), statusUrl: '/jobs/1', above: Number.POSITIVE_INFINITY, readable }
    const plan = {
      kind,
      resource: this.resource(name),
      caller,
      now: noon,
      conditions: {},
      ...access,
      ...removal,
      ...more,
    }
    return this.storage.run(plan as never)
  }

  create(name: Name, body: object, more: object = {}): Promise<Outcome> {
    return this.run('create', name, { id: uuidv7(), parent: undefined, body, ...more })
  }

  /** Creates a record, and gives its id. */
  async made(name: Name, body: object): Promise<string> {
    const outcome = await this.create(name, body)
    assert.ok(outcome.kind === 'created', JSON.stringify(outcome))
    return outcome.id
  }

  /** A record and its entity tag; `undefined`: there is none. */
  async read(name: Name, id: string): Promise<{ readonly json: Json; readonly conditions: Conditions } | undefined> {
    const outcome = await this.run('read-record', name, { id, fields: undefined })
    if (outcome.kind !== 'record') return undefined
    const opaque = tagOf(this.resource(name), outcome)
    return { json: JSON.parse(outcome.json), conditions: { ifMatch: [{ opaque, weak: false }] } }
  }

  change(name: Name, id: string, body: object, conditions: Conditions = {}): Promise<Outcome> {
    return this.run('merge', name, { id, body, conditions })
  }

  delete(name: Name, id: string): Promise<Outcome> {
    return this.run('delete', name, { id })
  }

  /** A page of a list, whole unless a limit is given. */
  async list(name: Name, asked: Asked = {}): Promise<PageOutcome & { readonly records: readonly Json[] }> {
    const { filter = always, sort = [], search, limit = 1_000, position } = asked
    const outcome = await this.run('read-page', name, {
      ...{ parent: undefined, filter, search, deleted: undefined, sort, fields: undefined },
      page: { style: 'cursor', limit, position },
    })
    assert.ok(outcome.kind === 'page', JSON.stringify(outcome))
    return { ...outcome, records: JSON.parse(`[${outcome.json}]`) }
  }

  /** The titles of a list. */
  async titles(asked: Asked): Promise<string[]> {
    return (await this.list('books', asked)).records.map(({ title }) => title)
  }
}

/** What a list is asked for. */
export interface Asked {
  readonly filter?: Predicate
  readonly sort?: readonly SortTerm[]
  readonly search?: readonly string[]
  readonly limit?: number
  readonly position?: Position | undefined
}

/** An empty database with two servers, which is closed and removed after the test. */
export async function openShop(
  context: TestContext,
  engine: Engine,
): Promise<{ readonly shop: Shop; readonly other: Shop; readonly database: Awaited<ReturnType<Engine>> }> {
  const database = await engine()
  const [shop, other] = [new Shop(await database.open(catalog)), new Shop(await database.open(catalog))]
  context.after(async () => {
    await Promise.all([shop.storage.close(), other.storage.close()])
    await database.remove()
  })
  return { shop, other, database }
}

/** The administration of a database on trial. */
export function administrationOf({ address }: { readonly address: string }): Promise<Administration> {
  return administer({ database: address, databaseUnsafe: true })
}
