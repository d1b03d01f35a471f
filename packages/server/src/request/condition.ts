/**
 * Conditions of requests: `where` of lists and deletions (WHR-1), and the filters of exports and webhooks. They are in
 * the language of access rules, in the names of the client's version, and become predicates for a caller
 * (`resolveCondition`). Here is also how the names of conditions, filters and sort orders follow relations.
 */
import { conditionProblems } from 'resourced-contract/model/check/conditions'
import type { Condition } from 'resourced-contract/model/declaration'
import { deepestNesting, readJson } from 'resourced-contract/model/json/read-json'
import { listOperators, operators } from 'resourced-contract/model/operators'
import { below, pointerTo, type Steps } from 'resourced-contract/model/place'
import { canonicalJson, isObject } from 'resourced-contract/model/plain-copy'
import { isBinding, mostSteps, type RelatedCatalog } from 'resourced-contract/model/related-conditions'
import { type Relation, relationsOf } from 'resourced-contract/model/relations'
import type { Resource } from 'resourced-contract/model/resource'
import { isDay, type TimeZone } from 'resourced-contract/model/time-zone'
import { Fault, type Issue, issue, type Place } from 'resourced-contract/spec/faults'
import { queryLimits } from 'resourced-contract/spec/limits'

/** A condition of a request without mistakes. */
export interface AskedCondition {
  readonly condition: Condition
  /** The condition and the zone in one spelling: cursors are bound to it. */
  readonly text: string
  /** The zone of the days in it. */
  readonly zone: TimeZone
}

/** What a condition may name and cost, and its place in the request. */
interface ConditionForm {
  /** The name of the parameter or member that holds the condition. */
  readonly name: string
  /** The place of steps in the condition. */
  readonly placeOf: (steps: Steps) => Place
  /** `filters`: the fields that lists are filtered by. `all`: every field that the caller may read. */
  readonly fields: 'filters' | 'all'
  /** The most comparisons; `in` counts as one. Databases limit the terms of a condition. */
  readonly comparisons: number
}

/** The most comparisons in the filter of an export or of a webhook. */
export const mostExported = 100

/** The filter of an export or of a webhook. */
const exported: ConditionForm = {
  name: 'filter',
  placeOf: (steps) => ({ pointer: pointerTo(['filter', ...steps]) }),
  fields: 'all',
  comparisons: mostExported,
}

/** The condition of a list or of a deletion, whose comparisons count together with the filters (LIM-5). */
const asked = { name: 'where', fields: 'filters', comparisons: queryLimits.filters } as const

/** The parameter `where`. Pointers lead into its JSON. */
const ofParameter: ConditionForm = {
  ...asked,
  placeOf: (steps) => ({ parameter: 'where', pointer: pointerTo(steps) }),
}

/** The member `where` of the body of a QUERY. */
const ofBody: ConditionForm = {
  ...asked,
  placeOf: (steps) => ({ parameter: 'where', pointer: pointerTo(['where', ...steps]) }),
}

/** The deepest nesting of conditions; the outermost counts 1. */
export const deepestCondition = 20

/** The system fields that live records have. */
export const liveFields = ['id', 'created_at', 'updated_at'] as const

/** The cost of a condition. */
export interface Weight {
  comparisons: number
  listed: number
  characters: number
  tooDeep: Steps | undefined
}

/** The condition of a list or of a deletion, with its cost. */
export interface WeighedCondition {
  readonly condition: Condition
  readonly weight: Weight
}

/** The records that a condition selects, in the client's version. */
export interface Source {
  readonly resource: Resource
  /** Of the version; left out: the resource has no relations. */
  readonly catalog?: RelatedCatalog | undefined
  /** Whether conditions on related records are known here: they are, unless said. */
  readonly followsRelations?: boolean
}

/** What a name leads to, such as `author.born` (WHR-2): relations, and then a name of the last resource. */
export interface RelationPath {
  readonly relations: readonly Relation[]
  readonly resource: Resource
  readonly name: string
}

/**
 * Follows the relations in a name. A name of a resource may have dots itself.
 *
 * @param isOwn whether a resource has a name, with its dots
 * @returns `undefined`: a relation does not exist, or there are more than may be followed
 */
export function pathOf(
  { resource, catalog }: Source,
  text: string,
  isOwn: (resource: Resource, name: string) => boolean,
): RelationPath | undefined {
  const relations: Relation[] = []
  let [from, name] = [resource, text]
  for (;;) {
    const dot = name.indexOf('.')
    if (dot === -1 || isOwn(from, name)) return { relations, resource: from, name }
    const relation = catalog && relationsOf(catalog, from).get(name.slice(0, dot))
    const target = relation && catalog?.resources.get(relation.collection)
    if (relation === undefined || target === undefined || relations.length === mostSteps) return undefined
    relations.push(relation)
    from = target
    name = name.slice(dot + 1)
  }
}

/** A condition as a request gives it: the text of a parameter, or a member of a body. */
export type GivenCondition = { readonly text: string } | { readonly value: unknown }

/**
 * Reads `where`. A condition without issues can be resolved by `resolveCondition`.
 *
 * @param issues receives what is wrong, with its place in the condition
 */
export function readWhere(from: Source, given: GivenCondition, issues: Issue[]): WeighedCondition {
  const form = 'text' in given ? ofParameter : ofBody
  const value = 'text' in given ? readText(given.text, issues) : given.value
  return value === undefined ? { condition: {}, weight: weightOf({}) } : readCondition(form, from, value, issues)
}

