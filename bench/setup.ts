/** What all measurements of a run share: the folder, the data, the servers that stay up. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Catalog } from '../src/model/resource.ts'
import { localCertificate } from '../src/server/node/certificates.ts'
import type { Request } from './ask.ts'
import {
  type Competitor,
  install,
  jsonServer,
  platformatic,
  type Records,
  startOfJsonServer,
  startOfPlatformatic,
} from './competitors.ts'
import { ours } from './ours.ts'
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

/** A server that others made: where it runs, or why it does not. */
export interface Peer {
  readonly competitor: Competitor
  readonly server: Server | undefined
  readonly problem: string | undefined
}

/** Where measurements setup: our server on the atlas, by HTTP or HTTPS. */
export interface Setup {
  readonly folder: string
  readonly pace: Pace
  readonly data: Data
  readonly secure: boolean
  readonly ours: Server
  readonly peers: readonly Peer[]
}

let copies = 0

/** A fresh copy of a database, of which no process knows yet. */
export function copyOf(file: string, folder: string): string {
  const copy = join(folder, `copy-${++copies}.db`)
  copyFileSync(file, copy)
  return copy
}

/** Starts our server on a fresh copy of a database. */
export async function startOurs(folder: string, file: string, secure: boolean): Promise<Server> {
  return startServer(ours(folder, `ours-${copies}`, `sqlite:${copyOf(file, folder)}`, await freePort(), secure))
}

/**
 * Starts a yardstick: a file of this folder with its arguments, the port and, under HTTPS, the certificate that ours
 * has.
 */
export async function startYardstick(setup: Setup, script: string, args: readonly string[]): Promise<Server> {
  const port = await freePort()
  const pair = join(setup.folder, '.resourced/tls/localhost-key.pem')
  if (setup.secure) await localCertificate(join(setup.folder, '.resourced/tls'))
  const start: Start = {
    args: [join(import.meta.dirname, script), ...args, String(port), ...(setup.secure ? [pair, pair] : [])],
    origin: `${setup.secure ? 'https' : 'http'}://127.0.0.1:${port}`,
    probe: '/',
    folder: setup.folder,
    output: join(setup.folder, `${script}-${port}.log`),
  }
  return startServer(start)
}

/** Installs and starts the servers that others made. What cannot be had is said in the table, and stops nothing. */
export async function startPeers(folder: string, records: Records, say: (line: string) => void): Promise<Peer[]> {
  const starts: [Competitor, typeof startOfJsonServer][] = [
    [jsonServer, startOfJsonServer],
    [platformatic, startOfPlatformatic],
  ]
  const peers: Peer[] = []
  for (const [competitor, start] of starts) {
    say(`${competitor.package}: installing and starting`)
    try {
      install(competitor)
      const server = await startServer(start(folder, await freePort(), records))
      peers.push({ competitor, server, problem: undefined })
    } catch (error) {
      peers.push({ competitor, server: undefined, problem: (error as Error).message.split('\n', 1)[0] })
      say(String(error))
    }
  }
  return peers
}

/** A GET with the run's credential. */
export function get(data: Data, path: string, headers: Readonly<Record<string, string>> = {}): Request {
  return { method: 'GET', path, headers: { Authorization: data.authorization, ...headers } }
}
