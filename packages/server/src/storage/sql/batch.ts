/** Many changes in one transaction: the clocks of their collections advance together, at its end. */
import type { Resource } from 'resourced-contract/model/resource'
import type { Row } from '../transaction.ts'

/** By how many live and deleted records a collection grows, and how many of its records are touched. */
export interface Move {
  readonly live: number
  readonly deleted: number
  /** All records that were there before and change; `undefined`: any. */
  readonly ids?: readonly string[] | undefined
  /** How many records are touched; left out: as many as the other members say. */
  readonly count?: number
}

/** By how many live and deleted records several collections grow. */
export type Moves = Map<string, Move>

/** Notes the changes in a collection. */
export function noteMove(moves: Moves, collection: string, move: Move): void {
  const known = moves.get(collection) ?? { live: 0, deleted: 0, ids: [], count: 0 }
  moves.set(collection, {
    live: known.live + move.live,
    deleted: known.deleted + move.deleted,
    ids: known.ids && move.ids && [...known.ids, ...move.ids],
    count: countOf(known) + countOf(move),
  })
}

function countOf({ live, ids, count }: Move): number {
  return count ?? Math.max(Math.abs(live), ids?.length ?? 0)
}

/** Changes that belong together. */
export interface Batch {
  /** What they have changed so far. */
  readonly moves: Moves
  /** The most records that they may touch. */
  readonly most: number
  /** The rows of the records that changes sent together are about, by `addressKey`; left out: none is read before. */
  readonly rows?: ReadonlyMap<string, Row>
}

/** A record of a collection as a key: records of two collections may have the same id. */
export function addressKey({ name }: Pick<Resource, 'name'>, id: string): string {
  return `${name} ${id}`
}

/** How many more records a batch may touch: negative, if it has touched too many. */
export function roomOf({ moves, most }: Batch): number {
  return moves.values().reduce((room, move) => room - countOf(move), most)
}
