/** The names of the fields to be answered, in a query or a body (QRY-4). */
import type { Resource } from '../model/resource.ts'
import type { Issue } from '../spec/faults.ts'
import type { Placed } from './placed.ts'

/**
 * Reads the fields that are asked for.
 *
 * @param system the fields that may be answered beside the declared ones
 * @param issues receives what is wrong
 * @returns each name once, in one order whatever was written
 */
export function readFields(
  resource: Resource,
  texts: readonly Placed[],
  system: readonly string[],
  issues: Issue[],
): readonly string[] {
  const places = new Map(texts.map(({ text, place }) => [text, place]))
  for (const [name, place] of places) {
    if (system.includes(name)) continue
    const field = resource.field.get(name)
    if (field !== undefined && !field.writeOnly) continue
    const message = `${resource.name} has no field ${JSON.stringify(name)} to answer with.`
    issues.push({ code: 'UNKNOWN_FIELD', message, ...place })
  }
  return [...places.keys()].sort()
}
