/** Sends and commits changes of one statement together, if they come from many requests at the same time. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Row, StandaloneChange, Statement } from '../transaction.ts'
import type { Pool } from './connections.ts'
import { awaitCommit } from './control.ts'
import { isFromServer, isLocked, isUnusable } from './errors.ts'

/** How many changes commit together at most. */
const mostTogether = 16

/** No further change joins a group that has so many characters, so that small changes do not wait for large ones. */
const mostCharacters = 65_536

/** How many changes wait for each connection at most. */
const mostWaiting = 4 * mostTogether

/** A change, and the schema that it belongs to; left out: that of the connections. */
interface SchemaChange extends StandaloneChange {
  readonly schema?: string | undefined
}

interface Change extends SchemaChange {
  readonly statement: Statement
  readonly resolve: (rows: Row[]) => void
  readonly reject: (error: unknown) => void
  /** It was in a group that failed, perhaps because of another one. */
  isAlone: boolean
}

/**
 * Runs changes on a few connections. Each connection has one group at a time, which is a transaction. If it fails, each
 * of its changes runs again in a transaction of its own.
 */
export class GroupedChanges {
  readonly #connections: Pool
  /** How many groups run at the same time at most. */
  readonly #most: number
  #running = 0
  readonly #waiting: Change[] = []
  /** The counters that the groups lock which are under way: other changes that need them wait for the next group. */
  readonly #locked = new Set<string>()
  #isPlanned = false

  constructor(connections: Pool, most: number) {
    this.#connections = connections
    this.#most = most
  }

  /** Whether so many changes wait that a further one should use a connection of its own. */
  get isFull(): boolean {
    return this.#waiting.length >= mostWaiting * this.#most
  }

  /**
   * Runs a change of one statement.
   *
   * @returns no rows where it has changed nothing, and has to be tried on a connection of its own
   */
  run(statement: Statement, { writes, locks: named, schema }: SchemaChange): Promise<Row[]> {
    const locks = schema === undefined ? named : named.map((counter) => `${schema} ${counter}`)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ statement, writes, locks, schema, resolve, reject, isAlone: false })
      this.#plan()
    })
  }

  /** Waits for all changes, then closes all connections. */
  async close(): Promise<void> {
    while (this.#waiting.length > 0) await sleep(10)
    await this.#connections.close()
  }

  /** Forms groups once all requests of this turn of the event loop have added their changes. */
  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      while (this.#waiting.length > 0 && this.#running < this.#most) {
        const share = Math.ceil(this.#waiting.length / (this.#most - this.#running))
        const group = this.#takeGroup(Math.min(share, mostTogether))
        if (group.length === 0) return
        this.#running++
        void this.#send(group)
      }
    })
  }

  /** Takes the change that has waited longest, and others of its statement and schema; none: all wait for counters. */
  #takeGroup(most: number): Change[] {
    const start = this.#waiting.findIndex((change) => this.#isFree(change))
    if (start === -1) return []
    const first = this.#waiting[start] as Change
    const group = first.isAlone ? this.#waiting.splice(start, 1) : this.#takeSimilar(start, first, most)
    for (const { locks } of group) for (const counter of locks) this.#locked.add(counter)
    return group
  }

  #isFree({ locks }: Change): boolean {
    return !locks.some((counter) => this.#locked.has(counter))
  }

  #takeSimilar(start: number, { statement, schema }: Change, most: number): Change[] {
    const group: Change[] = []
    let characters = 0
    for (let index = start; index < this.#waiting.length && group.length < most && characters < mostCharacters; ) {
      const change = this.#waiting[index] as Change
      const isSimilar = change.schema === schema && change.statement.text === statement.text
      if (change.isAlone || !isSimilar || !this.#isFree(change)) index++
      else {
        group.push(...this.#waiting.splice(index, 1))
        characters += charactersOf(change.statement)
      }
    }
    // Groups lock counters and records in one order, so that they do not deadlock.
    return group.sort((left, right) => (orderOf(left) < orderOf(right) ? -1 : 1))
  }

  async #send(group: readonly Change[]): Promise<void> {
    const statements = group.map(({ statement }) => statement) as [Statement, ...Statement[]]
    const schema = group[0]?.schema
    try {
      const found = await this.#connections.use((client) =>
        awaitCommit(client, client.prepareAndRunAll(statements, schema)),
      )
      for (const [index, { resolve }] of group.entries()) resolve(found[index] ?? [])
    } catch (error) {
      this.#failed(group, error)
    } finally {
      for (const { locks } of group) for (const counter of locks) this.#locked.delete(counter)
      this.#running--
      if (this.#waiting.length > 0) this.#plan()
    }
  }

  #failed(group: readonly Change[], error: unknown): void {
    if (group.length > 1 && isFromServer(error) && !isUnusable(error)) {
      this.#waiting.unshift(...group.map((change) => Object.assign(change, { isAlone: true })))
      return
    }
    for (const { resolve, reject } of group) {
      // A change that waits for a lock must not keep others waiting.
      if (isLocked(error)) resolve([])
      else reject(error)
    }
  }
}

function orderOf({ locks, writes }: Change): string {
  return [...locks, writes].join(' ')
}

function charactersOf({ values }: Statement): number {
  return values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)
}
