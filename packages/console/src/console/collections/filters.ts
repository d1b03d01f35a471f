/** The filters of a view: the same parameters as the interface's own, so that an address can be read by people. */
import type { Collection, Field } from '../interface/catalog.ts'
import { typesOf } from '../interface/catalog.ts'

/** One parameter that narrows a list, such as `due_on[lt]=2027-01-01`. If it repeats, one of its values is enough. */
export interface Filter {
  readonly field: string
  readonly operator: string
  readonly values: readonly string[]
}

// The others are in the words of their names.
const words: Readonly<Record<string, string>> = {
  eq: 'is',
  not: 'is not',
  in: 'is one of',
  gt: 'is greater than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  null: 'is null',
}

const momentWords: Readonly<Record<string, string>> = {
  gt: 'is after',
  gte: 'is on or after',
  lt: 'is before',
  lte: 'is on or before',
}

/** An operator in words, such as "is before". */
export function operatorLabel(operator: string, { schema }: Pick<Field, 'schema'>): string {
  const isMoment = schema.format === 'date' || schema.format === 'date-time'
  return (isMoment ? momentWords[operator] : undefined) ?? words[operator] ?? operator.replaceAll('_', ' ')
}

/** The parameter that a filter is sent as. */
export function parameterOf({ field, operator }: Pick<Filter, 'field' | 'operator'>): string {
  return operator === 'eq' ? field : `${field}[${operator}]`
}

const parameterForm = /^([a-z0-9_]+(?:\.[a-z0-9_]+)*)(?:\[([a-z_]+)\])?$/

/** The filters of an address, in its order. What the collection cannot be filtered by is left out. */
export function filtersOf({ field: fields }: Collection, view: URLSearchParams): Filter[] {
  return [...new Set(view.keys())].flatMap((name) => {
    const [, field = '', operator = 'eq'] = parameterForm.exec(name) ?? []
    return fields.get(field)?.filter?.includes(operator) ? [{ field, operator, values: view.getAll(name) }] : []
  })
}

/** What a list request takes from the address of a view. */
export function listQuery(collection: Collection, view: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams()
  for (const filter of filtersOf(collection, view)) {
    for (const value of filter.values) query.append(parameterOf(filter), value)
  }
  const text = view.get('q') ?? ''
  if (text !== '') query.set('q', text)
  // An address may come from another version, whose fields differ.
  const terms = view.get('sort')?.split(',') ?? []
  const sort = terms.filter((term) => collection.field.get(term.replace(/^-/, ''))?.sort)
  if (sort.length > 0) query.set('sort', sort.join(','))
  return query
}

/** The operators that a filter form offers: where values are chosen, `eq` takes several, as `in` does. */
export function offeredOperators(field: Field): readonly string[] {
  const { filter = [] } = field
  return filter.filter((operator) => operator !== 'in' || !['choices', 'yes-no'].includes(filterInput('eq', field)))
}

/** The input that suits the values of a filter. */
export function filterInput(
  operator: string,
  { schema, reference }: Field,
): 'yes-no' | 'reference' | 'choices' | 'date' | 'datetime-local' | 'text' {
  if (operator === 'null' || typesOf(schema).includes('boolean')) return 'yes-no'
  if (takesList(operator)) return 'text'
  if (reference !== undefined) return 'reference'
  if (schema.enum !== undefined && (operator === 'eq' || operator === 'not')) return 'choices'
  return schema.format === 'date' ? 'date' : schema.format === 'date-time' ? 'datetime-local' : 'text'
}

/**
 * The filters as a condition, as exports and declarations write it. It matches what the list shows: a parameter that
 * repeats means any of its values, and `not` none of them.
 *
 * @returns `undefined` if there are none
 */
export function conditionOf(collection: Collection, view: URLSearchParams): object | undefined {
  const terms = filtersOf(collection, view).map(({ field, operator, values }) => {
    const texts = takesList(operator) ? values.flatMap((value) => value.split(',')) : values
    const typed = texts.map((text) => typedValue(collection.field.get(field), operator, text))
    if (operator === 'eq' || operator === 'in') return compared(field, typed.length === 1 ? typed[0] : { in: typed })
    const name = operator.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
    const each = (takesList(operator) ? [typed] : typed).map((value) => compared(field, { [name]: value }))
    return each.length === 1 ? (each[0] as object) : { [operator === 'not' ? 'and' : 'or']: each }
  })
  return terms.length < 2 ? terms[0] : { and: terms }
}

/** Whether the value of an operator is several values, separated by commas. */
export function takesList(operator: string): boolean {
  return ['in', 'has_any', 'has_all'].includes(operator)
}

/** A comparison of a field; that of a related record is within its relation. */
function compared(field: string, comparison: unknown): object {
  return field.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), comparison) as object
}

/** A value as its field, or an item of it, has it. A text that is none is sent as it is: the server refuses it. */
function typedValue(field: Field | undefined, operator: string, text: string): unknown {
  const types = field === undefined ? [] : typesOf(comparedSchema(field, operator))
  if ((operator === 'null' || types.includes('boolean')) && /^(?:true|false)$/.test(text)) return text === 'true'
  // The text of a decimal keeps its digits, and a text that is compared as one stays one.
  const isNumber = types.some((type) => type === 'integer' || type === 'number') && !types.includes('string')
  return isNumber && /^-?\d/.test(text) && Number.isFinite(Number(text)) ? Number(text) : text
}

/** The schema of the values that a filter compares: of an array, that of its items. */
function comparedSchema({ schema }: Field, operator: string): Field['schema'] {
  const { items } = schema
  return operator.startsWith('has') && typeof items === 'object' ? items : schema
}
