/** Removes what the checker created: records, exports and jobs. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller, CreatedRecord } from '../case/case.ts'
import { type Client, currentTag, type Requester, request } from '../client/client.ts'
import { type Answer, type Exchange, isSuccess, jsonOf } from '../client/exchange.ts'
import { basePath, urlOf } from '../profile/profile.ts'
import { valueAt } from '../values/json.ts'
import { type RunContext, requesterFor } from './context.ts'

/** Whether a response says that a record does not exist. */
export function isGone(answer: Answer | undefined): boolean {
  return answer?.status === 404 || answer?.status === 410
}

/**
 * Deletes records in the given order: those that refer to others first. Records that remain are kept in
 * `Ledger.remains`. Records that existed before the run are never deleted.
 *
 * @param hasDeleted whether some were deleted before. Another record may have their address by now.
 */
export async function removeRecords(
  run: RunContext,
  records: readonly Pick<CreatedRecord, 'path' | 'by' | 'mark'>[],
  hasDeleted = false,
): Promise<void> {
  const { remains, foreign } = run.ledger
  for (const { path, by = 'caller', mark } of records) {
    if (!remains.has(path)) continue
    const mayBeOther = hasDeleted && run.reusesIdentifiers === true && mark !== undefined
    const isOther = foreign.has(path) || (mayBeOther && !(await isMarked(run, path, mark)))
    // A caller who may create records may not be allowed to delete them.
    if (isOther || (await isRemoved(run, by, path)) || (by !== 'caller' && (await isRemoved(run, 'caller', path)))) {
      remains.delete(path)
      const isVanished = !isOther && !run.ledger.deleted.has(path)
      if (isVanished) run.ledger.vanished++
    }
  }
}

/** Whether the record at a path is still the checker's: another one may have its identifier by now. */
async function isMarked(run: RunContext, path: string, mark: string): Promise<boolean> {
  const { answer } = await request(requesterFor(run), 'GET', urlOf(run.profile, path))
  return answer === undefined || (answer.status < 300 && answer.body.includes(mark))
}

/** The collections whose deletions need a condition, as their servers have said. */
const conditional = new WeakMap<Client, Set<string>>()

/** Deletes a record, with a condition if the server needs one. */
export async function requestDeletion(requester: Requester, url: string): Promise<Answer | undefined> {
  const known = conditional.get(requester.client) ?? new Set()
  conditional.set(requester.client, known)
  const collection = url.slice(0, url.lastIndexOf('/'))
  if (!known.has(collection)) {
    const { answer } = await request(requester, 'DELETE', url)
    if (answer?.status !== 428) return answer
    known.add(collection)
  }
  const fields = [['If-Match', await currentTag(requester, url)]] as const
  return (await request(requester, 'DELETE', url, { fields })).answer
}

async function isRemoved(run: RunContext, caller: Caller, path: string): Promise<boolean> {
  const requester = requesterFor(run, caller)
  const url = urlOf(run.profile, path)
  const answer = await requestDeletion(requester, url)
  if (answer?.status === 202) return disappears(requester, url)
  return answer?.status === 200 || answer?.status === 204 || isGone(answer)
}

/** How long a deletion may take that the server has accepted, in milliseconds. */
const longestDeletion = 10_000

async function disappears(requester: Requester, url: string): Promise<boolean> {
  const until = performance.now() + longestDeletion
  for (let pause = 25; ; pause *= 2) {
    if (isGone((await request(requester, 'GET', url)).answer)) return true
    if (performance.now() + pause > until) return false
    await sleep(pause)
  }
}

/** How long the checker tries to delete an export that the server is still writing, in milliseconds. */
const longestExport = 2_000

/** Deletes the exports that exchanges began: they count against the quota of the caller (LIM-8). */
export async function removeExports(run: RunContext, exchanges: readonly Exchange[]): Promise<void> {
  for (const { asked, answer } of exchanges) {
    const isBegun = asked.method === 'POST' && asked.url.endsWith('/exports') && answer?.status === 202
    const id = isBegun ? valueAt(jsonOf(answer), '/job_id') : undefined
    if (typeof id !== 'string' || !/^[\w-]+$/.test(id)) continue
    const until = performance.now() + longestExport
    for (let pause = 25; performance.now() < until; pause *= 2) {
      const { answer: deleted } = await request(requesterFor(run), 'DELETE', `${asked.url}/${id}`)
      if (deleted?.status !== 409) break
      await sleep(pause)
    }
  }
}

/** Deletes the webhooks that exchanges made. A webhook that remains is reported with the records. */
export async function removeWebhooks(run: RunContext, exchanges: readonly Exchange[]): Promise<void> {
  for (const { asked, answer } of exchanges) {
    const isMade = asked.method === 'POST' && asked.url.endsWith('/webhooks') && isSuccess(answer)
    const id = isMade ? valueAt(jsonOf(answer), '/id') : undefined
    if (typeof id !== 'string' || !/^[\w-]+$/.test(id)) continue
    const path = `${new URL(asked.url).pathname}/${id}`
    if (!(await isRemoved(run, 'caller', path))) run.ledger.remains.add(path)
  }
}

/** Deletes the jobs that the run began, and their exports. Returns the paths of those that remain. */
export async function removeJobs(run: RunContext): Promise<string[]> {
  const requester = requesterFor(run)
  const base = basePath(run.profile)
  const remaining: string[] = []
  let isOffered = true
  const remove = async (path: string) => {
    const answer = isOffered ? (await request(requester, 'DELETE', urlOf(run.profile, path))).answer : undefined
    // If one address does not support DELETE, no other does.
    if (answer?.status === 405 || answer?.status === 501) isOffered = false
    if (!isSuccess(answer) && !isGone(answer)) remaining.push(path)
  }
  for (const path of run.ledger.jobs) {
    if (!path.startsWith(`${base}/jobs/`) || !/^[\w-]+$/.test(path.slice(base.length + 6))) continue
    const url = urlOf(run.profile, path)
    const { answer } = await request(requester, 'GET', url)
    const content = answer && valueAt(jsonOf(answer), '/result/content_url')
    const file = typeof content === 'string' ? URL.parse(content, url)?.pathname : undefined
    const exported = file?.match(/^(.*\/exports\/[\w-]+)\/content$/)?.[1]
    if (exported?.startsWith(`${base}/exports/`)) await remove(exported)
    if (isSuccess(answer)) await remove(path)
  }
  return remaining
}
