/** Creations that carry a key: the first answer is kept for a day, and a repeat gets it again (MET-9). */
import sql from 'sql-template-tag'
import type { Created, Idempotency, Outcome } from '../../plan/plan.ts'
import { single, type Transaction } from './transaction.ts'

/** Milliseconds for which a key is known. */
const lifetime = 24 * 60 * 60 * 1000

/** The most keys that one transaction forgets: whoever writes meanwhile waits for it. */
export const mostForgotten = 1_000

/** What a key was used for before. */
type Earlier = Extract<Outcome, { readonly kind: 'replayed' | 'key-reused' }>

/** The first answer to a creation, or that its key came with another body; `undefined` where the key is new, or forgotten. */
export function* findAnswer({ scope, fingerprint }: Idempotency, now: number): Transaction<Earlier | undefined> {
  const row = yield* single(
    sql`select fingerprint, outcome from resourced_idempotency where scope = ${scope} and created_at > ${now - lifetime}`,
  )
  if (row === undefined) return undefined
  if (row['fingerprint'] !== fingerprint) return { kind: 'key-reused' }
  const { created, preferred } = JSON.parse(String(row['outcome'])) as Pick<Idempotency, 'preferred'> & {
    readonly created: Created
  }
  return { kind: 'replayed', created, preferred }
}

/** Keeps the first answer, in the transaction that made the record; what the key stood for more than a day ago goes. */
export function* keepAnswer(idempotency: Idempotency, created: Created, now: number): Transaction<void> {
  const { scope, fingerprint, preferred } = idempotency
  const outcome = JSON.stringify({ created, preferred })
  yield sql`insert into resourced_idempotency (scope, fingerprint, outcome, created_at) values (${scope}, ${fingerprint}, ${outcome}, ${now}) on conflict (scope) do update set fingerprint = excluded.fingerprint, outcome = excluded.outcome, created_at = excluded.created_at`
}

/** Forgets keys that are a day old, the oldest first, at most `mostForgotten`. Gives their number. */
export function* forgetExpired(now: number): Transaction<number> {
  const expired = sql`select scope from resourced_idempotency where created_at <= ${now - lifetime} order by created_at limit ${mostForgotten}`
  return (yield sql`delete from resourced_idempotency where scope in (${expired}) returning scope`).length
}
