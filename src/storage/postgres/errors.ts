/** PostgreSQL's errors in the words of the storage port. */
import { StorageFault } from '../storage.ts'

// The name of a statement means nothing to the server, or something already: it was not carried out.
const unprepared = new Set(['26000', '42P05'])

// Serialization failure, deadlock; a value that must be unique was taken between the question and the answer.
const restarting = new Set(['40001', '40P01', '23505', ...unprepared])

// Cancelled by a timeout, a lock not had in time, too many connections, starting or stopping, out of shared memory.
const busy = new Set(['57014', '55P03', '53300', '25P03', '53200'])

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? '')
}

/** Whether a transaction that failed so may end well when it is started again. */
export function isRestartable(error: unknown): boolean {
  return restarting.has(codeOf(error))
}

/** Whether a statement was not carried out because of the name under which it was to be prepared. */
export function isUnprepared(error: unknown): boolean {
  return unprepared.has(codeOf(error))
}

/** Whether the connection is of no use any more: a statement that was sent on it may or may not have been carried out. */
export function isDisconnected(error: unknown): boolean {
  const code = codeOf(error)
  return code.startsWith('08') || code.startsWith('57P') || isOfSystem(error) || isUnsent(error)
}

/** Whether PostgreSQL itself said so. */
export function isSaid(error: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(codeOf(error)) && !isOfSystem(error)
}

/** Whether a statement was cancelled, by a limit of time or because nobody waited for it. */
export function isTooLong(error: unknown): boolean {
  return codeOf(error) === '57014'
}

/** Whether a statement was not sent: its connection had ended before. */
export function isUnsent(error: unknown): boolean {
  return error instanceof Error && /is not queryable$/.test(error.message)
}

// The transaction took too long and its connection was ended; the server is the primary no longer.
const ending = new Set(['25P03', '25006'])

/** Whether nothing more should be sent on a connection on which this happened. */
export function isUseless(error: unknown): boolean {
  return (
    (error instanceof StorageFault && error.kind === 'uncertain') || isDisconnected(error) || ending.has(codeOf(error))
  )
}

function isOfSystem(error: unknown): boolean {
  if (/^(E[A-Z]{3,})$/.test(codeOf(error))) return true
  const message = error instanceof Error ? error.message : ''
  return /connection (?:terminated|error|timeout)|timeout expired|after calling end on the pool/i.test(message)
}

const unwritable: ReadonlyMap<string, string> = new Map([
  [
    '53100',
    'The disk of PostgreSQL is full. Free space on it, or make it larger; writing then goes on without a restart.',
  ],
  ['58030', 'The disk of PostgreSQL fails. Look at the log of PostgreSQL; writing goes on once it succeeds.'],
  [
    '25006',
    'PostgreSQL takes no changes: it is a standby, or default_transaction_read_only is on. Name the primary, or turn that off; writing then goes on without a restart.',
  ],
])

/** An error as the port throws it. Faults of the request, and of the program, pass unchanged. */
export function asStorageFault(error: unknown): unknown {
  const code = codeOf(error)
  if (isRestartable(error)) return new StorageFault('busy', 'Others kept changing the same records.', error)
  if (busy.has(code)) return new StorageFault('busy', 'PostgreSQL is busy.', error)
  const message = unwritable.get(code)
  if (message !== undefined) return new StorageFault('unwritable', message, error)
  if (isDisconnected(error)) return new StorageFault('failed', 'The connection to PostgreSQL failed.', error)
  if (isSaid(error)) return new StorageFault('failed', 'PostgreSQL failed.', error)
  return error
}
