/**
 * The filters of a query: `field=value`, `field[operator]=value` (QRY-2), and the condition `where` beside them
 * (WHR-1). Mistakes are added to `issues`, so that one response names them all.
 */
import { decimalKeyOf } from 'resourced-contract/model/decimal'
import { type Comparison, equality, filterOperators, listOperators } from 'resourced-contract/model/operators'
import { exactText } from 'resourced-contract/model/plain-copy'
import { allOf, always, anyOf, not, onDay, type Predicate, type Scalar } from 'resourced-contract/model/predicate'
import { quantified, throughRelation } from 'resourced-contract/model/related-conditions'
import type { Relation } from 'resourced-contract/model/relations'
import { type Filterable, isFitting, operatorsFor, type Resource } from 'resourced-contract/model/resource'
import { isRecordId, isStorableText } from 'resourced-contract/model/text'
import { instantKey, stampKey, timestamp } from 'resourced-contract/model/time'
import {
  boundsOfDay,
  boundsOfSpan,
  isDay,
  mostSpans,
  spansOf,
  type TimeZone,
  timeZone,
  utc,
} from 'resourced-contract/model/time-zone'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import { queryLimits } from 'resourced-contract/spec/limits'
import type { ValueKind } from 'resourced-contract/spec/words'
import {
  type AskedCondition,
  conditionText,
  type GivenCondition,
  holdsDay,
  pathOf,
  type RelationPath,
  readWhere,
  type Source,
  type Weight,
} from './condition.ts'
import { countListed, type Parameter } from './parameters.ts'

/** The filters of a request, in the terms of its version, and its condition. */
interface Filters {
  /** The filters of fields, in one order. */
  readonly filter: Predicate
  /** The filters of related records, in one order. */
  readonly related: Predicate
  readonly where: AskedCondition | undefined
}

/**
 * Reads filters, and the condition beside them.
 *
 * @param condition as the request has it; `undefined`: it has none
 * @param isZoned whether `timezone` is there for something else
 * @param others what the request takes besides filters
 */
