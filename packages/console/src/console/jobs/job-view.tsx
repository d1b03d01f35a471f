/** One background job. */
import type { ReactNode } from 'react'
import { recordPath } from '../interface/records.ts'
import { navigate } from '../shell/fragment.ts'
import { DetailPage } from '../ui/detail-page.tsx'
import { formatTime } from '../ui/value.tsx'
import { DeleteJob } from './delete-job.tsx'
import { type Job, titleOf, useJobs } from './job.ts'
import { JobOutcome, JobState } from './job-state.tsx'

export default function JobView({ id }: { readonly id: string }): ReactNode {
  const { data, error, refetch } = useJobs<Job>(recordPath('jobs', id))
  const job = data?.body
  return (
    <DetailPage
      list={['/-/jobs', 'Jobs']}
      title={job && titleOf(job)}
      buttons={job && <DeleteJob job={job} onDeleted={() => navigate('/-/jobs')} />}
      error={error}
      again={refetch}
    >
      {job && (
        <>
          <p>
            <JobState job={job} />
          </p>
          <p className="quiet">
            Started by <bdi>{job.started_by ?? 'the server'}</bdi>, {formatTime(job.created_at)}
          </p>
          <JobOutcome job={job} />
        </>
      )}
    </DetailPage>
  )
}
