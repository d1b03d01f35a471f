/** The reads of a storage when it opens its database. */
import { randomBytes } from 'node:crypto'
import sql from 'sql-template-tag'
import { type Epochs, readEpochs } from '../sql/context.ts'
import type { Storage } from '../storage.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import { readMaintenance } from './maintenance.ts'

interface Opening extends Pick<Storage, 'cursorSecret' | 'maintenanceFound'> {
  readonly epochs: Epochs
}

/** Reads what every server on the database shares; the first one creates the secret. */
export function* readOpening(): Transaction<Opening> {
  const cursorSecret = yield* readCursorSecret()
  return { cursorSecret, epochs: yield* readEpochs(), maintenanceFound: yield* readMaintenance() }
}

function* readCursorSecret(): Transaction<Uint8Array> {
  const fresh = randomBytes(32).toString('base64url')
  yield sql`insert into resourced_meta (key, value) values ('cursor_secret', ${fresh}) on conflict (key) do nothing`
  const row = yield* firstRow(sql`select value from resourced_meta where key = 'cursor_secret'`)
  return Buffer.from(String(row?.['value']), 'base64url')
}
