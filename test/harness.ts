/** Scenarios: requests through `respond()`, as named callers, on a database of their own. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { always } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { fault } from 'resourced-contract/spec/faults'
import { uuidv7 } from 'uuidv7'
import { openApiDocument } from '../packages/server/src/documents/openapi.ts'
import type { Cors } from '../packages/server/src/http/cors.ts'
import { type HttpRequest, type HttpResponse, isFile } from '../packages/server/src/http/message.ts'
import { hashOfKey, hintOfKey, newKey } from '../packages/server/src/policy/api-keys.ts'
import type { JwtSettings } from '../packages/server/src/policy/jwt-settings.ts'
import type { AuthenticateOption } from '../packages/server/src/policy/own-credentials.ts'
import { type Application, assemble } from '../packages/server/src/server/app.ts'
import type { Observation } from '../packages/server/src/server/observe/observe.ts'
import type { ConsoleSettings } from '../packages/server/src/server/pages/console-settings.ts'
import type { RateOptions } from '../packages/server/src/server/rates/rate-limiter.ts'
import type { Storage } from '../packages/server/src/storage/storage.ts'
import { completeVersions, isDeprecated, type Versions } from '../packages/server/src/versions/versions.ts'
import { bodyText } from './body-text.ts'
import { newDatabase, type TrialDatabase } from './engine.ts'
import { type Judge, judgeBy } from './openapi-truth.ts'

/** A request as a scenario writes it. */
export interface Sent {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** A value is sent as JSON, text and bytes as they are. */
  readonly body?: unknown
  /** The caller's name; `null`: nobody. */
  readonly as?: string | null
  /** The address that it comes from: this machine's unless said. */
  readonly from?: string
  /** Whether it came by HTTPS; it did unless said. */
  readonly secure?: boolean
}

/** An answer, its body read. */
export interface Received {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: scenarios look into bodies of every shape
  readonly json: any
}

/** An interface being tried out. */
export interface Trial {
  readonly app: Application
  /** Its database, for other servers on it. */
  readonly database: TrialDatabase
  send(sent: Sent): Promise<Received>
  /** POSTs a record as the administrator and gives it back; fails where it is not a 201. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  make(collection: string, body: unknown, as?: string): Promise<any>
  /** The clock; move it by setting `ahead`, in milliseconds. */
  readonly clock: { ahead: number }
  readonly seen: Observation[]
  readonly keys: ReadonlyMap<string, string>
  close(): Promise<void>
}

/** The callers that every scenario knows, and their roles. */
const callers: Readonly<Record<string, readonly string[]>> = {
  root: ['admin'],
  ann: [],
  bob: [],
  eve: ['editor'],
}

const newKeys = (): ReadonlyMap<string, string> => new Map(Object.keys(callers).map((subject) => [subject, newKey()]))

/** The keys of the callers in databases that trials make: copies of one another have them already. */
const commonKeys = newKeys()

async function addKeys(storage: Storage, keys: ReadonlyMap<string, string>): Promise<void> {
  for (const [subject, key] of keys) {
    await storage.keys.add({
      id: uuidv7(),
      hash: hashOfKey(key),
      hint: hintOfKey(key),
      subject,
      roles: callers[subject] as readonly string[],
      expires_at: null,
      created_at: new Date().toISOString(),
      revoked_at: null,
    })
  }
}

const addCommonKeys = (storage: Storage) => addKeys(storage, commonKeys)

/** The versions of a declaration by base path: many trials have the same. */
const completed = new WeakMap<InterfaceDeclaration, Map<string | undefined, Versions>>()

function versionsOf(declaration: InterfaceDeclaration, basePath: string | undefined): Versions {
  const known = completed.get(declaration) ?? new Map<string | undefined, Versions>()
  const versions = known.get(basePath) ?? completeVersions(declaration, basePath)
  completed.set(declaration, known.set(basePath, versions))
  return versions
}

