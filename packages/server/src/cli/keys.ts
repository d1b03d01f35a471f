/** `resourced keys create | list | revoke`: API keys on the command line. */

import { print } from 'resourced-check/terminal'
import { keyBounds } from 'resourced-contract/model/catalog'
import { deepestNesting, readJson } from 'resourced-contract/model/json/read-json'
import { isObject } from 'resourced-contract/model/plain-copy'
import { parseDuration } from 'resourced-contract/model/time'
import { ConfigurationError, UsageError } from 'resourced-contract/spec/configuration-error'
import type { Issue } from 'resourced-contract/spec/faults'
import { uuidv7 } from 'uuidv7'
import { type Claims, hashOfKey, hintOfKey, newKey, readClaims } from '../policy/api-keys.ts'
import { isInMemory } from '../server/database-address.ts'
import { administer, type DatabaseOptions, noDatabase, openKeys, placeOf } from '../server/open-database.ts'
import type { KeyStore, ListedKey, StoredKey } from '../storage/storage.ts'
import { loadCatalog } from './load-declaration.ts'
import { databaseOfTenant, withOperators } from './open-operators.ts'

interface CreateOptions extends DatabaseOptions {
  readonly declaration?: string
  readonly subject: string
  readonly roles: string
  readonly claims?: string
  readonly expires?: string
  readonly json?: boolean
}

interface RevokeOptions extends DatabaseOptions {
  readonly descendants?: boolean
}

/** Creates a key and prints it: alone, for scripts, or with its attributes. */
export async function createKey(options: CreateOptions): Promise<void> {
  const subject = options.subject.trim()
  if (subject === '') throw new UsageError('--subject takes the name of the caller who will use the key.')
  const attributes = [rolesOf(options.roles), expiryOf(options.expires), claimsOf(options.claims)] as const
  const { key, stored } = makeKey(subject, ...attributes)
  const { tenant, declaration, ...plain } = options
  if (tenant !== undefined) await checkClaim(tenant, stored.claims, declaration)
  const database = await databaseOfTenant(databaseToKeep(plain), tenant)
  const { hasTables } = await administer(database)
  const isNew = tenant === undefined && !(await hasTables())
  if (database.tenant !== undefined) await enterKey(plain, stored.hash, database.tenant)
  await withKeys(database, (keys) => keys.add(stored))
  // The first key is created before the first server, so a new path is no error. It may be mistyped, so it is reported.
  if (isNew) process.stderr.write(`Made a new database at ${placeOf(database)}: there was none.\n`)
  const made = { key, ...withoutHash({ ...stored, last_used_at: null }) }
  print(options.json === true ? `${JSON.stringify(made, null, 2)}\n` : `${key}\n`)
}

/** @throws UsageError where a key has a claim that names another tenant than its own (TEN-2) */
async function checkClaim(tenant: string, claims: Claims | null, declaration: string | undefined): Promise<void> {
  if (claims === null) return
  const { tenants } = await loadCatalog(declaration)
  const path = tenants?.caller.split('.') ?? []
  const named = path.slice(1).reduce<unknown>((found, name) => (isObject(found) ? found[name] : undefined), claims)
  if (path[0] !== 'claims' || named === undefined || named === tenant) return
  throw new UsageError(`The ${tenants?.caller} of --claims names another tenant than --tenant. Leave one of them out.`)
}

/** Keeps which tenant a key belongs to, before the key is stored: a hash without its key is no credential. */
async function enterKey(database: DatabaseOptions, hash: string, tenant: string): Promise<void> {
  await withOperators(database, ({ registry }) => registry.addKey(hash, tenant))
}

/** A new key, and the record that is stored for it. */
export function makeKey(
  subject: string,
  roles: string[],
  expires_at: string | null,
  claims: Claims | null = null,
): { key: string; stored: StoredKey } {
  const key = newKey()
  return { key, stored: { ...storedForm(key, subject, roles, expires_at), claims } }
}

/** The record that is stored for a key. */
export function storedForm(key: string, subject: string, roles: string[], expires_at: string | null): StoredKey {
  return {
    id: uuidv7(),
    hash: hashOfKey(key),
    hint: hintOfKey(key),
    subject,
    roles,
    claims: null,
    expires_at,
    created_at: new Date().toISOString(),
    revoked_at: null,
    made_by: null,
  }
}

