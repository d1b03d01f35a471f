/** API keys as the port has them. */

import type { SqlContext } from '../sql/predicate.ts'
import type { KeyStore } from '../storage.ts'
import type { Runner } from '../transaction.ts'
import { addKey, findKey, keepUses, listKeys, revokeAnyKey } from './keys.ts'

/** The keys of a database that is open. */
export function keyStore(context: SqlContext, { read, write }: Runner): KeyStore {
  return {
    find: (hash) => read(() => findKey(hash)),
    list: () => read(listKeys),
    add: (key) => write(() => addKey(context, key)),
    revoke: (id, at, { descendants = false } = {}) => write(() => revokeAnyKey(context, id, at, descendants)),
    keepUses: (uses) => write(() => keepUses(context, uses)),
  }
}
