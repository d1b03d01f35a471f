/** Clients of two servers, which create, change, delete, read and follow while the database fails below them. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../packages/client/src/index.ts'
import { commandFile } from '../command-file.ts'
import { type Answer, clientOf, type Send } from '../durability/client.ts'
import { createKey, type ServerProcess, startServer } from '../durability/command.ts'
import { pick, type Random } from '../durability/random.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { until } from '../until.ts'
import type { Cluster, Route } from './cluster.ts'

const declaration = {
  name: 'failover',
  resources: {
    notes: { fields: { title: { type: 'string' }, writer: { type: 'string', filter: true } }, events: true },
    counters: { fields: { n: { type: 'integer' }, change: { type: 'string' } }, events: true },
    scraps: { fields: { batch: { type: 'string', filter: true } }, deletion: { byFilter: true } },
  },
}

/** An event of a note or a counter. */
export interface Event {
  readonly id: string
  readonly collection: string
  readonly record: string
  readonly data: { readonly title?: string; readonly n?: number; readonly change?: string } | null
}

/** What a client was told of a change. `refused`: it was certainly not made. */
export type Told = 'made' | 'refused' | 'unknown'

/** A change of a counter with `If-Match`, which only one of its rivals may make. */
export interface Change {
  readonly name: string
  readonly counter: string
  readonly tag: string
  readonly told: Told
}

/** An answer as a client saw it. */
interface Seen {
  readonly kind: 'creation' | 'change' | 'read' | 'job' | 'ready'
  readonly status: number
  /** When it came, by `performance.now()`. */
  readonly at: number
}

/** How a workload is started. */
export interface WorkloadOptions {
  readonly cluster: Cluster
  readonly route: Route
  readonly random: Random
  /** The address of the replica that servers read from, of a database. */
  readonly replica?: (database: string) => string
}

const writers = ['a', 'b', 'c', 'd']
const counters = 3

/** The longest time for which a client repeats one request. */
const patience = 120_000

/** Clients that work until `end`, and what they have seen. */
export class Workload {
  readonly database: string
  readonly servers: readonly ServerProcess[]
  readonly receiver: Receiver
  readonly seen: Seen[] = []
  /** The titles of notes whose creation was acknowledged, and how long that took, in milliseconds. */
  readonly created = new Map<string, number>()
  readonly changes: Change[] = []
  /** What a reader saw that an earlier acknowledgement contradicts. */
  readonly stale: string[] = []
  /** The ids of events in the order in which a stream gave them. */
  readonly streamed: string[] = []
  /** How long each job took, in milliseconds. */
  readonly jobs: number[] = []
  /** Answers that no client should get. */
  readonly wrong: string[] = []
  readonly #random: Random
  readonly #clients: readonly { readonly send: Send; close(): void }[]
  readonly #key: string
  /** The greatest acknowledged value of each counter, and how many notes of each writer are acknowledged. */
  readonly #floors = new Map<string, number>()
  readonly #counts = new Map<string, number>()
  readonly #stop = new AbortController()
  #working: Promise<unknown> = Promise.resolve()
  #following: Promise<unknown> = Promise.resolve()
  #isOver = false

  private constructor(
    parts: Pick<Workload, 'database' | 'servers' | 'receiver'> & { readonly random: Random; readonly key: string },
  ) {
    this.database = parts.database
    this.servers = parts.servers
    this.receiver = parts.receiver
    this.#random = parts.random
    this.#key = parts.key
    this.#clients = parts.servers.map(({ origin }) => clientOf(origin, parts.key, 32))
  }

