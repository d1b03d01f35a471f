/** Erases records from the kept answers of requests with an idempotency key (HIS-4). */
import sql, { join } from 'sql-template-tag'
import { ignoringRows, type Transaction } from '../../transaction.ts'

/** How long answers are kept, in milliseconds (MET-9). */
export const keptFor = 24 * 60 * 60 * 1000

interface Kept {
  readonly preferred?: object
}

/** Erases records from kept answers: a repeated request then gets its first response without a body. */
export function* eraseAnswers(ids: readonly string[]): Transaction<void> {
  const named = ids.map((id) => sql`cast(outcome as text) like ${`%${id}%`}`)
  for (const row of yield sql`select scope, outcome from resourced_idempotency where ${join(named, ' or ')}`) {
    const isOfAny = (value: unknown) => typeof value === 'string' && ids.some((id) => value.includes(id))
    const kept = JSON.parse(String(row['outcome']), (name, value) =>
      name === 'json' && isOfAny(value) ? '{}' : value,
    ) as Kept
    const outcome = JSON.stringify({ ...kept, preferred: { ...kept.preferred, return: 'minimal' } })
    yield ignoringRows(sql`update resourced_idempotency set outcome = ${outcome} where scope = ${String(row['scope'])}`)
  }
}
