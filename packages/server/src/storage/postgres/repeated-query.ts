/** A statement that `pg` runs with several lists of values as one transaction. */
import pg from 'pg'
import type { Row } from '../transaction.ts'

interface Repeated {
  readonly name: string | undefined
  readonly text: string
  readonly values: readonly (readonly unknown[])[]
}

/** The part of a `pg` connection that this file uses. */
interface Connection {
  execute(portal: { readonly portal: string }): void
  sync(): void
}

type Result = { readonly rows: Row[] }
type Done = (error: Error | undefined, results: readonly Result[]) => void

/** What `pg.Query` has, but for its types. */
interface Inside {
  values: readonly unknown[]
  prepare(connection: Connection): void
}

const prototype = pg.Query.prototype as unknown as Inside

/** PostgreSQL commits when it is told that the pipeline ends: after the last list of values. */
export class RepeatedQuery extends pg.Query {
  readonly #lists: Repeated['values']

  constructor({ name, text, values }: Repeated, done: Done) {
    const collected = (error: Error | undefined, results: unknown) => done(error, [results].flat() as Result[])
    super({ name, text } as pg.QueryConfig, undefined, collected)
    this.#lists = values
  }

  requiresPreparation(): boolean {
    return true
  }

  prepare(connection: Connection): void {
    for (const values of this.#lists) {
      ;(this as unknown as Inside).values = values
      prototype.prepare.call(this, connection)
    }
    connection.sync()
  }

  /** Called for each list of values after it is bound. */
  _getRows(connection: Connection): void {
    connection.execute({ portal: '' })
  }
}
