/**
 * Days in the filters of a query: `created_at=2026-11-28` finds what was created on that day, in the zone that
 * `timezone` names, or in UTC (QRY-2). An index finds it, because a day is a range of instants.
 */
import { equality, filterOperators } from 'resourced-contract/model/operators'
import { allOf, anyOf, not, onDay, type Predicate } from 'resourced-contract/model/predicate'
import type { Filterable, Resource } from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
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
import type { Parameter } from './parameters.ts'

/** The parameter that names the zone of days. */
export const zoneParameter = 'timezone'

/** Whether a filter compares instants. */
export function holdsInstants({ type, field }: Filterable): boolean {
  return type === 'timestamp' || field?.format === 'date-time'
}

/**
 * The zone of the days in some filters, and the filters alone. `timezone` names the zone beside a day. Without one it
 * is a filter like others, if a field has this name.
 *
 * @param isOfInstants whether the filter of a parameter compares instants
 * @param isDayNamed whether something else in the request has a day, such as a condition
 */
export function zoneOfDays(
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
  else if (others.length > 0) issues.push(issue('DUPLICATE_PARAMETER', { parameter: zoneParameter }))
  else if (zone === undefined) issues.push(issue('value', { parameter: zoneParameter, wanted: 'zone' }))
  return { zone: zone ?? utc, zoneName: first.value, filters }
}

/** A filter by instants. */
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
export function readDays(
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
