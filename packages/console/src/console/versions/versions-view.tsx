/** The versions of the interface: which are live, which end when, and for administrators who still uses them. */
import type { ReactNode } from 'react'
import { useMetrics } from '../health/metrics.ts'
import type { Sample } from '../health/metrics-text.ts'
import { NoMetrics } from '../health/no-metrics.tsx'
import { useConnection } from '../interface/connection.tsx'
import type { VersionSetting } from '../interface/page-settings.ts'
import { SmallTable } from '../ui/small-table.tsx'
import { brief } from '../ui/value.tsx'

export default function VersionsView(): ReactNode {
  const { settings } = useConnection()
  const metrics = useMetrics()
  const uses = metrics.data?.filter(({ name }) => name === 'resourced_version_requests_total')
  return (
    <>
      <h1>Versions</h1>
      <SmallTable titles={['Version', 'State', 'Ends', 'Guide', 'Requests since the start', 'Used by']}>
        {[...settings.versions].reverse().map((each) => (
          <VersionRow
            key={each.name}
            version={each}
            uses={uses?.filter(({ labels }) => labels['version'] === each.name)}
          />
        ))}
      </SmallTable>
      <NoMetrics metrics={metrics} />
    </>
  )
}

interface RowProps {
  readonly version: VersionSetting
  /** How often who has used it; `undefined`: the caller may not know. */
  readonly uses: readonly Sample[] | undefined
}

/** A version. Asking the version itself would count as use of it, by whoever looks. */
function VersionRow({ version, uses }: RowProps): ReactNode {
  const { name, base, current, sunset, guide } = version
  return (
    <tr>
      <th scope="row">
        <a href={base === '' ? 'docs' : `${base}/docs`}>{name}</a> {current && <span className="tag">current</span>}
      </th>
      <td>{stateOf(version)}</td>
      <td>{sunset ? new Date(sunset).toLocaleDateString(undefined, { dateStyle: 'medium' }) : '–'}</td>
      <td>{guide?.startsWith('https://') ? <a href={guide}>{guide}</a> : '–'}</td>
      <td className="number">{uses?.reduce((sum, { value }) => sum + value, 0).toLocaleString() ?? '–'}</td>
      <td>
        <bdi>{callersOf(uses ?? [])}</bdi>
      </td>
    </tr>
  )
}

function stateOf({ deprecated_at: deprecated, sunset }: VersionSetting): string {
  const isOver = (moment: string | undefined) => moment !== undefined && Date.parse(moment) <= Date.now()
  return isOver(sunset) ? 'retired' : isOver(deprecated) ? 'deprecated' : 'live'
}

/** The callers who use a version that is to go, the most frequent first. */
function callersOf(uses: readonly Sample[]): string {
  const callers = uses
    .filter(({ labels }) => (labels['caller'] ?? '') !== '')
    .sort((one, other) => other.value - one.value)
    .slice(0, 10)
    .map(({ labels, value }) => `${brief(labels['caller'] ?? '')} (${value.toLocaleString()})`)
  return callers.length === 0 ? '–' : callers.join(', ')
}
