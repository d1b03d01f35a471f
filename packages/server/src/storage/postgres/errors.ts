/** Translates errors of PostgreSQL into those of the storage port, with a remedy if a database cannot be reached. */
import { totalTooLarge } from '../sql/totals.ts'
import { StorageFault } from '../storage.ts'
import { Outdated } from '../transaction.ts'
import { movedCode } from './event-triggers.ts'
import { totalTooLargeCode } from './triggers.ts'

// The name of a prepared statement is unknown, or in use already: the statement did not run.
const unprepared = new Set(['26000', '42P05'])

// Serialization failure, deadlock, a unique value that was taken between the check and the write.
const restarting = new Set(['40001', '40P01', '23505', ...unprepared])

// Cancelled by a timeout, lock not acquired in time, too many connections, starting or stopping, out of shared memory.
const busy = new Set(['57014', '55P03', '53300', '25P03', '53200'])

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? '')
}

/** Whether a transaction that failed with this error may succeed when it is started again. */
export function isRestartable(error: unknown): boolean {
  return error instanceof Outdated || restarting.has(codeOf(error))
}

/** Whether a transaction was ended because it and others waited for each other. */
export function isDeadlock(error: unknown): boolean {
  return codeOf(error) === '40P01'
}

/** Whether a statement did not run because of the name of its prepared statement. */
export function isUnprepared(error: unknown): boolean {
  return unprepared.has(codeOf(error))
}

/** Whether the connection was lost. A statement that was sent on it may or may not have run. */
export function isDisconnected(error: unknown): boolean {
  const code = codeOf(error)
  return code.startsWith('08') || code.startsWith('57P') || isOfSystem(error) || isUnsent(error)
}

/** Whether the error comes from PostgreSQL, not from the network or the driver. */
export function isFromServer(error: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(codeOf(error)) && !isOfSystem(error)
}

/** The SQLSTATE of an error of PostgreSQL. */
export function stateOf(error: unknown): string | undefined {
  return isFromServer(error) ? codeOf(error) : undefined
}

/** Whether a statement was cancelled, by a time limit or because its client had gone. */
export function isCanceled(error: unknown): boolean {
  return codeOf(error) === '57014'
}

/** Whether a statement ended because it did not get a lock in time. */
export function isLocked(error: unknown): boolean {
  return codeOf(error) === '55P03'
}

/** Whether a table is missing. */
export function isOfMissingTable(error: unknown): boolean {
  return codeOf(error) === '42P01'
}

/** Whether a statement was not sent, because its connection had ended before. */
export function isUnsent(error: unknown): boolean {
  return error instanceof Error && /is not queryable$/.test(error.message)
}

/** The server of a connection is not what the address asks for. */
export class UnfitServer extends Error {
  /** What the address asks for, and how. */
  readonly wanted: string

  constructor(wanted: string) {
    super(`The server of PostgreSQL is not ${wanted}.`)
    this.wanted = wanted
  }
}

/** Whether a failure is one of the server or of the way to it, so that another server may succeed. */
export function isOfServer(error: unknown): boolean {
  return isDisconnected(error) || codeOf(error) === '25006' || error instanceof UnfitServer
}

// The transaction was idle too long and its connection was ended; the server is no longer the primary.
const ending = new Set(['25P03', '25006'])

/** Whether the connection on which this happened must not be used any more. */
export function isUnusable(error: unknown): boolean {
  return (
    (error instanceof StorageFault && error.kind === 'uncertain') || isDisconnected(error) || ending.has(codeOf(error))
  )
}

function isOfSystem(error: unknown): boolean {
  if (/^(?:E[A-Z]{3,}|EAI_[A-Z]+)$/.test(codeOf(error))) return true
  const message = error instanceof Error ? error.message : ''
  return /connection (?:terminated|error|timeout)|timeout expired|after calling end on the pool/i.test(message)
}

