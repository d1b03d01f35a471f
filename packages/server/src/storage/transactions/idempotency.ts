/**
 * Idempotency keys: the first response to a key is kept for a day, and a repeated request gets the same response
 * (MET-9).
 */
import sql, { raw } from 'sql-template-tag'
import type { Outcome } from '../../plan/outcome.ts'
import type { Create, Idempotency, TransactionPlan } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import { grantsDigest } from '../sql/records.ts'
import { firstRow, ignoringRows, type Transaction } from '../transaction.ts'
import { deleteShown, keptFor, readShown, storeShown } from './rows/kept-answers.ts'

/** The most keys that one transaction deletes: other writers wait for it. */
export const mostExpiredKeys = 1_000

/** A change that may come with a key. */
type Repeatable = Represented & Partial<Pick<Create, 'idempotency'>> & Pick<Create, 'now'>

/** What the answer to a change shows: of a transaction, what the answers to its operations show. */
type Represented = Partial<Pick<Create, 'resource' | 'versionResource' | 'readableFields'>> &
  Partial<Pick<TransactionPlan, 'operations'>>

/** The first answer to a key, as it is stored. */
interface KeptAnswer extends Pick<Extract<Outcome, { readonly kind: 'replayed' }>, 'answer' | 'preferred'> {
  /** The digest of the fields that the caller could not read in every record. */
  readonly grants?: string
}

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

/** The kind of an outcome: of a refused transaction that of the operation that was refused. */
function kindOf(outcome: { readonly kind: string } | Outcome): string {
  return outcome.kind === 'operation-refused' && 'index' in outcome ? String(outcome.outcome?.kind) : outcome.kind
}

/** The outcomes that are kept: changes that were made. */
const made: ReadonlySet<string> = new Set<Outcome['kind']>([
  'created', 'updated', 'written-many', 'bulk-deleted', 'accepted', 'transacted',
]) // biome-ignore format: one row reads best

/**
 * Makes a change once for its idempotency key. The first answer is kept in the transaction that makes the change, and
 * returned when the request is repeated. If the key came with another body before, the outcome says so, and everything
 * that was done must be undone.
 *
 * @param isWaitedFor for changes that may be announced: whether an announced change holds the key. It is asked before
 *   the answer is looked up, because the last transaction of such a change keeps the answer and releases the key.
 */
export function* onceForKey<Other extends { readonly kind: string } = never>(
  context: Pick<SqlContext, 'catalog' | 'dialect'>,
  plan: Repeatable,
  change: Transaction<Outcome | Other>,
  isWaitedFor?: (scope: string) => Transaction<boolean>,
): Transaction<Outcome | Other> {
  const { idempotency } = plan
  if (idempotency === undefined) return yield* change
  const { tryAdvisoryLock } = context.dialect
  if (tryAdvisoryLock !== undefined) {
    const row = yield* firstRow(sql`select ${tryAdvisoryLock(idempotency.scope)} as locked`)
    if (row?.['locked'] !== 1) return { kind: 'key-in-use' }
  }
  if (isWaitedFor !== undefined && (yield* isWaitedFor(idempotency.scope))) return { kind: 'key-in-use' }
  const earlier = yield* findAnswer(context, plan, idempotency)
  if (earlier?.kind === 'replayed') return earlier
  const outcome = yield* change
  if (earlier !== undefined) return first.has(kindOf(outcome)) ? outcome : earlier
  if (made.has(outcome.kind)) yield* keepAnswer(context, plan, idempotency, outcome as Outcome)
  return outcome
}

/**
 * Continues a change that was announced with its key, and keeps the first answer. The announcement holds the key, so
 * nothing is locked or looked up: a repeated request that asks for the key meanwhile must not stop the first one.
 */
export function* continueForKey(
  context: Pick<SqlContext, 'catalog' | 'dialect'>,
  plan: Repeatable,
  change: Transaction<Outcome>,
): Transaction<Outcome> {
  const { idempotency } = plan
  const outcome = yield* change
  if (idempotency !== undefined && made.has(outcome.kind)) yield* keepAnswer(context, plan, idempotency, outcome)
  return outcome
}

