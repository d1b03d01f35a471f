/** The metrics of the server, for administrators (OPS-7). */
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useConnection } from '../interface/connection.tsx'
import type { Problem } from '../interface/problem.ts'
import { readMetrics, type Sample } from './metrics-text.ts'

export const refreshed = 5_000

/** What is known of the metrics. */
export interface Metrics extends Pick<UseQueryResult<Sample[], Problem>, 'data' | 'error'> {
  /** Whether the caller may read them; nobody else asks for them. */
  readonly isAdministrator: boolean
}

/** Reads the metrics, and again from time to time. */
export function useMetrics(): Metrics {
  const { send, version, caller } = useConnection()
  const isAdministrator = caller.roles.includes('admin')
  const { data, error } = useQuery<Sample[], Problem>({
    queryKey: [version.name, 'metrics'],
    queryFn: async ({ signal }) => {
      const { body } = await send<Response>({ root: true, path: '/health/metrics', signal, stream: true })
      return readMetrics(await body.text())
    },
    enabled: isAdministrator,
    refetchInterval: (query) => (query.state.error === null ? refreshed : false),
  })
  return { data, error, isAdministrator }
}
