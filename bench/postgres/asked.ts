/** The statements that our server runs for a request on PostgreSQL, taken from the very functions that it calls. */

import type { ClientBase } from 'pg'
import type { Catalog } from 'resourced-contract/model/resource'
import { postgres } from '../../packages/server/src/storage/postgres/dialect.ts'
import { rowTypes } from '../../packages/server/src/storage/postgres/settings.ts'
import { sqlContext } from '../../packages/server/src/storage/sql/context.ts'
import type { Row, Statement, Transaction } from '../../packages/server/src/storage/transaction.ts'
import { Memory } from '../../packages/server/src/storage/transactions/memory.ts'
import { readPage } from '../../packages/server/src/storage/transactions/read-page.ts'
import { readRecord } from '../../packages/server/src/storage/transactions/read-record.ts'
import { planOf } from '../statements.ts'

/** A statement and what it gave. */
export interface AskedStatement {
  readonly statement: Statement
  readonly rows: readonly Row[]
}

/**
 * All statements of a GET, as an administrator asks it. Of a page first those by which it is read the first time, then
 * those by which it is read when its total is known.
 */
export async function statementsOf(catalog: Catalog, client: ClientBase, address: string): Promise<AskedStatement[]> {
  const plan = await planOf(catalog, address)
  const context = sqlContext({ catalog, dialect: postgres, tagSecret: new Uint8Array(32) })
  if (plan.kind === 'read-record') {
    return carriedOut(client, readRecord(context, undefined, plan))
  }
  if (plan.kind !== 'read-page') throw new Error(`${address} is neither a record nor a page.`)
  const memory = new Memory()
  const apart = await carriedOut(client, readPage(context, memory, plan))
  return [...apart, ...(await carriedOut(client, readPage(context, memory, plan)))]
}

async function carriedOut(client: ClientBase, transaction: Transaction<unknown>): Promise<AskedStatement[]> {
  const asked: AskedStatement[] = []
  let step = transaction.next([])
  while (step.done !== true) {
    const { text, values } = step.value
    const { rows } = await client.query({ text, values: [...values], types: rowTypes })
    asked.push({ statement: step.value, rows })
    step = transaction.next(rows)
  }
  return asked
}