/**
 * Reads the filter of an export or of a webhook: a condition on any readable field.
 *
 * @param from `undefined` if the collection is unknown: then only the limits are checked
 * @param filter `undefined`: everything is exported
 * @param issues receives what is wrong, with its place in the body
 */
export function readExportFilter(from: Source | undefined, filter: unknown, issues: Issue[]): Condition {
  return filter === undefined ? {} : readCondition(exported, from, filter, issues).condition
}

/** The JSON of the parameter; `undefined` if it is none. Its numbers are exact, and its keys are there once. */
function readText(text: string, issues: Issue[]): unknown {
  const place = { name: 'The condition', line: 1, column: 1 }
  try {
    return readJson(Buffer.from(text), { maxDepth: deepestNesting }, place)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { detail = '', errors = [] } = error.details
    if (errors.length === 0) issues.push(issue('notJson', { parameter: asked.name, pointer: '', problem: detail }))
    issues.push(...errors.map((each) => ({ ...each, parameter: asked.name })))
    return undefined
  }
}

function readCondition(
  form: ConditionForm,
  from: Source | undefined,
  given: unknown,
  issues: Issue[],
): WeighedCondition {
  const weight = weightOf(given)
  const excesses = excessesOf(weight, form)
  issues.push(...excesses)
  if (excesses.length > 0 || from === undefined) return { condition: {}, weight }
  const { resource, catalog, followsRelations = true } = from
  const problems = conditionProblems(given, {
    ...(catalog && { follows: { catalog, resource, steps: followsRelations ? 0 : 'none' } }),
    ...{ resource, record: undefined, system: liveFields, takesDays: true },
    ...(form.fields === 'filters' && { filters: resource.filterables }),
  })
  for (const { steps, code, message, remedy } of problems) {
    const data = { place: below(form.name, steps), problem: message, remedy }
    issues.push(issue('condition', { code, ...form.placeOf(steps), ...data }))
  }
  return { condition: problems.length > 0 ? {} : (given as Condition), weight }
}

/** The text that a condition and its zone are known by. The order of members makes no difference. */
export function conditionText(condition: Condition, zone: string): string {
  return canonicalJson([condition, zone])
}

/** Whether a text in a condition is a day. */
export function holdsDay(condition: unknown): boolean {
  if (typeof condition === 'string') return isDay(condition)
  return typeof condition === 'object' && condition !== null && Object.values(condition).some(holdsDay)
}

/** The cost of a condition, valid or not. A condition without comparisons counts as one. */
export function weightOf(condition: unknown): Weight {
  const weight: Weight = { comparisons: 0, listed: 0, characters: 0, tooDeep: undefined }
  weigh(weight, condition, [], 1)
  return weight
}

function weigh(weight: Weight, condition: unknown, steps: Steps, depth: number): void {
  if (depth > deepestCondition) {
    weight.tooDeep ??= steps
    return
  }
  const entries = isObject(condition) ? Object.entries(condition) : []
  if (entries.length === 0) weight.comparisons++
  for (const [word, value] of entries) {
    if ((word === 'and' || word === 'or') && Array.isArray(value)) {
      for (const [index, each] of value.entries()) weigh(weight, each, [...steps, word, index], depth + 1)
    } else if (word === 'not' || holdsConditions(value)) weigh(weight, value, [...steps, word], depth + 1)
    else weighField(weight, value)
  }
}

/** Whether the value of a member holds conditions, of related records, and not the comparisons of a field. */
function holdsConditions(value: unknown): boolean {
  if (!isObject(value)) return false
  return Object.entries(value).some(([word, each]) => word === 'and' || word === 'or' || isNested(each))
}

/**
 * Whether a member is an object of its own, and no value of the caller. Fields too may be named `caller` or `record`.
 */
function isNested(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isObject(value)) return false
  return !isBinding(value) || Object.values(value).some((each, index) => index > 0 || typeof each !== 'string')
}

function weighField(weight: Weight, value: unknown): void {
  const entries = isObject(value) ? Object.entries(value) : [['', value] as const]
  const comparisons = entries.filter(([, operand]) => !isNested(operand))
  // Members of an object are compared as fields are.
  for (const [, operand] of entries) if (isNested(operand)) weighField(weight, operand)
  weight.comparisons += entries.length === 0 ? 1 : comparisons.length
  for (const [name, operand] of comparisons) {
    if (Array.isArray(operand)) weight.listed += operand.length
    if (typeof operand === 'string' && operators.get(name)?.operand === 'text') weight.characters += operand.length
  }
}

function excessesOf({ comparisons, listed, characters, tooDeep }: Weight, form: ConditionForm): Issue[] {
  const issues: Issue[] = []
  const whole = form.placeOf([])
  if (comparisons > form.comparisons) {
    issues.push(issue('comparisons', { ...whole, most: form.comparisons, given: comparisons }))
  }
  const { values, characters: mostCharacters } = queryLimits
  if (listed > values) issues.push(issue('listedValues', { ...whole, most: values, given: listed }))
  if (characters > mostCharacters) {
    const names = listOperators('texts', 'name', 'and')
    issues.push(issue('searched', { ...whole, limit: mostCharacters, operators: names }))
  }
  if (tooDeep !== undefined) {
    issues.push(issue('conditionTooDeep', { ...form.placeOf(tooDeep), most: deepestCondition }))
  }
  return issues
}
