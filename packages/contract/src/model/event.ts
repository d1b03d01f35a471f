/** What an event says about its record (EVT-1). */

/** The kinds of events. */
export const eventKinds = ['created', 'updated', 'deleted', 'restored', 'purged'] as const
export type EventKind = (typeof eventKinds)[number]

/** The kinds of revisions (HIS-1). A purge leaves none. */
export const revisionKinds = eventKinds.filter((kind) => kind !== 'purged')

/**
 * A position in the order of events. A database that has lost its last changes gives positions again, so the mark tells
 * which event was the newest one up to there.
 */
export interface EventPosition {
  readonly position: number
  /** See `eventMark`. */
  readonly mark: number
}

/** A number of 24 bits from the random part of the id of an event; 0: there is no event. */
export function eventMark(id: unknown): number {
  return typeof id === 'string' ? Number.parseInt(id.slice(-6), 16) : 0
}
