/** API keys (AUT-2, AUT-10): each is a record, with its hash in another table, which no response shows. */

import { completeCatalog } from 'resourced-contract/model/catalog'
import { allOf, anyOf, comparisonKey, matches, type Scalar } from 'resourced-contract/model/predicate'
import type { Catalog, RecordValues, Resource } from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import { issue } from 'resourced-contract/spec/faults'
import sql, { raw } from 'sql-template-tag'
import { checkRecord } from '../../plan/check-record.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { CreateKey, RevokeKey } from '../../plan/plan.ts'
import { subject } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { liveSql } from '../sql/predicate.ts'
import type { KeyStore, ListedKey, NewKey, Revoked, StoredKey } from '../storage.ts'
import { firstRow, ignoringRows, type Row, type Runner, type Transaction } from '../transaction.ts'
import { lockRecord, represent, writeRecord } from './rows/record-row.ts'

const attributes = sql`t.hint, t.subject, t.roles, t.claims, t.expires_at, t.created_at, t.revoked_at, t.made_by`
const columns = sql`t.id, h.hash, ${attributes}`
const keys = sql`resourced_key_hashes h join "api-keys" t on t.id = h.key`

/** The least time between two uses of a key that are kept, in milliseconds. */
const useInterval = 60_000

/** The API keys of an open database. */
export function keyStore(context: SqlContext, { read, write }: Runner): KeyStore {
  return {
    find: (hash) => read(() => findKey(hash)),
    list: () => read(listKeys),
    add: (key) => write(() => addKey(context, key)),
    revoke: (id, at, { descendants = false } = {}) => write(() => revokeAnyKey(context, id, at, descendants)),
    keepUses: (uses) => write(() => keepUses(context, uses)),
  }
}

/** A catalog of API keys only: they can be managed without a declaration. */
export function keysCatalog(): Catalog {
  const { system, ...rest } = completeCatalog({ name: 'keys', resources: {} })
  return { ...rest, system: new Map([...system].filter(([name]) => name === 'api-keys')) }
}

function resourceOfKeys({ catalog }: SqlContext): Resource {
  return catalog.system.get('api-keys') as Resource
}

function keyOf<Key extends StoredKey>(row: Row): Key {
  const { roles, claims } = row
  const parsed = { roles: JSON.parse(String(roles)), claims: claims === null ? null : JSON.parse(String(claims)) }
  return { ...row, ...parsed } as unknown as Key
}

function* findKey(hash: string): Transaction<StoredKey | undefined> {
  const row = yield* firstRow(sql`select ${columns} from ${keys} where h.hash = ${hash}`)
  return row === undefined ? undefined : keyOf(row)
}

/** All keys, the oldest first. */
export function* listKeys(): Transaction<ListedKey[]> {
  return (yield sql`select ${columns}, t.last_used_at from ${keys} order by t.created_at, t.id`).map(keyOf<ListedKey>)
}

function* addKey(context: SqlContext, { hash, made_by = null, claims = null, ...shown }: NewKey): Transaction<void> {
  const values = { ...shown, made_by, claims, updated_at: shown.created_at }
  yield* writeRecord(context, { resource: resourceOfKeys(context), values })
  yield ignoringRows(sql`insert into resourced_key_hashes (key, hash) values (${shown.id}, ${hash})`)
}

/** Runs a CreateKey. */
export function* createKey(context: SqlContext, plan: CreateKey): Transaction<Outcome> {
  const { id, hash, hint, roles, claims, expires_at, madeBy, perSubject, now } = plan
  if (plan.issues.length > 0) return { kind: 'invalid', issues: plan.issues }
  // A revocation of the maker's descendants locks the maker: it finds the new key, or the key is not made.
  if (madeBy.kind === 'key') {
    const { share } = context.dialect.lock
    const maker = yield* firstRow(sql`select revoked_at from "api-keys" where id = ${madeBy.id}${share}`)
    if (maker === undefined || maker['revoked_at'] !== null) return { kind: 'forbidden' }
  }
  const valid = yield* countValid(context, plan.subject, now)
  if (valid >= perSubject) {
    const { subject } = plan
    const excess = { subject, given: valid, most: perSubject }
    return { kind: 'conflict', issues: [issue('keyQuota', { pointer: '/subject', ...excess })] }
  }
  const created_at = timestamp(now)
  const made_by = madeBy.id
  yield* addKey(context, {
    ...{ id, hash, hint, subject: plan.subject, roles, claims, expires_at, created_at, revoked_at: null, made_by },
  })
  const { json, revision, updatedAt } = yield* represent(context, plan, id)
  return { kind: 'created', id, json, revision, updatedAt }
}

