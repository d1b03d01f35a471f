/** Filters and sorters of refine as query parameters (QRY-1 to QRY-7). */
import type { CrudFilter, CrudSort, LogicalFilter } from '@refinedev/core'
import type { FilterOperator } from 'resourced-contract/model/operators'
import { ProblemError, type Query } from '../index.ts'

// Operators without a list, and the parameter of each. The names of most are those of conditions too.
// biome-ignore format: pairs
const operators: Readonly<Partial<Record<LogicalFilter['operator'], '' | `[${FilterOperator}]`>>> = {
  eq: '', in: '', ne: '[not]', nin: '[not]', contains: '[contains]', startswith: '[starts_with]',
  lt: '[lt]', lte: '[lte]', gt: '[gt]', gte: '[gte]',
}
const conditionNames: Readonly<Record<string, string>> = { ne: 'not', startswith: 'startsWith' }

type Parameter = readonly [name: string, value: unknown]

/**
 * The query parameters of filters. All of them must match, as in refine.
 *
 * @throws ProblemError if an interface cannot filter so
 */
export function filtered(filters: readonly CrudFilter[] = []): Query {
  const query: Record<string, unknown> = {}
  const conditions: object[] = []
  for (const filter of allOf(filters)) {
    const parameters = parametersOf(filter)
    // A parameter that repeats matches either value, and both filters must match.
    if (parameters?.some(([name]) => Object.hasOwn(query, name)) === false) {
      Object.assign(query, Object.fromEntries(parameters))
    } else conditions.push(...conditionOf(filter))
  }
  if (conditions.length > 0) query['where'] = { and: conditions }
  return query as Query
}

function allOf(filters: readonly CrudFilter[]): readonly CrudFilter[] {
  return filters.flatMap((filter) => (filter.operator === 'and' ? allOf(filter.value) : [filter]))
}

/** @returns `undefined`: only a condition says it */
function parametersOf(filter: CrudFilter): readonly Parameter[] | undefined {
  if (filter.operator === 'or') return anyOf(filter.value)
  const { field, operator, value } = filter as LogicalFilter
  // A deleted record is one that has `deleted_at`, and a list is of live records unless it asks for others.
  if (field === 'deleted_at' && operator === 'nnull') return [['include_deleted', 'only']]
  if (field === 'deleted_at' && operator === 'null') return []
  if (operator === 'null' || operator === 'nnull') return [[`${field}[null]`, operator === 'null']]
  if (isCleared(value)) return []
  if (value === null) return [[`${field}[null]`, operator !== 'ne']]
  if (field === 'q') return [['q', value]]
  if (operator === 'between') {
    const [from, to] = value as readonly unknown[]
    return [
      [`${field}[gte]`, from],
      [`${field}[lte]`, to],
    ]
  }
  const parameter = operators[operator]
  if (parameter === undefined) throw unsupported(`the operator ${operator} of ${field}`)
  return [[field + parameter, value]]
}

/** Any of several values of one field is a parameter that repeats. */
function anyOf(filters: readonly CrudFilter[]): readonly Parameter[] | undefined {
  const [first] = filters as readonly LogicalFilter[]
  const isOne = filters.every((each) => each.operator === 'eq' && 'field' in each && each.field === first?.field)
  return first && isOne ? [[first.field, filters.map(({ value }) => value)]] : undefined
}

/** An input that was cleared does not filter. */
function isCleared(value: unknown): boolean {
  return value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
}

/** A filter as a condition (WHR-1); none for an input that was cleared. */
function conditionOf(filter: CrudFilter): readonly object[] {
  if (filter.operator === 'and' || filter.operator === 'or') {
    const conditions = filter.value.flatMap(conditionOf)
    return conditions.length === 0 ? [] : [{ [filter.operator]: conditions }]
  }
  const { field, operator, value } = filter as LogicalFilter
  if (field === 'q' || field === 'deleted_at') throw unsupported(`${field} within or, or twice`)
  const compared = comparisonsOf(operator, value)
  if (compared === undefined) throw unsupported(`the operator ${operator} of ${field}`)
  // The fields of related records are within them.
  return compared.map(
    (each) => field.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), each) as object,
  )
}

/** What a field is compared with: all of these must hold. */
function comparisonsOf(operator: LogicalFilter['operator'], value: unknown): readonly unknown[] | undefined {
  if (operator === 'null' || operator === 'nnull') return [{ null: operator === 'null' }]
  if (isCleared(value)) return []
  if (value === null) return [{ null: operator !== 'ne' }]
  if (operator === 'eq') return [value]
  if (operator === 'nin') return (value as readonly unknown[]).map((each) => ({ not: each }))
  if (operator === 'between') {
    const [gte, lte] = value as readonly unknown[]
    return [{ gte, lte }]
  }
  return operator in operators ? [{ [conditionNames[operator] ?? operator]: value }] : undefined
}

function unsupported(what: string): ProblemError {
  return new ProblemError(400, { code: 'INVALID_QUERY', detail: `The interface cannot filter by ${what}.` })
}

/** The query parameters of sorters. Ids ascend with the time of creation, which lists can sort by. */
export function sorted(sorters: readonly CrudSort[] = []): Query {
  if (sorters.length === 0) return {}
  const terms = sorters.map(
    ({ field, order }) => (order === 'desc' ? '-' : '') + (field === 'id' ? 'created_at' : field),
  )
  return { sort: terms }
}
