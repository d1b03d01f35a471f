/**
 * EVT-1: a server that is killed at any moment leaves each acknowledged change with exactly one event, and events that
 * replay to exactly the tables: `KILLS=1000 node --test test/crash/events.slow.test.ts`, with TEST_ENGINE=postgres on
 * PostgreSQL. A kill takes about a second: the next server starts while the one writes that will be killed.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandFile } from '../command-file.ts'
import { clientOf, isConnectionLost, type Send } from '../durability/client.ts'
import { createKey, databaseFile, type ServerProcess, startServer } from '../durability/command.ts'
import { pick, type Random, randomFrom, seedOfRun } from '../durability/random.ts'
import { engine, newDatabase } from '../engine.ts'
import { type EventRow, type RecordRow, Replay } from '../events/replay.ts'
import { fastFolder } from '../postgres/account.ts'
import { query } from '../postgres/query.ts'

const kills = Number(process.env.KILLS ?? 4)
const connections = 12
/** So many kills come between two checks of all tables, for which no server may run. */
const unchecked = 20
const folder = mkdtempSync(join(fastFolder(), 'resourced-events-'))
const running = new Set<ServerProcess>()
after(async () => {
  for (const { child } of running) child.kill('SIGKILL')
  await Promise.all([...running].map(({ ended }) => ended))
  rmSync(folder, { recursive: true })
})

const fields = { name: { type: 'string' }, edition: { type: 'integer', filter: true } } as const
const soft = { gracePeriod: 'PT1S', asynchronous: { above: 25 }, byFilter: true } as const
const declaration = {
  name: 'diary',
  resources: {
    folders: { fields, deletion: soft, events: true },
    notes: {
      fields: { ...fields, folder_id: { reference: 'folders', onDelete: 'cascade' } },
      deletion: soft,
      events: true,
    },
    stamps: {
      fields: { ...fields, folder_id: { reference: 'folders', onDelete: 'cascade' } },
      deletion: { variant: 'hard' },
      events: true,
    },
    links: { fields: { ...fields, note_id: { reference: 'notes', onDelete: 'clear', optional: true } }, events: true },
  },
}
const collections = Object.keys(declaration.resources)

const address = engine === 'sqlite' ? undefined : (await newDatabase()).address

/** Runs queries past the storage, once nothing of a killed server runs any more. */
async function looking<T>(
  work: (rows: (text: string) => Promise<Record<string, unknown>[]>) => Promise<T>,
): Promise<T> {
  if (address === undefined) {
    const database = new DatabaseSync(databaseFile(folder))
    try {
      assert.equal(database.prepare('pragma quick_check').get()?.['quick_check'], 'ok')
      return await work(async (text) => database.prepare(text).all())
    } finally {
      database.close()
    }
  }
  const others = 'select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
  while ((await query(address, `${others} and backend_type = 'client backend'`)).length > 0) await sleep(10)
  return await work((text) => query(address, text))
}

/** What a client was told. */
interface Told {
  readonly id: string
  readonly what: 'created' | 'updated' | 'deleted'
  readonly edition?: number
}

/** A record of one writer. */
interface Own {
  readonly collection: string
  readonly id: string
  edition: number
  isDeleted: boolean
  deletions: number
  /** How many updates were acknowledged, and how many of the others may have been made. */
  updates: number
  lostUpdates: number
  /** An answer was lost: what it is nobody knows. */
  isUnknown: boolean
}

class Writer {
  readonly own: Own[] = []
  readonly told: Told[] = []
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  async write(send: Send): Promise<void> {
    try {
      for (;;) await this.#step(send)
    } catch (error) {
      if (!isConnectionLost(error)) throw error
    }
  }

