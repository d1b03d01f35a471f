/**
 * The file of a backup: a SQLite database, and after its last page one line that describes it. SQLite ignores what
 * follows the last page. The description comes last, so that a file that was cut off is recognized at once.
 */
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isObject } from 'resourced-contract/model/plain-copy'
import type { BackupDescription, LongWork } from '../administration/administration.ts'
import { processMark, removeLeftovers } from '../leftovers.ts'
import { StorageFault } from '../storage.ts'
import { parsedJson } from '../transaction.ts'
import { syncFolder } from './file.ts'

/** The format that this release writes, and the newest that it reads. */
export const backupFormat = 1

const head = '\nresourced-backup '
/** The most bytes that are read at the end of a file to find the description. */
const longestDescription = 4_194_304
const piece = 1_048_576

/**
 * Writes a file that appears under its name when it is complete and on the disk, and that never replaces another. What
 * is incomplete has the mark of its process, and only its owner can read it; the next attempt in the folder removes
 * what a killed one has left.
 *
 * @param fill writes the partial file; if it throws, nothing is left
 * @throws StorageFault where there is a file already, or the file cannot be written
 */
export async function writeWhole<T>(path: string, fill: (partial: string) => Promise<T>): Promise<T> {
  const partial = `${path}.${processMark()}-${randomUUID().slice(0, 8)}.partial`
  try {
    await removeLeftovers(dirname(partial), (name) => partialName.test(name))
    await (await open(partial, 'wx', 0o600)).close()
    const result = await fill(partial)
    await publish(partial, path)
    return result
  } catch (error) {
    throw asFileFault(error, path)
  } finally {
    await removeDatabase(partial)
  }
}

const partialName = /\.p\d+-[\da-f]{8}-[\da-f]{8}\.partial(?:-journal|-wal|-shm)?$/

/** Removes a SQLite file that no process needs, and the files that SQLite keeps beside it. */
async function removeDatabase(path: string): Promise<void> {
  for (const suffix of ['', '-journal', '-wal', '-shm']) await rm(`${path}${suffix}`, { force: true }).catch(() => {})
}

async function publish(partial: string, path: string): Promise<void> {
  const file = await open(partial, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
  try {
    // Unlike a rename, this fails if there is a file.
    await link(partial, path)
  } catch (error) {
    if (!withoutLinks.has(String((error as NodeJS.ErrnoException).code))) throw error
    if (await stat(path).catch(() => undefined)) throw existing(path)
    await rename(partial, path)
  }
  syncFolder(dirname(resolve(path)))
}

// File systems such as FAT have no hard links.
const withoutLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/** The refusal to replace a file. */
export function existing(path: string): StorageFault {
  return new StorageFault('failed', `${path} exists already, and is never overwritten. Name another file.`)
}

function asFileFault(error: unknown, path: string): unknown {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  const folder = dirname(path)
  if (code === 'ENOSPC' || code === 'EDQUOT' || errcode === 13) {
    const remedy = 'Nothing was kept. Free space there or name another place, then start again.'
    return new StorageFault('failed', `The disk of ${folder} is full. ${remedy}`)
  }
  if (code === 'EEXIST') return existing(path)
  if (code === 'ENOENT') return new StorageFault('failed', `There is no folder ${folder}. Create it first.`)
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS' || code === 'EISDIR' || code === 'ENOTDIR') {
    return new StorageFault('failed', `${path} cannot be written (${code}). Name a file that this user may create.`)
  }
  return error
}

/** Appends the description of a database to its file. */
export async function describe(
  path: string,
  facts: Omit<BackupDescription, 'format' | 'bytes' | 'sha256'>,
  work: LongWork,
): Promise<BackupDescription> {
  const { size } = await stat(path)
  const sha256 = await hashOf(path, size, work)
  const description = { format: backupFormat, ...facts, bytes: size, sha256 }
  const file = await open(path, 'a')
  try {
    await file.writeFile(`${head}${JSON.stringify(description)}\n`)
  } finally {
    await file.close()
  }
  return description
}

/**
 * Reads the description of a backup.
 *
 * @param version the version of this program
 * @throws StorageFault where the file is no backup, is incomplete, or a newer program made it
 */
