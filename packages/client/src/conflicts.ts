/**
 * Changes of records that are safe against lost updates: each one sends the entity tag of the record that it was made
 * from, and a conflict can be resolved with both sides (CON-3, CON-5).
 */
import { etagOf, exchange } from './exchange.ts'
import { ProblemError } from './problem-error.ts'
import { originalOf } from './related-reads.ts'
import { sleep } from './retrying.ts'
import type { CallOptions, Send } from './send.ts'

/** Both sides of a conflict: somebody else has changed the record since it was read. */
export interface Conflict<Changes = object, Data = object> {
  /** What this call wanted to change. */
  readonly mine: Changes
  /** The record as it is now. */
  readonly theirs: Data
  /** The record that this call was made from; `undefined`: only its id was given. */
  readonly before: Data | undefined
}

/**
 * Resolves a conflict: returns the changes to make to `theirs`, or `undefined` for none; then the call rejects with
 * `PRECONDITION_FAILED`. It is called again if the record changes again meanwhile.
 */
export type OnConflict<Changes = object, Data = object> = (
  conflict: Conflict<Changes, Data>,
) => Changes | undefined | Promise<Changes | undefined>

/** Options of a deletion. */
export interface ConditionOptions extends CallOptions {
  /**
   * The entity tag that the record must still have, or `*` for any; 412 otherwise. By default the tag of the given
   * record.
   */
  readonly ifMatch?: string | undefined
}

/** Options of a change. */
export interface ChangeOptions<Changes = object, Data = object> extends ConditionOptions {
  /** Resolves conflicts in place of the client's own `onConflict`. */
  readonly onConflict?: OnConflict<Changes, Data> | undefined
}

/** A request that changes the record at a path. */
export interface Change extends ChangeOptions {
  readonly send: Send
  readonly method: 'PATCH' | 'PUT'
  readonly path: string
  /** The record that the change was made from. */
  readonly before: object | undefined
  readonly mine: object
}

/** A JSON Merge Patch (RFC 7396). */
export const mergePatchType = 'application/merge-patch+json'

// Whoever changes a record more often than this during one call is a program in a loop.
const mostConflicts = 100

/** Changes a record, and resolves conflicts. */
export async function changeRecord(change: Change): Promise<object | undefined> {
  const { send, method, path, signal, onConflict } = change
  let { mine, before, ifMatch } = change
  const type = method === 'PATCH' ? mergePatchType : undefined
  for (let conflicts = 0; ; conflicts++) {
    let problem: ProblemError
    try {
      const condition = await conditionFor(send, path, before, { ifMatch, signal })
      const headers = { ...(type && { 'content-type': type }), 'if-match': condition }
      return (await exchange(send, method, path, { body: mine, headers, signal })).body
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status !== 412) throw error
      problem = error
    }
    const { isRepeated } = problem.response ?? {}
    if ((!isRepeated && !onConflict) || conflicts === mostConflicts) throw problem
    const { body: theirs = {} } = await exchange(send, 'GET', path, { signal })
    // The first attempt got no response, and was carried out: its own change is the conflict.
    if (isRepeated && contains(theirs, mine)) return theirs
    const merged = await onConflict?.({ mine, theirs, before })
    if (merged === undefined) throw problem
    mine = merged
    before = theirs
    ifMatch = undefined
    // Programs that change one record at once come apart.
    await sleep(Math.random() * Math.min(2 ** conflicts, 200), signal)
  }
}

/** Proxies that compress responses make tags weak, and a weak tag never matches. */
export function strongTag(etag: string): string {
  return etag.replace(/^W\//, '')
}

/**
 * The value of `If-Match` for a record. The records of a list have no tag: such a record is read again, and must still
 * be what it was, as far as the list showed it.
 *
 * @param before the record; `undefined`: only its id is known
 * @throws ProblemError PRECONDITION_FAILED if the record has changed
 */
export async function conditionFor(
  send: Send,
  path: string,
  before: object | undefined,
  { ifMatch, signal }: ConditionOptions,
): Promise<string | undefined> {
  const known = ifMatch ?? (before && etagOf(before))
  if (known !== undefined || before === undefined) return known && strongTag(known)
  const { body: current = {}, ...response } = await exchange(send, 'GET', path, { signal })
  // Related records that were joined into a copy are no fields.
  const fields = Object.entries(originalOf(before)).filter(([name]) => Object.hasOwn(current, name))
  if (contains(current, Object.fromEntries(fields)))
    return conditionFor(send, path, undefined, { ifMatch: etagOf(current) })
  const detail = 'The record has changed since the list was read.'
  throw new ProblemError(412, { code: 'PRECONDITION_FAILED', detail }, { ...response, body: undefined })
}

/** Whether a value contains all of another: the members of its objects, and otherwise the same. `null` is nothing. */
function contains(value: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return (value ?? null) === (part ?? null)
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(part) && !(Array.isArray(value) && value.length === part.length)) return false
  return Object.entries(part).every(([name, each]) => contains(Reflect.get(value, name), each))
}