  async #step(send: Send): Promise<void> {
    const random = this.#random
    const known = this.own.filter((each) => !each.isUnknown)
    const live = known.filter((each) => !each.isDeleted)
    const folders = live.filter(({ collection }) => collection === 'folders')
    const dice = random()
    if (folders.length === 0 || dice < 0.05) await this.#create(send, 'folders', {})
    else if (dice < 0.35)
      await this.#create(send, pick(random, ['notes', 'stamps']), { folder_id: pick(random, folders).id })
    else if (dice < 0.4) {
      const notes = live.filter(({ collection }) => collection === 'notes')
      if (notes.length > 0) await this.#create(send, 'links', { note_id: pick(random, notes).id })
    } else if (dice < 0.75) await this.#change(send, pick(random, live))
    else if (dice < 0.85) await this.#remove(send, pick(random, live))
    else if (dice < 0.93) {
      const gone = known.filter((each) => each.isDeleted && each.collection !== 'stamps')
      if (gone.length > 0) await this.#restore(send, pick(random, gone))
    } else await this.#removeSeveral(send, live.filter(({ collection }) => collection === 'notes').slice(-10))
  }

  async #create(send: Send, collection: string, more: object): Promise<void> {
    const { status, json } = await send('POST', `/v1/${collection}`, { body: { name: 'n', edition: 1, ...more } })
    if (status !== 201) return assert.ok([400, 409, 502, 503].includes(status), JSON.stringify(json))
    const counts = { deletions: 0, updates: 0, lostUpdates: 0 }
    this.own.push({ collection, id: json.id, edition: 1, isDeleted: false, isUnknown: false, ...counts })
    this.told.push({ id: json.id, what: 'created' })
  }

  async #change(send: Send, record: Own): Promise<void> {
    const edition = record.edition + 1
    record.edition = edition
    record.lostUpdates++
    const { status } = await send('PATCH', `/v1/${record.collection}/${record.id}`, { body: { edition } })
    // A busy machine does not answer the server in time.
    if (status >= 500) return
    record.lostUpdates--
    if (status !== 200) {
      // It was deleted with its folder.
      record.isDeleted = true
      return
    }
    record.updates++
    this.told.push({ id: record.id, what: 'updated', edition })
  }

  async #remove(send: Send, record: Own): Promise<void> {
    record.isUnknown = true
    const { status } = await send('DELETE', `/v1/${record.collection}/${record.id}`)
    if (status === 204) {
      this.#deleted(record)
      record.isUnknown = false
    }
  }

  async #removeSeveral(send: Send, records: readonly Own[]): Promise<void> {
    if (records.length === 0) return
    for (const record of records) record.isUnknown = true
    const { status } = await send('POST', '/v1/notes/bulk-delete', { body: { ids: records.map(({ id }) => id) } })
    if (status >= 500) return
    for (const record of records) if (status === 200 || status === 204) this.#deleted(record)
    // One of them was not there: none was deleted.
    if (status !== 202) for (const record of records) record.isUnknown = false
    if (status >= 400) for (const record of records) record.isDeleted = true
  }

  #deleted(record: Own): void {
    record.isDeleted = true
    record.deletions++
    this.told.push({ id: record.id, what: 'deleted' })
  }

  async #restore(send: Send, record: Own): Promise<void> {
    record.isUnknown = true
    const { status } = await send('POST', `/v1/${record.collection}/${record.id}/restore`)
    record.isUnknown = status !== 200
    if (status === 200) record.isDeleted = false
  }
}

const replay = new Replay(['stamps'])

async function check(writers: readonly Writer[]): Promise<void> {
  await looking(async (rows) => {
    const events = await rows(
      `select _row as position, collection, record, kind, data from events where _row > ${replay.position} order by _row`,
    )
    replay.add(events.map((row) => ({ ...row, data: parsed(row['data']) }) as EventRow))
    for (const collection of collections) {
      const columns = 'id, edition, updated_at, deleted_at, _revision & 1048575 as revision'
      replay.compare(collection, (await rows(`select ${columns} from ${collection}`)) as unknown as RecordRow[])
    }
  })
  for (const { own, told } of writers) {
    for (const { id, what, edition } of told.splice(0)) {
      const record = replay.records.get(id)
      assert.ok(record !== undefined, `${id} was acknowledged`)
      // The events of a removed record have lost their data.
      if (what === 'updated' && record.state !== 'gone')
        assert.ok(record.editions.has(edition as number), `${id} ${edition}`)
    }
    for (const { id, collection, deletions, updates, lostUpdates } of own) {
      const record = replay.records.get(id)
      assert.ok(record !== undefined && record.deletions >= deletions, id)
      // The deletion of a note updates its links too.
      const most = collection === 'links' ? Number.POSITIVE_INFINITY : updates + lostUpdates
      assert.ok(record.updates >= updates && record.updates <= most, `${id} has ${record.updates} updates`)
    }
  }
}

