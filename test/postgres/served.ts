/** An interface on a PostgreSQL database of a test's choice, asked without a socket. */
import type { TestContext } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import type { Catalog } from 'resourced-contract/model/resource'
import { Type } from 'typebox'
import { uuidv7 } from 'uuidv7'
import type { HttpResponse } from '../../packages/server/src/http/message.ts'
import { hashOfKey, hintOfKey, newKey } from '../../packages/server/src/policy/api-keys.ts'
import { type Application, assemble } from '../../packages/server/src/server/app.ts'
import type { Observation } from '../../packages/server/src/server/observe/observe.ts'
import { openPostgres, type PostgresOptions } from '../../packages/server/src/storage/postgres/storage.ts'
import type { Storage } from '../../packages/server/src/storage/storage.ts'

const everybody = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' } as const

/** Notes, which lists and filters find, and whose deletion by filter may be long work. */
export const notes = defineInterface({
  name: 'notes',
  title: 'Notes',
  resources: {
    notes: {
      fields: {
        title: Type.String({ filter: true, sort: true }),
        number: Type.Integer({ filter: true, sort: true, default: 0 }),
      },
      deletion: { byFilter: true },
      access: everybody,
    },
  },
})

/** An answer, its body read. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly json: any
}

/** An interface being served. */
export interface Served {
  readonly app: Application
  readonly seen: Observation[]
  readonly key: string
  send(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>
  close(): Promise<void>
}

/** Serves notes, unless another interface is given; its caller is an administrator. */
export async function servedFor(
  context: TestContext,
  options: Omit<PostgresOptions, 'onReplica'>,
  given: { readonly key?: string; readonly declaration?: InterfaceDeclaration } = {},
): Promise<Served> {
  const seen: Observation[] = []
  const observe = (each: Observation) => void seen.push(each)
  const catalog = completeCatalog(given.declaration ?? notes)
  const storage = await openPostgres(catalog, {
    unsafe: true,
    ...options,
    onReplica: (news) => observe({ kind: 'replica', ...news }),
  })
  const key = given.key ?? newKey()
  if (given.key === undefined) await addKey(storage, key)
  return serve(context, catalog, storage, key, seen)
}

/** Adds an administrator's key. */
export async function addKey(storage: Storage, key: string): Promise<void> {
  const [id, created_at] = [uuidv7(), new Date().toISOString()]
  const stored = { id, hash: hashOfKey(key), hint: hintOfKey(key), subject: 'root', roles: ['admin'], created_at }
  await storage.keys.add({ ...stored, expires_at: null, revoked_at: null })
}

/** Serves an open database; its caller has the key, which is there. */
export function serve(
  context: TestContext,
  catalog: Catalog,
  storage: Storage,
  key: string,
  seen: Observation[] = [],
): Served {
  const app = assemble(catalog, storage, { observe: (each) => void seen.push(each), rateLimit: 'off' })
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= app.close()
    return closing
  }
  context.after(close)
  return {
    ...{ app, seen, key, close },
    async send(method, target, body, headers = {}) {
      const bytes = body === undefined ? new Uint8Array() : new TextEncoder().encode(JSON.stringify(body))
      const length = { 'content-type': 'application/json', 'content-length': String(bytes.length) }
      const sent = { authorization: `Bearer ${key}`, ...(body === undefined ? {} : length), ...headers }
      const readBody = async () => bytes
      return read(await app.respond({ method, target, headers: sent, secure: true, address: '127.0.0.1', readBody }))
    },
  }
}

function read({ status, headers, body }: HttpResponse): Answer {
  return { status, headers, json: typeof body === 'string' && body !== '' ? JSON.parse(body) : undefined }
}
