/** The caller's background jobs, newest first; administrators see those of everybody. */
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { PageButtons } from '../ui/page-buttons.tsx'
import { ProblemView } from '../ui/problem-view.tsx'
import { SmallTable } from '../ui/small-table.tsx'
import { formatTime } from '../ui/value.tsx'
import { DeleteJob } from './delete-job.tsx'
import { type JobPage, titleOf, useJobs } from './job.ts'
import { JobState } from './job-state.tsx'

export default function JobsView(): ReactNode {
  const [cursor, setCursor] = useState<string>()
  const query = new URLSearchParams({ sort: '-created_at', limit: '50', ...(cursor && { cursor }) })
  const { data, error, refetch } = useJobs<JobPage>('/jobs', query)
  const pagination = data?.body.pagination
  return (
    <>
      <h1>Jobs</h1>
      <p className="quiet">Long work runs in the background: exports, and changes and deletions of many records.</p>
      {error !== null && <ProblemView problem={error} again={() => void refetch()} />}
      <SmallTable titles={['Job', 'State', 'Started by', 'Started']} actions>
        {data?.body.data.map((job) => (
          <tr key={job.id}>
            <td>
              <Link to={`/-/jobs/${job.id}`}>{titleOf(job)}</Link>
            </td>
            <td>
              <JobState job={job} />
            </td>
            <td>
              <bdi>{job.started_by ?? 'the server'}</bdi>
            </td>
            <td className="number">{formatTime(job.created_at)}</td>
            <td>
              <DeleteJob job={job} />
            </td>
          </tr>
        ))}
      </SmallTable>
      {pagination?.total_count === 0 && <p className="quiet">No jobs yet.</p>}
      <PageButtons pagination={pagination} onTurn={setCursor} />
    </>
  )
}