function parsed(data: unknown): unknown {
  return typeof data === 'string' ? JSON.parse(data) : data
}

/** Imports notes in a process of its own, which is killed too. */
function startImport(file: string) {
  const database = address ?? `sqlite:${databaseFile(folder)}`
  const parameters = ['import', 'folders', file, '--database', database, '--subject', 'root']
  const options = ['--declaration', join(folder, 'diary.json')]
  const child = spawn(process.execPath, [commandFile, ...parameters, ...options], { cwd: folder, stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  return { ended, kill: () => child.kill('SIGKILL') }
}

test(`EVT-1: ${kills} kills while ${connections} connections write leave each change with one event`, async (context) => {
  const seed = seedOfRun()
  context.diagnostic(`SEED=${seed}`)
  const random = randomFrom(seed)
  mkdirSync(join(folder, 'data'), { recursive: true })
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(declaration))
  const file = join(folder, 'folders.ndjson')
  writeFileSync(file, Array.from({ length: 300 }, (_, edition) => JSON.stringify({ name: 'i', edition })).join('\n'))
  const key = createKey(folder, address)
  const writers = Array.from({ length: connections }, (_, number) => new Writer(randomFrom(seed + number)))
  const told = () => writers.reduce((sum, each) => sum + each.told.length, 0)
  let acknowledged = 0
  const checkAll = async () => {
    acknowledged += told()
    await check(writers)
  }
  let next: Promise<ServerProcess> | undefined
  let importing: ReturnType<typeof startImport> | undefined
  for (let kill = 0; kill < kills; kill++) {
    const server = await (next ?? start())
    const isChecked = kill === kills - 1 || kill % unchecked === unchecked - 1
    // It opens the database beside this one, or after its end.
    next = isChecked ? undefined : start()
    // An error is reported where the result is awaited.
    next?.catch(() => {})
    if (kill % 4 === 0) importing ??= startImport(file)
    const clients = writers.map(() => clientOf(server.origin, key))
    const before = told()
    const writing = writers.map((writer, index) => writer.write(clients[index]!.send))
    await sleep(50 + random() * 850)
    // On a slow machine too something comes to be acknowledged.
    for (let waits = 0; told() < before + connections && waits < 300; waits++) await sleep(10)
    server.child.kill('SIGKILL')
    if (isChecked || kill % 4 === 2) {
      importing?.kill()
      await importing?.ended
      importing = undefined
    }
    await Promise.all([...writing, server.ended])
    running.delete(server)
    for (const client of clients) client.close()
    if (isChecked) await checkAll()
  }
  const server = await start()
  const client = clientOf(server.origin, key)
  await finish(client.send)
  client.close()
  server.child.kill('SIGTERM')
  await server.ended
  await checkAll()
  const records = [...replay.records.values()]
  const purged = records.filter(({ state, collection }) => state === 'gone' && collection !== 'stamps').length
  const total = records.reduce((sum, { count }) => sum + count, 0)
  context.diagnostic(
    `${acknowledged} acknowledged changes, ${total} events of ${records.length} records, ${purged} purged`,
  )
  assert.ok(acknowledged > kills)
  assert.ok(purged > 0, 'records were purged')
})

async function start(): Promise<ServerProcess> {
  const server = await startServer(folder, ['--http'], {}, address)
  running.add(server)
  return server
}

/** Waits until the jobs have ended that the killed servers had begun, and a purge too. */
async function finish(send: Send): Promise<void> {
  await sleep(1_000)
  for (;;) {
    const { json } = await send('GET', '/v1/jobs?status[in]=pending,running')
    const purged = await send('GET', '/v1/jobs?kind=purge&status=succeeded')
    if (json.data.length === 0 && purged.json.data.length > 0) return
    await sleep(50)
  }
}