export function readFilters(
  from: Source,
  parameters: readonly Parameter[],
  {
    condition,
    isZoned = false,
    others = ['where'],
  }: {
    readonly condition: GivenCondition | undefined
    readonly isZoned?: boolean
    readonly others?: readonly string[]
  },
  issues: Issue[],
): Filters {
  const read = condition && readWhere(from, condition, issues)
  const isOfInstants = (name: string) => {
    const subject = subjectOf(from, name.replace(/\[.*$/s, ''))?.subject
    return subject !== undefined && holdsInstants(subject)
  }
  const isDayNamed = isZoned || holdsDay(read?.condition)
  const asked = zoneOfDays(from.resource, parameters, { isOfInstants, isDayNamed }, issues)
  const filters = new Map<string, string[]>()
  for (const { name, value } of asked.filters) {
    const values = filters.get(name)
    if (values === undefined) filters.set(name, [value])
    else values.push(value)
  }
  const { zone } = asked
  const where = read && { condition: read.condition, zone, text: conditionText(read.condition, asked.zoneName) }
  const whole = newBranch()
  if (areFewFilters(filters, read?.weight, issues)) {
    for (const [name, values] of filters) readFilter(from, whole, { name, values, zone, others }, issues)
  }
  return { filter: inOrder(whole.terms), related: relatedBy(whole), where }
}

/** The parameter that names the zone of days. */
export const zoneParameter = 'timezone'

/** Whether a filter compares instants. */
function holdsInstants({ type, field }: Filterable): boolean {
  return type === 'timestamp' || field?.format === 'date-time'
}

/**
 * The zone of the days in some filters, and the filters alone. `timezone` names the zone beside a day. Without one it
 * is a filter like others, if a field has this name.
 *
 * @param isOfInstants whether the filter of a parameter compares instants
 * @param isDayNamed whether something else in the request has a day, such as a condition
 */
function zoneOfDays(
  { filterables }: Resource,
  parameters: readonly Parameter[],
  { isOfInstants, isDayNamed }: { isOfInstants: (name: string) => boolean; isDayNamed: boolean },
  issues: Issue[],
): { readonly zone: TimeZone; readonly zoneName: string; readonly filters: readonly Parameter[] } {
  const named = parameters.filter(({ name }) => name === zoneParameter)
  const [first, ...others] = named
  if (first === undefined) return { zone: utc, zoneName: '', filters: parameters }
  const hasDay = isDayNamed || parameters.some(({ name, value }) => value.split(',').some(isDay) && isOfInstants(name))
  if (!hasDay && filterables.some(({ name }) => name === zoneParameter)) {
    return { zone: utc, zoneName: '', filters: parameters }
  }
  const filters = parameters.filter((each) => !named.includes(each))
  const zone = timeZone(first.value)
  if (!hasDay) issues.push(issue('zoneAlone', { parameter: zoneParameter }))
  else if (others.length > 0) issues.push(issue('repeatedParameter', { parameter: zoneParameter }))
  else if (zone === undefined) issues.push(issue('value', { parameter: zoneParameter, wanted: 'zone' }))
  return { zone: zone ?? utc, zoneName: first.value, filters }
}

/**
 * The filters of one record. All filters of one relation to many are about the same record of it (WHR-2), as those of
 * a relation to one are.
 */
interface Branch {
  readonly terms: Predicate[]
  readonly branches: Map<string, { readonly relation: Relation; readonly branch: Branch }>
}

function newBranch(): Branch {
  return { terms: [], branches: new Map() }
}

function relatedBy({ branches }: Branch): Predicate {
  return inOrder(
    [...branches.values()].map(({ relation, branch }) => {
      const predicate = allOf([inOrder(branch.terms), relatedBy(branch)])
      return relation.to === 'one' ? throughRelation(relation, predicate) : quantified(relation, 'some', predicate)
    }),
  )
}

/** All of the terms. Their order makes no difference: cursors, statements and kept totals see one spelling. */
function inOrder(terms: readonly Predicate[]): Predicate {
  const texts = new Map(terms.map((term) => [term, exactText(term)]))
  return allOf(terms.toSorted((left, right) => ((texts.get(left) ?? '') < (texts.get(right) ?? '') ? -1 : 1)))
}

/** What the name of a filter is about: `born`, or with relations before it, `author.born`. */
function subjectOf(
  from: Source,
  name: string,
): (RelationPath & { readonly subject: Filterable | undefined }) | undefined {
  const filterable = ({ filterables }: Resource, own: string) => filterables.find((each) => each.name === own)
  const path = pathOf(from, name, (resource, own) => filterable(resource, own) !== undefined)
  return path && { ...path, subject: filterable(path.resource, path.name) }
}

/**
 * Whether filters are within LIM-5: the cost of a query depends on its length, and one thread serves all callers.
 *
 * @param filters the values of each, by its name with its operator
 * @param weight that of the condition beside them, whose comparisons are filters too
 */
function areFewFilters(
  filters: ReadonlyMap<string, readonly string[]>,
  weight: Weight | undefined,
  issues: Issue[],
): boolean {
  const { filters: mostFilters, values: mostValues, characters: mostCharacters } = queryLimits
  const before = issues.length
  const given = filters.size + (weight?.comparisons ?? 0)
  let count = weight?.comparisons ?? 0
  let values = weight?.listed ?? 0
  let characters = weight?.characters ?? 0
  for (const [name, texts] of filters) {
    if (++count > mostFilters) {
      issues.push(issue('filters', { parameter: name, most: mostFilters, given }))
      break
    }
    const operand = filterOperators.get(/\[([^[\]]*)\]$/.exec(name)?.[1] ?? '')?.operand
    values += operand === 'list' ? texts.reduce((sum, value) => sum + countListed(value), 0) : texts.length
    if (values > mostValues) {
      issues.push(issue('filterValues', { parameter: name, most: mostValues }))
      break
    }
    if (operand === 'text') characters += texts.reduce((sum, value) => sum + value.length, 0)
    if (characters > mostCharacters) {
      const names = listOperators('texts', 'query', 'and')
      issues.push(issue('filterTexts', { parameter: name, limit: mostCharacters, operators: names }))
      break
    }
  }
  return issues.length === before
}

/** One filter, by its parameter's name with the operator in brackets: a record matches if it has one of the values. */
interface GivenFilter {
  readonly name: string
  readonly values: readonly string[]
  /** Of days. */
  readonly zone: TimeZone
  readonly others: readonly string[]
}

function readFilter(from: Source, whole: Branch, { name, values, zone, others }: GivenFilter, issues: Issue[]): void {
  if (name === 'after' && from.resource.order === 'by-position') {
    whole.terms.push(readAfter(values, issues))
    return
  }
  const [, path = '', operator] = /^([^[\]]*)(?:\[([^[\]]*)\])?$/.exec(name) ?? []
  const { relations = [], resource = from.resource, subject } = subjectOf(from, path) ?? {}
  if (subject === undefined) {
    const before = relations.map((relation) => `${relation.name}.`).join('')
    const known = resource.filterables.map((each) => `${before}${each.name}`)
    issues.push(issue('unknownFilter', { parameter: name, name, resource: from.resource.name, others, known }))
    return
  }
  const branch = relations.reduce((above, relation) => {
    const own = above.branches.get(relation.name) ?? { relation, branch: newBranch() }
    above.branches.set(relation.name, own)
    return own.branch
  }, whole)
  const read = (given: readonly string[]) => readComparison(subject, { name, operator, values: given }, issues)
  const filter = { resource, field: subject.name, name, operator, values, zone }
  branch.terms.push(holdsInstants(subject) ? readDays(filter, read, issues) : read(values))
}

interface InstantFilter {
  readonly resource: Resource
  readonly field: string
  /** The parameter's name, with the operator. */
  readonly name: string
  readonly operator: string | undefined
  readonly values: readonly string[]
  readonly zone: TimeZone
}

/**
 * Reads a filter by instants whose values may be days.
 *
 * @param read reads the filter by other values
 */
function readDays(
  { resource, field, name, operator, values, zone }: InstantFilter,
  read: (values: readonly string[]) => Predicate,
  issues: Issue[],
): Predicate {
  const row = operator === undefined ? equality : filterOperators.get(operator)
  const texts = row?.operand === 'list' ? values.flatMap((value) => value.split(',')) : values
  const days = texts.filter(isDay)
  if (days.length === 0) return read(values)
  if (row?.day === 'start') {
    return read(texts.map((text) => (isDay(text) ? timestamp(boundsOfDay(text, zone).from) : text)))
  }
  if (row?.day === undefined) {
    const instead = `${field}${operator === 'gt' ? '[gte]' : '[lt]'}`
    if (row?.operand === 'flag') issues.push(issue('value', { parameter: name, wanted: 'boolean' }))
    else issues.push(issue('notDay', { parameter: name, instead }))
    return read([])
  }
  const spans = spansOf(days)
  if (spans.length > mostSpans) {
    issues.push(issue('days', { parameter: name, most: mostSpans, given: spans.length }))
    return read([])
  }
  const found = anyOf(spans.map((span) => onDay(resource, field, boundsOfSpan(span, zone))))
  const others = texts.filter((text) => !isDay(text))
  const rest = others.length === 0 ? [] : [read(others)]
  if (row.operand === 'values') return allOf([anyOf([{ kind: 'null', field }, not(found)]), ...rest])
  return anyOf([found, ...rest])
}

function readComparison(
  subject: Filterable,
  { name, operator, values }: Pick<GivenFilter, 'name' | 'values'> & { readonly operator: string | undefined },
  issues: Issue[],
): Predicate {
  if (operator === undefined && !subject.isArray) return equalsAny(subject, values, name, issues)
  const row = filterOperators.get(operator ?? '')
  if (row === undefined || !isFitting(row, subject)) {
    const known = operatorsFor(subject).map((each) => `[${each}]`)
    const problem = operator === undefined ? 'needsOperator' : 'operator'
    issues.push(issue(problem, { parameter: name, name: subject.name, known }))
    return always
  }
  if (row.fits === 'arrays') {
    const items = row.operand === 'list' ? values.flatMap((value) => value.split(',')) : values
    const all = row.name === 'hasAll'
    return { kind: 'has', field: subject.name, values: readValues(subject, items, name, issues), all }
  }
  if (row.operand === 'list') {
    const items = values.flatMap((value) => value.split(','))
    return equalsAny(subject, items, name, issues)
  }
  if (row.operand === 'values')
    return { kind: 'differs', field: subject.name, values: readValues(subject, values, name, issues) }
  if (values.length > mostAlternatives) {
    issues.push(issue('oftener', { parameter: name, most: mostAlternatives, given: values.length }))
    return always
  }
  if (row.operand === 'flag') return anyOf(values.map((value) => nullness(subject, value, name, issues)))
  return anyOf(
    values.map((text): Predicate => {
      const value = row.operand === 'text' ? text : readValue(subject, text, name, issues)
      return { kind: 'compare', field: subject.name, operator: row.name as Comparison, value }
    }),
  )
}

/** Reads the event after which a list begins (EVT-2). */
function readAfter([id = '', ...others]: readonly string[], issues: Issue[]): Predicate {
  if (others.length > 0) issues.push(issue('repeatedParameter', { parameter: 'after' }))
  else if (!isRecordId(id)) invalid('after', 'event', issues)
  return { kind: 'compare', field: 'id', operator: 'gt', value: id }
}

function equalsAny(subject: Filterable, texts: readonly string[], parameter: string, issues: Issue[]): Predicate {
  const values = readValues(subject, texts, parameter, issues)
  const [only] = values
  if (texts.length === 1) return { kind: 'compare', field: subject.name, operator: 'eq', value: only as Scalar }
  return { kind: 'in', field: subject.name, values }
}

/** The values, each once. */
function readValues(subject: Filterable, texts: readonly string[], parameter: string, issues: Issue[]): Scalar[] {
  return [...new Set(texts.map((text) => readValue(subject, text, parameter, issues)))]
}

function nullness(subject: Filterable, text: string, parameter: string, issues: Issue[]): Predicate {
  if (text !== 'true' && text !== 'false') invalid(parameter, 'boolean', issues)
  const unset: Predicate = { kind: 'null', field: subject.name }
  return text === 'false' ? not(unset) : unset
}

// Each is a term of its own in the condition, and databases limit those (SQLite: 1,000 deep). Equal values are one
// term.
const mostAlternatives = 100

/** A number as RFC 8259 section 6 writes it. */
export const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const integer = /^-?(?:0|[1-9]\d*)$/

/** A value as its field compares it (QRY-8). */
function readValue({ type, field }: Filterable, text: string, parameter: string, issues: Issue[]): Scalar {
  switch (type) {
    case 'id':
      if (!isRecordId(text)) invalid(parameter, 'id', issues)
      return text
    case 'boolean':
      if (text !== 'true' && text !== 'false') invalid(parameter, 'boolean', issues)
      return text === 'true'
    case 'integer':
      if (!integer.test(text) || !Number.isSafeInteger(Number(text))) invalid(parameter, 'integer', issues)
      return Number(text)
    case 'number':
      if (!jsonNumber.test(text) || !Number.isFinite(Number(text))) invalid(parameter, 'number', issues)
      return Number(text)
    case 'decimal': {
      const key = decimalKeyOf(text)
      if (key === undefined) invalid(parameter, 'decimal', issues)
      return key ?? ''
    }
    case 'timestamp':
      return readTimestamp(text, parameter, issues)
    case 'string':
      if (field?.enum !== undefined && !field.enum.includes(text)) {
        issues.push(issue('enum', { code: 'INVALID_VALUE', parameter, allowed: field.enum }))
      }
      if (field?.reference !== undefined && !isRecordId(text)) {
        issues.push(issue('id', { code: 'INVALID_VALUE', parameter, target: field.reference.collection }))
      }
      if (field?.format === 'date-time') {
        const key = instantKey(text)
        if (key === undefined) invalid(parameter, 'date-time', issues)
        return key ?? ''
      }
      // A declared field keeps the case of its texts.
      if (field?.format === 'uuid' && field.reference === undefined && !isRecordId(text.toLowerCase())) {
        invalid(parameter, 'uuid', issues)
      }
      if (field?.format === 'date' && instantKey(`${text}T00:00:00Z`) === undefined) {
        invalid(parameter, 'date', issues)
      }
      return text
  }
}

function readTimestamp(text: string, parameter: string, issues: Issue[]): string {
  const key = stampKey(text)
  if (key === undefined) invalid(parameter, 'timestamp', issues)
  return key ?? ''
}

function invalid(parameter: string, wanted: ValueKind, issues: Issue[]): void {
  issues.push(issue('value', { parameter, wanted }))
}

/** Whether a parameter holds text that no record can hold: PostgreSQL refuses U+0000 in any value. */
export function isUnstorable({ name, value }: Parameter): boolean {
  return !isStorableText(value) || !isStorableText(name)
}

export function unstorable(name: string): Issue {
  return issue('INVALID_TEXT', { parameter: name.replaceAll('\0', '') })
}
