import type { Position } from 'resourced-contract/model/predicate'
import sql from 'sql-template-tag'
import {
  type AskedRecord,
  countAnywhere,
  countFitting,
  type FoundPath,
  fitsWhole,
  type Load,
  lowerLimits,
  type RelatedIds,
} from '../../plan/include-load.ts'
import type { Outcome, PageOutcome, WithRelated } from '../../plan/outcome.ts'
import type { ReadPage, RelatedPath } from '../../plan/plan.ts'
import { subject, subjectSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { orderTerms } from '../sql/keyset.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import { findRelated } from './find-related.ts'
import { IncludedRecords } from './included-records.ts'
import type { IncludingRead } from './memory.ts'
import { between, keysSql } from './page-rows.ts'

type Answer = WithRelated['answer']

/** Adds the related records to a record or a page, on the snapshot that it was read on. */
export function* addRelated(context: SqlContext, plan: IncludingRead, answer: Answer): Transaction<Outcome> {
  const { limits } = context.catalog
  const most: Load = { records: limits.include.records, bytes: limits.pageBytes }
  const all = recordsOf(plan, answer)
  let kept = all
  const paths: FoundPath[] = []
  const keep = (included?: IncludedRecords) => {
    if (fitsWhole(kept, paths, most, included?.bytes ?? 0)) return []
    const sizes = included?.sizes(kept)
    kept = kept.slice(0, countFitting(kept, paths, most, sizes))
    const [first] = kept
    return first === undefined ? [] : lowerLimits(first, paths, most, sizes)
  }
  for (const path of plan.include.paths) {
    paths.push({ path, found: yield* findRelated(context, path, sourcesOf(path, paths, kept)) })
    keep()
  }
  const included = new IncludedRecords(context, paths)
  let refused = keep()
  // Large records are read once it is known that they fit. Then records that fewer paths lead to have fewer fields.
  for (const which of ['small', 'all', 'all'] as const) {
    if (refused.length > 0) return { kind: 'include-too-large', limits: refused }
    yield* included.read(kept, which)
    refused = keep(included)
  }
  if (kept.length === all.length) return withRelated(answer, paths, included, kept)
  if (plan.kind !== 'read-page' || answer.kind !== 'page') throw new Error('One record is always kept.')
  const { page } = plan
  if (page.style === 'cursor')
    return withRelated(yield* cutPage(context, plan, answer, kept.length), paths, included, kept)
  const count = page.style === 'offset' ? kept.length : countAnywhere(all, paths, most, included.sizes(all))
  const parameter = page.style === 'offset' ? 'limit' : 'per_page'
  return { kind: 'include-too-large', limits: [{ parameter, fits: Math.min(count, kept.length) }] }
}

/** The records of an answer, those nearest to the cursor first. */
function recordsOf(plan: IncludingRead, answer: Answer): AskedRecord[] {
  if (answer.kind === 'page' && answer.count === 0) return []
  const records = answer.json.split(between).map((json) => ({ id: idOf(json), bytes: Buffer.byteLength(json) }))
  return plan.kind === 'read-page' && isBackward(plan) ? records.reverse() : records
}

function isBackward({ page }: ReadPage): boolean {
  return page.style === 'cursor' && page.position?.direction === 'backward'
}

/** The id of a record, with which its JSON begins. */
export function idOf(json: string): string {
  const start = '{"id":"'.length
  return json.slice(start, json.indexOf('"', start))
}

/** The ids of the records that a path begins at, each once. */
function sourcesOf(
  { above }: RelatedPath,
  paths: readonly FoundPath[],
  records: readonly AskedRecord[],
): readonly string[] {
  const ids = records.map(({ id }) => id)
  if (above === undefined) return ids
  const found = paths.find(({ path }) => path.path === above)?.found
  return [...new Set(ids.flatMap((id) => found?.get(id)?.ids ?? []))]
}

/** A page by cursor that ends earlier, with the place where the next one begins. */
function* cutPage(context: SqlContext, plan: ReadPage, page: PageOutcome, count: number): Transaction<PageOutcome> {
  const texts = page.json.split(between)
  const kept = isBackward(plan) ? texts.slice(-count) : texts.slice(0, count)
  const last = idOf((isBackward(plan) ? kept[0] : kept.at(-1)) as string)
  const { resource, sort } = plan
  const keys = keysSql(context, orderTerms(context, resource, sort, subject))
  const row = yield* firstRow(sql`select ${keys} as place from ${subjectSql(resource.name)} where id = ${last}`)
  const place = JSON.parse(String(row?.['place'])) as Position['keys']
  return { ...page, json: kept.join(between), count, [isBackward(plan) ? 'previous' : 'next']: place }
}

function withRelated(
  answer: Answer,
  paths: readonly FoundPath[],
  records: IncludedRecords,
  asked: readonly AskedRecord[],
): WithRelated {
  const related = paths.flatMap(({ path, found }) => {
    if (path.to === 'one') return []
    const ids = sourcesOf(path, paths, asked).toSorted()
    const records = ids.map((id) => {
      const { ids: listed, total, last } = found.get(id) as RelatedIds
      return { id, ids: listed, total, last }
    })
    return [{ path: path.path, records }]
  })
  return { kind: 'with-related', answer, related, included: records.included(asked) }
}
