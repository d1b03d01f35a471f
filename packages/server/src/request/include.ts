/**
 * The related records that a request includes (REL-1, REL-3): `include=author,chapters.translator`, and by path
 * `include[chapters][limit]`, `include[chapters][sort]`, `include[chapters][where]` and `fields[chapters]`.
 */
import type { SortTerm } from 'resourced-contract/model/predicate'
import { mostSteps } from 'resourced-contract/model/related-conditions'
import { type Relation, relationsOf } from 'resourced-contract/model/relations'
import { type Catalog, type Resource, systemFields } from 'resourced-contract/model/resource'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import { headLimits } from 'resourced-contract/spec/limits'
import type { AskedCondition, Source } from './condition.ts'
import { readFilters } from './filters.ts'
import { isShortList, listed, type Parameter, readFields, readSort } from './parameters.ts'

/** The part of a catalog that paths are read by: of the client's version. */
export type IncludeCatalog = Pick<Catalog, 'resources' | 'limits'>

/** A path, in the names of the client's version. */
export interface IncludedPath {
  /** `chapters`, `chapters.translator`. */
  readonly path: string
  /** The path of the first step, of a path that has two. */
  readonly above: string | undefined
  readonly relation: Relation
  /** The collection that the path comes from, and the one that it leads to. */
  readonly source: Resource
  readonly resource: Resource
  /** The requested fields; `undefined`: all. */
  readonly fields: readonly string[] | undefined
  /** Of a relation to many: how many ids each record has, their order, and the condition that they match. */
  readonly limit: number
  readonly sort: readonly SortTerm[]
  readonly where: AskedCondition | undefined
  /** The parameters of the list that goes on with these records: `sort`, `where` and `fields`. */
  readonly query: readonly string[]
}

/** The relation of a path, before its options are read. */
type Step = Pick<IncludedPath, 'path' | 'above' | 'relation' | 'source' | 'resource'>

/** How many ids a record has of a relation to many (REL-3). */
const usualLimit = 20

/** The most characters of the parameters of a path, encoded: the address of the list that goes on has them (LIM-3). */
const longestQuery = headLimits.target / 2

const anyId = '00000000-0000-7000-8000-000000000000'

const options = ['limit', 'sort', 'where']

