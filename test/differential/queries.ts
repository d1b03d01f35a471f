/** Query strings by chance: filters with every operator, sorts, pages, searches. */
import { filterOperators } from 'resourced-contract/model/operators'
import { operatorsFor, sortableNames } from 'resourced-contract/model/resource'
import { figureKinds, figuresOf, groupsOf } from 'resourced-contract/model/summary'
import { pick } from '../durability/random.ts'
import { stringOf, valueText } from './bodies.ts'
import type { Making, Place } from './drafts.ts'
import { text } from './values.ts'

/** A query string, for a list or, of `filters` alone, for a deletion by filter. */
export function queryOf(making: Making, place: Place, of: 'list' | 'filters' = 'list'): string {
  const { random } = making
  const parameters: [string, string][] = []
  const filters = of === 'filters' ? 1 : pick(random, [0, 0, 0, 0, 1, 1, 2, 3])
  for (let count = 0; count < filters; count++) parameters.push(...filterOf(making, place))
  if (of === 'list') parameters.push(...rest(making, place))
  return parameters.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
}

/** The query string of a summary. */
export function summaryOf(making: Making, place: Place): string {
  const { random } = making
  const { resource } = place
  const groups = [...groupsOf(resource).keys()]
  const some = (names: readonly string[], most: number) => [
    ...new Set(Array.from({ length: Math.floor(random() * (most + 1)) }, () => pick(random, names))),
  ]
  const parameters: [string, string][] = [['group', some(groups, 3).join()]]
  const figures = figureKinds.flatMap((kind) => {
    const names = [...figuresOf(resource, kind).keys()]
    const own = names.length === 0 ? [] : some(names, 2)
    parameters.push([kind, own.join()])
    return own.map((name) => `${kind}.${name}`)
  })
  const orders = [...(parameters[0]?.[1].split(',') ?? []), ...figures, 'count'].filter((name) => name !== '')
  if (random() < 0.5) parameters.push(['sort', `${pick(random, ['', '-'])}${pick(random, orders)}`])
  if (random() < 0.4) parameters.push(['timezone', pick(random, ['Europe/Berlin', 'Pacific/Apia', 'UTC', 'x'])])
  if (random() < 0.5) parameters.push(['limit', String(1 + Math.floor(random() * 4))])
  for (const filter of filterOf(making, place)) if (random() < 0.3) parameters.push(filter)
  return parameters
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&')
}

function rest({ random }: Making, { resource }: Place): [string, string][] {
  const parameters: [string, string][] = []
  const sorts = sortableNames(resource)
  if (random() < 0.5) {
    const terms = Array.from({ length: pick(random, [1, 1, 2, 3]) }, () => pick(random, sorts))
    parameters.push(['sort', [...new Set(terms)].map((name) => `${pick(random, ['', '-'])}${name}`).join()])
  }
  if (random() < 0.2) {
    const names = resource.fields.map(({ name }) => name)
    parameters.push(['fields', [pick(random, names), pick(random, names), 'id'].join()])
  }
  const searched = resource.fields.some((field) => field.search)
  if (searched && random() < 0.25) parameters.push(['q', searchOf(random)])
  if (random() < 0.15) parameters.push(['include_deleted', pick(random, ['true', 'true', 'true', 'false', 'x'])])
  const small = () => String(1 + Math.floor(random() * 6))
  const style = random()
  if (style < 0.2) parameters.push(['page', small()], ['per_page', small()])
  else if (style < 0.4) parameters.push(['offset', pick(random, ['0', '1', '3', '10', '1000'])], ['limit', small()])
  else if (style < 0.8) parameters.push(['limit', small()])
  else if (style < 0.83) parameters.push(['limit', pick(random, ['0', '-1', '51', 'x', '1.5', '9007199254740993'])])
  return parameters
}

function searchOf(random: Making['random']): string {
  const chance = random()
  if (chance < 0.15)
    return pick(random, ['\u0301', '***', "'", '', ' ', '&', ':*', 'a:*', "a' & 'b", '\\', '%', '٣', '½'])
  if (chance < 0.2) return Array.from({ length: 60 }, (_, index) => `w${index}`).join(' ')
  return Array.from({ length: pick(random, [1, 1, 2, 3]) }, () =>
    beginning(text(random), pick(random, [1, 3, 2_500])),
  ).join(' ')
}

function filterOf(making: Making, { resource }: Place): [string, string][] {
  const { random } = making
  const each = pick(random, resource.filterables)
  const { name, field } = each
  const operator = pick(random, random() < 0.97 ? ['eq', 'eq', ...operatorsFor(each)] : [...filterOperators.keys()])
  const value = () => {
    if (random() < 0.03)
      return pick(random, [
        '',
        'x',
        'null',
        '1e400',
        '9007199254740993',
        '-0',
        ' 1',
        '1.50',
        '\0',
        '2026',
        'TRUE',
        '%',
        '0x10',
      ])
    if (field === undefined)
      return pick(random, ['2026-01-01T00:00:00Z', '2026-01-01T00:16:40.000Z', '2026-01-01T01:00:00+01:00', 'x'])
    if (field.type === 'string') return beginning(stringOf(making, field), pick(random, [1, 2, 5, 3_000]))
    const written = field.type === 'decimal' ? valueText(making, field).replaceAll('"', '') : valueText(making, field)
    return written === 'null' ? '0' : written
  }
  if (operator === 'eq') return Array.from({ length: pick(random, [1, 1, 2]) }, () => [name, value()])
  if (operator === 'null') return [[`${name}[null]`, pick(random, ['true', 'false', 'true', 'x'])]]
  if (operator === 'in') return [[`${name}[in]`, Array.from({ length: pick(random, [1, 2, 4]) }, value).join()]]
  return [[`${name}[${operator}]`, value()]]
}

/** So many characters of a text: half of one is none. */
function beginning(whole: string, length: number): string {
  return [...whole].slice(0, length).join('')
}