export async function readDescription(path: string, version: string): Promise<BackupDescription> {
  const { size, start, end } = await readEnds(path)
  if (!start.equals(Buffer.from('SQLite format 3\0'))) {
    throw new StorageFault('failed', `${path} is not a backup of Resourced.`)
  }
  const place = end.lastIndexOf(head)
  if (place === -1 || end.at(-1) !== 0x0a) {
    const found = 'its end is missing, so it was cut off, or was not made by resourced backup'
    throw new StorageFault('failed', `${path} is not a complete backup: ${found}.`)
  }
  const description = parse(end.subarray(place + head.length))
  if (description === undefined) throw damaged(path)
  const { format, resourced } = description
  if (format > backupFormat || isNewer(resourced, version)) {
    const remedy = `Restore it with that release or a newer one: this is ${version}.`
    throw new StorageFault('failed', `Resourced ${resourced} made ${path}. ${remedy}`)
  }
  if (description.bytes !== size - end.length + place) throw damaged(path)
  return description
}

async function readEnds(path: string) {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new StorageFault('failed', `There is no file ${path}.`)
    throw new StorageFault('failed', `${path} cannot be read (${error.code}).`)
  })
  try {
    const found = await file.stat()
    if (!found.isFile()) throw new StorageFault('failed', `${path} is not a file.`)
    const { size } = found
    const start = await readAt(file, 0, Math.min(16, size))
    const length = Math.min(longestDescription, size)
    return { size, start, end: await readAt(file, size - length, length) }
  } finally {
    await file.close()
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

/** The description in a text; `undefined`: this program cannot have written it. All of it may be printed. */
function parse(text: Buffer): BackupDescription | undefined {
  const found = parsedJson(text.toString())
  if (!isObject(found)) return undefined
  const { format, created_at, resourced, records, files, bytes, sha256 } = found
  const isMade =
    [format, files, bytes].every(isCount) &&
    matches(created_at, /^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z$/) &&
    matches(resourced, /^\d+\.\d+\.\d+(?:[-+][\w.+-]*)?$/) &&
    matches(sha256, /^[\da-f]{64}$/) &&
    isObject(records) &&
    Object.values(records).every(isCount)
  return isMade ? (found as unknown as BackupDescription) : undefined
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function matches(value: unknown, form: RegExp): boolean {
  return typeof value === 'string' && value.length <= 100 && form.test(value)
}

/** Whether a version is newer than another: `0.2.0` than `0.1.9`. */
function isNewer(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) => text.split(/[.-]/, 3).map(Number)) as [number[], number[]]
  const place = left.findIndex((part, index) => part !== right[index])
  return place !== -1 && left[place]! > right[place]!
}

/** The refusal of a file whose bytes are not those that were written. */
export function damaged(path: string): StorageFault {
  return new StorageFault('failed', `${path} is damaged, or was changed after it was written. Use another backup.`)
}

/** SHA-256 of the first bytes of a file. */
export async function hashOf(path: string, bytes: number, work: LongWork): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of piecesOf(path, bytes, { ...work, stage: 'Verifying' })) hash.update(chunk)
  return hash.digest('hex')
}

/**
 * Copies the database of a backup to a file, and reads the copy back.
 *
 * @throws StorageFault where the backup is damaged, or the copy differs
 */
export async function copyDatabase(
  path: string,
  target: string,
  { bytes, sha256 }: BackupDescription,
  work: LongWork,
): Promise<void> {
  const hash = createHash('sha256')
  const file = await open(target, 'r+')
  try {
    for await (const chunk of piecesOf(path, bytes, { ...work, stage: 'Copying' })) {
      hash.update(chunk)
      await file.writeFile(chunk)
    }
    if (hash.digest('hex') !== sha256) throw damaged(path)
    await file.sync()
  } finally {
    await file.close()
  }
  if ((await hashOf(target, bytes, work)) === sha256) return
  throw new StorageFault('failed', `What was written to ${target} is not what was read. Look at its disk.`)
}

async function* piecesOf(path: string, bytes: number, work: LongWork & { stage: string }): AsyncGenerator<Uint8Array> {
  if (bytes === 0) return
  let done = 0
  for await (const chunk of createReadStream(path, { end: bytes - 1, highWaterMark: piece })) {
    work.signal.throwIfAborted()
    yield chunk as Uint8Array
    done += (chunk as Uint8Array).length
    work.onProgress(work.stage, 'MB', done / 1e6, bytes / 1e6)
  }
}
