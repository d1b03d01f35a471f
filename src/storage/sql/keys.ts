/** API keys in SQL: a record for what is shown of a key, and its hash beside it, which nothing shows. */
import sql, { raw } from 'sql-template-tag'
import { timestamp } from '../../model/instant.ts'
import type { RecordValues, Resource } from '../../model/resource.ts'
import { admit } from '../../plan/admit.ts'
import type { CreateKey, Outcome, RevokeKey } from '../../plan/plan.ts'
import type { ListedKey, StoredKey } from '../storage.ts'
import { represent } from './answered.ts'
import { tick } from './clock.ts'
import { currentRecord } from './current-record.ts'
import type { Compiler } from './predicate.ts'
import { changeRecord, insertRecord } from './record-change.ts'
import { blind, type Row, single, type Transaction } from './transaction.ts'

const columns = sql`t.id, h.hash, t.hint, t.subject, t.roles, t.expires_at, t.created_at, t.revoked_at`
const keys = sql`resourced_key_hashes h join "api-keys" t on t.id = h.key`

/** How much later than the last one a use is worth keeping, in milliseconds. */
const between = 60_000

function keyOf<Key extends StoredKey>(row: Row): Key {
  return { ...row, roles: JSON.parse(String(row['roles'])) } as unknown as Key
}

/** The key with a hash. */
export function* findKey(hash: string): Transaction<StoredKey | undefined> {
  const row = yield* single(sql`select ${columns} from ${keys} where h.hash = ${hash}`)
  return row === undefined ? undefined : keyOf(row)
}

/** All keys, the oldest first. */
export function* listKeys(): Transaction<ListedKey[]> {
  return (yield sql`select ${columns}, t.last_used_at from ${keys} order by t.created_at, t.id`).map(keyOf<ListedKey>)
}

/** Adds a key. */
export function* addKey(compiler: Compiler, { hash, ...shown }: StoredKey): Transaction<void> {
  yield* insertRecord(compiler, keysOf(compiler), { ...shown, updated_at: shown.created_at })
  yield blind(tick(compiler, 'api-keys', 1, 0))
  yield blind(sql`insert into resourced_key_hashes (key, hash) values (${shown.id}, ${hash})`)
}

/** Runs a CreateKey. */
export function* createKey(compiler: Compiler, plan: CreateKey): Transaction<Outcome> {
  const { id, hash, hint, subject, roles, expires_at, now } = plan
  if (plan.issues.length > 0) return { kind: 'invalid', issues: plan.issues }
  const created_at = timestamp(now)
  yield* addKey(compiler, { id, hash, hint, subject, roles, expires_at, created_at, revoked_at: null })
  const { json, revision, updatedAt } = yield* represent(compiler, plan, id)
  return { kind: 'created', id, json, revision, updatedAt }
}

/** Runs a RevokeKey. A key that was revoked is still shown, and can no more be revoked than one that is not there. */
export function* revokeKey(compiler: Compiler, plan: RevokeKey): Transaction<Outcome> {
  const { found, record } = yield* currentRecord(compiler, plan)
  const isOver = found?.permitted === true && record?.['revoked_at'] !== null
  const ended = admit(plan, isOver ? undefined : found)
  if (ended !== undefined || record === undefined) return ended ?? { kind: 'missing' }
  return { kind: 'deleted', id: plan.id, deletedAt: yield* revoke(compiler, record, plan.now) }
}

/** Revokes a key, whoever asks; whether it was there and not revoked. */
export function* revokeAnyKey(compiler: Compiler, id: string, at: string): Transaction<boolean> {
  const row = yield* single(
    sql`select id, updated_at from "api-keys" where id = ${id} and revoked_at is null${compiler.expressions.lock.update}`,
  )
  if (row !== undefined) yield* revoke(compiler, row, Date.parse(at))
  return row !== undefined
}

function* revoke(compiler: Compiler, record: RecordValues, now: number): Transaction<string> {
  const at = timestamp(Math.max(now, Date.parse(String(record['updated_at']))))
  const values = { id: record['id'], revoked_at: at, updated_at: at }
  yield* changeRecord(compiler, keysOf(compiler), { values, changed: ['revoked_at'] })
  return at
}

/**
 * Keeps when keys were last used: what is shown of a key changes, so its entity tag and that of the list do, all together
 * and once a minute at most.
 */
export function* keepUses(compiler: Compiler, uses: ReadonlyMap<string, number>): Transaction<void> {
  const { isAmong, lock } = compiler.expressions
  const among = isAmong(raw('id'), [...uses.keys()])
  const rows = yield sql`select id, updated_at, last_used_at from "api-keys" where ${among}${lock.order}${lock.update}`
  for (const row of rows) {
    const { id } = row
    const time = uses.get(String(id)) as number
    const before = row['last_used_at'] === null ? Number.NEGATIVE_INFINITY : Date.parse(String(row['last_used_at']))
    if (time - before < between) continue
    const updated_at = timestamp(Math.max(time, Date.parse(String(row['updated_at']))))
    const values = { id, last_used_at: timestamp(time), updated_at }
    yield* changeRecord(compiler, keysOf(compiler), { values, changed: ['last_used_at'] })
  }
}

function keysOf({ catalog }: Compiler): Resource {
  return catalog.system.get('api-keys') as Resource
}
