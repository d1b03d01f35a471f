/** One background job. */
import type { ReactNode } from 'react'
import { recordPath } from '../interface/records.ts'
import { navigate } from '../shell/fragment.ts'
import { ProblemView } from '../ui/problem-view.tsx'
import { formatTime } from '../ui/value.tsx'
import { DeleteJob } from './delete-job.tsx'
import { type Job, titleOf, useJobs } from './job.ts'
import { JobOutcome, JobState } from './job-state.tsx'

export default function JobView({ id }: { readonly id: string }): ReactNode {
  const { data, error, refetch } = useJobs<Job>(recordPath('jobs', id))
  const job = data?.body
  return (
    <>
      <div className="row">
        <h1>
          <a className="quiet" href="#/-/jobs">
            Jobs
          </a>{' '}
          {job !== undefined && titleOf(job)}
        </h1>
        <span className="spring" />
        {job !== undefined && <DeleteJob job={job} onDeleted={() => navigate('/-/jobs')} />}
      </div>
      {error !== null && <ProblemView problem={error} again={() => void refetch()} />}
      {job !== undefined && (
        <div className="card">
          <p>
            <JobState job={job} />
          </p>
          <p className="quiet">
            Started by <bdi>{job.started_by ?? 'the server'}</bdi>, {formatTime(job.created_at)}
          </p>
          <JobOutcome job={job} />
        </div>
      )}
    </>
  )
}
