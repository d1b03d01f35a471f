/**
 * A connection of `pg`: it can be discarded at once, never ends the process, reads password files, and gives values as
 * `Row` has them.
 */

import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import pg from 'pg'

/** How long the other side may take to close a connection, in milliseconds. */
const longestFarewell = 1_000

interface Inside {
  readonly processID: number | null
  readonly connection: { readonly stream: Duplex & { readonly bytesRead?: number } }
  password: unknown
}

/** A connection. */
export class Client extends pg.Client {
  /** Which generation it is of; see `SilenceWatch`. */
  generation = 0

  constructor(config?: pg.ClientConfig) {
    super(config)
    // Whoever waits for something on it is told; where nobody does, it is nobody's concern.
    this.on('error', () => {})
    const inside = this as unknown as Inside
    // Asked when the server asks: a password may be changed while we run.
    inside.password ??= () => readPasswordFile(this)
  }

  override connect(): Promise<pg.Client>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    const done = (error: Error | null | undefined) => {
      // Not every failure closes what was opened.
      if (error) this.discard()
    }
    if (callback !== undefined) {
      super.connect((error: Error) => {
        done(error)
        callback(error)
      })
      return
    }
    return super.connect().catch((error) => {
      done(error)
      throw error
    }) as Promise<pg.Client>
  }

  override end(): Promise<void>
  override end(callback: (error: Error) => void): void
  override end(callback?: (error: Error) => void): Promise<void> | undefined {
    // Where the other side does not hear of it, it would never close.
    const timer = setTimeout(() => this.discard(), longestFarewell).unref()
    this.once('end', () => clearTimeout(timer))
    if (callback === undefined) return super.end()
    super.end(callback)
  }

  /** Which process of the server works for it: a word of `pg_cancel_backend`. */
  get process(): number | null {
    return (this as unknown as Inside).processID
  }

  /** How many bytes have come on it. */
  get bytesHeard(): number {
    return (this as unknown as Inside).connection.stream.bytesRead ?? 0
  }

  /** Closes it without a farewell; those who wait for something on it hear of it. */
  discard(reason?: string): void {
    const { stream } = (this as unknown as Inside).connection
    if (reason === undefined) stream.destroy()
    else stream.destroy(Object.assign(new Error(reason), { code: 'ETIMEDOUT' }))
  }
}

const number = (text: string) => Number(text)

// By the numbers that PostgreSQL's own catalog has for its types. Integers of ours are all within 2^53.
const parsers = new Map<number, (text: string) => unknown>([
  [16, (text) => (text === 't' ? 1 : 0)], // boolean
  [17, (text) => pg.types.getTypeParser(17, 'text')(text)], // bytea
  [20, number], // bigint
  [21, number], // smallint
  [23, number], // integer
  [26, number], // oid
  [700, number], // real
  [701, number], // double precision
  [1700, number], // numeric: what a sum of bigint is
])

const asText = (text: string) => text

/**
 * For `types` of a `pg` client, pool or query. What is not listed, JSON and moments among it, stays the text that it
 * is.
 */
export const rowTypes: pg.CustomTypesConfig = {
  getTypeParser: ((type: number) => parsers.get(type) ?? asText) as pg.CustomTypesConfig['getTypeParser'],
}

/** For what a password is looked for. */
export interface Login {
  readonly host: string
  readonly port: number
  readonly database?: string | undefined
  readonly user?: string | undefined
}

/**
 * Finds the password in the text of a file: of the first line that fits.
 *
 * @returns `undefined` where none does
 */
export function passwordIn(text: string, { host, port, database, user }: Login): string | undefined {
  // A socket of this machine counts as localhost.
  const asked = [host.startsWith('/') ? 'localhost' : host, String(port), database, user]
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const fields = fieldsOf(line)
    if (fields.length < 5) continue
    if (asked.every((each, index) => fields[index]?.raw === '*' || fields[index]?.value === each)) {
      return fields[4]?.value
    }
  }
  return undefined
}

/** The fields of a line: a colon within one has a backslash before it, and so has a backslash. */
function fieldsOf(line: string): { readonly raw: string; readonly value: string }[] {
  const found = line.match(/(?:^|:)(?:\\.|[^:\\])*/g) ?? []
  return found.map((each, index) => {
    const raw = index === 0 ? each : each.slice(1)
    return { raw, value: raw.replaceAll(/\\(.)/g, '$1') }
  })
}

/**
 * Looks for a password in the file that `PGPASSFILE` names, or `~/.pgpass`. A file that others may read counts for
 * nothing.
 */
export function readPasswordFile(login: Login): string | undefined {
  const file = process.env.PGPASSFILE ?? join(homedir(), '.pgpass')
  try {
    const { mode } = statSync(file)
    const isPrivate = process.platform === 'win32' || (mode & 0o077) === 0
    return isPrivate ? passwordIn(readFileSync(file, 'utf8'), login) : undefined
  } catch {
    return undefined
  }
}
