/** Patches could let a field grow, one by one, far beyond what one body may have (LIM-3). */
import { jsonText } from '../model/json/json-text.ts'
import { countMembers } from '../model/json/read-json.ts'
import type { Catalog } from '../model/resource.ts'
import type { Issue } from '../spec/faults.ts'
import { issue } from './issue.ts'

/**
 * The issue of a field that a patch lets grow beyond what a body may have; `undefined`: there is none. A larger value,
 * which was imported or stored under other limits, may change and shrink.
 */
export function growthIssue(
  name: string,
  before: unknown,
  after: unknown,
  { bodyMembers, bodyBytes }: Pick<Catalog['limits'], 'bodyMembers' | 'bodyBytes'>,
): Issue | undefined {
  if (typeof after !== 'object' || after === null) return undefined
  const size = sizeOf(after)
  if (size.members <= bodyMembers && size.bytes <= bodyBytes) return undefined
  const former = sizeOf(before)
  if (size.members > bodyMembers && size.members > former.members) {
    const message = `would have ${size.members} members and items, and may have ${bodyMembers}`
    return issue('TOO_MANY_MEMBERS', name, message)
  }
  if (size.bytes <= bodyBytes || size.bytes <= former.bytes) return undefined
  return issue('TOO_LARGE', name, `would have ${size.bytes} bytes as JSON, and may have ${bodyBytes}`)
}

function sizeOf(value: unknown): { readonly members: number; readonly bytes: number } {
  const text = jsonText(value)
  return { members: countMembers(text), bytes: Buffer.byteLength(text) }
}
