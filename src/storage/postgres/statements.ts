/** Statements on a connection: those that come again are prepared once, under a name. */
import type { Socket } from 'node:net'
import pg from 'pg'
import type { Row, Statement } from '../transaction.ts'
import { isUnprepared } from './errors.ts'

/** The most statements that a connection keeps prepared: shapes come from queries. */
const mostPrepared = 500

interface Known {
  /** By text; the one used longest ago comes first. */
  readonly names: Map<string, string>
  next: number
}

const prepared = new WeakMap<pg.ClientBase, Known>()

/** Whether statements are prepared under names: poolers that hand connections from one transaction to another may not keep them. */
export type Preparing = 'named' | 'unnamed'

/** Runs a statement. Several may be sent without waiting for their answers: they are carried out in order. */
export function prepareAndRun(
  client: pg.ClientBase,
  { text, values }: Statement,
  preparing: Preparing,
): Promise<Row[]> {
  const name = preparing === 'named' ? nameOf(client, text) : undefined
  return new Promise((resolve, reject) => {
    // A query made here is taken as it is: `pg` copies the settings of others.
    const query = new pg.Query({ name, text, values } as pg.QueryConfig, undefined, (error, result) => {
      if (!error) return resolve(result.rows)
      // It was to be prepared by a statement that failed while this one was on its way behind it.
      if (name !== undefined && isUnprepared(error)) forgetName(client, text, name)
      reject(error)
    })
    gather(client)
    client.query(query)
  })
}

/** What is sent in one turn of the event loop goes out together: each write of its own would cost as much as its statement. */
function gather(client: pg.ClientBase): void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection
  if (stream.writableCorked > 0) return
  stream.cork()
  setImmediate(() => stream.uncork())
}

function nameOf(client: pg.ClientBase, text: string): string {
  let known = prepared.get(client)
  if (known === undefined) {
    known = { names: new Map(), next: 0 }
    prepared.set(client, known)
  }
  const { names } = known
  const name = names.get(text) ?? `r${++known.next}`
  if (names.size < mostPrepared / 2) {
    names.set(text, name)
    return name
  }
  // Only where some may have to go it matters which were used last.
  names.delete(text)
  if (names.size >= mostPrepared) forget(client, names)
  names.set(text, name)
  return name
}

function forgetName(client: pg.ClientBase, text: string, name: string): void {
  const names = prepared.get(client)?.names
  if (names?.get(text) === name) names.delete(text)
}

function forget(client: pg.ClientBase, names: Map<string, string>): void {
  const [text, name] = names.entries().next().value as [string, string]
  names.delete(text)
  // pg keeps the text of what it has prepared for as long as the connection lives.
  const { connection } = client as unknown as {
    readonly connection: { readonly parsedStatements: Record<string, string> }
  }
  delete connection.parsedStatements[name]
  // Where this fails, the connection is gone, and its statements with it.
  client.query(`deallocate ${name}`).catch(() => {})
}
