/** What an event says about its record (EVT-1). */

/** The kinds of events. */
export const eventKinds = ['created', 'updated', 'deleted', 'restored', 'purged'] as const
export type EventKind = (typeof eventKinds)[number]
