/** Errors of any kind as the faults that callers get (ERR-4). */
import { Fault, fault } from 'resourced-contract/spec/faults'
import { StorageFault } from '../storage/storage.ts'

/** Makes the fault that the caller gets for any error, without internal details (ERR-4). */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error
  if (!(error instanceof StorageFault))
    return fault('INTERNAL_ERROR', { detail: 'The log has the reason under this request_id.' })
  if (error.kind === 'too-long') {
    // A client that repeats the request then waits as long as the default limit: half of its time is no work.
    const detail = 'The database was stopped before it had the result. Ask for less, or for what an index finds.'
    return fault('READ_TOO_LONG', { detail, headers: { 'Retry-After': '10' } })
  }
  if (error.kind === 'crowded') {
    const detail = 'Too many slow reads are waiting. Wait for the responses to your own, then try again.'
    return fault('OVERLOADED', { detail, headers: { 'Retry-After': '2' } })
  }
  if (error.kind === 'busy' || error.kind === 'abandoned')
    return fault('OVERLOADED', { detail: 'Try again shortly.', headers: { 'Retry-After': '1' } })
  if (error.kind === 'uncertain') {
    return fault('STORAGE_FAILED', {
      detail:
        'The connection to the database was lost while the change was being kept: it was made, or it was not. ' +
        'Read before you repeat it, or repeat it with If-Match or the same Idempotency-Key.',
    })
  }
  return fault('STORAGE_FAILED', { detail: 'Nothing was changed. The log has the reason under this request_id.' })
}

/** Whether a read was stopped or refused although the database works. */
export function isRefusedRead(error: unknown): boolean {
  return error instanceof StorageFault && ['abandoned', 'too-long', 'crowded'].includes(error.kind)
}
