/** Prints and explains errors. A stack trace is printed only for errors of the program itself. */
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { styleText } from 'node:util'
import { DeclarationError, type Emphasis, formatProblems } from 'resourced-contract/model/check/problem'
import { withoutCredentials } from 'resourced-contract/model/text'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { MigrationRefused } from '../storage/migration/migration-step.ts'
import { StorageFault } from '../storage/storage.ts'

/**
 * Prints why a command, or one step of it, failed. All mistakes of a declaration are printed together, each with its
 * place in the file; on a terminal in colour.
 *
 * @param screen default: standard error
 */
export function printError(error: unknown, screen: NodeJS.WritableStream = process.stderr): void {
  screen.write(`${explain(error, hasColours(screen))}\n`)
}

/** Whether a stream shows colours: terminals do, unless the environment says otherwise. */
export function hasColours(screen: NodeJS.WritableStream): boolean {
  return styleText('bold', ' ', { stream: screen }) !== ' '
}

const styles: Readonly<Record<Emphasis, Parameters<typeof styleText>[0]>> = {
  heading: 'bold',
  path: 'bold',
  remedy: 'green',
  source: 'dim',
  mark: 'red',
}

function paint(emphasis: Emphasis, text: string): string {
  return styleText(styles[emphasis], text, { validateStream: false })
}

/**
 * The explanation of an error, without passwords of addresses.
 *
 * @param inColour whether the mistakes of a declaration are coloured
 */
export function explain(error: unknown, inColour = false): string {
  const isColoured = inColour && error instanceof DeclarationError
  return withoutCredentials(isColoured ? formatProblems(error.problems, error.file, paint) : sentence(error))
}

function sentence(error: unknown): string {
  if (error instanceof DeclarationError || error instanceof ConfigurationError || error instanceof MigrationRefused) {
    return error.message
  }
  if (error instanceof StorageFault) return `${error.message} ${causeOf(error)}`.trim()
  const { code, message, port } = error as { code?: string; message?: string; port?: number }
  if (code === 'EADDRINUSE') return `Port ${port} is in use. Stop what listens there, or choose another with --port.`
  if (code === 'EACCES' && port !== undefined)
    return `Port ${port} is reserved for privileged users. Choose one above 1023 with --port.`
  const host = hostProblem(error)
  if (host !== undefined) return host
  const folder = refusingFolder(error)
  if (folder !== undefined) {
    const remedy = `Run as the owner of ${folder}, let this user write there, or name another place.`
    return `${fileOf(error)} cannot be created: this user may not write to the folder ${folder}. ${remedy}`
  }
  const reason = code === undefined ? undefined : fileErrors[code]
  if (reason !== undefined) return `${fileOf(error)} ${reason}`
  if (code === 'ERR_SQLITE_ERROR') {
    const { path } = error as { readonly path?: string }
    const database = path === undefined ? 'The database' : `The database ${path}`
    return `${database} cannot be used: ${message}. ${sqliteRemedy(message)}`.trim()
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

const notFound = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NONAME', 'EAI_NODATA', 'EAI_FAIL'])
const notHere = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'])

/** Why a server cannot listen at its host; `undefined`: the error has another cause. */
function hostProblem(error: unknown): string | undefined {
  const { code = '', syscall, hostname, address } = error as NodeJS.ErrnoException & Partial<Record<string, string>>
  const remedy = 'Choose an address of this machine, such as 127.0.0.1 or 0.0.0.0, with --host or --metrics-host.'
  if (syscall === 'getaddrinfo' && notFound.has(code)) return `The host ${hostname} is not found. ${remedy}`
  if (syscall !== 'listen' || !notHere.has(code)) return undefined
  return `This machine cannot listen on ${address}: it does not have this address. ${remedy}`
}

function sqliteRemedy(message = ''): string {
  if (/unable to open/.test(message)) return 'Check its path, and whether this user may write the file and its folder.'
  if (/not a database/.test(message)) return 'Name another file.'
  if (/disk is full/.test(message)) return 'Free space, then run the command again.'
  return /readonly|read-only/.test(message) ? 'Let this user write the file and its folder, or run as their owner.' : ''
}

/** What the codes of the system say about a file, and what to do. */
const fileErrors: Readonly<Record<string, string>> = {
  EACCES: 'cannot be opened: this user lacks the permission. Run as its owner, or change its permissions.',
  EPERM: 'cannot be changed: this user lacks the permission. Run as its owner, or change its permissions.',
  EROFS: 'cannot be written: its file system is read-only. Name another place.',
  EISDIR: 'is a folder. Name a file.',
  ENOTDIR: 'cannot be opened: a part of its path is a file, not a folder. Check the path.',
  ENOENT: 'does not exist. Check the path.',
  EEXIST: 'exists already. Name another file, or remove it.',
  ENOSPC: 'cannot be written: the disk is full. Free space, then run the command again.',
  EDQUOT: 'cannot be written: the quota of this user is used up. Free space, then run the command again.',
  EFBIG: 'cannot be written: the file would be too large for its file system. Name another place.',
  ENAMETOOLONG: 'cannot be opened: its name is too long. Choose a shorter one.',
  ELOOP: 'cannot be opened: its symbolic links lead back to themselves. Correct them.',
  EMFILE: 'cannot be opened: too many files are open. Raise the limit with ulimit -n.',
  ENXIO: 'cannot be opened: it is a socket, or a device that is not there. Name a file.',
  EIO: 'cannot be read or written: the disk fails. Look at the log of the system.',
}

/** The folder in which a file cannot be created; `undefined`: the error has another cause. */
function refusingFolder(error: unknown): string | undefined {
  const { code = '', path } = error as NodeJS.ErrnoException
  if ((code !== 'EACCES' && code !== 'EPERM') || path === undefined) return undefined
  const folder = dirname(resolve(path))
  if (existsSync(path)) return undefined
  try {
    // A folder that this user may not search hides files that exist.
    accessSync(folder, constants.X_OK)
    return folder
  } catch {
    return undefined
  }
}

function fileOf(error: unknown): string {
  const { path } = error as { readonly path?: unknown }
  return typeof path === 'string' ? path : 'A file'
}

function causeOf(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : ''
}
