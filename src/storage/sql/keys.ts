/** API keys in SQL. */
import sql from 'sql-template-tag'
import type { StoredKey } from '../storage.ts'
import { type Row, single, type Transaction } from './transaction.ts'

const columns = sql`id, hash, hint, subject, roles, expires_at, created_at, revoked_at`

function keyOf(row: Row): StoredKey {
  return { ...row, roles: JSON.parse(String(row['roles'])) } as unknown as StoredKey
}

/** The key with a hash. */
export function* findKey(hash: string): Transaction<StoredKey | undefined> {
  const row = yield* single(sql`select ${columns} from resourced_keys where hash = ${hash}`)
  return row === undefined ? undefined : keyOf(row)
}

/** All keys, the oldest first. */
export function* listKeys(): Transaction<StoredKey[]> {
  return (yield sql`select ${columns} from resourced_keys order by created_at, id`).map(keyOf)
}

/** Adds a key. */
export function* addKey(key: StoredKey): Transaction<void> {
  yield sql`insert into resourced_keys (${columns}) values (${key.id}, ${key.hash}, ${key.hint}, ${key.subject}, ${JSON.stringify(key.roles)}, ${key.expires_at}, ${key.created_at}, ${key.revoked_at})`
}

/** Revokes a key; whether it was there and not revoked. */
export function* revokeKey(id: string, at: string): Transaction<boolean> {
  return (
    (yield sql`update resourced_keys set revoked_at = ${at} where id = ${id} and revoked_at is null returning id`)
      .length > 0
  )
}
