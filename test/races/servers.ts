/** Several servers in processes of their own on one PostgreSQL database: where they race, what one process cannot show. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { uuidv7 } from 'uuidv7'
import type { InterfaceDeclaration } from '../../src/model/declaration.ts'
import { hashOfKey, hintOfKey, newKey } from '../../src/policy/api-keys.ts'
import { openKeys } from '../../src/server/open-database.ts'
import { type Answer, clientOf, type Send } from '../durability/client.ts'
import { type ServerProcess, startServer } from '../durability/command.ts'
import { emptyDatabase, whyNoDatabase } from '../postgres/database.ts'

/** For the option `skip` of every race. */
export const skip = whyNoDatabase ?? false

/** One of the servers. */
export interface Racer {
  readonly process: ServerProcess
  /** Sends by connections that are kept, as many as are needed at once. A 5xx fails the test, unless it expects one. */
  readonly send: Send
  kill(): Promise<void>
}

/** Servers that race. */
export interface Race {
  /** The address of the database. */
  readonly url: string
  /** The key of an administrator. */
  readonly key: string
  readonly servers: Racer[]
  /** The `number`th of many requests: the servers take turns. */
  on(number: number): Racer
  /** POSTs a record and gives it back. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  make(collection: string, body: unknown): Promise<any>
  /** Rows of the database, past the servers: all on one connection. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  rows(text: string): Promise<any[]>
  /** Starts one more server. */
  start(options?: readonly string[]): Promise<Racer>
}

/** The connections for transactions that each server has: as many as without being told. */
const pool = ['--database-pool', '10']

/** The sockets to each server. */
const sockets = 32

/** Starts two servers for the tests of a file, and stops them after it. */
export function raceOf(declaration: InterfaceDeclaration, options: readonly string[] = []): Race {
  if (skip !== false) return {} as Race
  const folder = mkdtempSync(join(tmpdir(), 'resourced-race-'))
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(declaration))
  const servers: Racer[] = []
  const race = { servers, ...({} as { url: string; key: string }) }
  const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  let client: pg.Client
  const rows = async (text: string) => (await client.query(text)).rows

  const start = async (more: readonly string[] = []): Promise<Racer> => {
    const temporary = join(folder, `temporary-${servers.length}`)
    mkdirSync(temporary)
    const words = ['--http', '--database-unsafe', ...pool, ...options, ...more]
    const process = await startServer(folder, words, { TMPDIR: temporary }, race.url)
    const { send, close } = clientOf(process.origin, race.key, sockets)
    ends.push(close)
    const racer = {
      process,
      async send(...asked: Parameters<Send>) {
        const answer = await send(...asked)
        if (answer.status >= 500)
          throw new Error(`${asked[0]} ${asked[1]}: ${answer.status} ${JSON.stringify(answer.json)}`)
        return answer
      },
      async kill() {
        process.child.kill('SIGKILL')
        await process.ended
      },
    }
    servers.push(racer)
    return racer
  }

  before(async () => {
    const { url, remove } = await emptyDatabase()
    ends.unshift(remove)
    race.url = url
    race.key = await administratorKey(url)
    client = new pg.Client({ connectionString: url })
    client.setTypeParser(20, Number)
    client.on('error', () => {})
    await client.connect()
    ends.unshift(() => client.end())
    // The first makes the tables.
    await start()
    await start()
  })

  after(async () => {
    const running = [...new Set(servers)].filter(
      ({ process: { child } }) => child.exitCode === null && child.signalCode === null,
    )
    for (const { process } of running) process.child.kill('SIGTERM')
    const codes = await Promise.all(running.map(({ process }) => process.ended))
    const [found] = await rows('select deadlocks from pg_stat_database where datname = current_database()')
    console.log(`# deadlocks: ${found?.deadlocks}`)
    for (const end of ends) await end()
    assert.ok(
      codes.every((code) => code === 0),
      `the servers ended with ${codes}: ${running.map(({ process }) => process.errors.join('')).join('\n')}`,
    )
  })

  return Object.assign(race, {
    ...{ rows, start },
    on: (number: number) => servers[number % 2] as Racer,
    async make(collection: string, body: unknown) {
      const answer = await (servers[0] as Racer).send('POST', `/v1/${collection}`, { body })
      assert.equal(answer.status, 201, JSON.stringify(answer.json))
      return answer.json
    },
  })
}

async function administratorKey(database: string): Promise<string> {
  const key = newKey()
  const { keys, close } = await openKeys({ database, databaseUnsafe: true })
  const shown = { hint: hintOfKey(key), subject: 'root', roles: ['admin'], expires_at: null, revoked_at: null }
  await keys.add({ id: uuidv7(), hash: hashOfKey(key), ...shown, created_at: new Date().toISOString() })
  await close()
  return key
}

/** Does the same many times at once. */
export function atOnce<T>(count: number, work: (number: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, number) => work(number)))
}

/** The numbers of rounds: at least so many, and up to five times as many until all has happened that can. */
export function* roundsUntil(least: number, hasHappened: () => boolean): Generator<number> {
  for (let round = 0; round < least || (round < 5 * least && !hasHappened()); round++) yield round
}

/** How often each value comes: `200: 1, 412: 31`. */
export function tally(values: Iterable<unknown>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1
  return counts
}

/** The statuses of answers, counted. */
export const statuses = (answers: readonly Answer[]) => tally(answers.map(({ status }) => status))

/** Waits until something holds. */
export async function until<T>(look: () => Promise<T | undefined | false>, patience = 60_000): Promise<T> {
  for (const end = performance.now() + patience; ; await sleep(10)) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    assert.ok(performance.now() < end, 'it did not come to be in time')
  }
}

/** Waits up to so many milliseconds. */
export const moment = (most: number) => sleep(Math.random() * most)
