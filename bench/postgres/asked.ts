/** The statements that our server runs for a request on PostgreSQL, taken from the very functions that it calls. */

import type { ClientBase } from 'pg'
import type { HttpRequest } from '../../src/http/message.ts'
import type { Catalog } from '../../src/model/resource.ts'
import type { Read } from '../../src/plan/plan.ts'
import { planRequest } from '../../src/plan/plan-request.ts'
import { readInput } from '../../src/request/input.ts'
import { KnownQueries } from '../../src/request/list-query.ts'
import { findTarget } from '../../src/request/target.ts'
import { rowTypes } from '../../src/storage/postgres/client.ts'
import { postgres } from '../../src/storage/postgres/engine.ts'
import { sqlContext } from '../../src/storage/sql/context.ts'
import type { Row, Statement, Transaction } from '../../src/storage/transaction.ts'
import { Memory } from '../../src/storage/transactions/memory.ts'
import { readPage, readPageAtOnce } from '../../src/storage/transactions/read-page.ts'
import { readRecord } from '../../src/storage/transactions/read-record.ts'

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
  const context = sqlContext({ catalog, engine: postgres })
  if (plan.kind === 'read-record') {
    return carriedOut(client, readRecord(context, { record: () => undefined, keep() {} }, plan))
  }
  const memory = new Memory()
  const apart = await carriedOut(client, readPage(context, memory, plan))
  return [...apart, ...(await carriedOut(client, readPageAtOnce(context, memory, plan)))]
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

async function planOf(catalog: Catalog, address: string): Promise<Read> {
  const [path = '', queryText = ''] = address.split('?')
  const found = findTarget(catalog, path)
  if (found.kind !== 'found' || !('resource' in found.target)) {
    throw new Error(`${path} is no collection and no record.`)
  }
  const request = { method: 'GET', target: address, headers: {} } as HttpRequest
  const input = await readInput({
    ...{ request, target: found.target, version: { catalog }, query: queryText, knownQueries: new KnownQueries() },
  })
  if (input.kind !== 'read-page' && input.kind !== 'read-record') throw new Error(`${address} reads no records.`)
  const preferred = { return: undefined, asynchronously: false, most: undefined }
  const caller = { id: 'bench', roles: ['admin'], claims: {}, credential: 'bench', expiresAt: Number.POSITIVE_INFINITY }
  const planning = {
    caller,
    catalog,
    versionCatalog: catalog,
    cursorSecret: new Uint8Array(32),
    now: Date.now(),
    preferred,
  }
  return planRequest({ ...planning, basePath: '/v1' }, found.target, input) as Read
}