const unwritable: ReadonlyMap<string, string> = new Map([
  [
    '53100',
    'The disk of PostgreSQL is full. Free space on it, or make it larger; writes then succeed without a restart.',
  ],
  ['58030', 'The disk of PostgreSQL fails. Look at the log of PostgreSQL; writes succeed once the disk works.'],
  [
    '25006',
    'PostgreSQL accepts no changes: it is a standby, or default_transaction_read_only is on. Name the primary, or ' +
      'turn that off; writes then succeed without a restart.',
  ],
])

/** An error as the port throws it. Faults of the request, and of the program, pass unchanged. */
export function toStorageFault(error: unknown): unknown {
  const code = codeOf(error)
  if (code === totalTooLargeCode) return totalTooLarge((error as Error).message)
  if (code === movedCode) return new StorageFault('busy', 'Citus has moved the schema to another node.', error)
  if (isRestartable(error)) return new StorageFault('busy', 'Others kept changing the same records.', error)
  if (busy.has(code)) return new StorageFault('busy', 'PostgreSQL is busy.', error)
  const message = unwritable.get(code)
  if (message !== undefined) return new StorageFault('unwritable', message, error)
  if (isDisconnected(error)) return new StorageFault('failed', 'The connection to PostgreSQL failed.', error)
  if (error instanceof UnfitServer) return new StorageFault('failed', error.message, error)
  if (isFromServer(error)) return new StorageFault('failed', 'PostgreSQL failed.', error)
  return error
}

/** The server and database of a connection. */
export interface Place {
  readonly host: string
  readonly port: number
  readonly database?: string | undefined
  readonly user?: string | undefined
}

/** The options that error messages refer to. */
interface Given {
  readonly session?: 'on' | 'off' | undefined
  /** The command line option that gives the address. */
  readonly option?: string | undefined
}

/** A failure to connect, as sentences need it. */
interface Failure extends Place {
  readonly at: string
  readonly code: string
  readonly message: string
  readonly option: string
  readonly session: Given['session']
}

/** The sentence about a failure, with a remedy; `undefined`: there is none for it. */
type Sentence = (failure: Failure) => string | undefined

const usual = '--database'

/** The failure of a first connection, as a fault with a remedy. Other errors pass unchanged. */
export function connectionFault(error: unknown, place: Place, { option = usual, session }: Given): unknown {
  const { host, port, user = '', database = user } = place
  if (error instanceof UnfitServer) {
    return new StorageFault(
      'failed',
      `None of the servers in ${option} is ${error.wanted}; ${host}, port ${port} was the last one ` +
        'that was tried. Look whether the others run, or change target_session_attrs.',
    )
  }
  const { code = '', message = '' } = error as { readonly code?: string; readonly message?: string }
  const at = host.startsWith('/') ? `the socket in ${host}` : `${host}, port ${port}`
  const failure = { host, port, user, database, at, code, message, option, session }
  const found = Object.entries(isFromServer(error) ? ofServer : ofSystem).flatMap(([pattern, sentence]) => {
    return new RegExp(pattern, 'i').test(`${code} ${message}`) ? (sentence(failure) ?? []) : []
  })
  return found[0] === undefined ? error : new StorageFault('failed', found[0])
}

