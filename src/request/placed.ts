/** A text, and where it was written: what reads it need not know whether that was an address or a body. */
import type { Issue } from '../spec/faults.ts'

/** One text of those that were given. */
export interface Placed {
  readonly text: string
  readonly place: Pick<Issue, 'parameter' | 'pointer'>
}

/** The parts of a text that lists them, all in one place. */
export function listed(text: string, place: Placed['place']): Placed[] {
  return text.split(',').map((part) => ({ text: part, place }))
}
