/** The versions of the interface: which are live, which end when, and for administrators who still uses them. */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { readMetrics, type Sample } from '../health/metrics-text.ts'
import { useConnection } from '../interface/connection.tsx'
import type { VersionSetting } from '../interface/page-settings.ts'
import { Problem } from '../interface/problem.ts'
import { makeSend } from '../interface/send.ts'
import { SmallTable } from '../ui/small-table.tsx'
import { brief } from '../ui/value.tsx'

export default function VersionsView(): ReactNode {
  const { settings, send, version } = useConnection()
  const { data: uses } = useQuery({
    queryKey: [version.name, 'metrics', 'versions'],
    queryFn: async ({ signal }) => {
      const { body } = await send<Response>({ root: true, path: '/health/metrics', signal, stream: true })
      return readMetrics(await body.text()).filter(({ name }) => name === 'resourced_version_requests_total')
    },
  })
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
      {uses === undefined && <p className="quiet">Only administrators see how often each version is used.</p>}
    </>
  )
}

interface RowProps {
  readonly version: VersionSetting
  /** How often who has used it; `undefined`: the caller may not know. */
  readonly uses: readonly Sample[] | undefined
}

/** What a version says of itself: in the header fields of its own responses (VER-3), or by 410 (VER-4). */
function VersionRow({ version, uses }: RowProps): ReactNode {
  const { settings } = useConnection()
  const { data } = useQuery({
    queryKey: [version.name, 'lifecycle'],
    queryFn: async ({ signal }) => {
      try {
        const send = makeSend({ name: settings.name, version, carrier: settings.carrier })
        const { headers } = await send({ path: '/caller', signal })
        const [deprecation, sunset] = [headers.get('Deprecation'), headers.get('Sunset')]
        const guide = /<([^>]*)>;\s*rel="?deprecation/.exec(headers.get('Link') ?? '')?.[1]
        return { state: deprecation === null ? 'live' : 'deprecated', sunset, guide }
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        return { state: error.status === 410 ? 'retired' : error.detail, sunset: null, guide: undefined }
      }
    },
  })
  return (
    <tr>
      <th scope="row">
        <a href={version.base === '' ? 'docs' : `${version.base}/docs`}>{version.name}</a>{' '}
        {version.current && <span className="tag">current</span>}
      </th>
      <td>{data?.state ?? '…'}</td>
      <td>{data?.sunset ? new Date(data.sunset).toLocaleDateString(undefined, { dateStyle: 'medium' }) : '–'}</td>
      <td>{data?.guide?.startsWith('https://') ? <a href={data.guide}>{data.guide}</a> : '–'}</td>
      <td className="number">{uses?.reduce((sum, { value }) => sum + value, 0).toLocaleString() ?? '–'}</td>
      <td>
        <bdi>{callersOf(uses ?? [])}</bdi>
      </td>
    </tr>
  )
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
