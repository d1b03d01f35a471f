/**
 * Writes the files of exports, a piece at a time (JOB-6). The database says how much of a file counts: it is written and
 * synced first, and counted then, so that after a crash whatever lies beyond is cut off and written once more.
 */
import { constants, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { timestamp } from '../model/instant.ts'
import type { Catalog, Resource } from '../model/resource.ts'
import { exportHead, exportTail } from '../plan/export-document.ts'
import { isConverted, olderTexts } from '../plan/older-export.ts'
import { seenOf, shownBy } from '../plan/stored.ts'
import type { ExportPiece, OpenExport, Storage } from '../storage/storage.ts'

/** How long a file is kept after its export is finished, in milliseconds. */
const kept = 24 * 3_600_000

/** The files of exports. */
export interface ExportFiles {
  /** Writes the next piece of an export; `elsewhere`: it is finished, or another server is at it. */
  step(job: string, now: number): Promise<'more' | 'finished' | 'elsewhere'>
  /** Where the file of an export is, or will be. */
  pathOf(job: string): string
  /** Whether the file of an export is here: with several servers it may be on another. */
  has(job: string): Promise<boolean>
  /** Removes files whose time is over. */
  sweep(now: number): Promise<void>
  /** Takes the file of an export that has failed away. */
  drop(job: string): Promise<void>
  close(): Promise<void>
}

/** What file making needs. */
export interface ExportFilesOptions {
  readonly catalog: Catalog
  readonly storage: Pick<Storage, 'jobs' | 'exportsFolder'>
  /** What tells this server from others on the database. */
  readonly server: string
}

/** Makes the files of exports. */
export function exportFiles({ catalog, storage, server }: ExportFilesOptions): ExportFiles {
  const { jobs } = storage
  const handles = new Map<string, FileHandle>()
  let folder: string | undefined
  const folderOf = () => {
    folder ??= storage.exportsFolder ?? mkdtempSync(join(tmpdir(), 'resourced-exports-'))
    // What is exported is for those who asked for it.
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return folder
  }
  const pathOf = (job: string) => join(folderOf(), job)

  /** The file of an export, cut to what counts; from the beginning where less of it is there. */
  const opened = async (job: string, { bytes }: OpenExport) => {
    const known = handles.get(job)
    if (known !== undefined) return { file: known, isWhole: true }
    const file = await open(pathOf(job), constants.O_RDWR | constants.O_CREAT, 0o600)
    handles.set(job, file)
    const { size } = await file.stat()
    const isWhole = size >= bytes
    await file.truncate(isWhole ? bytes : 0)
    return { file, isWhole }
  }

  const ended = async (job: string) => {
    const file = handles.get(job)
    handles.delete(job)
    await file?.close()
  }

  /** A piece as it is written: where an older version has values of its own, they are made here. */
  const textOf = (shown: Resource, { fields, format, count }: OpenExport, { text }: ExportPiece): Uint8Array => {
    const seen = isConverted(shown) ? seenOf(catalog, shown) : undefined
    if (seen === undefined) return text
    return Buffer.from(olderTexts(seen, Buffer.from(text).toString(), fields ?? undefined, format, count === 0))
  }

  /** Writes a piece where the file ends, with what stands before the first and after the last. Gives the new length. */
  const write = async (file: FileHandle, claimed: OpenExport, piece: ExportPiece) => {
    const { collection, version, fields, format, bytes } = claimed
    const resource = shownBy(catalog, version, collection)
    if (resource === undefined) throw new Error(`There is no collection ${collection} to export any more.`)
    const head = bytes === 0 ? exportHead(resource, fields ?? undefined, format) : ''
    const tail = piece.after === undefined ? exportTail(format) : ''
    let length = bytes
    for (const part of [Buffer.from(head), textOf(resource, claimed, piece), Buffer.from(tail)]) {
      for (let written = 0; written < part.length; ) {
        const { bytesWritten } = await file.write(part, written, part.length - written, length)
        written += bytesWritten
        length += bytesWritten
      }
    }
    await file.datasync()
    // Given back at once: dozens of megabytes of such pieces may wait for the garbage collector.
    ;(piece.text.buffer as ArrayBuffer).transfer(0)
    return length
  }

  return {
    pathOf,
    async has(job) {
      return await stat(pathOf(job)).then(
        () => true,
        () => false,
      )
    },
    async step(job, now) {
      const claimed = await jobs.claimExport(job, server, now)
      if (claimed === undefined) {
        await ended(job)
        return 'elsewhere'
      }
      const { file, isWhole } = await opened(job, claimed)
      if (!isWhole) {
        await jobs.keepExport(job, server, { count: 0, bytes: 0, after: null }, now)
        return 'more'
      }
      const piece = await jobs.readExport(job)
      const bytes = await write(file, claimed, piece)
      const count = claimed.count + piece.count
      if (piece.after !== undefined) {
        const going = await jobs.keepExport(job, server, { count, bytes, after: piece.after }, now)
        if (going) return 'more'
        await ended(job)
        return 'elsewhere'
      }
      await ended(job)
      const { format, contentUrl } = claimed
      const collection = shownBy(catalog, claimed.version, claimed.collection)?.name ?? claimed.collection
      const expires_at = timestamp(now + kept)
      const result = { collection, format, content_url: contentUrl, record_count: count, bytes, expires_at }
      await jobs.finishExport(job, server, result, now)
      return 'finished'
    },
    async sweep(now) {
      const folder = storage.exportsFolder
      if (folder === undefined) return
      for (const name of await readdir(folder).catch(() => [])) {
        const path = join(folder, name)
        const { mtimeMs } = await stat(path)
        if (mtimeMs + kept <= now && !handles.has(name)) await rm(path)
      }
    },
    async drop(job) {
      await ended(job)
      await rm(pathOf(job), { force: true })
    },
    async close() {
      for (const job of [...handles.keys()]) await ended(job)
      if (storage.exportsFolder === undefined && folder !== undefined) rmSync(folder, { recursive: true })
    },
  }
}
