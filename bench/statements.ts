/** The SQL that our server runs for a request, taken from the very functions that it calls. */

import type { HttpRequest } from '../src/http/message.ts'
import type { Catalog } from '../src/model/resource.ts'
import type { Read } from '../src/plan/plan.ts'
import { planRequest } from '../src/plan/plan-request.ts'
import { readInput } from '../src/request/input.ts'
import { KnownQueries } from '../src/request/list-query.ts'
import { findTarget } from '../src/request/target.ts'
import { sqlContext } from '../src/storage/sql/context.ts'
import { Connection } from '../src/storage/sqlite/connection.ts'
import { sqlite } from '../src/storage/sqlite/engine.ts'
import type { Row, Statement } from '../src/storage/transaction.ts'
import { Memory } from '../src/storage/transactions/memory.ts'
import { readPage } from '../src/storage/transactions/read-page.ts'

/** The statement that reads a page's records, and the text that it gave: a line for each record. */
export interface PageStatement {
  readonly sql: Statement
  readonly json: string
}

/** Finds the statement of the first page of a list: the last one that gives JSON. */
export async function pageStatement(catalog: Catalog, database: string, path: string): Promise<PageStatement> {
  const plan = await planOf(catalog, path)
  if (plan.kind !== 'read-page') throw new Error(`${path} is no list.`)
  const connection = new Connection(database, { readOnly: true })
  try {
    const transaction = readPage(
      sqlContext({ catalog, engine: sqlite, tagSecret: new Uint8Array(32) }),
      new Memory(),
      plan,
    )
    let found: { sql: Statement; rows: Row[] } | undefined
    let step = transaction.next([])
    while (step.done !== true) {
      const rows = connection.all(step.value)
      if (rows[0] !== undefined && 'json' in rows[0]) found = { sql: step.value, rows }
      step = transaction.next(rows)
    }
    if (found === undefined) throw new Error(`${path} reads no records.`)
    return { sql: found.sql, json: String(found.rows[0]?.['json']) }
  } finally {
    connection.close()
  }
}

/** The plan of a GET of records, as an administrator sends it. */
export async function planOf(catalog: Catalog, address: string): Promise<Read> {
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
