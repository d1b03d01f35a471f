/**
 * Two applications of one declaration, each on an engine of its own, that are asked the same and must answer the same.
 */
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { fault } from 'resourced-contract/spec/faults'
import type { HttpRequest } from '../../packages/server/src/http/message.ts'
import { hashOfKey, hintOfKey, newKey } from '../../packages/server/src/policy/api-keys.ts'
import type { AuthenticateOption } from '../../packages/server/src/policy/own-credentials.ts'
import { type Application, assemble } from '../../packages/server/src/server/app.ts'
import { openPostgres } from '../../packages/server/src/storage/postgres/storage.ts'
import { openSqlite } from '../../packages/server/src/storage/sqlite/storage.ts'
import type { Storage } from '../../packages/server/src/storage/storage.ts'
import { completeVersions, type Versions } from '../../packages/server/src/versions/versions.ts'
import { bodyText } from '../body-text.ts'
import { emptyDatabase } from '../postgres/database.ts'
import { beginIds, uuidv7 } from './ids.ts'

/** A request, whole: it can be sent again, with others or without them. */
export interface Asked {
  /** Its number in the run: its ids come from it. */
  readonly number: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly as: CallerName
  /** `PURGE` stands for the maintenance that a server does by itself. */
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** An answer, as it would be sent. */
export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** What the log would say of a failure. */
  readonly failures: readonly string[]
}

/** The callers and their roles. */
const callers = { root: ['admin'], ann: [], bob: ['keeper'], eve: ['editor'] } as const
export type CallerName = keyof typeof callers

const keys = new Map(Object.keys(callers).map((name) => [name, newKey()]))

/** Both applications. */
export interface Twins {
  /** The answers of SQLite and of PostgreSQL. */
  ask(asked: Asked): Promise<readonly [Answered, Answered]>
  close(): Promise<void>
}

/** Opens both on empty databases. */
export async function openTwins(declaration: InterfaceDeclaration, authenticate?: AuthenticateOption): Promise<Twins> {
  const { url, remove } = await emptyDatabase()
  const [left, right] = [completeVersions(declaration), completeVersions(declaration)]
  const options = { isFirst: true, authenticate }
  const sqlite = await twin(left, openSqlite(left.stored, { path: ':memory:' }), options)
  const postgres = await twin(right, await openPostgres(right.stored, { url, unsafe: true, poolSize: 2 }), options)
  return {
    async ask(asked) {
      return [await sqlite.ask(asked), await postgres.ask(asked)]
    },
    async close() {
      await Promise.all([sqlite.close(), postgres.close()])
      await remove()
    },
  }
}

/** One application of several that are asked the same, or one after the other. */
export interface Twin {
  ask(asked: Asked): Promise<Answered>
  close(): Promise<void>
}

/**
 * Opens one application.
 *
 * @param options `isFirst`: whether it is the first one on its database, which adds the keys of the callers
 */
export async function twin(
  versions: Versions,
  storage: Storage,
  { isFirst = true, authenticate }: { isFirst?: boolean; authenticate?: AuthenticateOption | undefined } = {},
): Promise<Twin> {
  let now = 0
  let failures: string[] = []
  // Cursors that are signed alike are alike, and so are the tags of lists.
  storage.cursorSecret.fill(0)
  const app = assemble(versions.stored, storage, {
    versions,
    now: () => now,
    rateLimit: 'off',
    authenticate,
    observe(seen) {
      if (seen.kind === 'failure') failures.push(describe(seen.error))
    },
  })
  beginIds(0, 0)
  for (const [subject, roles] of isFirst ? Object.entries(callers) : []) {
    const key = String(keys.get(subject))
    const moments = { expires_at: null, created_at: '2026-01-01T00:00:00.000Z', revoked_at: null }
    await storage.keys.add({ id: uuidv7(), hash: hashOfKey(key), hint: hintOfKey(key), subject, roles, ...moments })
  }
  return {
    async ask(asked) {
      beginIds(asked.at, asked.number)
      now = asked.at
      failures = []
      const answered = await answer(app, asked)
      if (answered.status === 202 || asked.method === 'PURGE') await app.runner.idle()
      return { ...answered, failures }
    },
    close: () => app.close(),
  }
}

async function answer(app: Application, asked: Asked): Promise<Omit<Answered, 'failures'>> {
  if (asked.method === 'PURGE') {
    await app.storage.purgeClock.confirm(asked.at)
    await app.runner.maintain()
    await app.keyUses.keep()
    return { status: 0, headers: {}, body: '' }
  }
  const { status, headers, body } = await app.respond(requestOf(asked))
  return { status, headers: masked(headers), body: maskedText(await bodyText(body)) }
}

function requestOf({ as, method, target, headers, body }: Asked): HttpRequest {
  const bytes = Buffer.from(body ?? '')
  const length = body === undefined ? undefined : String(bytes.length)
  return {
    method,
    target,
    headers: { authorization: `Bearer ${keys.get(as)}`, 'content-length': length, ...headers },
    secure: true,
    address: '127.0.0.1',
    async readBody(limit) {
      if (bytes.length > limit) throw fault('BODY_TOO_LARGE')
      return bytes
    },
  }
}

// All that chance makes: the number of a request within a server, and the secret of a key.
function maskedText(text: string): string {
  return text.replace(/"request_id":"[^"]*"/, '"request_id":""').replaceAll(/"(key|hint)":"[^"]*"/g, '"$1":""')
}

function masked(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, name.toLowerCase() === 'x-request-id' ? '' : value]),
  )
}

function describe(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? ` (${describe(error.cause)})` : ''
  return `${String(error)}${cause}`
}
