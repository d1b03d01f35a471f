/**
 * Exports (JOB-6): the job of an export, which server writes its file, how many exports a caller may have (LIM-8), and
 * the chunks of the file if the database stores it.
 */

import { accessDigest } from 'resourced-contract/model/access-digest'
import type { FieldGrants } from 'resourced-contract/model/field-grants'
import { allOf, collectionsOf, type Predicate, type SortTerm } from 'resourced-contract/model/predicate'
import { hasConversions, type Resource, resourceInVersion } from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import sql, { type Sql } from 'sql-template-tag'
import { exportsKept, joinTexts } from '../../plan/export-document.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { Export } from '../../plan/plan.ts'
import { subjectSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { liveSql } from '../sql/predicate.ts'
import type { ClaimedExport, ExportPiece, ExportProgress, ExportRoom, OpenExport } from '../storage.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import { exportRows } from './export-rows.ts'
import { addJob, advanceJob, finishJob, stateOf } from './rows/job-rows.ts'

/** The state that the job of an export keeps between its batches. */
interface ExportState extends OpenExport {
  readonly filter: Predicate
  readonly permitted: Predicate
  /** Left out: the caller may read all fields. */
  readonly readableFields?: FieldGrants
  readonly sort: readonly SortTerm[]
  readonly total: number | null
}

/** The most records that one batch reads. */
const batch = 1_000

/** How long the claim of a server lasts, in milliseconds; each batch renews it. */
const lease = 3_000

/** Runs an Export: begins its job. */
export function* beginExport(context: SqlContext, plan: Export): Transaction<Outcome> {
  if (plan.issues.length > 0) return { kind: 'invalid', issues: plan.issues }
  const { id, resource, versionResource, statusUrl, contentUrl, caller, now } = plan
  const { filter, permitted, readableFields, sort, fields, format } = plan
  const exceeded = yield* exceededQuota(context, caller.id, now)
  if (exceeded !== undefined) return { kind: 'conflict', issues: [exceeded] }
  const related = [...collectionsOf(filter)]
  const state: ExportState = {
    ...{
      collection: resource.name,
      version: versionResource?.mapping.version ?? context.catalog.version,
      contentUrl,
      filter,
      permitted,
      ...(readableFields && { readableFields }),
      ...(related.length > 0 && { related }),
      access: accessDigest(context.catalog, resource, 'read', related),
      sort,
      fields: fields ?? null,
      format,
    },
    ...{ count: 0, bytes: 0, after: null, total: null },
  }
  const progress = { done: 0, total: null }
  yield* addJob(context, { id, kind: 'export', task: 'export', statusUrl, startedBy: caller.id, progress, state, now })
  return { kind: 'accepted', job: id, statusUrl }
}

/** How many records an export will have; `undefined`: that is known. */
export function* countExport(context: SqlContext, job: string): Transaction<number | undefined> {
  const state = yield* stateOf<ExportState>(job)
  const resource = context.catalog.resources.get(state?.collection ?? '')
  if (state === undefined || resource === undefined || state.total !== null) return undefined
  const wanted = allOf([state.filter, state.permitted])
  const row = yield* firstRow(
    sql`select count(*) as count from ${subjectSql(resource.name)} where ${liveSql(context, resource, wanted)}`,
  )
  return Number(row?.['count'])
}

/** Claims an export for a server (see `JobStore.claimExport`). */
export function* claimExport(
  context: SqlContext,
  { job, server, now }: Pick<Kept, 'job' | 'server' | 'now'>,
): Transaction<ClaimedExport | undefined> {
  if (!(yield* claim(job, server, now))) return undefined
  const state = (yield* stateOf<ExportState>(job)) as ExportState
  return { ...state, room: yield* roomFor(context, job, now) }
}

function* claim(job: string, server: string, now: number): Transaction<boolean> {
  const isFree = sql`(server is null or server = ${server} or until <= ${now})`
  const claimed = sql`server = ${server}, until = ${now + lease}`
  const rows = yield sql`update resourced_work set ${claimed} where job = ${job} and ${isFree} returning job`
  return rows.length > 0
}

/** Reads the next records of an export. */
export function* readExport(context: SqlContext, job: string): Transaction<ExportPiece> {
  const state = (yield* stateOf<ExportState>(job)) as ExportState
  const resource = context.catalog.resources.get(state.collection) as Resource
  const { filter, permitted, readableFields, sort } = state
  const represented = resourceInVersion(context.catalog, state.version, state.collection) ?? resource
  // Conversions run where the functions of the declaration are.
  const format = hasConversions(represented) ? 'ndjson' : state.format
  const [fields, after] = [state.fields ?? undefined, state.after ?? undefined]
  const { texts, last } = yield* exportRows(context, {
    ...{ resource, represented, filter, permitted, readableFields, sort, fields, format, after },
    limit: batch,
  })
  const text = joinTexts(texts, format, state.count === 0)
  return { text: new TextEncoder().encode(text), count: texts.length, after: last }
}

/** The progress that a server has made with an export. */
interface Kept {
  readonly job: string
  readonly server: string
  readonly now: number
  /** The next part of the file, if the database stores it. */
  readonly content?: Uint8Array
}

/** Keeps the progress of an export (see `JobStore.keepExport`). */
export function* keepExport(
  context: SqlContext,
  { progress, ...kept }: Kept & { readonly progress: ExportProgress },
): Transaction<boolean> {
  const { job, now } = kept
  const state = yield* renewClaim(context, kept, progress.bytes)
  if (state === undefined) return false
  const { count: done } = progress
  yield* advanceJob(context, job, {
    state: { ...state, ...progress },
    progress: { done, total: state.total },
    now,
  })
  return true
}

/** Ends an export whose file is complete (see `JobStore.finishExport`). */
export function* finishExport(
  context: SqlContext,
  { result, ...kept }: Kept & { readonly result: Readonly<Record<string, unknown>> },
): Transaction<boolean> {
  if ((yield* renewClaim(context, kept, Number(result['bytes']))) === undefined) return false
  const total = Number(result['record_count'])
  const changes = { status: 'succeeded', progress: { done: total, total }, result } as const
  yield* finishJob(context, kept.job, changes, kept.now)
  return true
}

/**
 * Renews the claim of a server that has made progress, and stores the next part of the file.
 *
 * @param bytes the length of the file with that part
 * @returns the former state; `undefined`: another server has claimed the export or stored this part, or the caller's
 *   other exports have used up the quota, which the next claim will find
 */
function* renewClaim(
  context: SqlContext,
  { job, server, now, content }: Kept,
  bytes: number,
): Transaction<ExportState | undefined> {
  // The claim locks the row that is read next.
  if (!(yield* claim(job, server, now))) return undefined
  if (!(yield* fitsQuota(context, job, bytes, now))) return undefined
  const state = (yield* stateOf<ExportState>(job)) as ExportState
  if (content === undefined) return state
  if (state.bytes !== bytes - content.length) return undefined
  yield* storeChunks(job, state.bytes, content)
  return state
}

/**
 * Why a caller may not have one more export; `undefined`: they may. An export counts from its request until its file
 * expires or is deleted. A failed export has no file and does not count. Of two requests at once the second waits and
 * counts the export of the first.
 */
function* exceededQuota(context: SqlContext, caller: string, now: number): Transaction<Issue | undefined> {
  const { count: mostCount, bytes: mostBytes } = context.catalog.limits.exports
  yield* lockQuota(context, caller)
  const { count, bytes } = yield* usage(context, sql`and j.started_by = ${caller}`, now)
  if (count < mostCount && bytes < mostBytes) return undefined
  return count < mostCount
    ? issue('exportBytes', { given: bytes, most: mostBytes })
    : issue('exportCount', { given: count, most: mostCount })
}

/** How long the file of an export may become beside the files of all other exports. */
function* roomFor(context: SqlContext, job: string, now: number): Transaction<ExportRoom> {
  const { bytes, total } = context.catalog.limits.exports
  const caller = sql`and j.started_by = (select started_by from jobs where id = ${job})`
  const own = yield* usage(context, sql`${caller} and j.id <> ${job}`, now)
  const all = yield* usage(context, sql`and j.id <> ${job}`, now)
  return { own: bytes - own.bytes, all: total - all.bytes }
}

/** Whether the file of an export may have so many bytes, decided while no other export of its caller grows. */
function* fitsQuota(context: SqlContext, job: string, bytes: number, now: number): Transaction<boolean> {
  const row = yield* firstRow(sql`select started_by from jobs where id = ${job}`)
  yield* lockQuota(context, String(row?.['started_by']))
  // A file that begins anew may always have no bytes, even if other files exceed the quota.
  return bytes === 0 || bytes <= (yield* roomFor(context, job, now)).own
}

/** Lets one transaction at a time decide about the exports of a caller. */
function* lockQuota({ dialect }: SqlContext, caller: string): Transaction<void> {
  const { advisoryLock } = dialect
  if (advisoryLock !== undefined) yield sql`select ${advisoryLock(`exports of ${caller}`)}`
}

/** How many exports there are, and the bytes of their files so far. */
function* usage({ dialect: { jsonInteger } }: SqlContext, which: Sql, now: number) {
  const bytes = sql`coalesce(${jsonInteger(sql`w.state`, 'bytes')}, ${jsonInteger(sql`j.result`, 'bytes')}, 0)`
  const isKept = sql`j.status = 'succeeded' and j.finished_at > ${timestamp(now - exportsKept)}`
  const exports = sql`jobs j left join resourced_work w on w.job = j.id where j.kind = 'export'`
  const counts = sql`${exports} and (j.status in ('pending', 'running') or ${isKept}) ${which}`
  const row = yield* firstRow(sql`select count(*) as count, sum(${bytes}) as bytes from ${counts}`)
  return { count: Number(row?.['count']), bytes: Number(row?.['bytes'] ?? 0) }
}

/** The most bytes of a chunk: the reader of a file has one in memory. */
const chunkSize = 512 * 1_024

/** The most chunks that one transaction deletes. */
const mostExpiredChunks = 64

/** Stores the next part of a file. A chunk is found by the byte of the file at which it begins. */
function* storeChunks(job: string, start: number, content: Uint8Array): Transaction<void> {
  for (let from = 0; from < content.length; from += chunkSize) {
    const chunk = content.subarray(from, from + chunkSize)
    yield sql`insert into resourced_pieces (job, start, content) values (${job}, ${start + from}, ${chunk})`
  }
}

/** The bytes of a file from one on, to the end of their chunk; never none, after which a reader would ask again. */
export function* readChunk(job: string, start: number): Transaction<Uint8Array | undefined> {
  const chunk = sql`job = ${job} and start <= ${start} order by start desc limit 1`
  const row = yield* firstRow(sql`select start, content from resourced_pieces where ${chunk}`)
  const content: unknown = row?.['content']
  const rest = content instanceof Uint8Array ? content.subarray(start - Number(row?.['start'])) : undefined
  return rest?.length === 0 ? undefined : rest
}

/**
 * Stores a whole file.
 *
 * @param run runs a transaction
 */
export async function storeFile(
  run: (piece: Transaction<void>) => Promise<void>,
  job: string,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  let start = 0
  for await (const piece of content) {
    await run(storeChunks(job, start, piece))
    start += piece.length
  }
}

/** Reads a whole file, chunk by chunk. */
export async function* readFile(
  run: (piece: Transaction<Uint8Array | undefined>) => Promise<Uint8Array | undefined>,
  job: string,
): AsyncGenerator<Uint8Array> {
  for (let start = 0; ; ) {
    const piece = await run(readChunk(job, start))
    if (piece === undefined) return
    yield piece
    start += piece.length
  }
}

/** Deletes the file of an export. */
export function* deleteChunks(job: string): Transaction<void> {
  yield sql`delete from resourced_pieces where job = ${job}`
}

/** Deletes chunks of files that have expired, or whose job failed or was deleted, and returns their number. */
export function* deleteExpiredChunks(now: number): Transaction<number> {
  const begun = sql`select 1 from resourced_work w where w.job = p.job`
  const isKept = sql`j.status = 'succeeded' and j.finished_at > ${timestamp(now - exportsKept)}`
  const finished = sql`select 1 from jobs j where j.id = p.job and ${isKept}`
  const isOld = sql`not exists (${begun}) and not exists (${finished})`
  const old = sql`select p.job, p.start from resourced_pieces p where ${isOld} limit ${mostExpiredChunks}`
  return (yield sql`delete from resourced_pieces where (job, start) in (${old}) returning job`).length
}
