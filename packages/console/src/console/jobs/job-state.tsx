/** How far a job is, and what came of it. */
import type { ReactNode } from 'react'
import { labelOf } from '../interface/catalog.ts'
import { Problem } from '../interface/problem.ts'
import { ProblemView } from '../ui/problem-view.tsx'
import { formatTime, Value } from '../ui/value.tsx'
import { ExportFile } from './export-file.tsx'
import { hasEnded, type Job } from './job.ts'

interface Props {
  readonly job: Job
}

export function JobState({ job }: Props): ReactNode {
  const { status, progress } = job
  const { done, total } = progress
  return (
    <span className={`job ${status}`}>
      <span aria-live="polite">{status}</span>{' '}
      {!hasEnded(job) && (
        <>
          <progress aria-label="Progress" {...(total !== null && { max: total, value: done })} />{' '}
          {done.toLocaleString()}
          {total !== null && ` of ${total.toLocaleString()}`}
        </>
      )}
    </span>
  )
}

/** @param atOnce whether a small file of an export is downloaded at once */
export function JobOutcome({ job, atOnce = false }: Props & { readonly atOnce?: boolean }): ReactNode {
  const { id, kind, result, error } = job
  if (error !== null) return <ExportProblem problem={new Problem(Number(error['status']), error)} />
  if (result === null) return null
  const { expires_at: until, content_url: _, bytes: __, ...others } = result
  return (
    <>
      <dl className="read-only">
        {Object.entries(others).map(([name, value]) => (
          <div key={name}>
            <dt>{labelOf(name)}</dt>
            <dd>
              <Value value={value} schema={/_at$/.test(name) ? { type: 'string', format: 'date-time' } : {}} />
            </dd>
          </div>
        ))}
      </dl>
      {kind === 'export' && (
        <>
          <ExportFile id={id} result={result} atOnce={atOnce} />
          <p className="quiet">The server keeps the file until {formatTime(String(until))}.</p>
        </>
      )}
    </>
  )
}

/** Why there is no export. */
export function ExportProblem({ problem }: { readonly problem: Problem }): ReactNode {
  return (
    <>
      <ProblemView problem={problem} />
      {problem.code === 'EXPORT_QUOTA' && (
        <p>
          Exports take room on the server until they are deleted.{' '}
          <a href="#/-/jobs">Delete exports that you no longer need</a>, then try again.
        </p>
      )}
    </>
  )
}
