/** Statements on a connection: those that come again are prepared once, under a name. */
import type pg from 'pg'
import type { Row, Statement } from '../sql/transaction.ts'
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
export async function prepareAndRun(
  client: pg.ClientBase,
  { text, values }: Statement,
  preparing: Preparing,
): Promise<Row[]> {
  const name = preparing === 'named' ? nameOf(client, text) : undefined
  try {
    const { rows } = await client.query({ name, text, values: values as unknown[] } as pg.QueryConfig)
    return rows
  } catch (error) {
    // One that was to be prepared by a statement which failed, while this one was on its way behind it.
    if (name !== undefined && isUnprepared(error)) rename(client, text, name)
    throw error
  }
}

function rename(client: pg.ClientBase, text: string, name: string): void {
  const names = prepared.get(client)?.names
  if (names?.get(text) === name) names.delete(text)
}

function nameOf(client: pg.ClientBase, text: string): string | undefined {
  let known = prepared.get(client)
  if (known === undefined) {
    known = { names: new Map(), next: 0 }
    prepared.set(client, known)
  }
  const { names } = known
  let name = names.get(text)
  if (name !== undefined) {
    names.delete(text)
  } else {
    if (names.size >= mostPrepared) forget(client, names)
    known.next++
    name = `r${known.next}`
  }
  names.set(text, name)
  return name
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
