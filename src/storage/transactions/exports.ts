/** Exports in the database: what they are to hold, how far they are, and which server writes the file (JOB-6). */
import sql, { empty, raw, type Sql } from 'sql-template-tag'
import { accessDigest } from '../../model/digest.ts'
import type { SortTerm } from '../../model/predicate.ts'
import { allOf, type Predicate } from '../../model/predicate.ts'
import { hasConversions, type Resource, resourceInVersion } from '../../model/resource.ts'
import { timestamp } from '../../model/time.ts'
import { exportsKept, joinTexts } from '../../plan/export-document.ts'
import type { Export, Outcome } from '../../plan/plan.ts'
import type { Issue } from '../../spec/faults.ts'
import { subject, tableSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { liveSql } from '../sql/predicate.ts'
import type { ClaimedExport, ExportPiece, ExportProgress, ExportRoom, OpenExport } from '../storage.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import { exportRows } from './export-rows.ts'
import { addJob, advanceJob, finishJob, stateOf } from './rows/job-rows.ts'

/** What the job of an export knows. */
interface ExportState extends OpenExport {
  readonly filter: Predicate
  readonly permitted: Predicate
  readonly sort: readonly SortTerm[]
  readonly total: number | null
}

/** The records that one piece looks at. */
const pieceSize = 1_000

/** For how long a server that has claimed an export is left alone, in milliseconds; each piece claims it anew. */
const lease = 3_000

/** Runs an Export: begins its job. */
export function* beginExport(context: SqlContext, plan: Export): Transaction<Outcome> {
  if (plan.issues.length > 0) return { kind: 'invalid', issues: plan.issues }
  const { id, resource, versionResource, statusUrl, contentUrl, filter, permitted, sort, fields, format, caller, now } =
    plan
  const exceeded = yield* exceededQuota(context, caller.id, now)
  if (exceeded !== undefined) return { kind: 'conflict', issues: [exceeded] }
  const state: ExportState = {
    ...{
      collection: resource.name,
      version: versionResource?.mapping.version ?? context.catalog.version,
      contentUrl,
      filter,
      permitted,
      access: accessDigest(context.catalog, resource, 'read'),
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

/** How many records an export will have; `undefined` where that is known. */
export function* countExport(context: SqlContext, job: string): Transaction<number | undefined> {
  const state = (yield* stateOf(job)) as ExportState | undefined
  const resource = context.catalog.resources.get(state?.collection ?? '')
  if (state === undefined || resource === undefined || state.total !== null) return undefined
  const wanted = allOf([state.filter, state.permitted])
  const row = yield* firstRow(
    sql`select count(*) as count from ${tableSql(resource.name)} ${raw(subject)} where ${liveSql(context, resource, wanted)}`,
  )
  return Number(row?.['count'])
}

/** Claims an export for a server (see `JobStore.claimExport`). */
export function* claimExport(
  context: SqlContext,
  { job, server, now }: Pick<Kept, 'job' | 'server' | 'now'>,
): Transaction<ClaimedExport | undefined> {
  if (!(yield* claim(job, server, now))) return undefined
  const state = (yield* stateOf(job)) as ExportState
  return { ...state, room: yield* roomFor(context, job, now) }
}

function* claim(job: string, server: string, now: number): Transaction<boolean> {
  const rows =
    yield sql`update resourced_work set server = ${server}, until = ${now + lease} where job = ${job} and (server is null or server = ${server} or until <= ${now}) returning job`
  return rows.length > 0
}

/** Reads the next piece of an export. */
export function* readExport(context: SqlContext, job: string): Transaction<ExportPiece> {
  const state = (yield* stateOf(job)) as ExportState
  const resource = context.catalog.resources.get(state.collection) as Resource
  const { filter, permitted, sort } = state
  const represented = resourceInVersion(context.catalog, state.version, state.collection) ?? resource
  // Conversions run where the functions of the declaration are.
  const format = hasConversions(represented) ? 'ndjson' : state.format
  const [fields, after] = [state.fields ?? undefined, state.after ?? undefined]
  const { texts, last } = yield* exportRows(context, {
    ...{ resource, represented, filter, permitted, sort, fields, format, after },
    limit: pieceSize,
  })
  const text = joinTexts(texts, format, state.count === 0)
  return { text: new TextEncoder().encode(text), count: texts.length, after: last }
}

/** What a server that is at an export has come to. */
interface Kept {
  readonly job: string
  readonly server: string
  readonly now: number
  /** What comes next of the file, where the database keeps it. */
  readonly content?: Uint8Array
}

/** Keeps how far an export is (see `JobStore.keepExport`). */
export function* keepExport(
  context: SqlContext,
  { progress, ...kept }: Kept & { readonly progress: ExportProgress },
): Transaction<boolean> {
  const { job, now } = kept
  const state = yield* goingOn(context, kept, progress.bytes)
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
  if ((yield* goingOn(context, kept, Number(result['bytes']))) === undefined) return false
  const total = Number(result['record_count'])
  const changes = { status: 'succeeded', progress: { done: total, total }, result } as const
  yield* finishJob(context, kept.job, changes, kept.now)
  return true
}

/**
 * Claims an export again for a server that has come further, and keeps what it brings of the file.
 *
 * @param bytes how long the file is with it
 * @returns what was known of the export; `undefined` where another server has taken it over, or even come as far, or where the
 * caller's other exports have taken the room for it meanwhile: who claims it next finds that out
 */
function* goingOn(
  context: SqlContext,
  { job, server, now, content }: Kept,
  bytes: number,
): Transaction<ExportState | undefined> {
  // First, so that nobody changes what is read now.
  if (!(yield* claim(job, server, now))) return undefined
  if (!(yield* fitsQuota(context, job, bytes, now))) return undefined
  const state = (yield* stateOf(job)) as ExportState
  if (content === undefined) return state
  if (state.bytes !== bytes - content.length) return undefined
  yield* keepPieces(job, state.bytes, content)
  return state
}

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
  const row = yield* firstRow(sql`select started_by from jobs where id = ${job}`)
  yield* lockQuota(context, String(row?.['started_by']))
  // One that begins again takes nothing, whatever the others have.
  return bytes === 0 || bytes <= (yield* roomFor(context, job, now)).own
}

/** Waits until nobody else decides about the exports of a caller, and keeps others waiting until the transaction ends. */
function* lockQuota({ engine }: SqlContext, caller: string): Transaction<void> {
  const { advisoryLock } = engine
  if (advisoryLock !== undefined) yield sql`select ${advisoryLock(`exports of ${caller}`)}`
}

function* usage({ engine }: SqlContext, which: Sql = empty, now: number): Transaction<Usage> {
  const { jsonInteger } = engine
  const bytes = sql`coalesce(${jsonInteger(sql`w.state`, 'bytes')}, ${jsonInteger(sql`j.result`, 'bytes')}, 0)`
  const isKept = sql`j.status = 'succeeded' and j.finished_at > ${timestamp(now - exportsKept)}`
  const row = yield* firstRow(
    sql`select count(*) as count, sum(${bytes}) as bytes from jobs j left join resourced_work w on w.job = j.id where j.kind = 'export' and (j.status in ('pending', 'running') or ${isKept}) ${which}`,
  )
  return { count: Number(row?.['count']), bytes: Number(row?.['bytes'] ?? 0) }
}

/** The most bytes of a piece: who reads a file has one of them in memory. */
const largest = 512 * 1_024

/** The most pieces that one transaction forgets. */
export const mostForgotten = 64

/** Keeps what comes next of a file, in as many pieces as it takes. */
export function* keepPieces(job: string, start: number, content: Uint8Array): Transaction<void> {
  for (let from = 0; from < content.length; from += largest) {
    const piece = content.subarray(from, from + largest)
    yield sql`insert into resourced_pieces (job, start, content) values (${job}, ${start + from}, ${piece})`
  }
}

/** The piece of a file that begins at a byte. */
export function* readPiece(job: string, start: number): Transaction<Uint8Array | undefined> {
  const row = yield* firstRow(sql`select content from resourced_pieces where job = ${job} and start = ${start}`)
  return row?.['content'] as Uint8Array | undefined
}

/** Removes what there is of a file. */
export function* dropPieces(job: string): Transaction<void> {
  yield sql`delete from resourced_pieces where job = ${job}`
}

/** Removes pieces of files whose time is over, or whose job failed or is forgotten. Gives their number. */
export function* forgetPieces(now: number): Transaction<number> {
  const begun = sql`select 1 from resourced_work w where w.job = p.job`
  const finished = sql`select 1 from jobs j where j.id = p.job and j.status = 'succeeded' and j.finished_at > ${timestamp(now - exportsKept)}`
  const old = sql`select p.job, p.start from resourced_pieces p where not exists (${begun}) and not exists (${finished}) limit ${mostForgotten}`
  return (yield sql`delete from resourced_pieces where (job, start) in (${old}) returning job`).length
}
