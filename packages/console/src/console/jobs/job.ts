/** Background jobs (JOB-1): what they are, in words, and how they are followed until they end. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useConnection } from '../interface/connection.tsx'
import type { Problem } from '../interface/problem.ts'
import { collectionKey, type JsonValue, type Page } from '../interface/records.ts'

export interface Job {
  readonly id: string
  readonly status: 'pending' | 'running' | 'succeeded' | 'failed'
  readonly kind: string
  /** `total` is `null` while the server does not know it. */
  readonly progress: { readonly done: number; readonly total: number | null }
  readonly created_at: string
  /** `null`: the server. */
  readonly started_by: string | null
  readonly result: Readonly<Record<string, JsonValue>> | null
  /** The problem that the job has failed with. */
  readonly error: Readonly<Record<string, unknown>> | null
}

/** One page of the list of jobs. */
export type JobPage = Pick<Page, 'pagination'> & { readonly data: readonly Job[] }

const kinds: Readonly<Record<string, string>> = {
  deletion: 'Delete a record',
  'bulk-deletion': 'Delete chosen records',
  'filtered-deletion': 'Delete all that match a filter',
  update: 'Change all that match a filter',
  restoration: 'Restore a record and what was deleted with it',
  purge: 'Remove deleted records for good',
  export: 'Export',
}

/** What a job does, in words. */
export function titleOf({ kind, result }: Job): string {
  const collection = result?.['collection']
  return `${kinds[kind] ?? kind}${typeof collection === 'string' ? ` ${collection}` : ''}`
}

export function hasEnded({ status }: Job): boolean {
  return status === 'succeeded' || status === 'failed'
}

/** A response with jobs, and when it is read again. */
interface Followed<Body> {
  readonly body: Body
  /** In milliseconds; `false`: every job has ended. */
  readonly next: number | false
}

/**
 * Reads jobs again while one of them goes on and the page is visible, as often as `Retry-After` asks.
 *
 * @param path of one job, or of the list
 */
export function useJobs<Body extends Job | JobPage>(
  path: string,
  query?: URLSearchParams,
): UseQueryResult<Followed<Body>, Problem> {
  const connection = useConnection()
  return useQuery<Followed<Body>, Problem>({
    queryKey: [...collectionKey(connection, 'jobs'), path, query?.toString()],
    queryFn: async ({ signal }) => {
      const { body, headers } = await connection.send<Body>({ path, query, signal })
      const jobs: readonly Job[] = 'data' in body ? body.data : [body as Job]
      return { body, next: !jobs.every(hasEnded) && (Number(headers.get('Retry-After')) || 2) * 1000 }
    },
    // After a lost connection the job is asked for again; after a refusal, such as 404, it is not.
    refetchInterval: ({ state }) => !state.error?.status && state.data?.next,
  })
}
