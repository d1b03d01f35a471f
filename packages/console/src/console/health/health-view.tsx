/** How the server is doing: whether it is ready, and what its metrics say, for administrators. */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useConnection } from '../interface/connection.tsx'
import type { Problem } from '../interface/problem.ts'
import { ProblemView } from '../ui/problem-view.tsx'
import { refreshed, useMetrics } from './metrics.ts'
import { quantile, type Sample, sumBy, sumOf } from './metrics-text.ts'
import { NoMetrics } from './no-metrics.tsx'

export default function HealthView(): ReactNode {
  const { send, version } = useConnection()
  const ready = useQuery<string, Problem>({
    queryKey: [version.name, 'ready'],
    queryFn: async ({ signal }) =>
      (await send<{ status: string }>({ root: true, path: '/health/ready', signal })).body.status,
    refetchInterval: refreshed,
  })
  const metrics = useMetrics()
  return (
    <>
      <h1>Health</h1>
      {ready.error !== null && <ProblemView problem={ready.error} />}
      {ready.data !== undefined && ready.error === null && (
        <p>
          The server is <strong>{ready.data === 'ready' ? 'ready' : `in ${ready.data}`}</strong>.
        </p>
      )}
      <NoMetrics metrics={metrics} />
      {metrics.data !== undefined && <Figures samples={metrics.data} />}
    </>
  )
}

function Figures({ samples }: { readonly samples: readonly Sample[] }): ReactNode {
  const memory = sumOf(samples, 'process_resident_memory_bytes')
  const figures = [
    ['Requests since the start', sumOf(samples, 'resourced_requests_total').toLocaleString()],
    ['Requests being answered', sumOf(samples, 'resourced_requests_in_flight').toLocaleString()],
    slowest(samples),
    ['Memory', memory === 0 ? '–' : `${Math.round(memory / 1_048_576).toLocaleString()} MiB`],
  ]
  return (
    <>
      <ul className="tiles">
        {figures.map(([title, value]) => (
          <li key={title} className="card">
            <p className="quiet">{title}</p>
            <strong className="number">{value}</strong>
          </li>
        ))}
      </ul>
      <Bars title="Requests by status" rows={sumBy(samples, 'resourced_requests_total', 'status')} />
      <Bars title="Requests by address" rows={sumBy(samples, 'resourced_requests_total', 'route').slice(0, 12)} />
      <Bars title="Requests by version" rows={sumBy(samples, 'resourced_version_requests_total', 'version')} />
    </>
  )
}

/** How long all requests but one of a hundred take. */
function slowest(samples: readonly Sample[]): readonly [title: string, value: string] {
  const { bound, isWithin } = quantile(samples, 'resourced_request_duration_seconds', 0.99) ?? {}
  const title =
    isWithin === false ? 'More than 1 of 100 requests takes longer than' : '99 of 100 requests take less than'
  return [title, bound === undefined ? '–' : bound < 1 ? `${bound * 1000} ms` : `${bound} s`]
}

interface BarsProps {
  readonly title: string
  readonly rows: readonly (readonly [string, number])[]
}

/** A bar for each row; the numbers stand beside them for those who do not see the bars. */
function Bars({ title, rows }: BarsProps): ReactNode {
  const most = Math.max(1, ...rows.map(([, value]) => value))
  if (rows.length === 0) return null
  return (
    <section className="card bars">
      <h2>{title}</h2>
      <table>
        <tbody>
          {rows.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="number">{value.toLocaleString()}</td>
              <td>
                <meter aria-label={name} max={most} value={value} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
