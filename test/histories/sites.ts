/** Where random histories happen: an application in this process, or servers in processes of their own. */
import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import type { Catalog } from 'resourced-contract/model/resource'
import { openStorage } from '../../packages/server/src/server/open-database.ts'
import { clientOf } from '../durability/client.ts'
import { createKey, type ServerProcess, startServer } from '../durability/command.ts'
import { newDatabase, type TrialDatabase } from '../engine.ts'
import { trialFor } from '../harness.ts'
import { fastFolder } from '../postgres/account.ts'
import type { Site } from './play.ts'

/** A site of which tests know the inside. */
export interface Place extends Site {
  readonly address: string
  readonly catalog: Catalog
}

/** An application in this process. */
export async function siteHere(context: TestContext, declaration: InterfaceDeclaration): Promise<Place> {
  const { app, database, send } = await trialFor(context, declaration)
  return {
    ...{ address: database.address, catalog: completeCatalog(declaration), rows: database.rows },
    jobs: app.storage.jobs,
    async send(_, { method, path, body, headers = {} }) {
      const { status, json, headers: got } = await send({ method, path: `/v1${path}`, body, headers })
      return { status, json, etag: got['etag'] }
    },
  }
}

/** Servers in processes of their own: clients take turns. */
export interface Servers extends Place {
  /** Starts one more, and forgets those that were killed. */
  start(): Promise<ServerProcess>
  /** Ends all with SIGKILL. */
  kill(): Promise<void>
  /**
   * What a SIGKILL of the only server leaves of a SQLite file now, while the server goes on: a copy of the files of the
   * stopped process. Another server has finished the jobs there.
   */
  image(): Promise<Image>
}

/** A copy of a database. */
export interface Image extends Place {
  /** What was answered before must be there. What was asked after it is not. */
  readonly taken: { readonly after: number; readonly before: number }
  remove(): Promise<void>
}

/** Servers on a database, none of which is started. */
export async function siteOf(
  context: TestContext,
  declaration: InterfaceDeclaration,
  database?: Pick<TrialDatabase, 'address' | 'rows' | 'remove'>,
): Promise<Servers> {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-history-'))
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(declaration))
  const catalog = completeCatalog(declaration)
  const { address, rows, remove } = database ?? (await newDatabase())
  const storage = await openStorage({ database: address, databaseUnsafe: true }, catalog)
  const key = createKey(folder, address)
  const running: { readonly server: ServerProcess; readonly clients: Map<number, ReturnType<typeof clientOf>> }[] = []
  const kill = async () => {
    for (const { server } of running) server.child.kill('SIGKILL')
    for (const { server } of running) await server.ended
  }
  const forget = () => {
    const dead = running.filter(({ server: { child } }) => child.signalCode !== null)
    for (const each of dead) {
      for (const { close } of each.clients.values()) close()
      running.splice(running.indexOf(each), 1)
    }
  }
  context.after(async () => {
    await kill()
    forget()
    await storage.close()
    await remove()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    ...{ address, catalog, rows, kill, jobs: storage.jobs },
    async start() {
      forget()
      const server = await startServer(folder, ['--http'], {}, address)
      running.push({ server, clients: new Map() })
      return server
    },
    async image() {
      const { child } = (running[0] as (typeof running)[0]).server
      const after = performance.now()
      child.kill('SIGSTOP')
      while (!isStopped(child.pid as number));
      const copy = mkdtempSync(join(fastFolder(), 'resourced-image-'))
      const file = address.slice('sqlite:'.length)
      for (const suffix of ['', '-wal'])
        if (existsSync(file + suffix)) cpSync(file + suffix, join(copy, `data.db${suffix}`))
      const before = performance.now()
      child.kill('SIGCONT')
      return { ...(await imageIn(copy, catalog)), taken: { after, before } }
    },
    async send(client, { method, path, body, headers = {} }) {
      const { server, clients } = running[client % running.length] as (typeof running)[0]
      const own = clients.get(client) ?? clientOf(server.origin, key)
      clients.set(client, own)
      const { status, json, headers: got } = await own.send(method, `/v1${path}`, { body, headers })
      return { status, json, etag: got['etag'] as string | undefined }
    },
  }
}

/** Whether no thread of a process runs any more. */
function isStopped(pid: number): boolean {
  const tasks = readdirSync(`/proc/${pid}/task`)
  return tasks.every((task) => /\) [TtZ]/.test(readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8')))
}

async function imageIn(folder: string, catalog: Catalog): Promise<Omit<Image, 'taken'>> {
  const address = `sqlite:${join(folder, 'data.db')}`
  const storage = await openStorage({ database: address }, catalog)
  // The requests that wait for the work of a stopped server are given up after a while.
  const later = Date.now() + 60_000
  for (const job of await storage.jobs.open()) while ((await storage.jobs.step(job, later)) === 'more');
  const database = new DatabaseSync(join(folder, 'data.db'))
  const [integrity] = database.prepare('pragma integrity_check').all()
  assert.deepEqual({ ...integrity }, { integrity_check: 'ok' })
  return {
    ...{ address, catalog, jobs: storage.jobs },
    rows: async (text) => database.prepare(text).all(),
    send: () => Promise.reject(new Error('No server is on an image.')),
    async remove() {
      database.close()
      await storage.close()
      rmSync(folder, { recursive: true })
    },
  }
}
