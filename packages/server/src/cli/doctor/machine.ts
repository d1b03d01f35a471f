/** Checks of the machine: memory, open files, the disk and file system of a database, and ports. */
import { accessSync, constants, readFileSync, type Stats, statfsSync, statSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname } from 'node:path'
import { getHeapStatistics } from 'node:v8'
import { freePort } from '../../server/threads/supervisor.ts'
import { type Diagnosis, ok, problem, warning } from './diagnosis.ts'

const mebibyte = 1_048_576

/** The memory that this process may use. */
export function checkMemory(all = totalmem(), limit = process.constrainedMemory()): Diagnosis {
  // Where nothing limits a process, the limit is 0 or beyond all memory.
  const most = limit > 0 && limit < all ? limit : all
  const heap = getHeapStatistics().heap_size_limit
  const finding = `${inMebibytes(most)} of memory, of which JavaScript uses ${inMebibytes(heap)} at most.`
  if (most < 256 * mebibyte) {
    return warning('memory', finding, 'Give the process at least 256 MiB.')
  }
  if (heap <= most) return ok('memory', finding)
  const size = Math.floor((most * 0.75) / mebibyte)
  return warning('memory', finding, `Set NODE_OPTIONS=--max-old-space-size=${size}, or the system may end the process.`)
}

function inMebibytes(bytes: number): string {
  return `${Math.round(bytes / mebibyte).toLocaleString('en')} MiB`
}

const enoughFiles = 4_096

/** How many files and connections this process may open; `undefined`: the system does not say. */
export function checkOpenFiles(limits = readLimits()): Diagnosis | undefined {
  const found = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1]
  if (found === undefined) return undefined
  const finding = `${found} open files and connections are allowed.`
  if (found === 'unlimited' || Number(found) >= enoughFiles) return ok('open files', finding)
  return warning('open files', finding, 'Raise the limit: ulimit -n 65536, or LimitNOFILE=65536 in a systemd unit.')
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}

/** File systems by the number that Linux gives them (statfs(2)). */
const fileSystems: ReadonlyMap<number, { readonly name: string; readonly severity: 'problem' | 'warning' }> = new Map([
  [0x6969, { name: 'NFS', severity: 'problem' }],
  [0x517b, { name: 'SMB', severity: 'problem' }],
  [0xfe534d42, { name: 'SMB', severity: 'problem' }],
  [0xff534d42, { name: 'CIFS', severity: 'problem' }],
  [0x00c36400, { name: 'Ceph', severity: 'problem' }],
  [0x5346414f, { name: 'AFS', severity: 'problem' }],
  [0x01021997, { name: '9p', severity: 'problem' }],
  [0x65735546, { name: 'FUSE', severity: 'warning' }],
  [0x01021994, { name: 'tmpfs', severity: 'warning' }],
  [0x858458f6, { name: 'ramfs', severity: 'warning' }],
  [0x794c7630, { name: 'overlay', severity: 'warning' }],
])

/** What statfs says of a disk. */
interface Disk {
  readonly type: number
  readonly bsize: number
  readonly blocks: number
  readonly bavail: number
}

/** The file system of a SQLite file: locks of network file systems do not exclude servers of other machines. */
export function checkFileSystem(file: string, disk: Disk = statfsSync(existingFolder(file))): Diagnosis | undefined {
  if (process.platform !== 'linux') return undefined
  const found = fileSystems.get(disk.type)
  const check = 'file system'
  if (found === undefined) return ok(check, `${file} is on a local file system.`)
  const { name, severity } = found
  const finding = `${file} is on ${name}.`
  if (severity === 'problem') {
    return problem(
      check,
      finding,
      'SQLite needs a local disk, because locks of others can fail: use PostgreSQL instead.',
    )
  }
  if (name === 'FUSE') return warning(check, finding, 'Make sure that it is a local disk: SQLite needs its locks.')
  const lost = name === 'overlay' ? 'the container is removed' : 'the machine stops'
  return warning(check, `${finding} Everything is lost when ${lost}.`, 'Put the database on a volume or a disk.')
}

/** The free space of a disk. */
export function checkDisk(file: string, disk: Disk = statfsSync(existingFolder(file))): Diagnosis {
  const [free, all] = [disk.bavail * disk.bsize, disk.blocks * disk.bsize]
  const share = all === 0 ? 0 : Math.floor((free / all) * 100)
  const finding = `${inMebibytes(free)} (${share} %) are free on the disk of ${file}.`
  const remedy = 'Free space, or make the disk larger.'
  if (free < 64 * mebibyte) return problem('disk', finding, remedy)
  // Exports leave this much to the database.
  return free < Math.min(all / 10, 1_024 * mebibyte) ? warning('disk', finding, remedy) : ok('disk', finding)
}

/** The nearest folder above a file that exists. */
export function existingFolder(file: string): string {
  const folder = dirname(file)
  const isThere = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  return isThere || folder === dirname(folder) ? folder : existingFolder(folder)
}

/** Whether a database file and its folder can be written, and only by this user be read. */
export function checkPermissions(file: string): Diagnosis {
  const check = 'permissions'
  const folder = existingFolder(file)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found?.isDirectory() === true) {
    return problem(check, `${file} is a folder.`, 'Name a file with --database sqlite:FILE.')
  }
  // SQLite writes a log beside the file.
  const place = [folder, ...(found === undefined ? [] : [file])].find((each) => !isWritable(each))
  if (place !== undefined) {
    return problem(check, `This user may not write ${place}.`, `Run as its owner, or run: chown $(id -u) ${place}`)
  }
  return openToOthers(check, file, found) ?? ok(check, `This user may write ${found === undefined ? folder : file}.`)
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** A warning about a file that others can read; `undefined`: they cannot. */
export function openToOthers(check: string, file: string, found: Stats | undefined): Diagnosis | undefined {
  if (found === undefined || process.platform === 'win32' || (found.mode & 0o077) === 0) return undefined
  const mode = (found.mode & 0o777).toString(8).padStart(3, '0')
  return warning(check, `Other users may read or write ${file} (mode ${mode}).`, `Run: chmod 600 ${file}`)
}

/** Whether a server can listen at an address. */
export async function checkPort(check: string, host: string, port: number): Promise<Diagnosis> {
  if (port === 0) return ok(check, 'A free port is chosen at start.')
  const code = await freePort(host, port).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  )
  if (code === undefined) return ok(check, `Port ${port} on ${host} is free.`)
  if (code === 'EADDRINUSE') {
    const remedy = 'If it is not a server of Resourced, stop it, or choose another port with --port.'
    return warning(check, `Something listens on port ${port} of ${host} already.`, remedy)
  }
  if (code === 'EACCES') {
    return problem(check, `Port ${port} is reserved for privileged users.`, 'Choose one above 1023 with --port.')
  }
  return problem(check, `Nothing can listen on port ${port} of ${host} (${code}).`, 'Name an address with --host.')
}
