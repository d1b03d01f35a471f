/** Failures as faults. */
import { Fault, fault } from '../spec/faults.ts'
import { StorageFault } from '../storage/storage.ts'

/** Whether something was not done because nobody waited for it any more: nobody hears of it. */
export function isAbandoned(error: unknown): boolean {
  return error instanceof StorageFault && error.kind === 'abandoned'
}

/** Any error as what the caller is told: nothing of the inside (ERR-4). */
export function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error
  if (error instanceof StorageFault) {
    if (error.kind === 'busy' || isAbandoned(error))
      return fault('OVERLOADED', { detail: 'Try again shortly.', headers: { 'Retry-After': '1' } })
    if (error.kind === 'uncertain') {
      return fault('STORAGE_FAILED', {
        detail:
          'The connection to the database was lost while the change was being kept: it was made, or it was not. Read before you repeat it, or repeat it with If-Match or the same Idempotency-Key.',
      })
    }
    return fault('STORAGE_FAILED', { detail: 'Nothing was changed. The log has the reason under this request_id.' })
  }
  return fault('INTERNAL_ERROR', { detail: 'The log has the reason under this request_id.' })
}