/** Whether a parameter says what is included. */
export function isOfInclude(name: string): boolean {
  return name === 'include' || /^(?:include|fields)\[/.test(name)
}

/** Whether a parameter holds the condition of a path. */
export function isIncludedCondition(name: string): boolean {
  return /^include\[.*\]\[where\]$/s.test(name)
}

/** Whether the value of a parameter is a list of names. */
export function isListOfNames(name: string): boolean {
  return /^(?:sort|include|fields(?:\[.*\])?|include\[.*\]\[sort\])$/s.test(name)
}

/**
 * Reads the parameters of related records.
 *
 * @param parameters those for which `isOfInclude` holds
 * @returns the paths, each after the path that it goes on from
 */
export function readInclude(
  catalog: IncludeCatalog,
  resource: Resource,
  parameters: readonly Parameter[],
  issues: Issue[],
): readonly IncludedPath[] {
  const given = new Map<string, Parameter>()
  for (const parameter of parameters) {
    const { name } = parameter
    if (given.has(name)) issues.push(issue('repeatedParameter', { parameter: name }))
    given.set(name, parameter)
  }
  const text = given.get('include')?.value
  given.delete('include')
  const steps = text === undefined ? new Map<string, Step>() : readPaths(catalog, resource, text, issues)
  const read = [...steps.values()].map((step) => readOptions(catalog, step, given, issues))
  for (const name of given.keys()) issues.push(unreadOption(name, steps))
  return read
}

function readPaths(catalog: IncludeCatalog, resource: Resource, text: string, issues: Issue[]): Map<string, Step> {
  const steps = new Map<string, Step>()
  const parameter = 'include'
  const { paths: most } = catalog.limits.include
  const paths = text.split(',')
  if (paths.length > most) {
    issues.push(issue('pathCount', { parameter, most, given: paths.length }))
    return steps
  }
  for (const [index, path] of paths.entries()) {
    const names = path.split('.')
    if (names.includes('')) issues.push(issue('emptyPath', { parameter }))
    else if (paths.indexOf(path) < index) issues.push(issue('pathTwice', { parameter, name: path }))
    else if (names.length > mostSteps) issues.push(issue('deepPath', { parameter, name: path, most: mostSteps }))
    else addSteps(catalog, resource, names, steps, issues)
  }
  return steps
}

function addSteps(
  catalog: IncludeCatalog,
  resource: Resource,
  names: readonly string[],
  steps: Map<string, Step>,
  issues: Issue[],
): void {
  let source = resource
  let above: string | undefined
  for (const name of names) {
    const relations = relationsOf(catalog, source)
    const relation = relations.get(name)
    const target = relation && catalog.resources.get(relation.collection)
    if (relation === undefined || target === undefined) {
      const known = [...relations.keys()]
      issues.push(issue('unknownRelation', { parameter: 'include', name, resource: source.name, known }))
      return
    }
    const path = above === undefined ? name : `${above}.${name}`
    if (!steps.has(path)) steps.set(path, { path, above, relation, source, resource: target })
    source = target
    above = path
  }
}

/** Reads what the parameters say about a path, and removes them. */
function readOptions(
  catalog: IncludeCatalog,
  step: Step,
  given: Map<string, Parameter>,
  issues: Issue[],
): IncludedPath {
  const { limits } = catalog
  const { path, relation, resource } = step
  const take = (name: string, isFitting = true) => {
    const parameter = given.get(name)
    given.delete(name)
    if (parameter !== undefined && !isFitting) issues.push(issue('onlyToMany', { parameter: name, name: path }))
    return isFitting ? parameter : undefined
  }
  const isToMany = relation.to === 'many'
  const named = (option: string) => `include[${path}][${option}]`
  const limit = readLimit(named('limit'), take(named('limit'), isToMany)?.value, limits.pageSize.max, issues)
  const order = take(named('sort'), isToMany)?.value
  const hasOrder = order !== undefined && isShortList('sort', order, issues, named('sort'))
  const sort = hasOrder ? readSort({ resource, catalog }, listed(order, { parameter: named('sort') }), issues) : []
  const parameter = `fields[${path}]`
  const names = take(parameter)?.value
  const hasFields = names !== undefined && isShortList('fields', names, issues, parameter)
  const fields = hasFields ? readFields(resource, listed(names, { parameter }), systemFields, issues) : undefined
  const condition = take(named('where'), isToMany)
  const where = condition === undefined ? undefined : readCondition({ resource, catalog }, relation, condition, issues)
  const query = [
    ...(hasOrder ? [`sort=${order}`] : []),
    ...(condition === undefined ? [] : [`where=${encodeURIComponent(condition.value)}`]),
    ...(fields === undefined ? [] : [`fields=${fields.join()}`]),
  ]
  if (query.join('&').length > longestQuery)
    issues.push(issue('maxLength', { parameter: condition?.name ?? parameter, limit: longestQuery }))
  return { ...step, limit, sort, where, fields, query }
}

/** Reads the condition of a path. Its days are those of UTC. The address of the other records has one filter more. */
function readCondition(
  from: Source,
  { field }: Relation,
  { name, value, pointer: start = '' }: Parameter,
  issues: Issue[],
): AskedCondition | undefined {
  const found: Issue[] = []
  const { where } = readFilters(from, [{ name: field, value: anyId }], { condition: { text: value } }, found)
  const placed = found.map(({ pointer, ...each }) => ({
    ...each,
    parameter: name,
    pointer: pointer && start + pointer,
  }))
  issues.push(...placed)
  return where
}

function readLimit(parameter: string, text: string | undefined, most: number, issues: Issue[]): number {
  if (text === undefined) return Math.min(usualLimit, most)
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value <= most) return value
  issues.push(issue('pageNumber', { parameter, least: 0, most }))
  return 0
}

/** The mistake of a parameter that no path has read. */
function unreadOption(parameter: string, steps: ReadonlyMap<string, Step>): Issue {
  const [, path = parameter] = /^(?:include|fields)\[([^[\]]*)\]/.exec(parameter) ?? []
  if (!steps.has(path)) return issue('notIncluded', { parameter, name: path })
  return issue('includeOption', { parameter, name: path, known: options })
}