  /** Starts servers and clients, and waits until all of them work. */
  static async start(context: TestContext, { cluster, route, random, replica }: WorkloadOptions): Promise<Workload> {
    const folder = mkdtempSync(join(tmpdir(), 'resourced-failover-'))
    const file = join(folder, 'diary.json')
    writeFileSync(file, JSON.stringify(declaration))
    const database = await cluster.createDatabase()
    const direct = cluster.urlOf('several hosts', database)
    const key = createKey(folder, direct)
    const migration = spawnSync(process.execPath, [commandFile, 'migrate', file, '--apply', '--database', direct])
    if (migration.status !== 0) throw new Error(String(migration.stderr))
    const options = [
      ...['--http', '--webhook-network', '127.0.0.1/32'],
      ...(route === 'PgBouncer' ? ['--database-pooler', 'transaction'] : []),
      ...(replica === undefined ? [] : ['--database-replica', replica(database)]),
    ]
    const servers: ServerProcess[] = []
    context.after(async () => {
      for (const { child } of servers) child.kill('SIGKILL')
      await Promise.all(servers.map(({ ended }) => ended))
      rmSync(folder, { recursive: true, force: true })
    })
    for (const _ of ['first', 'second']) {
      servers.push(await startServer(folder, options, {}, cluster.urlOf(route, database), file))
    }
    if (replica !== undefined) await until(() => servers.every(({ log }) => log.includes('replica connected')))
    const receiver = await startReceiver(context)
    const workload = new Workload({ database, servers, receiver, random, key })
    await workload.#begin()
    return workload
  }

  /** Waits until each kind of client has succeeded again. */
  async succeeded(): Promise<void> {
    const from = performance.now()
    const kinds = ['creation', 'change', 'read', 'ready']
    const hasSucceeded = (kind: string) =>
      this.seen.some((each) => each.kind === kind && each.at > from && each.status < 300)
    await until(() => kinds.every(hasSucceeded), 'everything succeeds', 90)
  }

