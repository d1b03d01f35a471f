/** What all measurements of a run share: the folder, the data, the servers that stay up. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Catalog } from 'resourced-contract/model/resource'
import { loadAtlas } from '../examples/atlas/load.ts'
import { localCertificate } from '../packages/server/src/server/node/certificates.ts'
import type { Request } from './ask.ts'
import { makeCities, recordsOf } from './atlas.ts'
import { byHand } from './by-hand.ts'
import type { Records } from './competitors.ts'
import { loadResource } from './declared.ts'
import { createKey, declaration, openAtlasIn, ours } from './ours.ts'
import type { Peer } from './peer.ts'
import { freePort, type Server, type Start, startServer } from './processes.ts'
import type { Pace } from './rounds.ts'

/** The data of a run, loaded once; every server gets a copy. */
export interface Data {
  readonly catalog: Catalog
  /** The database with the atlas and a key. */
  readonly file: string
  readonly records: Records
  /** The credential that every request carries, to the yardsticks too. */
  readonly authorization: string
}

/** Where measurements run. */
export interface Setup {
  readonly folder: string
  readonly pace: Pace
  /** How many records a large database has. */
  readonly many: number
  readonly data: Data
  readonly peers: readonly Peer[]
  /** Our server on the atlas, by HTTP or HTTPS; started when it is first needed. */
  ours(secure: boolean): Promise<Server>
  /** The server that was made by hand, on the same records. */
  byHand(): Promise<Server>
  /** A database of so many made-up cities (`makeCities`), for `openAtlasIn`; its records are those to ask for. */
  made(count: number): Promise<Data>
  /** Adds a sentence to the tables. */
  note(sentence: string): void
  say(line: string): void
}

/** What a run begins with. */
export type Beginning = Omit<Setup, 'ours' | 'byHand' | 'made'>

/** Starts servers when they are first needed. All but the one that is measured are held. */
export function setUp(beginning: Beginning): Setup {
  const { folder, data } = beginning
  const servers = new Map<string, Promise<Server>>()
  const made = new Map<number, Promise<Data>>()
  const once = (name: string, start: () => Promise<Server>) =>
    servers.getOrInsertComputed(name, async () => {
      const server = await start()
      server.hold(true)
      return server
    })
  return {
    ...beginning,
    ours: (secure) => once(secure ? 'https' : 'http', () => startOurs(folder, data.file, secure)),
    byHand: () =>
      once('by hand', async () =>
        startServer({ ...byHand(folder, data.file, data.authorization, await freePort()), patience: 60_000 }),
      ),
    made: (count) => made.getOrInsertComputed(count, () => make(folder, count)),
  }
}

/** Loads the atlas into a folder, with a key. */
export async function loadData(folder: string): Promise<Data> {
  const file = join(folder, 'atlas.db')
  const { catalog } = await loadResource(declaration, 'cities')
  await loadAtlas(file, catalog, () => {})
  const authorization = `Bearer ${createKey(`sqlite:${file}`)}`
  return { catalog, file, records: recordsOf(file, catalog), authorization }
}

async function make(folder: string, count: number): Promise<Data> {
  const file = join(folder, `made-${count}.db`)
  const { catalog } = await loadResource(openAtlasIn(folder), 'cities')
  const records = await makeCities(file, catalog, count)
  return { catalog, file, records, authorization: `Bearer ${createKey(`sqlite:${file}`)}` }
}

let copies = 0

/** A fresh copy of a database, of which no process knows yet. */
export function copyOf(file: string, folder: string): string {
  const copy = join(folder, `copy-${++copies}.db`)
  copyFileSync(file, copy)
  return copy
}

/** Starts our server on a fresh copy of a database, with more options and on other cores if need be. */
export async function startOurs(
  folder: string,
  file: string,
  secure: boolean,
  { more = [], cores }: { readonly more?: readonly string[]; readonly cores?: string } = {},
): Promise<Server> {
  const database = `sqlite:${copyOf(file, folder)}`
  const start = ours(folder, `ours-${copies}`, database, await freePort(), secure)
  return startServer({ ...start, args: [...start.args, ...more], cores })
}

/** Starts the bare server with recorded answers; under HTTPS it has the certificate that ours has. */
export async function startBare(folder: string, recording: string, secure: boolean): Promise<Server> {
  const port = await freePort()
  const pair = join(folder, '.resourced/tls/localhost-key.pem')
  if (secure) await localCertificate(join(folder, '.resourced/tls'))
  const start: Start = {
    args: [join(import.meta.dirname, 'bare.ts'), recording, String(port), ...(secure ? [pair, pair] : [])],
    origin: `${secure ? 'https' : 'http'}://127.0.0.1:${port}`,
    probe: '/',
    folder,
    output: join(folder, `bare-${port}.log`),
  }
  return startServer(start)
}

/** A GET with the run's credential. */
export function get({ authorization }: Pick<Data, 'authorization'>, path: string): Request {
  return { method: 'GET', path, headers: { Authorization: authorization } }
}
