/**
 * How many exports a caller has, and how many bytes the files of exports take (LIM-8). An export counts from its request until
 * its file expires or is deleted; a failed one has no file, and counts no more.
 */
import sql, { empty, type Sql } from 'sql-template-tag'
import { timestamp } from '../../../model/instant.ts'
import { exportsKept } from '../../../plan/export-document.ts'
import type { Issue } from '../../../spec/faults.ts'
import type { SqlContext } from '../../sql/predicate.ts'
import type { ExportRoom } from '../../storage.ts'
import { single, type Transaction } from '../../transaction.ts'

/** Exports, and the bytes of their files so far. */
interface Usage {
  readonly count: number
  readonly bytes: number
}

/**
 * Decides whether a caller may have one more export. Of two requests at once the second waits here, and counts the export of the
 * first.
 *
 * @returns the refusal; `undefined` where one more may begin
 */
export function* exceededQuota(context: SqlContext, caller: string, now: number): Transaction<Issue | undefined> {
  const { count: mostCount, bytes: mostBytes } = context.catalog.limits.exports
  yield* lockQuota(context, caller)
  const { count, bytes } = yield* usage(context, sql`and j.started_by = ${caller}`, now)
  if (count < mostCount && bytes < mostBytes) return undefined
  const found =
    count < mostCount
      ? `Your exports have ${bytes.toLocaleString('en')} of at most ${mostBytes.toLocaleString('en')} bytes.`
      : `You have ${count.toLocaleString('en')} of at most ${mostCount.toLocaleString('en')} exports.`
  const remedy = 'Delete one by DELETE /exports/{id}, or wait until one expires, a day after it was written.'
  return { code: 'EXPORT_QUOTA', message: `${found} ${remedy}` }
}

/** How long the file of an export may become beside all others that there are now. */
export function* roomFor(context: SqlContext, job: string, now: number): Transaction<ExportRoom> {
  const { bytes, total } = context.catalog.limits.exports
  const caller = sql`and j.started_by = (select started_by from jobs where id = ${job})`
  const own = yield* usage(context, sql`${caller} and j.id <> ${job}`, now)
  const all = yield* usage(context, sql`and j.id <> ${job}`, now)
  return { own: bytes - own.bytes, all: total - all.bytes }
}

/** Whether the file of an export may have so many bytes, decided while no other export of its caller grows. */
export function* fitsQuota(context: SqlContext, job: string, bytes: number, now: number): Transaction<boolean> {
  const row = yield* single(sql`select started_by from jobs where id = ${job}`)
  yield* lockQuota(context, String(row?.['started_by']))
  // One that begins again takes nothing, whatever the others have.
  return bytes === 0 || bytes <= (yield* roomFor(context, job, now)).own
}

/** Waits until nobody else decides about the exports of a caller, and keeps others waiting until the transaction ends. */
function* lockQuota({ engine }: SqlContext, caller: string): Transaction<void> {
  const { waitForLock } = engine
  if (waitForLock !== undefined) yield sql`select ${waitForLock(`exports of ${caller}`)}`
}

function* usage({ engine }: SqlContext, which: Sql = empty, now: number): Transaction<Usage> {
  const { jsonInteger } = engine
  const bytes = sql`coalesce(${jsonInteger(sql`w.state`, 'bytes')}, ${jsonInteger(sql`j.result`, 'bytes')}, 0)`
  const isKept = sql`j.status = 'succeeded' and j.finished_at > ${timestamp(now - exportsKept)}`
  const row = yield* single(
    sql`select count(*) as count, sum(${bytes}) as bytes from jobs j left join resourced_work w on w.job = j.id where j.kind = 'export' and (j.status in ('pending', 'running') or ${isKept}) ${which}`,
  )
  return { count: Number(row?.['count']), bytes: Number(row?.['bytes'] ?? 0) }
}
