/**
 * Idempotency keys: the first response to a key is kept for a day, and a repeated request gets the same response
 * (MET-9).
 */
import sql, { raw } from 'sql-template-tag'
import type { Idempotency, Outcome } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import { firstRow, ignoringRows, type Transaction } from '../transaction.ts'

/** How long a key is kept, in milliseconds. */
const lifetime = 24 * 60 * 60 * 1000

/** The most keys that one transaction deletes: other writers wait for it. */
export const mostExpiredKeys = 1_000

/** The former use of a key. */
type Earlier = Extract<Outcome, { readonly kind: 'replayed' | 'key-reused' }>

/** The outcomes that take precedence over a key which was used with another body (CON-6). */
const first: ReadonlySet<string> = new Set<Outcome['kind']>([
  'forbidden',
  'parent-missing',
  'missing',
  'precondition-required',
  'stale',
])

/** The outcomes that are kept: changes that were made. */
const made: ReadonlySet<string> = new Set<Outcome['kind']>(['created', 'updated', 'bulk-deleted', 'accepted'])

/**
 * Makes a change once for its idempotency key. The first answer is kept in the transaction that makes the change, and
 * returned when the request is repeated. If the key came with another body before, the outcome says so, and everything
 * that was done must be undone.
 */
export function* onceForKey<Other extends { readonly kind: string } = never>(
  { engine }: Pick<SqlContext, 'engine'>,
  { idempotency, now }: { readonly idempotency?: Idempotency; readonly now: number },
  change: Transaction<Outcome | Other>,
): Transaction<Outcome | Other> {
  if (idempotency === undefined) return yield* change
  const { tryAdvisoryLock } = engine
  if (tryAdvisoryLock !== undefined) {
    const row = yield* firstRow(sql`select ${tryAdvisoryLock(idempotency.scope)} as locked`)
    if (row?.['locked'] !== 1) return { kind: 'key-in-use' }
  }
  const earlier = yield* findAnswer(idempotency, now)
  if (earlier?.kind === 'replayed') return earlier
  const outcome = yield* change
  if (earlier !== undefined) return first.has(outcome.kind) ? outcome : earlier
  if (made.has(outcome.kind)) yield* keepAnswer(idempotency, outcome as Outcome, now)
  return outcome
}

/** The first answer to a key, or that it came with another body; `undefined`: the key is new, or expired. */
function* findAnswer({ scope, fingerprint }: Idempotency, now: number): Transaction<Earlier | undefined> {
  const isKept = sql`scope = ${scope} and created_at > ${now - lifetime}`
  const row = yield* firstRow(sql`select fingerprint, outcome from resourced_idempotency where ${isKept}`)
  if (row === undefined) return undefined
  if (row['fingerprint'] !== fingerprint) return { kind: 'key-reused' }
  const kept = JSON.parse(String(row['outcome'])) as Omit<Extract<Earlier, { readonly kind: 'replayed' }>, 'kind'>
  return { kind: 'replayed', ...kept }
}

/** Keeps the first answer, in place of one that has expired. */
function* keepAnswer(idempotency: Idempotency, answer: Outcome, now: number): Transaction<void> {
  const { scope, fingerprint, preferred } = idempotency
  const outcome = JSON.stringify({ answer, preferred })
  const values = sql`(scope, fingerprint, outcome, created_at) values (${scope}, ${fingerprint}, ${outcome}, ${now})`
  const replaced = ['fingerprint', 'outcome', 'created_at'].map((name) => `${name} = excluded.${name}`).join(', ')
  yield ignoringRows(
    sql`insert into resourced_idempotency ${values} on conflict (scope) do update set ${raw(replaced)}`,
  )
}

/** Deletes expired keys, the oldest first, and returns their number. */
export function* deleteExpiredKeys(now: number): Transaction<number> {
  const isExpired = sql`created_at <= ${now - lifetime} order by created_at limit ${mostExpiredKeys}`
  const expired = sql`select scope from resourced_idempotency where ${isExpired}`
  return (yield sql`delete from resourced_idempotency where scope in (${expired}) returning scope`).length
}
