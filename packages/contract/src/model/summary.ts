/** The fields of a collection by which its records are grouped, and those that figures are made of (SUM-1). */

import type { DecimalForm } from './decimal.ts'
import { type DatePart, dateParts } from './periods.ts'
import { remembered } from './plain-copy.ts'
import { comparisonKey, type Scalar } from './predicate.ts'
import { type Field, isComparable, type NamedFields, type Resource } from './resource.ts'

/** The figures of a group, beside `count`. */
export const figureKinds = ['sum', 'avg', 'min', 'max'] as const

export type FigureKind = (typeof figureKinds)[number]

/** Query parameters that only summaries have, or that mean something else there. */
export const summaryParameters = ['group', ...figureKinds] as const

/** The value of a field that only an older version has: the same in every record. */
export interface Constant {
  readonly value: Scalar | null
  /** Its comparison key. */
  readonly key: Scalar | null
}

/** A figure of each group: `sum` of `price`. */
export interface Figure {
  readonly kind: FigureKind
  /** As the version of the client names it. */
  readonly name: string
  /** The stored field; empty for a constant. */
  readonly field: string
  readonly decimal?: DecimalForm | undefined
  readonly isBoolean?: boolean
  /** Whether the field is a date-time, which is compared by its key. */
  readonly isInstant?: boolean
  readonly constant?: Constant | undefined
}

/** What records are grouped by. */
export interface Group {
  /** As the client writes it, such as `status` or `created_at:month`. */
  readonly name: string
  /** The stored field; empty for a constant. */
  readonly field: string
  readonly constant?: Constant | undefined
  /** Of a date or a date-time. */
  readonly part?: DatePart
  /** Whether the field is a date, which is in no time zone. */
  readonly isDate?: boolean
  /** Whether its values are true and false; otherwise they are texts. */
  readonly isBoolean?: boolean
  /** The values that an older version has for the stored ones. */
  readonly values?: readonly OlderValue[]
}

type OlderValue = readonly [stored: string | boolean, older: string | boolean | null]

/** What decides the order of the groups. */
export interface SummaryOrder {
  readonly by: 'count' | { readonly group: number } | { readonly figure: number }
  readonly descending: boolean
}

/** How many digits after its point the average of a field has beside those of the field. */
export const averageDigits = 6

/** Whether a field is a date or a date-time. */
function holdsDates({ type, format }: Field): boolean {
  return type === 'string' && (format === 'date' || format === 'date-time')
}

/** A resource, as far as its groups and figures depend on it. */
type Summarized = NamedFields & Pick<Resource, 'fields' | 'mapping'>

/** The ways to group the records of a collection, by the names that clients use. */
export const groupsOf = remembered((resource: Summarized): ReadonlyMap<string, Group> => {
  const { fields } = resource
  const parts = Object.keys(dateParts) as DatePart[]
  const ofDate = (name: string, field: string, isDate: boolean, constant?: Constant): Group[] =>
    parts.map((part) => ({ name: `${name}:${part}`, field, part, isDate, constant }))
  const declared = fields.flatMap((own): Group[] => {
    const { name } = own
    const stored = storedField(resource, own)
    if (own.writeOnly) return []
    if (stored !== undefined && isConverted(resource, name)) {
      const values = isPlain(own) ? convertedValues(resource, own, stored) : undefined
      return values === undefined ? [] : [{ name, field: stored.name, isBoolean: own.type === 'boolean', values }]
    }
    const { type, format } = stored ?? own
    const field = stored?.name ?? ''
    const constant = constantOf(resource, own, stored)
    if (isPlain(stored ?? own)) return [{ name, field, isBoolean: type === 'boolean', constant }]
    return holdsDates(stored ?? own) ? ofDate(name, field, format === 'date', constant) : []
  })
  const timestamps = ['created_at', 'updated_at'].flatMap((name) => ofDate(name, name, false))
  return new Map([...declared, ...timestamps].map((group) => [group.name, group]))
})

/** The figures that a collection has, by the names of their fields in the version of the client. */
export function figuresOf(resource: Summarized, kind: FigureKind): ReadonlyMap<string, Figure> {
  const isFit = ({ type, filter, sort }: Field) =>
    kind === 'sum' || kind === 'avg' ? type === 'integer' || type === 'decimal' : (filter || sort) && isComparable(type)
  const declared = resource.fields.flatMap((own): Figure[] => {
    const { name } = own
    const stored = storedField(resource, own)
    const held = stored ?? own
    if (own.writeOnly || isConverted(resource, name) || !isFit(own) || !isFit(held)) return []
    const { type, decimal } = held
    const isInstant = type === 'string' && held.format === 'date-time'
    const constant = constantOf(resource, own, stored)
    return [{ kind, name, field: stored?.name ?? '', decimal, isBoolean: type === 'boolean', isInstant, constant }]
  })
  const timestamps = kind === 'min' || kind === 'max' ? ['created_at', 'updated_at'] : []
  return new Map(
    [...declared, ...timestamps.map((name) => ({ kind, name, field: name }))].map((each) => [each.name, each]),
  )
}

/** Whether a field has few values, or each of its values is that of a record. */
function isPlain({ type, enum: allowed, reference }: Field): boolean {
  return type === 'boolean' || allowed !== undefined || reference !== undefined
}

/** `undefined`: only the older version has the field. */
function storedField({ mapping }: Summarized, own: Field): Field | undefined {
  return mapping === undefined ? own : mapping.stored.field.get(mapping.toStored.get(own.name) ?? '')
}

function constantOf(resource: Summarized, { name }: Field, stored: Field | undefined): Constant | undefined {
  if (stored !== undefined) return undefined
  const value = (resource.mapping?.constants.get(name) ?? null) as Scalar | null
  return { value, key: value === null ? null : (comparisonKey(resource, name, value) ?? null) }
}

function isConverted({ mapping }: Summarized, name: string): boolean {
  return mapping?.conversions.has(name) === true
}

/** `undefined`: the stored field has more values than a declaration lists, or not each of them can be converted. */
function convertedValues({ mapping }: Summarized, { name, type }: Field, stored: Field): OlderValue[] | undefined {
  const values: readonly (string | boolean)[] | undefined = stored.type === 'boolean' ? [false, true] : stored.enum
  const conversion = mapping?.conversions.get(name)
  try {
    const older = values?.map((value) => [value, conversion?.older(value) ?? null] as const)
    const isFit = older?.every(([, value]) => value === null || typeof value === type)
    return isFit === true ? (older as OlderValue[]) : undefined
  } catch {
    // Whoever reads a record with the value gets the error of the function.
    return undefined
  }
}
