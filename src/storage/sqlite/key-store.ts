/** A SQLite file opened for its API keys. */

import { sqlContext } from '../sql/context.ts'
import type { KeyStore } from '../storage.ts'
import { keyStore, keysAlone } from '../transactions/keys.ts'
import { Connection } from './connection.ts'
import { sqlite } from './engine.ts'
import { makeFile } from './file.ts'
import { migrate } from './migrate.ts'
import { runnerOf } from './reader.ts'
import { Writer } from './writer.ts'

/** Opens a SQLite file for its API keys alone: whatever is declared, and before anything is. */
export function openSqliteKeys(path: string): { readonly keys: KeyStore; close(): Promise<void> } {
  makeFile(path)
  const catalog = keysAlone()
  const connection = new Connection(path)
  const writer = new Writer(connection)
  // What else is there belongs to a declaration that nobody has read.
  migrate(connection.database, catalog, { apply: 'additive', now: Date.now(), others: 'kept' })
  return {
    keys: keyStore(sqlContext({ catalog, engine: sqlite }), runnerOf(connection, writer)),
    async close() {
      await writer.drain()
      connection.close()
    },
  }
}
