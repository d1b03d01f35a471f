/** Takes away what the checker has made. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller } from '../case/case.ts'
import type { CreatedRecord } from '../case/case-state.ts'
import { type Asked, type Exchange, jsonOf } from '../client/exchange.ts'
import { urlOf } from '../profile/profile.ts'
import { valueAt } from '../values/json.ts'
import type { World } from './context.ts'

// It is gone, or was already.
const gone: ReadonlySet<number> = new Set([200, 204, 404, 410])

/** How long it is waited for a deletion that is only accepted, in milliseconds. */
const longestJob = 10_000

/**
 * Deletes records, in their order: those that refer to others come first. What stays is kept in `Ledger.remains`. What existed before the run is never deleted.
 *
 * @param hasDeleted whether some of them were deleted before: what has their address by now may be somebody else's
 */
export async function removeAll(
  world: World,
  records: readonly Pick<CreatedRecord, 'path' | 'by' | 'mark'>[],
  hasDeleted = false,
): Promise<void> {
  const { remains, foreign } = world.ledger
  const looksFirst = hasDeleted && world.reusesIdentifiers === true
  for (const { path, by = 'caller', mark } of records) {
    if (!remains.has(path)) continue
    // An answer may name a record that was there before.
    if (foreign.has(path)) {
      remains.delete(path)
      continue
    }
    if (looksFirst && mark !== undefined && !(await isMarked(world, path, mark))) {
      remains.delete(path)
      continue
    }
    // Who could make it may not be allowed to delete it.
    const isGone =
      (await isRemovedBy(world, by, path)) || (by !== 'caller' && (await isRemovedBy(world, 'caller', path)))
    if (isGone) remains.delete(path)
  }
}

/** Whether a record is the checker's still: with an address that was free for a moment it may be another. */
async function isMarked({ client, profile, credentials }: World, path: string, mark: string): Promise<boolean> {
  const { answer } = await client.send('removal', {
    method: 'GET',
    url: urlOf(profile, path),
    fields: credentials.caller,
  })
  if (answer === undefined) return true
  return answer.status < 300 && answer.body.includes(mark)
}

async function isRemovedBy(world: World, caller: Caller, path: string): Promise<boolean> {
  const { client, profile, credentials } = world
  const asked = { method: 'DELETE', url: urlOf(profile, path), fields: credentials[caller] }
  let { answer } = await client.send('removal', asked)
  if (answer?.status === 428) {
    const conditional = { ...asked, fields: [...asked.fields, ['If-Match', '*'] as const] }
    answer = (await client.send('removal', conditional)).answer
  }
  if (answer === undefined) return false
  return gone.has(answer.status) || (answer.status === 202 && (await hasGone(world, asked)))
}

/** Whether a record is no longer found, soon after its deletion was accepted (202). */
async function hasGone({ client }: World, { url, fields }: Pick<Asked, 'url' | 'fields'>): Promise<boolean> {
  const until = performance.now() + longestJob
  for (let pause = 25; ; pause *= 2) {
    const { answer } = await client.send('removal', { method: 'GET', url, fields })
    if (answer !== undefined && gone.has(answer.status) && answer.status >= 400) return true
    if (performance.now() + pause > until) return false
    await sleep(pause)
  }
}

/** For how long it is tried to delete an export that is still being written, in milliseconds. */
const longestExport = 2_000

/**
 * Deletes the exports that exchanges have begun, so that they do not count against the quota of the caller (LIM-8). A server that deletes
 * no exports keeps them: they expire.
 */
export async function removeExports(world: World, exchanges: readonly Exchange[]): Promise<void> {
  const { client, credentials } = world
  for (const { asked, answer } of exchanges) {
    const isBegun = asked.method === 'POST' && asked.url.endsWith('/exports') && answer?.status === 202
    const id = isBegun ? valueAt(jsonOf(answer), '/job_id') : undefined
    if (typeof id !== 'string' || !/^[\w-]+$/.test(id)) continue
    const deletion = { method: 'DELETE', url: `${asked.url}/${id}`, fields: credentials.caller }
    const until = performance.now() + longestExport
    for (let pause = 25; performance.now() < until; pause *= 2) {
      const { answer: deleted } = await client.send('removal', deletion)
      if (deleted?.status !== 409) break
      await sleep(pause)
    }
  }
}