/** How many keys of a subject are neither revoked nor expired. */
function* countValid(context: SqlContext, name: string, now: number): Transaction<number> {
  const resource = resourceOfKeys(context)
  const at = comparisonKey(resource, 'expires_at', timestamp(now)) as Scalar
  const valid = allOf([
    { kind: 'compare', field: 'subject', operator: 'eq', value: name },
    { kind: 'null', field: 'revoked_at' },
    anyOf([
      { kind: 'null', field: 'expires_at' },
      { kind: 'compare', field: 'expires_at', operator: 'gt', value: at },
    ]),
  ])
  const where = liveSql(context, resource, valid)
  const row = yield* firstRow(sql`select count(*) as count from "api-keys" ${raw(subject)} where ${where}`)
  return Number(row?.['count'])
}

/** Runs a RevokeKey. To revoke a revoked key is 404, unless descendants of it are left to revoke. */
export function* revokeKey(context: SqlContext, plan: RevokeKey): Transaction<Outcome> {
  const { found, record } = yield* lockRecord(context, plan)
  if (found === undefined || record === undefined) return { kind: 'missing' }
  const permitted = found.permitted && coversRoles(plan, record)
  const descendants = permitted && plan.descendants ? yield* lockDescendants(context, plan.id) : []
  const valid = [record, ...descendants].filter(isValid)
  const ended = checkRecord(plan, permitted && valid.length === 0 ? undefined : { ...found, permitted })
  if (ended !== undefined) return ended
  // All or none: a caller who may revoke a key may lack the permission to revoke its descendants.
  const mayRevoke = (key: RecordValues) =>
    matches({ subject: key['subject'] }, plan.permitted) && coversRoles(plan, key)
  if (!valid.every(mayRevoke)) return { kind: 'forbidden' }
  let deletedAt = ''
  for (const key of valid) deletedAt = yield* revoke(context, key, plan.now)
  return { kind: 'deleted', id: plan.id, deletedAt }
}

function coversRoles({ roles }: RevokeKey, key: RecordValues): boolean {
  const held = key['roles']
  const has = typeof held === 'string' ? (JSON.parse(held) as string[]) : (held as readonly string[])
  return roles === undefined || has.every((role) => roles.includes(role))
}

function isValid(key: RecordValues): boolean {
  return key['revoked_at'] === null
}

/** The keys that were made with a key, and those made with them, revoked ones too. They are locked. */
function* lockDescendants({ dialect }: SqlContext, id: string): Transaction<Row[]> {
  const found: Row[] = []
  const known = new Set([id])
  for (let makers = [id]; makers.length > 0; ) {
    const among = dialect.isAnyOf(raw('made_by'), makers)
    const which = sql`${among}${dialect.lock.orderById}${dialect.lock.update}`
    const rows = yield sql`select id, subject, roles, updated_at, revoked_at from "api-keys" where ${which}`
    const others = rows.filter((row) => !known.has(String(row['id'])))
    makers = others.map((row) => String(row['id']))
    for (const maker of makers) known.add(maker)
    found.push(...others)
  }
  return found
}

/** Revokes a key for the command line, where everything is permitted; `undefined`: nothing is left to revoke. */
function* revokeAnyKey(
  context: SqlContext,
  id: string,
  at: string,
  withDescendants: boolean,
): Transaction<Revoked | undefined> {
  const { update } = context.dialect.lock
  const key = yield* firstRow(sql`select id, updated_at, revoked_at from "api-keys" where id = ${id}${update}`)
  if (key === undefined) return undefined
  const descendants = (yield* lockDescendants(context, id)).filter(isValid)
  const valid = [key, ...(withDescendants ? descendants : [])].filter(isValid)
  if (valid.length === 0) return undefined
  for (const each of valid) yield* revoke(context, each, Date.parse(at))
  return { count: valid.length, remaining: withDescendants ? 0 : descendants.length }
}

function* revoke(context: SqlContext, key: RecordValues, now: number): Transaction<string> {
  const at = timestamp(Math.max(now, Date.parse(String(key['updated_at']))))
  const values = { id: key['id'], revoked_at: at, updated_at: at }
  yield* writeRecord(context, { resource: resourceOfKeys(context), values, changed: ['revoked_at'] })
  return at
}

/**
 * Keeps when keys were last used. This changes the representation of a key, and with it the entity tags of the key and
 * of the list, so uses are kept together, and once a minute for each key.
 */
function* keepUses(context: SqlContext, uses: ReadonlyMap<string, number>): Transaction<void> {
  const { isAnyOf, lock } = context.dialect
  const among = isAnyOf(raw('id'), [...uses.keys()])
  const rows =
    yield sql`select id, updated_at, last_used_at from "api-keys" where ${among}${lock.orderById}${lock.update}`
  for (const row of rows) {
    const { id } = row
    const time = uses.get(String(id)) as number
    const before = row['last_used_at'] === null ? Number.NEGATIVE_INFINITY : Date.parse(String(row['last_used_at']))
    if (time - before < useInterval) continue
    const updated_at = timestamp(Math.max(time, Date.parse(String(row['updated_at']))))
    const values = { id, last_used_at: timestamp(time), updated_at }
    yield* writeRecord(context, { resource: resourceOfKeys(context), values, changed: ['last_used_at'] })
  }
}
