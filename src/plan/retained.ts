/** How long deleted records are kept (DEL-7). */

import type { Resource } from '../model/resource.ts'
import { timestamp } from '../model/time.ts'

/**
 * What was deleted after this moment is still there; what was deleted before is gone to everyone, purged or not.
 *
 * @param now milliseconds since 1970
 */
export function retainedSince({ deletion }: Pick<Resource, 'deletion'>, now: number): string {
  return timestamp(now - deletion.gracePeriod)
}
