/** What no index holds: texts that are found, ordered or kept unique may be so long, and no longer, on any engine. */

import { comparisonKey, type Draft } from '../model/record.ts'
import type { Index, RecordValues, Resource } from '../model/resource.ts'
import { fold } from '../model/text.ts'
import type { Issue } from '../spec/faults.ts'
import { issue } from './draft.ts'

/**
 * The most bytes, in UTF-8, of what one index holds of a record. PostgreSQL puts at most 2,704 into an entry, with its
 * head, the id, and up to seven bytes for each value; it compresses first, but how long a text may be must not depend
 * on what it says.
 */
export const longestKey = 2_500

// No unit of UTF-16 takes more bytes than three in UTF-8, and none takes more when its case is folded.
const mostBytes = 3

/**
 * What of a draft is too long for an index. Only what changes is judged: what is stored, though it be longer, is there
 * already.
 *
 * @param draft of the record as it is stored
 * @param said the code of the issues, and what to do
 */
export function longKeyIssues(
  resource: Resource,
  { values, changed }: Pick<Draft, 'values' | 'changed'>,
  { code, remedy } = { code: 'TOO_LONG', remedy: 'shorten it' },
): Issue[] {
  if (changed.length === 0) return []
  const issues = new Map<string, Issue>()
  for (const index of resource.indexes) {
    const { fields } = index
    if (isShort(fields, values) || fields.some((name) => issues.has(name))) continue
    const sizes = fields.map((name) => ({ name, bytes: sizeOf(resource, index, values[name], name) }))
    const sent = sizes.filter(({ name }) => changed.includes(name)).sort((left, right) => right.bytes - left.bytes)
    const [longest] = sent
    if (longest === undefined) continue
    const bytes = sum(sizes)
    // What stays is too long by itself: it was there before there was a bound, and nobody can change it here.
    if (bytes <= longestKey || (bytes - sum(sent) > longestKey && sum(sent) <= longestKey)) continue
    issues.set(longest.name, issue(code, longest.name, `${words(index, longest.name, bytes)}; ${remedy}`))
  }
  return resource.fields.flatMap(({ name }) => issues.get(name) ?? [])
}

function isShort(fields: readonly string[], values: RecordValues): boolean {
  let most = 0
  for (const name of fields) {
    const value = values[name]
    most += typeof value === 'string' ? value.length * mostBytes : 8
  }
  return most <= longestKey
}

function sizeOf(resource: Resource, { kind }: Index, value: unknown, name: string): number {
  if (value === null || value === undefined) return 0
  const key = comparisonKey(resource, name, value)
  return typeof key === 'string' ? Buffer.byteLength(kind === 'folded' ? fold(key) : key) : 8
}

function sum(sizes: readonly { readonly bytes: number }[]): number {
  return sizes.reduce((total, { bytes }) => total + bytes, 0)
}

function words({ fields, kind }: Index, longest: string, bytes: number): string {
  const others = fields.filter((name) => name !== longest)
  const together = others.length === 0 ? '' : `together with ${others.join(' and ')} `
  const how = kind === 'folded' ? 'UTF-8, its case folded' : 'UTF-8'
  return `${together}has ${bytes} bytes in ${how}, and what records are found by has at most ${longestKey}`
}

/**
 * What of a deleted record is too long for an index that was declared after its deletion.
 *
 * @param values of the fields that indexes are of
 */
export function longKeyIssuesOfDeleted(resource: Resource, values: RecordValues): Issue[] {
  const remedy = 'the record cannot return to that index; create a new record with a shorter text'
  return longKeyIssues(resource, { values, changed: Object.keys(values) }, { code: 'TEXT_TOO_LONG', remedy })
}
