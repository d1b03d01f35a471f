/**
 * Places in the orders of lists: after how many rows a row comes. A page by number is read from the nearest place
 * before it, so that it skips few rows. Like a total, a place is true until a collection changes that its list depends
 * on.
 */
import type { Position, SortTerm } from 'resourced-contract/model/predicate'
import type { RecordValues, Resource } from 'resourced-contract/model/resource'
import type { PageOutcome } from '../../plan/outcome.ts'
import type { ReadPage } from '../../plan/plan.ts'
import { BoundedMap } from '../sql/bounded-map.ts'
import { columnsOf, comparisonColumn } from '../sql/columns.ts'
import { boundOf } from '../sql/records.ts'
import { rangeOf } from './list.ts'

/** A row by its keys, and how many rows of the list come up to it: itself and all before it. */
export interface Place {
  readonly rows: number
  readonly keys: Position['keys']
}

/** The known places of one list in one order. */
interface Order {
  readonly revision: number
  /** By `rows`, ascending. */
  readonly places: readonly Place[]
}

/** A place takes about 200 bytes. */
const mostPlaces = 8_192

/** The most places of one order; of more, every second one is forgotten. */
const mostOfOrder = 256

/** Where a page begins that is no further than this is found as quickly by skipping rows. */
const near = 100

/** Records with more characters are not parsed for their place. */
const longest = 4_096

/** The places that were met while pages were read. */
export class Places {
  readonly #orders = new BoundedMap<Order>(mostPlaces)

  /** The nearest known place that a page begins at or after. */
  before(list: string, plan: ReadPage, revision: number): Place | undefined {
    const rows = rangeOf(plan.page).offset
    // Which deleted records a caller is shown depends on the time.
    if (rows < near || plan.deleted !== undefined) return undefined
    const order = this.#orders.get(keyOf(list, plan))
    return order?.revision === revision ? order.places[countUpTo(order.places, rows) - 1] : undefined
  }

  /** Learns the place of the last row of a page. */
  learn(list: string, plan: ReadPage, revision: number, { json, count }: Pick<PageOutcome, 'json' | 'count'>): void {
    if (count === 0 || plan.page.style === 'cursor' || plan.deleted !== undefined) return
    const rows = rangeOf(plan.page).offset + count
    if (rows < near) return
    const key = keyOf(list, plan)
    const known = this.#orders.get(key)
    let places = known?.revision === revision ? known.places : []
    const index = countUpTo(places, rows)
    if (places[index - 1]?.rows === rows) return
    const keys = keysOfLast(plan, json)
    if (keys === undefined) return
    if (places.length >= mostOfOrder) places = places.filter((_, index) => index % 2 === 1)
    const at = countUpTo(places, rows)
    places = [...places.slice(0, at), { rows, keys }, ...places.slice(at)]
    this.#orders.set(key, { revision, places }, places.length)
  }

  clear(): void {
    this.#orders.clear()
  }
}

function keyOf(list: string, { sort }: ReadPage): string {
  return `${list} ${sort.map(({ field, descending }) => (descending ? `-${field}` : field)).join()}`
}

/** How many places come after at most so many rows. */
function countUpTo(places: readonly Place[], rows: number): number {
  let [least, most] = [0, places.length]
  while (least < most) {
    const middle = (least + most) >> 1
    if ((places[middle] as Place).rows <= rows) least = middle + 1
    else most = middle
  }
  return least
}

/** The keys of the last record of a page; `undefined` where its representation does not have them all. */
function keysOfLast({ resource, versionResource, fields, sort }: ReadPage, json: string): Place['keys'] | undefined {
  if (versionResource !== undefined || fields !== undefined) return undefined
  const start = json.lastIndexOf('\n') + 1
  if (json.length - start > longest) return undefined
  const record = JSON.parse(json.slice(start)) as RecordValues
  if (sort.some(({ field }) => !(field in record))) return undefined
  return [...sort.map((term) => keyOfTerm(resource, term, record)), record['id'] as string]
}

function keyOfTerm(resource: Resource, { field }: SortTerm, record: RecordValues): Place['keys'][number] {
  const name = comparisonColumn(resource, field)
  const column = columnsOf(resource).find((each) => each.name === name)
  // Timestamps have no other column, and are stored as they are represented.
  return (column === undefined ? record[field] : boundOf(column, record)) as Place['keys'][number]
}