/** Starts an interface on an empty database, with a key for each caller. */
export async function trial(
  declaration: InterfaceDeclaration,
  options: {
    /** See `newDatabase`. */
    readonly memory?: boolean
    /** One that another trial has made; the last of them to close removes it. */
    readonly database?: TrialDatabase
    /** The beginning of every address: `/api`. */
    readonly basePath?: string
    readonly requireHttps?: boolean
    readonly console?: ConsoleSettings
    readonly development?: boolean
    readonly cors?: Cors
    readonly jwt?: JwtSettings
    readonly authenticate?: AuthenticateOption
    /** How long it may take, in milliseconds. */
    readonly authenticateTimeout?: number
    /** Reads the metrics of the server. */
    readonly readMetrics?: () => Promise<string>
    /** The networks that webhooks may reach. */
    readonly webhookNetworks?: readonly string[]
    /** How rates are limited: not at all unless said. */
    readonly rates?: RateOptions
  } = {},
): Promise<Trial> {
  const versions = versionsOf(declaration, options.basePath)
  const { stored: catalog } = versions
  const { memory, database: given } = options
  const database = given ?? (await newDatabase({ memory, prepared: { catalog, fill: addCommonKeys } }))
  const storage = await database.open(catalog)
  const keys = given === undefined ? commonKeys : newKeys()
  if (given !== undefined) await addKeys(storage, keys)
  const clock = { ahead: 0 }
  const seen: Observation[] = []
  const now = () => Date.now() + clock.ahead
  const { requireHttps, console, development, cors, jwt, readMetrics, rates = { rateLimit: 'off' } } = options
  const observe = (each: Observation) => void seen.push(each)
  const { authenticate, authenticateTimeout, webhookNetworks } = options
  const credentials = { jwt, authenticate, authenticateTimeout, webhookNetworks }
  const common = { versions, observe, now, requireHttps, console, development, cors, readMetrics }
  const app = assemble(catalog, storage, { ...common, ...credentials, ...rates })
  const judge = judgeOf(options.basePath === undefined ? declaration : { ...declaration }, versions)
  const basePath = versions.current.basePath
  const send = async (sent: Sent) => {
    const asked = request(sent, keys)
    const response = uncompressed(await app.respond(asked))
    judge(asked.method, asked.target, response, now())
    return await received(response)
  }
  return {
    app,
    database,
    send,
    clock,
    seen,
    keys,
    async make(collection, body, as = 'root') {
      const answer = await send({ method: 'POST', path: `${basePath}/${collection}`, body, as })
      assert.equal(answer.status, 201, answer.text)
      return answer.json
    },
    async close() {
      await app.close()
      await database.remove()
    },
  }
}

/** Purges as if it were later: gives how many records went; `undefined` where there was nothing to do. */
export async function purgeAt({ catalog, storage, runner }: Application, now: number): Promise<number | undefined> {
  const id = uuidv7()
  if (!(await storage.jobs.beginPurge({ id, statusUrl: `/v1/jobs/${id}` }, now))) return undefined
  await runner.idle()
  const resource = catalog.system.get('jobs') as Resource
  const plan = { kind: 'read-record', resource, id, permitted: always, fields: undefined, conditions: {} } as const
  const outcome = await storage.run(plan)
  assert.ok(outcome.kind === 'record')
  const { status, result } = JSON.parse(outcome.json)
  assert.equal(status, 'succeeded')
  return result.purged_count
}

type VersionsJudge = (method: string, target: string, response: HttpResponse, now: number) => void

const judges = new WeakMap<InterfaceDeclaration, VersionsJudge>()

/**
 * DOC-1: every answer of every scenario must fit the document of its version; one judge serves all trials of a
 * declaration.
 */
export function judgeOf(declaration: InterfaceDeclaration, versions: Versions): VersionsJudge {
  const judge = judges.get(declaration) ?? judgeVersions(versions)
  judges.set(declaration, judge)
  return judge
}

/** The version of an answer is the one that it names; of what names none, the one that its path begins with. */
function judgeVersions(versions: Versions): VersionsJudge {
  const made = new Map<string, Judge>()
  return (method, target, response, now) => {
    // The document describes the interface for programs.
    if (isPage.test(target) && response.status < 400) return
    const named = response.headers['API-Version'] ?? target.split(/[/?]/)[1] ?? ''
    const version = versions.all.get(named) ?? versions.current
    const key = `${version.name} ${isDeprecated(version, now)}`
    const judge = made.get(key) ?? judgeBy(openApiDocument(version.catalog, { versions, now }))
    made.set(key, judge)
    judge(method, target, response)
  }
}

const isPage = /\/(?:console|docs)(?:\/assets\/[^/]+)?$/

