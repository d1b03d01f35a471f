/**
 * The related records that a request includes (REL-1, REL-3): `include=author,chapters.translator`, and by path
 * `include[chapters][limit]`, `include[chapters][sort]` and `fields[chapters]`.
 */
import type { SortTerm } from 'resourced-contract/model/predicate'
import { type Relation, relationsOf } from 'resourced-contract/model/relations'
import { type Catalog, type Resource, systemFields } from 'resourced-contract/model/resource'
import { type Issue, issue } from 'resourced-contract/spec/faults'
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
  /** Of a relation to many: how many ids each record has, and their order. */
  readonly limit: number
  readonly sort: readonly SortTerm[]
  /** The parameters of the list that goes on with these records: `sort` and `fields`. */
  readonly query: readonly string[]
}

/** The relation of a path, before its options are read. */
type Step = Pick<IncludedPath, 'path' | 'above' | 'relation' | 'source' | 'resource'>

const mostSteps = 2

/** How many ids a record has of a relation to many (REL-3). */
const usualLimit = 20

const options = ['limit', 'sort']

/** Whether a parameter says what is included. */
export function isOfInclude(name: string): boolean {
  return name === 'include' || /^(?:include|fields)\[/.test(name)
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
  const given = new Map<string, string>()
  for (const { name, value } of parameters) {
    if (given.has(name)) issues.push(issue('DUPLICATE_PARAMETER', { parameter: name }))
    given.set(name, value)
  }
  const text = given.get('include')
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
  { limits }: IncludeCatalog,
  step: Step,
  given: Map<string, string>,
  issues: Issue[],
): IncludedPath {
  const { path, relation, resource } = step
  const take = (parameter: string, isFitting = true) => {
    const text = given.get(parameter)
    given.delete(parameter)
    if (text !== undefined && !isFitting) issues.push(issue('onlyToMany', { parameter, name: path }))
    return isFitting ? text : undefined
  }
  const isToMany = relation.to === 'many'
  const named = (option: string) => `include[${path}][${option}]`
  const limit = readLimit(named('limit'), take(named('limit'), isToMany), limits.pageSize.max, issues)
  const order = take(named('sort'), isToMany)
  const hasOrder = order !== undefined && isShortList('sort', order, issues, named('sort'))
  const sort = hasOrder ? readSort(resource, listed(order, { parameter: named('sort') }), issues) : []
  const parameter = `fields[${path}]`
  const names = take(parameter)
  const hasFields = names !== undefined && isShortList('fields', names, issues, parameter)
  const fields = hasFields ? readFields(resource, listed(names, { parameter }), systemFields, issues) : undefined
  const query = [...(hasOrder ? [`sort=${order}`] : []), ...(fields === undefined ? [] : [`fields=${fields.join()}`])]
  return { ...step, limit, sort, fields, query }
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
