/**
 * Makes what was erased disappear from a file (HIS-4). SQLite overwrites deleted rows at once (`secure_delete`).
 * Deleted words stay in segments of the full-text index until these are merged, and the log has former pages until it
 * is truncated. Both are done soon after an erasure, in small steps between other changes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Resource } from 'resourced-contract/model/resource'
import sql, { raw } from 'sql-template-tag'
import { identifier, indexedColumns } from '../sql/columns.ts'
import { searchTable } from '../sql/tables.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import type { Connection } from './connection.ts'
import { partNames } from './search-parts.ts'
import type { Writer } from './writer.ts'

/** How long erasures are collected, in milliseconds. */
const delay = 5_000

/** How many pages of an index one step merges: a few milliseconds. */
const pages = 200

/** How often the log is truncated in vain, because a read needs it, with this pause in milliseconds. */
const mostAttempts = 400
const pause = 100

interface Parts {
  readonly writer: Writer
  readonly connection: Connection
  /** Copies nearly the whole log into the file. */
  copyLog(): Promise<unknown>
  /** The resources whose records may be erased. */
  readonly resources: readonly Resource[]
}

/** Cleans a file after erasures. */
export class Scrubber {
  readonly #parts: Parts
  readonly #tables: readonly string[]
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isClosed = false

  constructor(parts: Parts) {
    this.#parts = parts
    const searched = parts.resources.filter((each) => indexedColumns(each).columns.length > 0)
    this.#tables = searched.flatMap(({ name }) => partNames(searchTable(name)))
  }

  /** Says that something was erased. */
  note(): void {
    if (this.#isClosed || this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#running = (this.#running ?? Promise.resolve()).then(() => this.#scrub()).catch(() => {})
    }, delay).unref()
  }

  /** Ends after the running step; what was noted is done at once. */
  async close(): Promise<void> {
    const isDue = this.#timer !== undefined
    clearTimeout(this.#timer)
    await this.#running
    this.#isClosed = true
    if (isDue) await this.#mergeAll().catch(() => {})
  }

  async #scrub(): Promise<void> {
    await this.#mergeAll()
    await this.#parts.copyLog()
    for (let attempt = 0; attempt < mostAttempts && !this.#isClosed; attempt++) {
      if (Number(this.#parts.connection.row('pragma wal_checkpoint(truncate)')['busy']) === 0) return
      await sleep(pause, undefined, { ref: false })
    }
  }

  async #mergeAll(): Promise<void> {
    for (const table of this.#tables) {
      let amount = -pages
      while (
        await this.#parts.writer.write(
          () => merge(table, amount),
          () => true,
        )
      )
        amount = pages
    }
  }
}

/**
 * Merges some pages of a part of an index into fewer segments, without deleted words.
 *
 * @param amount negative: begins to merge all segments
 * @returns whether there may be more to merge
 */
function* merge(table: string, amount: number): Transaction<boolean> {
  const found = yield sql`select 1 as one from sqlite_schema where name = ${table}`
  if (found.length === 0) return false
  const before = yield* changes()
  const part = raw(identifier(table))
  yield sql`insert into ${part} (${part}, rank) values ('merge', ${amount})`
  // The statement itself counts as one.
  return (yield* changes()) - before >= 2
}

function* changes(): Transaction<number> {
  return Number((yield* firstRow(sql`select total_changes() as count`))?.['count'])
}
