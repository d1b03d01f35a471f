/** API keys as the port has them, on SQLite. */
import { completeCatalog } from '../../model/catalog.ts'
import type { Catalog } from '../../model/resource.ts'
import { addKey, findKey, keepUses, listKeys, revokeAnyKey } from '../sql/keys.ts'
import type { Compiler } from '../sql/predicate.ts'
import type { Transaction } from '../sql/transaction.ts'
import type { KeyStore } from '../storage.ts'
import { Connection } from './connection.ts'
import { expressions } from './expressions.ts'
import { makeFile } from './file.ts'
import { migrate } from './migrate.ts'
import { read } from './reader.ts'
import { Writer } from './writer.ts'

/** The keys of a database that is open. */
export function keyStore(compiler: Compiler, reading: Pick<Connection, 'run'>, writer: Writer): KeyStore {
  const write = <T>(start: () => Transaction<T>) => writer.write(start, () => true)
  return {
    find: (hash) => read(reading, findKey(hash)),
    list: () => read(reading, listKeys()),
    add: (key) => write(() => addKey(compiler, key)),
    revoke: (id, at) => write(() => revokeAnyKey(compiler, id, at)),
    keepUses: (uses) => write(() => keepUses(compiler, uses)),
  }
}

/** Opens a SQLite file for its API keys alone: whatever is declared, and before anything is. */
export function openSqliteKeys(path: string): { readonly keys: KeyStore; close(): Promise<void> } {
  makeFile(path)
  const catalog = keysAlone()
  const connection = new Connection(path)
  const writer = new Writer(connection)
  // What else is there belongs to a declaration that nobody has read.
  migrate(connection.database, catalog, { apply: 'additive', now: Date.now(), others: 'kept' })
  return {
    keys: keyStore({ catalog, expressions }, connection, writer),
    async close() {
      await writer.drain()
      connection.close()
    },
  }
}

function keysAlone(): Catalog {
  const { system, ...rest } = completeCatalog({ name: 'keys', resources: {} })
  return { ...rest, system: new Map([...system].filter(([name]) => name === 'api-keys')) }
}