/** The first answer to a key, or that it came with another body; `undefined`: the key is new, or expired. */
function* findAnswer(
  context: Pick<SqlContext, 'catalog' | 'dialect'>,
  plan: Repeatable,
  { scope, fingerprint }: Idempotency,
): Transaction<Earlier | undefined> {
  const { now } = plan
  const isKept = sql`scope = ${scope} and created_at > ${now - keptFor}`
  const row = yield* firstRow(sql`select fingerprint, outcome from resourced_idempotency where ${isKept}`)
  if (row === undefined) return undefined
  if (row['fingerprint'] !== fingerprint) return { kind: 'key-reused' }
  const { answer: kept, preferred, grants = '' } = JSON.parse(String(row['outcome'])) as KeptAnswer
  const { answer, isErased } = yield* readShown(context, scope, kept)
  if (isErased) return { kind: 'replayed', preferred: { ...preferred, return: 'minimal' }, answer }
  return { kind: 'replayed', preferred, answer: grants === digestOf(plan) ? answer : masked(plan, answer) }
}

/**
 * The first answer for a caller who may read other fields by now (AUT-13): without the values of all fields that the
 * caller may not read in every record.
 */
function masked({ resource, versionResource, readableFields, operations }: Represented, answer: Outcome): Outcome {
  if (answer.kind === 'transacted') {
    const results = answer.results.map((each, index) => masked(operations?.[index]?.plan ?? {}, each))
    return { ...answer, results }
  }
  if (readableFields === undefined || resource === undefined) return answer
  if ((answer.kind !== 'created' && answer.kind !== 'updated' && answer.kind !== 'written-many') || !answer.json)
    return answer
  const names = Object.keys(readableFields)
  const mask = (record: Record<string, unknown> | null) => {
    for (const stored of names) {
      const name = versionResource === undefined ? stored : versionResource.mapping.fromStored.get(stored)
      if (record !== null && name !== undefined && Object.hasOwn(record, name)) record[name] = null
    }
    return JSON.stringify(record)
  }
  const json = JSON.parse(`[${answer.json}]`).map(mask).join(',\n')
  if (answer.kind === 'written-many') return { ...answer, json }
  return { ...answer, json, hidden: names.map((name) => `,${name}`).join('') }
}

/** The digest of the fields that the caller may not read in every record; empty: there are none. */
function digestOf({ readableFields, operations = [] }: Represented): string {
  const digests = operations.map(({ plan }) => grantsDigest(plan.readableFields))
  return digests.some((digest) => digest !== '') ? digests.join() : grantsDigest(readableFields)
}

/** Keeps the first answer, in place of one that has expired. */
function* keepAnswer(
  context: Pick<SqlContext, 'catalog' | 'dialect'>,
  plan: Repeatable,
  { scope, fingerprint, preferred }: Idempotency,
  answer: Outcome,
): Transaction<void> {
  const { now } = plan
  const grants = digestOf(plan)
  const rest = yield* storeShown(context, plan, scope, answer)
  const kept: KeptAnswer = { answer: rest, preferred, ...(grants !== '' && { grants }) }
  const outcome = JSON.stringify(kept)
  const values = sql`(scope, fingerprint, outcome, created_at) values (${scope}, ${fingerprint}, ${outcome}, ${now})`
  const replaced = ['fingerprint', 'outcome', 'created_at'].map((name) => `${name} = excluded.${name}`).join(', ')
  yield ignoringRows(
    sql`insert into resourced_idempotency ${values} on conflict (scope) do update set ${raw(replaced)}`,
  )
}

/** Deletes expired keys, the oldest first, and returns their number. */
export function* deleteExpiredKeys(context: Pick<SqlContext, 'catalog'>, now: number): Transaction<number> {
  const isExpired = sql`created_at <= ${now - keptFor} order by created_at limit ${mostExpiredKeys}`
  const expired = sql`select scope from resourced_idempotency where ${isExpired}`
  const shown = yield* deleteShown(context, expired)
  if (shown > 0) return shown
  return (yield sql`delete from resourced_idempotency where scope in (${expired}) returning scope`).length
}
