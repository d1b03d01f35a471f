/**
 * What kept answers to requests with an idempotency key show of records with a history. It is stored apart from the
 * answers, by record, so that it is found when the record is erased (HIS-4).
 */
import { historyCollection } from 'resourced-contract/model/names'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Outcome } from '../../../plan/outcome.ts'
import type { Create, TransactionPlan } from '../../../plan/plan.ts'
import type { SqlContext } from '../../sql/context.ts'
import { ignoringRows, type Transaction } from '../../transaction.ts'

/** How long answers are kept, in milliseconds (MET-9). */
export const keptFor = 24 * 60 * 60 * 1000

/** The most rows, and about the most bytes, that one transaction erases or deletes: other writers wait for it. */
const most = { rows: 1_000, bytes: 2_000_000 }

type Context = Pick<SqlContext, 'catalog' | 'dialect'>

/** The change that an answer is about. */
type Answered = Partial<Pick<Create, 'resource'>> & Partial<Pick<TransactionPlan, 'operations'>>

/** The parts of an answer that may show records: the results of a transaction, or the answer itself. */
function partsOf(answer: Outcome): readonly Outcome[] {
  return answer.kind === 'transacted' ? answer.results : [answer]
}

function withParts(answer: Outcome, parts: readonly Outcome[]): Outcome {
  return answer.kind === 'transacted' ? { ...answer, results: parts } : (parts[0] as Outcome)
}

/** The text of the records that a part of an answer shows; its place where it is stored apart. */
function jsonOf(part: Outcome): unknown {
  return 'json' in part ? part.json : undefined
}

/** A part with another text, or a place. */
function withJson(part: Outcome, json: string | number): Outcome {
  return { ...part, json } as Outcome
}

/** Stores what an answer shows of records with a history, in place of an expired answer, and gives the rest of it. */
export function* storeShown(
  { catalog, dialect }: Context,
  plan: Answered,
  scope: string,
  answer: Outcome,
): Transaction<Outcome> {
  if (!catalog.system.has(historyCollection)) return answer
  yield ignoringRows(sql`delete from resourced_answers where scope = ${scope}`)
  const parts: Outcome[] = []
  for (const [place, part] of partsOf(answer).entries()) {
    const { resource } = plan.operations?.[place]?.plan ?? plan
    const body = resource?.history === undefined ? undefined : jsonOf(part)
    const [first, ...others] = typeof body === 'string' ? idsIn(body) : []
    parts.push(first === undefined ? part : withJson(part, place))
    if (first === undefined) continue
    yield ignoringRows(sql`insert into resourced_answers (scope, record, place, body)
      values (${scope}, ${first}, ${place}, ${body as string})`)
    if (others.length === 0) continue
    const elements = dialect.elements(sql`${JSON.stringify(others)}`, 'e')
    yield ignoringRows(sql`insert into resourced_answers (scope, record) select ${scope}, e.value from ${elements}`)
  }
  return withParts(answer, parts)
}

/** The ids of the records in an answer; `null` stands for one that the caller may not read. */
function idsIn(json: string): string[] {
  const records = JSON.parse(`[${json}]`) as readonly ({ readonly id: string } | null)[]
  return records.flatMap((record) => (record === null ? [] : [record.id]))
}

/** An answer with what it shows, or without all of that if a part was erased. */
export function* readShown(
  { catalog }: Context,
  scope: string,
  answer: Outcome,
): Transaction<{ readonly answer: Outcome; readonly isErased: boolean }> {
  const parts = partsOf(answer)
  if (!parts.some((part) => typeof jsonOf(part) === 'number')) return { answer, isErased: false }
  const isKept = catalog.system.has(historyCollection)
  const stored = sql`select place, body from resourced_answers where scope = ${scope} and place >= 0`
  const bodies = new Map((isKept ? yield stored : []).map(({ place, body }) => [place, String(body)] as const))
  const shown = parts.flatMap((part) => {
    const json = jsonOf(part)
    const body = typeof json === 'number' ? bodies.get(json) : undefined
    return typeof json !== 'number' ? [part] : body === undefined ? [] : [withJson(part, body)]
  })
  if (shown.length === parts.length) return { answer: withParts(answer, shown), isErased: false }
  const hidden = parts.map((part) => (jsonOf(part) === undefined ? part : withJson(part, '{}')))
  return { answer: withParts(answer, hidden), isErased: true }
}

/**
 * Erases records from kept answers, or a bounded part of them: a repeated request then gets its first response without
 * a body.
 *
 * @returns whether there may be more
 */
export function* eraseAnswers({ catalog, dialect }: Context, ids: readonly string[]): Transaction<boolean> {
  if (!catalog.system.has(historyCollection)) return false
  const scopes = sql`select scope from resourced_answers where ${dialect.isAnyOf(raw('record'), ids)}`
  const bodies = sql`from resourced_answers where place >= 0 and scope in (${scopes}) limit ${most.rows}`
  const found = yield sql`select _row, ${dialect.storedBytes(raw('body'), 'text')} as size ${bodies}`
  const taken: number[] = []
  let bytes = 0
  for (const { _row, size } of found) {
    bytes += Number(size)
    if (taken.length > 0 && bytes > most.bytes) break
    taken.push(Number(_row))
  }
  if (taken.length === 0) return false
  yield ignoringRows(sql`delete from resourced_answers where _row in (${join(taken)})`)
  return taken.length < found.length || taken.length === most.rows
}

/** Deletes what kept answers show, or a bounded part of that, and returns how many rows. */
export function* deleteShown({ catalog }: Pick<Context, 'catalog'>, scopes: Sql): Transaction<number> {
  if (!catalog.system.has(historyCollection)) return 0
  const some = sql`select _row from resourced_answers where scope in (${scopes}) limit ${most.rows}`
  return (yield sql`delete from resourced_answers where _row in (${some}) returning _row`).length
}
