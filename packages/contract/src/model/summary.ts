/** The fields of a collection by which its records are grouped, and those that figures are made of (SUM-1). */
import { type DatePart, dateParts } from './periods.ts'
import { type Field, isMapped, type Resource, sortableNames } from './resource.ts'

/** The figures of a group, beside `count`. */
export const figureKinds = ['sum', 'avg', 'min', 'max'] as const

export type FigureKind = (typeof figureKinds)[number]

/** Query parameters that only summaries have, or that mean something else there. */
export const summaryParameters = ['group', ...figureKinds] as const

/** A figure of each group: `sum` of `price`. */
export interface Figure {
  readonly kind: FigureKind
  /** As the version of the client names it. */
  readonly name: string
  /** The stored field. */
  readonly field: string
}

/** What records are grouped by. */
export interface Group {
  /** As the client writes it, such as `status` or `created_at:month`. */
  readonly name: string
  /** The stored field. */
  readonly field: string
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

const known = new WeakMap<Resource, ReadonlyMap<string, Group>>()

/** The ways to group the records of a collection, by the names that clients use. */
export function groupsOf(resource: Resource): ReadonlyMap<string, Group> {
  const groups = known.get(resource) ?? makeGroups(resource)
  known.set(resource, groups)
  return groups
}

function makeGroups(resource: Resource): ReadonlyMap<string, Group> {
  const { fields } = resource
  const parts = Object.keys(dateParts) as DatePart[]
  const ofDate = (name: string, field: string, isDate: boolean): Group[] =>
    parts.map((part) => ({ name: `${name}:${part}`, field, part, isDate }))
  const declared = fields.flatMap((own): Group[] => {
    const { name, type, enum: allowed, reference, writeOnly } = own
    const field = storedName(resource, name)
    if (field === undefined || writeOnly) return []
    const isBoolean = type === 'boolean'
    const isPlain = isBoolean || allowed !== undefined || reference !== undefined
    if (isConverted(resource, name)) {
      const values = isPlain ? convertedValues(resource, own, field) : undefined
      return values === undefined ? [] : [{ name, field, isBoolean, values }]
    }
    if (isPlain) return [{ name, field, isBoolean }]
    return holdsDates(own) ? ofDate(name, field, own.format === 'date') : []
  })
  const timestamps = ['created_at', 'updated_at'].flatMap((name) => ofDate(name, name, false))
  return new Map([...declared, ...timestamps].map((group) => [group.name, group]))
}

/** The figures that a collection has, by the names of their fields in the version of the client. */
export function figuresOf(resource: Resource, kind: FigureKind): ReadonlyMap<string, Figure> {
  const sortable = sortableNames(resource)
  const isFit = ({ type, filter, name }: Field) =>
    kind === 'sum' || kind === 'avg'
      ? type === 'integer' || type === 'decimal'
      : (filter || sortable.includes(name)) && type !== 'array' && type !== 'object' && type !== 'json'
  const declared = resource.fields.flatMap((own): Figure[] => {
    const { name } = own
    const field = storedName(resource, name)
    const isUsable = field !== undefined && !own.writeOnly && !isConverted(resource, name)
    return isUsable && isFit(own) ? [{ kind, name, field }] : []
  })
  const timestamps = kind === 'min' || kind === 'max' ? ['created_at', 'updated_at'] : []
  return new Map(
    [...declared, ...timestamps.map((name) => ({ kind, name, field: name }))].map((each) => [each.name, each]),
  )
}

/** `undefined`: only the older version has the field. */
function storedName(resource: Resource, name: string): string | undefined {
  return isMapped(resource) ? resource.mapping.toStored.get(name) : name
}

function isConverted({ mapping }: Resource, name: string): boolean {
  return mapping?.conversions.has(name) === true
}

/** `undefined`: the stored field has more values than a declaration lists. */
function convertedValues({ mapping }: Resource, { name, type }: Field, field: string): OlderValue[] | undefined {
  const stored = mapping?.stored.field.get(field)
  const values: readonly (string | boolean)[] | undefined = stored?.type === 'boolean' ? [false, true] : stored?.enum
  const conversion = mapping?.conversions.get(name)
  const older = values?.map((value) => [value, conversion?.older(value) ?? null] as const)
  const isFit = older?.every(([, value]) => value === null || typeof value === type)
  return isFit === true ? (older as OlderValue[]) : undefined
}