/** Lists the keys. */
export async function printKeys(options: DatabaseOptions & { readonly json?: boolean }): Promise<void> {
  const { tenant, ...plain } = options
  const database = await databaseOfTenant(databaseToKeep(plain), tenant)
  const { listKeys } = await administer(database)
  const keys = (await listKeys())?.map(withoutHash)
  if (keys === undefined) throw noDatabase(database)
  if (options.json === true) {
    print(`${JSON.stringify(keys, null, 2)}\n`)
    return
  }
  const rows = keys.map((key) => [
    key.id,
    `${key.hint}…`,
    key.subject,
    key.roles.join(',') || '-',
    key.claims === null ? '-' : JSON.stringify(key.claims),
    key.expires_at ?? 'never',
    key.last_used_at ?? 'never',
    key.made_by ?? 'command line',
    key.revoked_at === null ? '' : `revoked ${key.revoked_at}`,
  ])
  print(tableOf([['ID', 'KEY', 'SUBJECT', 'ROLES', 'CLAIMS', 'EXPIRES', 'LAST USED', 'MADE BY', ''], ...rows]))
}

/** Rows of text with their columns below each other. */
export function tableOf(table: readonly (readonly string[])[]): string {
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? []
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return `${lines.join('\n')}\n`
}

/** Revokes a key. */
export async function revokeKey(id: string, options: RevokeOptions): Promise<void> {
  const { descendants = false, tenant, ...plain } = options
  const database = await databaseOfTenant(await existing(plain), tenant)
  const revoked = await withKeys(database, (keys) => keys.revoke(id, new Date().toISOString(), { descendants }))
  if (revoked === undefined)
    throw new ConfigurationError(`There is no key ${id} that could be revoked; keys list shows them.`)
  const { count, remaining } = revoked
  const what = count === 1 ? `Key ${id} is revoked.` : `Key ${id} and keys made with it are revoked: ${count} in all.`
  const left = remaining === 1 ? '1 key made with it remains valid' : `${remaining} keys made with it remain valid`
  const next = remaining === 0 ? '' : `${left}: repeat the command with --descendants to revoke them too.\n`
  process.stderr.write(`${what} Servers that are running notice within a second.\n${next}`)
}

function databaseToKeep(database: DatabaseOptions): DatabaseOptions {
  if (isInMemory(database.database)) throw new UsageError('A database in memory has no keys to keep: use sqlite:FILE.')
  return database
}

/** The database, which must exist: a mistyped path must not become an empty database. */
async function existing(given: DatabaseOptions): Promise<DatabaseOptions> {
  const database = databaseToKeep(given)
  const { hasTables } = await administer(database)
  if (await hasTables()) return database
  throw noDatabase(database)
}

async function withKeys<T>(database: DatabaseOptions, use: (keys: KeyStore) => Promise<T>): Promise<T> {
  const { keys, close } = await openKeys(database)
  try {
    return await use(keys)
  } finally {
    await close()
  }
}

function withoutHash({ hash: _, ...key }: ListedKey): Omit<ListedKey, 'hash'> {
  return key
}

function rolesOf(text: string): string[] {
  const roles = text.split(',').map((role) => role.trim())
  return [...new Set(roles.filter((role) => role !== ''))]
}

function claimsOf(text: string | undefined): Claims | null {
  if (text === undefined) return null
  const issues: Issue[] = []
  const claims = readClaims(readClaimsText(text), issues)
  if (claims !== undefined) return claims
  throw new UsageError(
    `--claims takes a JSON object of at most ${keyBounds.claims} characters, such as '{"team":"acme"}'.`,
  )
}

/** @returns `null` if it is no JSON, or JSON that not all readers read alike */
function readClaimsText(text: string): unknown {
  try {
    return readJson(Buffer.from(text), { maxDepth: deepestNesting })
  } catch {
    return null
  }
}

function expiryOf(text: string | undefined): string | null {
  if (text === undefined) return null
  const reading = parseDuration(text)
  if (reading.kind === 'duration' && reading.milliseconds > 0) {
    return new Date(Date.now() + reading.milliseconds).toISOString()
  }
  throw new UsageError(`--expires takes an ISO 8601 duration of days or less, such as P90D or PT12H, not ${text}.`)
}