/** Sentences by patterns of a code and a message: the first one that fits counts. */
const ofSystem: Readonly<Record<string, Sentence>> = {
  '^(?:ECONNREFUSED|ENOENT) ': ({ at, option }) =>
    `No PostgreSQL server listens at ${at}. Start it, or name another place with ${option} ` +
    'postgres://USER@HOST:PORT/DATABASE.',
  '^(?:ENOTFOUND|EAI_AGAIN) ': ({ host, option }) =>
    `The host ${host} is not known. Check its spelling in ${option}, and whether this machine can look up names.`,
  '^(?:EHOSTUNREACH|ENETUNREACH) ': ({ at, option }) =>
    `No way leads to ${at}. Look at the network between, and at the address in ${option}.`,
  '^(?:ECONNRESET|EPIPE) ': ({ at }) =>
    `The connection to ${at} was closed at once. Look whether PostgreSQL listens there, and not something else.`,
  '^CERT_HAS_EXPIRED ': ({ at }) => `The certificate of PostgreSQL at ${at} has expired. Give the server a new one.`,
  '^ERR_TLS_CERT_ALTNAME_INVALID ': ({ at, host, option }) =>
    `The certificate of PostgreSQL at ${at} is for another host. Use in ${option} the name that it has, or ` +
    `give the server a certificate for ${host}.`,
  '^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|CERT_)': ({ at, message, option }) =>
    `The certificate of PostgreSQL at ${at} is not from an authority that is trusted here (${message}). Name the ` +
    `file of the right one: ${option} 'postgres://…?sslmode=verify-full&sslrootcert=FILE'.`,
  '^ETIMEDOUT |timeout': ({ at }) =>
    `PostgreSQL at ${at} does not answer in time. Look whether it runs, and whether a firewall is between.`,
  'does not support SSL': ({ at, option }) =>
    `PostgreSQL at ${at} does not speak TLS. Turn it on there (ssl = on), or leave sslmode out of ${option} ` +
    'where the network between is yours.',
  'establishing an SSL connection|terminated unexpectedly': ({ at, option }) =>
    `The server at ${at} does not answer as PostgreSQL does. Check the host and the port in ${option}.`,
  '^ SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be': () =>
    'PostgreSQL asks for a password, and there is none. Set PGPASSWORD, or write a line ' +
    'HOST:PORT:DATABASE:USER:PASSWORD into ~/.pgpass or the file that PGPASSFILE names; others must not be able to ' +
    'read it.',
}

/** The same for refusals of PostgreSQL. */
const ofServer: Readonly<Record<string, Sentence>> = {
  '^28P01 ': ({ user }) =>
    `PostgreSQL does not take the password of the role ${user}, or there is no such role. Set another by ` +
    `PGPASSWORD, ~/.pgpass or in the address, or: alter role "${user}" password '…'.`,
  '^28000 .*no encryption': ({ user, database, option }) =>
    `PostgreSQL takes no connection without TLS from here, or none of the role ${user} to the database ` +
    `${database} at all. Add ?sslmode=verify-full to ${option} (and &sslrootcert=FILE, where the certificate is ` +
    'from an authority of your own), or look into pg_hba.conf.',
  '^28000 .*pg_hba': ({ user, database }) =>
    `PostgreSQL does not let the role ${user} in from here to the database ${database}. Add a line for it to ` +
    'pg_hba.conf and reload it.',
  '^28000 ': ({ user, message }) =>
    `PostgreSQL does not let the role ${user} in: ${message}. Create it, or let it log in: alter role "${user}" login.`,
  '^3D000 ': ({ user, database }) =>
    `There is no database ${database}. Create it: create database "${database}" owner "${user}" encoding ` +
    `'UTF8' template template0.`,
  '^42501 ': ({ user, database }) =>
    `The role ${user} may not connect to the database ${database}. Let its owner run: grant connect on ` +
    `database "${database}" to "${user}".`,
  '^53300 ': ({ host, message, option }) =>
    `PostgreSQL at ${host} has no connection left (${message}). Raise max_connections ` +
    `there${option === usual ? ', or use fewer with --database-pool' : ', or end others'}.`,
  '^57P03 ': ({ host, message }) =>
    `PostgreSQL at ${host} is starting or stopping (${message}). Try again in a moment.`,
  '^08P01 .*startup parameter': ({ message, option, session }) =>
    session === 'off'
      ? undefined
      : `This is no PostgreSQL server but a pooler, which refuses settings (${message}). Give ` +
        `${option === usual ? '--database-pooler transaction, or ' : ''}${option} with the address of the server ` +
        'itself.',
  '^0A000 .*protocol': ({ host, message }) =>
    `PostgreSQL at ${host} is too old for this program (${message}). Use PostgreSQL 15 or newer.`,
  '': ({ host, message, code }) => `PostgreSQL at ${host} refuses the connection: ${message} (${code}).`,
}
