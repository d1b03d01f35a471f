/**
 * Notices connections on which nothing comes any more, though an answer is awaited: a network that swallows what is sent tells
 * nobody, and PostgreSQL's own limits cannot reach us through it.
 */
import type { Client } from './client.ts'

interface Busy {
  /** How many wait for something on the connection. */
  count: number
  /** Bytes that had come when it was looked at last; since when there were no more. */
  heard: number
  silentSince: number | undefined
  /** For how long it may be silent, in milliseconds. */
  limit: number
}

/** Looks at the connections of one database. It costs nothing where nobody waits, and little where somebody does. */
export class SilenceWatch {
  readonly #limit: number
  readonly #interval: number
  readonly #busy = new Map<Client, Busy>()
  #timer: NodeJS.Timeout | undefined
  /** Grows with each connection that fell silent. Those made before it are to be trusted no more: they went the same way. */
  generation = 0

  /** @param limit for how long a connection may be silent, in milliseconds */
  constructor(limit: number) {
    this.#limit = limit
    this.#interval = Math.min(1_000, limit / 4)
  }

  /** Something is sent on a connection from here on. */
  begin(client: Client): void {
    const busy = this.#busy.get(client)
    if (busy !== undefined) {
      busy.count++
      return
    }
    this.#busy.set(client, { count: 1, heard: 0, silentSince: undefined, limit: this.#limit })
    this.#timer ??= setInterval(() => this.#look(), this.#interval).unref()
  }

  /** What is sent from here on may take longer, until it has ended. */
  allow(client: Client, limit: number): void {
    const busy = this.#busy.get(client)
    if (busy !== undefined) busy.limit = limit
  }

  /** All of it was answered. */
  end(client: Client): void {
    const busy = this.#busy.get(client)
    if (busy !== undefined && --busy.count === 0) this.#busy.delete(client)
  }

  #look(): void {
    const now = performance.now()
    for (const [client, busy] of this.#busy) {
      const heard = client.bytesHeard
      if (busy.silentSince === undefined || heard !== busy.heard) {
        busy.heard = heard
        busy.silentSince = now
      } else if (now - busy.silentSince > busy.limit) {
        this.#busy.delete(client)
        this.generation++
        client.discard(`PostgreSQL has not answered for ${Math.round(busy.limit / 1_000)} seconds.`)
      }
    }
    if (this.#busy.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
