/** Changes that carry a key: the first answer is kept for a day, and a repeat gets it again (MET-9). */
import sql from 'sql-template-tag'
import type { Idempotency, Outcome } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import { firstRow, ignoringRows, type Transaction } from '../transaction.ts'

/** Milliseconds for which a key is known. */
const lifetime = 24 * 60 * 60 * 1000

/** The most keys that one transaction forgets: whoever writes meanwhile waits for it. */
export const mostForgotten = 1_000

/** What a key was used for before. */
type Earlier = Extract<Outcome, { readonly kind: 'replayed' | 'key-reused' }>

/** What is told before a key that was used for something else (CON-6). */
const first: ReadonlySet<string> = new Set<Outcome['kind']>([
  'forbidden',
  'parent-missing',
  'missing',
  'precondition-required',
  'stale',
])

/** What is worth repeating: changes that were made. */
const made: ReadonlySet<string> = new Set<Outcome['kind']>(['created', 'updated', 'bulk-deleted', 'accepted'])

/**
 * Makes a change that is recognised when it is repeated: then it is not made again. The first answer is kept in the
 * transaction that made the change. Where the key came with something else before, the outcome says so, and whatever was
 * changed to find that out must be undone.
 */
export function* recognised<Other extends { readonly kind: string } = never>(
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

/** The first answer under a key, or that it came with another body; `undefined` where the key is new, or forgotten. */
function* findAnswer({ scope, fingerprint }: Idempotency, now: number): Transaction<Earlier | undefined> {
  const row = yield* firstRow(
    sql`select fingerprint, outcome from resourced_idempotency where scope = ${scope} and created_at > ${now - lifetime}`,
  )
  if (row === undefined) return undefined
  if (row['fingerprint'] !== fingerprint) return { kind: 'key-reused' }
  const kept = JSON.parse(String(row['outcome'])) as Omit<Extract<Earlier, { readonly kind: 'replayed' }>, 'kind'>
  return { kind: 'replayed', ...kept }
}

/** Keeps the first answer; what the key stood for more than a day ago goes. */
function* keepAnswer(idempotency: Idempotency, answer: Outcome, now: number): Transaction<void> {
  const { scope, fingerprint, preferred } = idempotency
  const outcome = JSON.stringify({ answer, preferred })
  yield ignoringRows(
    sql`insert into resourced_idempotency (scope, fingerprint, outcome, created_at) values (${scope}, ${fingerprint}, ${outcome}, ${now}) on conflict (scope) do update set fingerprint = excluded.fingerprint, outcome = excluded.outcome, created_at = excluded.created_at`,
  )
}

/** Forgets keys that are a day old, the oldest first, at most `mostForgotten`. Gives their number. */
export function* forgetExpired(now: number): Transaction<number> {
  const expired = sql`select scope from resourced_idempotency where created_at <= ${now - lifetime} order by created_at limit ${mostForgotten}`
  return (yield sql`delete from resourced_idempotency where scope in (${expired}) returning scope`).length
}
