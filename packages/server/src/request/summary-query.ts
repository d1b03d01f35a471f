/**
 * The query of a summary (SUM-1): the filters, the search and the page of a list, and beside them the groups, the
 * figures of each group and the order of the groups. Mistakes of both are named by one response (QRY-8).
 */
import { exactText } from 'resourced-contract/model/plain-copy'
import type { Resource } from 'resourced-contract/model/resource'
import {
  type Figure,
  type FigureKind,
  figureKinds,
  figuresOf,
  type Group,
  groupsOf,
  type SummaryOrder,
  summaryParameters,
} from 'resourced-contract/model/summary'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import { summaryLimits } from 'resourced-contract/spec/limits'
import type { GivenCondition } from './condition.ts'
import { zoneParameter } from './filters.ts'
import { type IncludeCatalog, isOfInclude } from './include.ts'
import { type ListQuery, readListQuery } from './list-query.ts'
import { isShortList, type Parameter } from './parameters.ts'

export interface SummaryQuery {
  /** The records that are summarized. */
  readonly list: ListQuery
  readonly groups: readonly Group[]
  readonly figures: readonly Figure[]
  /** The terms of `sort`; the groups that it does not name follow them. */
  readonly order: readonly SummaryOrder[]
  /** The zone of the groups of date-times, by its name. */
  readonly zone: string
  readonly page: ListQuery['page']
  /** What a cursor is bound to. */
  readonly binding: string
}

/** The parameters that list names. */
export const summaryLists: readonly string[] = ['sort', ...summaryParameters]

/**
 * Reads the parameters of a summary.
 *
 * @param catalog of the client's version
 * @param issues the mistakes found before
 * @param member the condition in the body of a QUERY; `undefined`: none
 * @throws Fault INVALID_QUERY with one error for each mistake
 */
export function readSummaryQuery(
  resource: Resource,
  parameters: readonly Parameter[],
  catalog: IncludeCatalog,
  issues: Issue[] = [],
  member?: GivenCondition,
): SummaryQuery {
  const names = new Map<string, readonly string[]>()
  const rest: Parameter[] = []
  for (const parameter of parameters) {
    const { name, value } = parameter
    if (name === 'fields' || name === 'include_deleted' || isOfInclude(name))
      issues.push(issue('listOnly', { parameter: name }))
    else if (!summaryLists.includes(name)) rest.push(parameter)
    else if (names.has(name)) issues.push(issue('repeatedParameter', { parameter: name }))
    else if (name !== 'sort' || isShortList(name, value, issues)) names.set(name, value.split(','))
  }
  const groups = readGroups(resource, names.get('group') ?? [], issues)
  const figures = readFigures(resource, names, issues)
  const order = readOrder(names.get('sort') ?? [], groups, figures, issues)
  const isZoned = groups.some(({ part, isDate }) => part !== undefined && isDate !== true)
  const isByGroups = order.every(({ by }) => typeof by === 'object' && 'group' in by)
  if (!isByGroups && rest.some(({ name }) => name === 'cursor'))
    issues.push(issue('unorderedCursor', { parameter: 'cursor' }))
  const others = ['where', 'q', ...summaryLists, zoneParameter]
  const list = readListQuery(resource, rest, catalog, issues, { member, isZoned, others })
  const named = isZoned ? rest.find(({ name }) => name === zoneParameter) : undefined
  const zone = named?.value ?? 'UTC'
  const { page } = list
  return {
    ...{ list, groups, figures, order, zone },
    page: page.style === 'cursor' && !isByGroups ? { style: 'offset', offset: 0, limit: page.limit } : page,
    binding: exactText([list.binding, groups.map(({ name }) => name), order, zone]),
  }
}

function readGroups(resource: Resource, names: readonly string[], issues: Issue[]): Group[] {
  const known = groupsOf(resource)
  const most = summaryLimits.groups
  if (names.length > most) issues.push(issue('groups', { parameter: 'group', most, given: names.length }))
  return distinct('group', names.slice(0, most), issues).flatMap((name) => {
    const group = known.get(name)
    const place = { parameter: 'group', name, resource: resource.name, known: [...known.keys()] }
    if (group === undefined) issues.push(issue('ungroupable', place))
    return group ?? []
  })
}

function readFigures(
  resource: Resource,
  given: ReadonlyMap<string, readonly string[]>,
  issues: Issue[],
): readonly Figure[] {
  const asked = figureKinds.flatMap((kind) =>
    distinct(kind, given.get(kind) ?? [], issues).map((name) => ({ kind, name })),
  )
  const most = summaryLimits.figures
  const beyond = asked[most]
  if (beyond !== undefined) {
    issues.push(issue('figures', { parameter: beyond.kind, most, given: asked.length }))
    return []
  }
  const known = new Map<FigureKind, ReturnType<typeof figuresOf>>()
  return asked.flatMap(({ kind, name }) => {
    const possible = known.get(kind) ?? figuresOf(resource, kind)
    known.set(kind, possible)
    const place = { parameter: kind, kind, name, resource: resource.name, known: [...possible.keys()] }
    if (!possible.has(name)) issues.push(issue('noFigure', place))
    return possible.get(name) ?? []
  })
}

function readOrder(
  texts: readonly string[],
  groups: readonly Group[],
  figures: readonly Figure[],
  issues: Issue[],
): SummaryOrder[] {
  const possible = new Map<string, SummaryOrder['by']>([
    ...figures.map(({ kind, name }, figure) => [`${kind}.${name}`, { figure }] as const),
    ...groups.map(({ name }, group) => [name, { group }] as const),
    ['count', 'count'],
  ])
  const names = texts.map((text) => (text.startsWith('-') ? text.slice(1) : text))
  distinct('sort', names, issues)
  return texts.flatMap((text, index): SummaryOrder[] => {
    const name = names[index] as string
    const by = possible.get(name)
    if (by !== undefined) return [{ by, descending: text !== name }]
    issues.push(issue('summaryOrder', { parameter: 'sort', name, known: [...possible.keys()] }))
    return []
  })
}

/** Each name once. */
function distinct(parameter: string, names: readonly string[], issues: Issue[]): string[] {
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) issues.push(issue('namesTwice', { parameter, name: repeated }))
  return [...new Set(names)]
}
