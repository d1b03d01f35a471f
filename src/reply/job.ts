/** What answers about jobs share (JOB-2). */
import type { JobStatus } from '../model/system-resources.ts'

/** `Retry-After`: after how many seconds a job is worth asking for again. */
export const jobRetry = '1'

/** Whether a job is over; of one whose status was not asked for nobody says that it goes on. */
export function isFinal(text: string): boolean {
  const { status } = JSON.parse(text) as { readonly status?: JobStatus }
  return status !== 'pending' && status !== 'running'
}
