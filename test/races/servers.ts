/**
 * Several servers in processes of their own on one PostgreSQL database: where they race, what one process cannot show.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { uuidv7 } from 'uuidv7'
import { hashOfKey, hintOfKey, newKey } from '../../packages/server/src/policy/api-keys.ts'
import { openKeys } from '../../packages/server/src/server/open-database.ts'
import { type Answer, clientOf, type Send } from '../durability/client.ts'
import { type ServerProcess, startServer } from '../durability/command.ts'
import { emptyDatabase, whyNoDatabase } from '../postgres/database.ts'
import { until } from '../until.ts'

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
  /**
   * Has changes of a table wait, on whichever server: `event` as in `create trigger`, those that `condition` holds of.
   * They wait for a lock, or they sleep: a change of one statement that sleeps stays in its shared connection.
   */
  gate(event: string, condition?: string, how?: 'locked' | 'asleep'): Promise<Gate>
}

/** Where changes wait for one another. */
export interface Gate {
  /** Whether at least one statement waits at the gate, and so many in all: at the gate, or for those that wait there. */
  isHolding(statements: number): Promise<boolean>
  /** Resolves once the gate holds so many statements at the same time, and none of them begins again. */
  waiting(statements: number): Promise<void>
  /** Lets them go on, and takes the gate away. */
  open(): Promise<void>
}

/** The connections for transactions that each worker has: as many as a server has by default. */
const pool = ['--database-pool', String(10 * Number(process.env.TEST_WORKERS ?? '1'))]

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

  const gate: Race['gate'] = async (event, condition = 'true', how = 'locked') => {
    const held = 5_051
    const wait = {
      locked: `perform pg_advisory_xact_lock_shared(${held})`,
      asleep: `while not pg_try_advisory_xact_lock_shared(${held}) loop perform pg_sleep(0.05); end loop`,
    }[how]
    // A test that failed may have left its gate.
    const open = () => rows('select pg_advisory_unlock_all(); drop function if exists wait cascade').then(() => {})
    await open()
    await rows(`select pg_advisory_lock(${held})`)
    await rows(`
      create function wait() returns trigger language plpgsql as
        'begin ${wait}; return new; end';
      create trigger wait before ${event} for each row when (${condition}) execute function wait()`)
    const isHolding = async (statements: number, least = 0) => {
      const [{ here, asleep, locked }] = await rows(`
        select (select count(*) from pg_locks l join pg_database d on d.oid = l.database
            where d.datname = current_database() and l.locktype = 'advisory' and l.objid = ${held} and not l.granted
              and l.waitstart < clock_timestamp() - interval '${least} ms') as here,
          count(*) filter (where wait_event = 'PgSleep') as asleep,
          count(*) filter (where wait_event_type = 'Lock') as locked
        from pg_stat_activity where datname = current_database()`)
      return here + asleep > 0 && asleep + locked >= statements
    }
    // A change that waits for 50 ms is rolled back and begins again on a connection of its own. Only then it stays.
    const waiting = (statements: number) => until(() => isHolding(statements, 250)).then(() => {})
    return { isHolding, waiting, open }
  }

  return Object.assign(race, {
    ...{ rows, start, gate },
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

/** By how much moments are longer than asked for. */
let spread = 1

/** For how long a race goes on until all has happened that can, in milliseconds. */
const patience = 120_000

/**
 * The numbers of rounds: at least so many, and more until all has happened that can. Moments become longer then, up to
 * 32 times, and short again: on a slow machine requests that come at the same time may need it to come to different ones.
 */
export function* roundsUntil(least: number, hasHappened: () => boolean): Generator<number> {
  const end = performance.now() + patience
  for (let round = 0; round < least || (!hasHappened() && performance.now() < end); round++) {
    spread = 2 ** (Math.floor(round / least) % 6)
    yield round
  }
  spread = 1
}

/** How often each value comes: `200: 1, 412: 31`. */
export function tally(values: Iterable<unknown>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1
  return counts
}

/** The statuses of answers, counted. */
export const statuses = (answers: readonly Answer[]) => tally(answers.map(({ status }) => status))

/** Waits up to so many milliseconds, or more (see `roundsUntil`). */
export const moment = (most: number) => sleep(Math.random() * most * spread)
