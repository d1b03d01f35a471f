/** An interface with tenants being tried out. Callers are named by their claims, or by an API key. */
import assert from 'node:assert/strict'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import type { JwtSettings } from '../../packages/server/src/policy/jwt-settings.ts'
import type { CallerInput } from '../../packages/server/src/policy/own-credentials.ts'
import { type Application, assemble } from '../../packages/server/src/server/app.ts'
import type { Observation } from '../../packages/server/src/server/observe/observe.ts'
import { openServed } from '../../packages/server/src/server/open-served-database.ts'
import type { RateOptions } from '../../packages/server/src/server/rates/rate-limiter.ts'
import { completeVersions } from '../../packages/server/src/versions/versions.ts'
import { newDatabase, type TrialDatabase } from '../engine.ts'
import { judgeOf, type Received } from '../harness.ts'

/** A request of a scenario. */
interface Sent {
  readonly method?: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** A caller, or an API key or a token; `undefined`: nobody. */
  readonly as: CallerInput | string | undefined
}

/** Such an interface. */
export interface TenantTrial {
  readonly app: Application
  readonly database: TrialDatabase
  readonly seen: readonly Observation[]
  /** The clock; move it by setting `ahead`, in milliseconds. */
  readonly clock: { ahead: number }
  send(sent: Sent): Promise<Received>
  /** Closes the application, and keeps the database. */
  stop(): Promise<void>
  close(): Promise<void>
}

/** A caller without a tenant who manages tenants. */
export const operator: CallerInput = { id: 'op', roles: ['operator'] }

/** A member of a tenant: an administrator unless told otherwise. */
export function member(team: unknown, id = 'ann', roles: readonly string[] = ['admin']): CallerInput {
  return { id, roles, claims: { team }, expiresAt: Number.POSITIVE_INFINITY }
}

/** Starts an interface on an empty database, or on the one of an earlier trial. */
export async function tenantTrial(
  declaration: InterfaceDeclaration,
  options: {
    readonly database?: TrialDatabase
    readonly rates?: RateOptions
    readonly jwt?: JwtSettings | undefined
    readonly ahead?: number
    readonly idle?: number
  } = {},
): Promise<TenantTrial> {
  const versions = completeVersions(declaration)
  const database = options.database ?? (await newDatabase())
  const seen: Observation[] = []
  const clock = { ahead: options.ahead ?? 0 }
  const now = () => Date.now() + clock.ahead
  const failed = (error: unknown) => void seen.push({ kind: 'failure', requestId: 'tenants', error })
  const opened = await openServed({ database: database.address, databaseUnsafe: true }, versions.stored, {
    ...{ now, failed, idle: options.idle },
  })
  const app = assemble(versions.stored, opened, {
    ...{ versions, now, observe: (each) => seen.push(each) },
    ...(options.rates ?? { rateLimit: 'off' }),
    jwt: options.jwt,
    authenticate: ({ headers }) => JSON.parse(headers['x-caller'] ?? 'null') ?? undefined,
  })
  const judge = judgeOf(declaration, versions)
  let closed: Promise<void> | undefined
  const stop = () => {
    closed ??= app.close()
    return closed
  }
  return {
    ...{ app, database, seen, clock, stop },
    async send({ method, path, body, headers = {}, as }) {
      const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body))
      const credential =
        typeof as === 'string'
          ? { authorization: `Bearer ${as}` }
          : { 'x-caller': JSON.stringify(as && { ...as, expiresAt: as.expiresAt && 4e12 }) }
      const response = await app.respond({
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        target: path,
        headers: { ...credential, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...{ secure: true, address: '127.0.0.1' },
        readBody: async () => bytes,
      })
      // Streams and files are not read.
      const isRead = typeof response.body === 'string' || response.body instanceof Uint8Array
      const text = isRead ? Buffer.from(response.body as string).toString() : ''
      const type = response.headers['Content-Type'] ?? 'application/json'
      // The document describes no pages, and of streams only what they have in common.
      if (type.includes('json')) judge(method ?? (body === undefined ? 'GET' : 'POST'), path, response, now())
      const lower = Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value])
      // A part of a response is no JSON.
      const json = text.startsWith('{') && response.status !== 206 ? JSON.parse(text) : undefined
      return { status: response.status, headers: Object.fromEntries(lower), text, json }
    },
    async close() {
      await stop()
      await database.remove()
    },
  }
}

/** Creates tenants, and returns their ids. */
export async function createTenants({ send }: TenantTrial, ...names: string[]): Promise<string[]> {
  const answers = await Promise.all(names.map((name) => send({ path: '/v1/tenants', as: operator, body: { name } })))
  for (const answer of answers) assert.equal(answer.status, 201, answer.text)
  return answers.map(({ json }) => json.id)
}

/** The status of an answer with its code. */
export function outcomeOf({ status, json }: Received): string {
  return json?.code === undefined ? String(status) : `${status} ${json.code}`
}
