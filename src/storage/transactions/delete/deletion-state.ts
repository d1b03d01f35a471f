/** What the job of a deletion knows, as it is kept between its batches. */

/** How far it is. */
export interface DeletionState {
  /** The collection of the records that were asked for. */
  readonly collection: string
  readonly deletedAt: string
  /** The record asked for, where it is one; else none. */
  readonly ids: readonly string[]
  readonly phase: 'take' | 'mark' | 'clear' | 'erase' | 'tidy'
  /** The row after which the phase goes on: of the queue, or of the table that it walks. */
  readonly at: number
  /** Which of the tables that a phase walks it is at. */
  readonly table?: number
  /** How many of the records asked for are deleted. */
  readonly taken: number
  /** How many of them were not, because something stood in the way by then. */
  readonly left?: number
  /** How many records are deleted, those that hang under others among them. */
  readonly done: number
  /** How many there will be; `null` while nobody knows. */
  readonly total: number | null
  /**
   * How many records were asked for, where whoever began the deletion may not read all that goes with them: they are shown
   * the records that they asked for alone (AUT-9).
   */
  readonly asked?: number
}
