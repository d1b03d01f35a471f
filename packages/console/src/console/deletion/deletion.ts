/** What deletions would do, what came of them, and how they are undone. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import type { Collection } from '../interface/catalog.ts'
import { type Connection, grantOf, hasBin, useConnection } from '../interface/connection.tsx'
import { Problem, type ProblemEntry } from '../interface/problem.ts'
import { recordPath, refreshAll } from '../interface/records.ts'
import type { ApiResponse } from '../interface/send.ts'
import { hasEnded, type Job } from '../jobs/job.ts'
import { navigate } from '../shell/fragment.ts'
import { type NoticeAction, notify } from '../ui/notices.tsx'

/** Something that stands in the way of a deletion. */
export interface Blocker extends ProblemEntry {
  /** Where the records are that have to go first: how many there are, and the ids of some. */
  readonly collection?: string
  readonly count?: number
  readonly ids?: readonly string[]
  /** The record that cannot go, where several were asked for. */
  readonly blocked?: string | undefined
}

/** What a deletion would do now (DEL-12). */
export interface Preview {
  readonly allowed: boolean
  readonly deletes: readonly { readonly collection: string; readonly count: number }[]
  readonly clears: readonly { readonly collection: string; readonly field: string; readonly count: number }[]
  readonly blocked_by: readonly Blocker[]
  /** Whether the counts are exact; otherwise there is more. */
  readonly complete: boolean
  readonly purged_at: string | null
}

/** The connection, with the cache that changes make stale. */
export interface Workplace {
  readonly connection: Connection
  readonly client: QueryClient
}

export function useWorkplace(): Workplace {
  return { connection: useConnection(), client: useQueryClient() }
}

/** Whether some of what a deletion takes cannot be restored. */
export function isFinal(connection: Connection, collection: Collection, preview?: Preview | null): boolean {
  const taken = preview?.complete ? preview.deletes.map((each) => each.collection) : cascadesOf(connection, collection)
  const isHard = (name: string) => connection.catalog.collections.get(name)?.deletion?.variant === 'hard'
  return collection.deletion?.restorable !== true || taken.some(isHard)
}

/** The collections whose records may be deleted with those of a collection. */
export function cascadesOf({ catalog: { collections } }: Connection, { name }: Collection): string[] {
  const reached = new Set([name])
  for (const each of reached) {
    for (const { collection, field } of collections.get(each)?.referredBy ?? []) {
      if (collections.get(collection)?.field.get(field)?.on_delete === 'cascade') reached.add(collection)
    }
  }
  return [...reached].slice(1)
}

/** What is said while a job makes a change, if it fails, and at the end. */
interface OutcomeWords {
  readonly doing: string
  readonly failed: string
  readonly done: string
}

/** Says what a response to a large change means, now and, where a job does the work, at the end of the job. */
export async function noteOutcome(
  { connection, client }: Workplace,
  { status, body }: Pick<ApiResponse, 'status' | 'body'>,
  { doing, failed, done }: OutcomeWords,
  action?: NoticeAction,
): Promise<void> {
  // The view of a deleted record leaves the page first, or it would read the record again.
  await new Promise((resolve) => setTimeout(resolve))
  void refreshAll(client, connection)
  if (status === 202) {
    const { job_id: id } = body as { readonly job_id: string }
    const open = { label: 'Show the job', run: () => navigate(`/-/jobs/${id}`) }
    notify('waiting', doing, open)
    const { error } = await endOf(connection, id)
    void refreshAll(client, connection)
    if (error !== null) {
      notify('failed', `${failed} ${error['detail']}`, open)
      return
    }
  }
  notify('done', done, action)
}

async function endOf({ send }: Connection, id: string): Promise<Job> {
  for (;;) {
    const { body, headers } = await send<Job>({ path: `/jobs/${id}` })
    if (hasEnded(body)) return body
    await new Promise((resolve) => setTimeout(resolve, 1_000 * Number(headers.get('Retry-After') ?? 1)))
  }
}

/** Restores a record, and waits for the job where one restores it. */
export async function restoreRecord(connection: Connection, { name }: Collection, id: string): Promise<void> {
  const { status, body } = await connection.send({ method: 'POST', path: `${recordPath(name, id)}/restore` })
  if (status !== 202) return
  const { error } = await endOf(connection, (body as { readonly job_id: string }).job_id)
  if (error !== null) throw new Problem(Number(error['status']), error)
}

/** The button that undoes a deletion; `undefined`: the caller cannot. */
export function undo({ connection, client }: Workplace, collection: Collection, id: string): NoticeAction | undefined {
  const { name, deletion } = collection
  if (deletion?.restorable !== true || grantOf(connection, name, 'restore') === 'none') return undefined
  const run = async () => {
    try {
      await restoreRecord(connection, collection, id)
      const path = `/${name}/${encodeURIComponent(id)}`
      notify('done', 'Restored.', { label: 'Open', run: () => navigate(path) })
      await refreshAll(client, connection)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const text = [error.detail, ...error.errors.map(({ message }) => message)].join(' ')
      notify('failed', text, binAction(connection, collection))
    }
  }
  return { label: 'Undo', run: () => void run() }
}

/** The button that leads to the recycle bin of a collection; `undefined`: the caller cannot look into it. */
export function binAction(connection: Connection, collection: Collection): NoticeAction | undefined {
  if (!hasBin(connection, collection)) return undefined
  return { label: 'Recycle bin', run: () => navigate(`/-/bin/${collection.name}`) }
}