  /** Lets clients finish what they have begun, until all that was asked for is decided and told. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#working
  }

  /** Stops following events, and closes connections. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#following
    for (const { close } of this.#clients) close()
  }

  /** Sends to one of the servers. */
  send(...asked: Parameters<Send>): Promise<Answer> {
    return pick(this.#random, this.#clients).send(...asked)
  }

  /** All events, in their order. */
  async events(): Promise<Event[]> {
    const events: Event[] = []
    for (let after = ''; ; after = `&after=${events.at(-1)?.id}`) {
      const { json } = await this.repeat('read', 'GET', `/v1/events?per_page=100${after}`)
      events.push(...json.data)
      if (json.data.length < 100) return events
    }
  }

  /** Sends a request again, as `Retry-After` says, until it is neither 502 nor 503. */
  async repeat(kind: Seen['kind'], ...[method, path, options]: Parameters<Send>): Promise<Answer> {
    for (const end = performance.now() + patience; ; ) {
      const answer = await this.#see(kind, this.send(method, path, options))
      const isBusy = answer.json?.code === 'IDEMPOTENCY_KEY_IN_USE'
      if (answer.status < 400) return answer
      if ((answer.status !== 502 && answer.status !== 503 && !isBusy) || performance.now() > end) {
        this.wrong.push(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.json)}`)
        return answer
      }
      await sleep(Number(answer.headers['retry-after'] ?? 0.1) * 1_000)
    }
  }

  async #begin(): Promise<void> {
    await this.repeat('creation', 'POST', '/v1/webhooks', { body: { url: this.receiver.url } })
    const [{ origin }] = this.servers as [ServerProcess]
    const client = createClient({ url: `${origin}/v1`, key: this.#key })
    const follow = async () => {
      for await (const event of client.events({ signal: this.#stop.signal })) this.streamed.push(event.id)
    }
    this.#following = follow().catch((error) => this.wrong.push(`The stream ended: ${error}`))
    // The stream begins with the next event.
    await until(async () => {
      await this.#create('a', `probe ${this.created.size}`)
      return this.streamed.length > 0
    })
    const made = await Promise.all(
      Array.from({ length: counters }, () =>
        this.repeat('creation', 'POST', '/v1/counters', { body: { n: 0, change: 'none' } }),
      ),
    )
    const ids = made.map(({ json }) => json.id as string)
    const sides = this.#clients.map(({ send }, side) => ({ send, side }))
    this.#working = Promise.all([
      ...writers.map((writer) => this.#until(writer, (count) => this.#create(writer, `${writer} ${count}`))),
      ...ids.flatMap((id) =>
        sides.map(({ send, side }) =>
          this.#until(`${id} ${side}`, (count) => this.#change(send, id, `${side} ${count}`)),
        ),
      ),
      ...sides.map(({ send, side }) => this.#until(`reader ${side}`, () => this.#read(send, ids))),
      ...sides.map(({ send, side }) =>
        this.#until(`probe ${side}`, async () => {
          await this.#see('ready', send('GET', '/health/ready'))
          await sleep(90)
        }),
      ),
      this.#until('jobs', (count) => this.#job(`batch ${count}`)),
    ])
    await this.succeeded()
  }

  async #until(name: string, step: (count: number) => Promise<unknown>): Promise<void> {
    try {
      for (let count = 0; !this.#isOver; count++) {
        await step(count)
        await sleep(10)
      }
    } catch (error) {
      this.wrong.push(`${name}: ${error}`)
    }
  }

  async #see(kind: Seen['kind'], sent: Promise<Answer>): Promise<Answer> {
    const answer = await sent
    this.seen.push({ kind, status: answer.status, at: performance.now() })
    // The address says that another server may take over.
    if (kind === 'read' && answer.status === 502) this.wrong.push(`A read is 502: ${JSON.stringify(answer.json)}`)
    return answer
  }

  async #create(writer: string, title: string): Promise<void> {
    const began = performance.now()
    const headers = { 'idempotency-key': `"${title}"` }
    const { status } = await this.repeat('creation', 'POST', '/v1/notes', { body: { title, writer }, headers })
    if (status !== 201) return
    this.created.set(title, performance.now() - began)
    this.#counts.set(writer, (this.#counts.get(writer) ?? 0) + 1)
  }

  async #change(send: Send, counter: string, name: string): Promise<void> {
    const found = await this.#look(send, counter)
    if (found === undefined) return void (await sleep(50))
    const { n, tag } = found
    const options = { body: { n: n + 1, change: `${counter} ${name}` }, headers: { 'if-match': tag } }
    const { status, json } = await this.#see('change', send('PATCH', `/v1/counters/${counter}`, options))
    const isUnknown = status === 502 && /it was made, or it was not/.test(json.detail)
    const told = status === 200 ? 'made' : isUnknown ? 'unknown' : 'refused'
    this.changes.push({ name: `${counter} ${name}`, counter, tag, told })
    if (told === 'made') this.#floors.set(counter, Math.max(n + 1, this.#floors.get(counter) ?? 0))
    if (![200, 412, 502, 503].includes(status)) this.wrong.push(`${name}: ${status} ${JSON.stringify(json)}`)
  }

  /** Reads a counter. Whatever was acknowledged before must be seen. */
  async #look(send: Send, counter: string): Promise<{ readonly n: number; readonly tag: string } | undefined> {
    const floor = this.#floors.get(counter) ?? 0
    const { status, headers, json } = await this.#see('read', send('GET', `/v1/counters/${counter}`))
    if (status !== 200) return undefined
    if (json.n < floor) this.stale.push(`${counter} is ${json.n} after ${floor}`)
    return { n: json.n, tag: String(headers['etag']) }
  }

  async #read(send: Send, ids: readonly string[]): Promise<void> {
    await this.#look(send, pick(this.#random, ids))
    const writer = pick(this.#random, writers)
    const floor = this.#counts.get(writer) ?? 0
    const { status, json } = await this.#see('read', send('GET', `/v1/notes?writer=${writer}&per_page=1`))
    const count = json?.pagination?.total_count
    if (status === 200 && count < floor) this.stale.push(`notes of ${writer} are ${count} after ${floor}`)
  }

  /** Makes records and deletes them by a job, which must end and leave none. */
  async #job(batch: string): Promise<void> {
    const headers = { 'idempotency-key': `"${batch}"` }
    await this.repeat('job', 'POST', '/v1/scraps', { body: Array.from({ length: 100 }, () => ({ batch })), headers })
    const path = `/v1/scraps?batch=${encodeURIComponent(batch)}`
    const began = performance.now()
    const { status, json } = await this.repeat('job', 'DELETE', path, { headers: { prefer: 'respond-async' } })
    if (status === 202) {
      const isEnded = (job: { readonly status?: string }) => job.status === 'succeeded' || job.status === 'failed'
      let job = (await this.repeat('job', 'GET', json.status_url)).json
      while (!isEnded(job) && performance.now() - began < patience) {
        await sleep(50)
        job = (await this.repeat('job', 'GET', json.status_url)).json
      }
      if (job.status !== 'succeeded') this.wrong.push(`The job of ${batch} is ${JSON.stringify(job)}`)
    }
    const left = (await this.repeat('job', 'GET', path)).json.pagination.total_count
    if (left !== 0) this.wrong.push(`The job of ${batch} has left ${left} records (${status}).`)
    this.jobs.push(performance.now() - began)
  }
}
