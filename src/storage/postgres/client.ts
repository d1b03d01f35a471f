/** A connection to PostgreSQL: that of `pg`, which can be thrown away at once, and never ends the process. */
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { readPasswordFile } from './password-file.ts'

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
