/** Exports what a view shows to a file: starts the job, follows it, and downloads the file. */
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { recordPath } from '../interface/records.ts'
import { useChange } from '../interface/use-change.ts'
import { Dialog } from '../ui/dialog.tsx'
import { ProblemView } from '../ui/problem-view.tsx'
import { type Job, useJobs } from './job.ts'
import { ExportProblem, JobOutcome, JobState } from './job-state.tsx'

interface Props {
  readonly collection: string
  /** The filters of the view as a condition; `undefined`: there are none. */
  readonly filter: object | undefined
  /** What the view asks the list for: its search and sort. */
  readonly query: URLSearchParams
  /** The fields that the view shows. */
  readonly shown: readonly string[]
  readonly onClose: () => void
}

const formats = { csv: 'CSV, for spreadsheets', json: 'JSON, one array', ndjson: 'NDJSON, one record a line' }

export default function ExportDialog({ collection, filter, query, shown, onClose }: Props): ReactNode {
  const { change, problem, isSending } = useChange()
  const form = useId()
  const [job, setJob] = useState<string>()
  const isSearch = Boolean(query.get('q'))
  const start = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const chosen = new FormData(event.currentTarget)
    // Exports are in the order of their own fields.
    const sort = query
      .get('sort')
      ?.split(',')
      .filter((term) => !term.includes('.'))
      .join()
    const body = {
      ...{ collection, filter, format: chosen.get('format') },
      ...(sort && { sort }),
      ...(chosen.get('fields') === 'shown' && { fields: [...new Set(['id', ...shown])] }),
    }
    const started = await change<{ readonly job_id: string }>({ method: 'POST', path: '/exports', body })
    if (started !== undefined) setJob(started.body.job_id)
  }
  const submit = (
    <button type="submit" form={form} className="primary" disabled={isSending}>
      {isSearch ? 'Export without the search' : 'Export'}
    </button>
  )
  return (
    <Dialog title={`Export ${collection}`} onClose={onClose} actions={job === undefined ? submit : undefined}>
      {job !== undefined ? (
        <Progress id={job} />
      ) : (
        <form id={form} onSubmit={start}>
          {isSearch && (
            <p className="problem">
              An export cannot search. It contains all records that match the filters, whether they match “
              {query.get('q')}” or not.
            </p>
          )}
          <fieldset>
            <legend>Format</legend>
            {Object.entries(formats).map(([format, words], index) => (
              <label key={format} className="check">
                <input type="radio" name="format" value={format} defaultChecked={index === 0} /> {words}
              </label>
            ))}
          </fieldset>
          <fieldset>
            <legend>Fields</legend>
            <label className="check">
              <input type="radio" name="fields" value="shown" defaultChecked /> The columns of this view
            </label>
            <label className="check">
              <input type="radio" name="fields" value="all" /> All fields
            </label>
          </fieldset>
          {problem !== undefined && <ExportProblem problem={problem} />}
        </form>
      )}
    </Dialog>
  )
}

function Progress({ id }: { readonly id: string }): ReactNode {
  const { data, error, refetch } = useJobs<Job>(recordPath('jobs', id))
  return (
    <>
      <p>{data !== undefined && <JobState job={data.body} />}</p>
      {error !== null && <ProblemView problem={error} again={() => void refetch()} />}
      {data !== undefined && <JobOutcome job={data.body} atOnce />}
      <p className="quiet">
        You can close this: <a href={`#/-/jobs/${id}`}>the export is under Jobs</a>.
      </p>
    </>
  )
}
