/** Filters and sorters of refine as query parameters (QRY-1 to QRY-7). */
import type { CrudFilter, CrudSort, LogicalFilter } from '@refinedev/core'
import type { FilterOperator } from 'resourced-contract/model/operators'
import { ProblemError, type Query } from '../index.ts'

// Operators without a list, and the parameter of each.
// biome-ignore format: pairs
const operators: Readonly<Partial<Record<LogicalFilter['operator'], '' | `[${FilterOperator}]`>>> = {
  eq: '', in: '', ne: '[not]', nin: '[not]', contains: '[contains]', startswith: '[starts_with]',
  lt: '[lt]', lte: '[lte]', gt: '[gt]', gte: '[gte]',
}

type Parameter = readonly [name: string, value: unknown]

/**
 * The query parameters of filters. All of them must match, as in refine.
 *
 * @throws ProblemError if an interface cannot filter so
 */
export function filtered(filters: readonly CrudFilter[] = []): Query {
  const query: Record<string, unknown> = {}
  for (const [name, value] of filters.flatMap(parametersOf)) {
    if (Object.hasOwn(query, name))
      throw unsupported(`two filters ${name}: a parameter that repeats matches either value`)
    query[name] = value
  }
  return query as Query
}

function parametersOf(filter: CrudFilter): readonly Parameter[] {
  if (filter.operator === 'and') return filter.value.flatMap(parametersOf)
  if (filter.operator === 'or') return [anyOf(filter.value)]
  const { field, operator, value } = filter as LogicalFilter
  // A deleted record is one that has `deleted_at`, and a list is of live records unless it asks for others.
  if (field === 'deleted_at' && operator === 'nnull') return [['include_deleted', 'only']]
  if (field === 'deleted_at' && operator === 'null') return []
  if (operator === 'null' || operator === 'nnull') return [[`${field}[null]`, operator === 'null']]
  // An input that was cleared.
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return []
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

/** Any of several values of one field is a parameter that repeats. An interface has no other alternatives. */
function anyOf(filters: readonly CrudFilter[]): Parameter {
  const [first] = filters as readonly LogicalFilter[]
  const isOne = filters.every((each) => each.operator === 'eq' && 'field' in each && each.field === first?.field)
  if (first === undefined || !isOne) throw unsupported('or, except for values of one field with eq')
  return [first.field, filters.map(({ value }) => value)]
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
