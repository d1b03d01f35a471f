/** What the replies know of their request. */
import type { Position } from '../model/predicate.ts'
import type { Occurrence } from './problem.ts'

/** What a reply needs beside plan and outcome. */
export interface ReplyContext extends Occurrence {
  /** What comes before the collection in paths: `/v1`. */
  readonly basePath: string
  /** The path of the request. */
  readonly path: string
  /** The query string of the request, without `?`. */
  readonly query: string
  /** Whether the address alone leads back here: a QUERY asks by its body, and has no links to other pages. */
  readonly linked: boolean
  /** The answer that the client prefers to a change (`Prefer: return=…`). */
  readonly preferred: 'minimal' | 'representation' | undefined
  /** Whether the client prefers a job to waiting (`Prefer: respond-async`). */
  readonly asynchronously: boolean
  /** `Preference-Applied`, where a preference was given that this address follows. */
  readonly applied: string | undefined
  /** Makes a cursor of a place in the list asked for. */
  readonly sealCursor: (position: Position) => string
}
