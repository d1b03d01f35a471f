/** The plan of a summary (SUM-1), and the fields that it may use (SUM-2). */
import { grantOf } from 'resourced-contract/model/field-grants'
import { exactText } from 'resourced-contract/model/plain-copy'
import { fieldsOf } from 'resourced-contract/model/predicate'
import { fault, type Issue, issue } from 'resourced-contract/spec/faults'
import type { Input } from '../request/input.ts'
import { openPage } from './cursor.ts'
import type { ReadPage, ReadSummary } from './plan.ts'
import { selectionOf } from './plan-grants.ts'
import type { Planning } from './planning.ts'

type SummaryInput = Extract<Input, { readonly kind: 'read-summary' }>

/**
 * Plans a summary.
 *
 * @param list the records that the caller may read and asks for
 * @throws Fault FORBIDDEN, INVALID_CURSOR
 */
export function planSummary(planning: Planning, list: ReadPage, { query, conditions }: SummaryInput): ReadSummary {
  const { versionCatalog, cursorSecret } = planning
  requireReadable(planning, list, query)
  const { groups, figures, order, zone, page, binding } = query
  const { name } = list.versionResource ?? list.resource
  const cursorBinding = `${versionCatalog.version} ${name}/groups ${binding}`
  const shown = { groups, figures, order, zone }
  return {
    ...({ kind: 'read-summary', resource: list.resource, list, ...shown, conditions, cursorBinding } as const),
    key: exactText([versionCatalog.version, shown, page, list.search ?? null, list.versionFilter ?? null, list.filter]),
    page: openPage(cursorSecret, cursorBinding, page),
  }
}

/**
 * In a list, a field that the caller may not read in a record counts as `null` there. A figure of such values would
 * look like one of all records, so it is refused.
 */
function requireReadable(
  planning: Planning,
  { resource, readableFields, versionResource }: ReadPage,
  { list, groups, figures }: SummaryInput['query'],
): void {
  if (readableFields === undefined) return
  const nameOf = (field: string) => versionResource?.mapping.fromStored.get(field) ?? field
  const { parts } = selectionOf(planning, resource, list)
  const used = [
    ...parts.flatMap(({ filter, placeOf }) =>
      fieldsOf(filter).map((field) => ({ field, place: placeOf(nameOf(field)) })),
    ),
    ...groups.map(({ field }) => ({ field, place: { parameter: 'group' } })),
    ...figures.map(({ field, kind }) => ({ field, place: { parameter: kind } })),
  ]
  const issues = used.flatMap(({ field, place }): Issue[] =>
    grantOf(readableFields, field) === undefined ? [] : [issue('unsummarized', { ...place, name: nameOf(field) })],
  )
  if (issues.length > 0) throw fault('FORBIDDEN', { errors: issues })
}