/** The same, closed when the test ends. */
export async function trialFor(
  context: TestContext,
  declaration: InterfaceDeclaration,
  options?: Parameters<typeof trial>[1],
): Promise<Trial> {
  const started = await trial(declaration, options)
  context.after(() => started.close())
  return started
}

function request(sent: Sent, keys: ReadonlyMap<string, string>): HttpRequest {
  const { body, path, as = 'root' } = sent
  const bytes =
    body === undefined
      ? new Uint8Array()
      : body instanceof Uint8Array
        ? body
        : new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
  const headers: Record<string, string> = {}
  if (as !== null) headers['authorization'] = `Bearer ${keys.get(as) ?? as}`
  if (body !== undefined) {
    headers['content-type'] = 'application/json'
    headers['content-length'] = String(bytes.length)
  }
  return {
    method: sent.method ?? (body === undefined ? 'GET' : 'POST'),
    target: path,
    headers: { ...headers, ...sent.headers },
    secure: sent.secure ?? true,
    address: sent.from ?? '127.0.0.1',
    async readBody(limit) {
      if (bytes.length > limit) throw fault('BODY_TOO_LARGE')
      return bytes
    },
  }
}

/** A response as a client reads it, with its header fields as they were sent. */
function uncompressed(response: HttpResponse): HttpResponse {
  const { body, headers } = response
  const read = { zstd: zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync }[
    String(headers['Content-Encoding'])
  ]
  return read === undefined || isFile(body) ? response : { ...response, body: read(body as Uint8Array).toString() }
}

async function received(response: HttpResponse): Promise<Received> {
  const { body } = response
  const text = await bodyText(body)
  // Part of a representation need not be JSON by itself; files, pages and metrics need not be JSON at all.
  const isText = /^(?:text\/|application\/link-format)/.test(response.headers['Content-Type'] ?? '')
  const whole = text !== '' && response.status !== 206 && !isFile(body) && !isText
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
  return { status: response.status, headers, text, json: whole ? JSON.parse(text) : undefined }
}

/** What a scenario expects: a status, and whatever else it looks at. */
export interface Scenario {
  readonly name: string
  readonly rule: string
  readonly send: Sent | ((trial: Trial) => Promise<Sent>)
  readonly status: number
  readonly code?: string
  /** The codes and places of `errors`, in order: `REQUIRED /name`, `UNKNOWN_PARAMETER colour`, `… If-Match`. */
  readonly errors?: readonly string[]
  readonly headers?: Readonly<Record<string, string | RegExp | undefined>>
  readonly check?: (answer: Received, trial: Trial) => void | Promise<void>
}

/** Runs scenarios, each as a test on its own trial. */
export function scenarios(declaration: InterfaceDeclaration, table: readonly Scenario[]): void {
  for (const scenario of table) {
    it(`${scenario.rule}: ${scenario.name}`, async () => {
      const current = await trial(declaration, { memory: true })
      try {
        const sent = typeof scenario.send === 'function' ? await scenario.send(current) : scenario.send
        await expectAnswer(scenario, await current.send(sent), current)
      } finally {
        await current.close()
      }
    })
  }
}

async function expectAnswer(scenario: Scenario, answer: Received, current: Trial): Promise<void> {
  assert.equal(answer.status, scenario.status, `${answer.status} ${answer.text}`)
  if (scenario.code !== undefined) assert.equal(answer.json.code, scenario.code, answer.text)
  if (scenario.errors !== undefined) assert.deepEqual(places(answer), scenario.errors)
  for (const [name, expected] of Object.entries(scenario.headers ?? {})) {
    const value = answer.headers[name.toLowerCase()]
    if (expected instanceof RegExp) assert.match(value ?? '', expected, name)
    else assert.equal(value, expected, name)
  }
  await scenario.check?.(answer, current)
}

/** Code and place of each entry of `errors`. */
export function places(answer: Received): string[] {
  return (answer.json?.errors ?? []).map((each: Record<string, string>) =>
    `${each['code']} ${each['pointer'] ?? each['parameter'] ?? each['header'] ?? ''}`.trim(),
  )
}

/** The entity tag of an answer without the random mark in the revision of a record: `"3-…"` after two changes. */
export function unmarkedTag({ headers }: Pick<Received, 'headers'>): string | undefined {
  return headers['etag']?.replace(/^"(\d+)-/, (_, revision) => `"${Number(revision) % 2 ** 20}-`)
}
