/** Deletes a job that has ended; with an export goes its file (LIM-8). */
import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useConnection } from '../interface/connection.tsx'
import { Problem } from '../interface/problem.ts'
import { collectionKey, recordPath } from '../interface/records.ts'
import { notify } from '../ui/notices.tsx'
import { hasEnded, type Job } from './job.ts'

interface Props {
  readonly job: Job
  readonly onDeleted?: () => void
}

export function DeleteJob({ job, onDeleted }: Props): ReactNode {
  const connection = useConnection()
  const client = useQueryClient()
  if (!hasEnded(job)) return null
  const remove = async () => {
    try {
      await connection.send({ method: 'DELETE', path: recordPath('jobs', job.id) })
      onDeleted?.()
      await client.invalidateQueries({ queryKey: [...collectionKey(connection, 'jobs'), '/jobs'] })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      notify('failed', error.detail)
    }
  }
  return (
    <button type="button" className="danger" onClick={() => void remove()}>
      {job.kind === 'export' && job.result !== null ? 'Delete with its file' : 'Delete'}
    </button>
  )
}
