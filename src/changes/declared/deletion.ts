/** How records are deleted (DEL): what is kept, for how long, and how a deletion is answered. */
import type { Resource } from '../../model/resource.ts'
import { isRestorable } from '../../model/resource.ts'
import type { Said } from './said.ts'

const day = 86_400_000

/** Compares the deletion of one resource. */
export function compareDeletion(before: Resource, after: Resource): Said[] {
  const [was, is] = [before.deletion, after.deletion]
  const found: Said[] = []
  const at = (key: string) => ({ at: ['deletion', key] })
  if (was.variant !== is.variant) {
    found.push({ kind: is.variant === 'hard' ? 'deletion-hard' : 'deletion-soft', ...at('variant') })
  } else if (was.gracePeriod !== is.gracePeriod && isRestorable(before) && isRestorable(after)) {
    const kind = is.gracePeriod < was.gracePeriod ? 'grace-shortened' : 'grace-lengthened'
    found.push({ kind, ...at('gracePeriod'), before: lasting(was.gracePeriod), after: lasting(is.gracePeriod) })
  }
  if (was.answer !== is.answer) {
    found.push({ kind: 'deletion-answer', ...at('answer'), before: was.answer, after: is.answer })
  }
  const [most, now] = [was.asynchronous.above, is.asynchronous.above]
  if (now === 0 && most !== 0) found.push({ kind: 'deletion-always-later', ...at('asynchronous') })
  else if (now < most) {
    const never = most === Infinity ? 'never' : most
    found.push({ kind: 'deletion-sooner-later', ...at('asynchronous'), before: never, after: now })
  }
  return found
}

function lasting(milliseconds: number): string {
  if (milliseconds % day === 0) return `${milliseconds / day} days`
  return `${milliseconds / 1_000} seconds`
}
