/** Exports in the database: what they are to hold, how far they are, and which server writes the file (JOB-6). */
import sql, { raw } from 'sql-template-tag'
import { accessDigest } from '../../../model/access-digest.ts'
import type { SortTerm } from '../../../model/order.ts'
import { allOf, type Predicate } from '../../../model/predicate.ts'
import type { Resource } from '../../../model/resource.ts'
import { joinTexts } from '../../../plan/export-document.ts'
import { isConverted } from '../../../plan/older-export.ts'
import type { Export, Outcome } from '../../../plan/plan.ts'
import { shownBy } from '../../../plan/stored.ts'
import { liveSql, type SqlContext, tableSql } from '../../sql/predicate.ts'
import { subject } from '../../sql/represent.ts'
import type { ClaimedExport, ExportPiece, ExportProgress, OpenExport } from '../../storage.ts'
import { single, type Transaction } from '../../transaction.ts'
import { exportRows } from '../export-rows.ts'
import { exceededQuota, fitsQuota, roomFor } from './export-quota.ts'
import { addJob, advanceJob, finishJob, stateOf } from './job-rows.ts'
import { keepPieces } from './pieces.ts'

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
  const { id, resource, shown, statusUrl, contentUrl, filter, permitted, sort, fields, format, caller, now } = plan
  const exceeded = yield* exceededQuota(context, caller.id, now)
  if (exceeded !== undefined) return { kind: 'conflict', issues: [exceeded] }
  const state: ExportState = {
    ...{
      collection: resource.name,
      version: shown?.lens?.version ?? context.catalog.version,
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
  const row = yield* single(
    sql`select count(*) as count from ${tableSql(resource.name)} ${raw(subject)} where ${liveSql(context, resource, subject, wanted)}`,
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
  const shown = shownBy(context.catalog, state.version, state.collection) ?? resource
  // What is converted is made into its texts where the functions are.
  const format = isConverted(shown) ? 'ndjson' : state.format
  const [fields, after] = [state.fields ?? undefined, state.after ?? undefined]
  const { texts, last } = yield* exportRows(context, {
    ...{ resource, shown, filter, permitted, sort, fields, format, after },
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
  yield* advanceJob(context, job, { ...state, ...progress }, { done, total: state.total }, now)
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
