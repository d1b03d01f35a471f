/**
 * Writes export files piece by piece (JOB-6), into a folder or into the database, as the storage demands, and within
 * the room that a disk has for them (LIM-8).
 *
 * In a folder: the database has the valid length of each file. Bytes are written and synced first, and counted then.
 * After a crash the bytes beyond the valid length are cut off and written again.
 *
 * In the database: one server writes the pieces of a file, and any server can send it. Each piece is read when the
 * client has got the one before: no connection to the database waits for a slow client.
 */

import { constants, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { type FileHandle, open, readdir, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accessDigest } from 'resourced-contract/model/access-digest'
import {
  type Catalog,
  hasConversions,
  isMapped,
  type Resource,
  resourceInVersion,
} from 'resourced-contract/model/resource'
import { isRecordId } from 'resourced-contract/model/text'
import { timestamp } from 'resourced-contract/model/time'
import { type Fault, fault } from 'resourced-contract/spec/faults'
import { convertedTexts, exportFileName, exportHead, exportsKept, exportTail } from '../plan/export-document.ts'
import { processMark, removeLeftovers } from '../storage/leftovers.ts'
import type { ExportPiece, ExportRoom, JobStep, OpenExport, PieceStore, Storage } from '../storage/storage.ts'

export interface ExportFiles extends Pick<ExportPlace, 'contentOf' | 'has' | 'sweep' | 'drop' | 'close'> {
  /**
   * Writes the next piece of an export.
   *
   * @throws Fault EXPORT_QUOTA, EXPORT_SPACE if there is no room for the piece: the export has failed finally
   */
  step(job: string, now: number): Promise<JobStep>
}

/** What writing the files needs. */
export interface ExportFilesOptions {
  readonly catalog: Catalog
  readonly storage: Pick<Storage, 'jobs' | 'exportsFolder' | 'pieces'>
  /** Identifies this server among those that share the database. */
  readonly server: string
}

/** Opens the export files of a storage. */
export function exportFiles({ catalog, storage, server }: ExportFilesOptions): ExportFiles {
  const { jobs, pieces, exportsFolder } = storage
  const place = pieces === undefined ? exportsInFolder(exportsFolder) : exportsInDatabase(pieces)
  return {
    contentOf: place.contentOf,
    has: place.has,
    sweep: place.sweep,
    drop: place.drop,
    close: place.close,
    async step(job, now) {
      const claimed = await jobs.claimExport(job, server, now)
      if (claimed === undefined) {
        await place.leave(job)
        return 'elsewhere'
      }
      checkAccess(catalog, claimed)
      if (!(await place.prepare(job, claimed))) {
        await jobs.keepExport(job, server, { count: 0, bytes: 0, after: null }, now)
        return 'more'
      }
      const piece = await jobs.readExport(job)
      const parts = partsOf(catalog, claimed, piece)
      const bytes = parts.reduce((sum, part) => sum + part.length, claimed.bytes)
      checkRoom(bytes, claimed.room)
      const content = await place.write(job, claimed, parts)
      // Frees the memory at once: otherwise dozens of megabytes of pieces wait for the garbage collector.
      ;(piece.text.buffer as ArrayBuffer).transfer(0)
      const count = claimed.count + piece.count
      const { format, contentUrl } = claimed
      if (piece.after !== undefined) {
        const going = await jobs.keepExport(job, server, { count, bytes, after: piece.after }, now, content)
        if (going) return 'more'
        await place.leave(job)
        return 'elsewhere'
      }
      await place.leave(job)
      const collection = resourceInVersion(catalog, claimed.version, claimed.collection)?.name ?? claimed.collection
      const expires_at = timestamp(now + exportsKept)
      const result = { collection, format, content_url: contentUrl, record_count: count, bytes, expires_at }
      return (await jobs.finishExport(job, server, result, now, content)) ? 'finished' : 'elsewhere'
    },
  }
}

/**
 * The access rules at the time of the request decide what an export holds. A server with other rules does not continue
 * the export (AUT-9).
 *
 * @throws Error if the rules have changed
 */
function checkAccess(catalog: Catalog, { collection, related, access }: OpenExport): void {
  const resource = catalog.resources.get(collection)
  if (resource !== undefined && accessDigest(catalog, resource, 'read', related) !== access)
    throw new Error(`The access rules of ${collection} have changed since the export was asked for.`)
}

/** @throws Fault EXPORT_QUOTA, EXPORT_SPACE if a file must not grow to this size */
function checkRoom(bytes: number, { own, all }: ExportRoom): void {
  if (bytes > own) {
    const detail =
      'The file would be larger than the caller may have beside other exports. Delete exports, or ask for fewer ' +
      'records or fields.'
    throw fault('EXPORT_QUOTA', { detail })
  }
  if (bytes > all) throw noRoom('The exports of all callers together have as many bytes as they may.')
}

/** The bytes of a piece, with the head of the file before the first piece and its tail after the last. */
function partsOf(catalog: Catalog, claimed: OpenExport, piece: ExportPiece): Uint8Array[] {
  const { collection, version, fields, format, bytes } = claimed
  const resource = resourceInVersion(catalog, version, collection)
  if (resource === undefined) throw new Error(`There is no collection ${collection} to export any more.`)
  const head = bytes === 0 ? exportHead(resource, fields ?? undefined, format) : ''
  const tail = piece.after === undefined ? exportTail(format) : ''
  return [Buffer.from(head), textOf(resource, claimed, piece), Buffer.from(tail)]
}

/** The records of a piece, with values converted for an older version. */
function textOf(resource: Resource, { fields, format, count }: OpenExport, { text }: ExportPiece): Uint8Array {
  if (!isMapped(resource) || !hasConversions(resource)) return text
  const options = { fields: fields ?? undefined, format, isFirst: count === 0 }
  return Buffer.from(convertedTexts(resource, Buffer.from(text).toString(), options))
}

/** A file by its path, or a reader of its bytes from a position on. */
type ExportContent = { readonly path: string } | { read(position: number): Promise<Uint8Array | undefined> }

/** Where export files are kept: in a folder, or in the database. */
interface ExportPlace {
  /** Prepares to continue a file. `false`: bytes are missing, and the export must begin again. */
  prepare(job: string, claimed: OpenExport): Promise<boolean>
  /**
   * Writes the next bytes.
   *
   * @returns the bytes that the database must store together with the progress of the export
   */
  write(job: string, claimed: OpenExport, parts: readonly Uint8Array[]): Promise<Uint8Array | undefined>
  /** Stops writing a file in this process. */
  leave(job: string): Promise<void>
  /** Where the file is read, after `has` returned `true`. */
  contentOf(job: string): ExportContent
  /** Whether this server can send the file, which has so many bytes. */
  has(job: string, length: number): Promise<boolean>
  /** Removes expired files of this server. */
  sweep(now: number): Promise<void>
  /** Removes the file of a failed export. */
  drop(job: string): Promise<void>
  close(): Promise<void>
}

/** The largest reserve, in bytes. */
const largestReserve = 1_073_741_824

/** The size of a disk and its free space, in blocks. */
interface DiskSpace {
  readonly bsize: number
  readonly blocks: number
  readonly bavail: number
}

/** Measures the disk of a folder. */
type Measure = (folder: string) => Promise<DiskSpace>

/**
 * Checks that a file may grow: a tenth of its disk stays free for the database, but at most 1 GiB.
 *
 * @param bytes how much the file grows
 * @throws Fault EXPORT_SPACE if too little would stay free
 */
export async function keepReserve(folder: string, bytes: number, measure: Measure = statfs): Promise<void> {
  const { bsize, blocks, bavail } = await measure(folder)
  const reserve = Math.min((blocks * bsize) / 10, largestReserve)
  if (bavail * bsize - bytes < reserve) throw noRoom('The rest of the disk is kept for the database.')
}

/**
 * The fault for a file that does not fit.
 *
 * @param reason one sentence, without a path (ERR-4)
 */
function noRoom(reason: string, cause?: unknown): Fault {
  const detail = `${reason} Try again when other exports have expired or are deleted.`
  return fault('EXPORT_SPACE', { detail, headers: { 'Retry-After': '600' } }, cause)
}

/**
 * Keeps the files in a folder, which is created when it is needed.
 *
 * @param kept the folder; `undefined` for a temporary folder of this process, whose database is temporary too
 * @param measure measures the disk of the folder
 */
export function exportsInFolder(kept: string | undefined, measure?: Measure): ExportPlace {
  const handles = new Map<string, FileHandle>()
  let folder: string | undefined
  const folderOf = () => {
    folder ??= kept ?? mkdtempSync(join(tmpdir(), `${filesPrefix}${processMark()}-`))
    // Other users of the machine must not read exported data.
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return folder
  }
  const pathOf = (job: string) => join(folderOf(), exportFileName(job))

  const leave = async (job: string) => {
    const file = handles.get(job)
    handles.delete(job)
    await file?.close()
  }

  return {
    contentOf: (job) => ({ path: pathOf(job) }),
    leave,
    async prepare(job, { bytes }) {
      if (handles.has(job)) return true
      const file = await open(pathOf(job), constants.O_RDWR | constants.O_CREAT, 0o600)
      handles.set(job, file)
      const { size } = await file.stat()
      const isWhole = size >= bytes
      await file.truncate(isWhole ? bytes : 0)
      return isWhole
    },
    async write(job, { bytes }, parts) {
      const file = handles.get(job) as FileHandle
      const more = parts.reduce((sum, part) => sum + part.length, 0)
      await keepReserve(folderOf(), more, measure)
      let length = bytes
      for (const part of parts) {
        for (let written = 0; written < part.length; ) {
          const { bytesWritten } = await file.write(part, written, part.length - written, length).catch(asFullDisk)
          written += bytesWritten
          length += bytesWritten
        }
      }
      await file.datasync().catch(asFullDisk)
      return undefined
    },
    async has(job) {
      return existsSync(pathOf(job))
    },
    async sweep(now) {
      // Folders that killed servers left behind.
      if (kept === undefined) return await removeLeftovers(tmpdir(), (name) => name.startsWith(filesPrefix))
      for (const name of await readdir(kept).catch(() => [])) {
        const path = join(kept, name)
        const { mtimeMs } = await stat(path)
        if (isRecordId(name) && mtimeMs + exportsKept <= now && !handles.has(name)) await rm(path)
      }
    },
    async drop(job) {
      await leave(job)
      const place = folder ?? kept
      if (place !== undefined && isRecordId(job)) await rm(join(place, job), { force: true })
    },
    async close() {
      for (const job of [...handles.keys()]) await leave(job)
      if (kept === undefined && folder !== undefined) rmSync(folder, { recursive: true })
    },
  }
}

// Other programs may have filled the disk since the reserve was checked.
function asFullDisk(error: NodeJS.ErrnoException): never {
  if (error.code !== 'ENOSPC' && error.code !== 'EDQUOT') throw error
  throw noRoom('The disk is full.', error)
}

const filesPrefix = 'resourced-exports-'

/** Keeps the files in a database. */
export function exportsInDatabase({ read }: PieceStore): ExportPlace {
  return {
    contentOf: (job) => ({ read: (position) => read(job, position) }),
    // Without its last byte a file is incomplete.
    has: async (job, length) => length === 0 || (await read(job, length - 1)) !== undefined,
    prepare: async () => true,
    write: async (_, __, parts) => Buffer.concat(parts),
    async leave() {},
    async sweep() {},
    async drop() {},
    async close() {},
  }
}
