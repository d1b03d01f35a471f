/**
 * Writes the files of exports, a piece at a time (JOB-6), in the place that the database has for them: beside it, or in
 * itself. Which of the two it is makes no difference to what is asked of them.
 */

import { accessDigest } from '../model/digest.ts'
import { type Catalog, hasConversions, isMapped, type Resource, resourceInVersion } from '../model/resource.ts'
import { timestamp } from '../model/time.ts'
import { convertedTexts, exportHead, exportsKept, exportTail } from '../plan/export-document.ts'
import { fault } from '../spec/faults.ts'
import type { ExportPiece, ExportRoom, JobStep, OpenExport, Storage } from '../storage/storage.ts'
import { noRoom } from './disk-reserve.ts'
import { exportsInDatabase } from './export-copies.ts'
import { exportsInFolder } from './export-folder.ts'
import type { ExportPlace } from './export-place.ts'

/** The files of exports. */
export interface ExportFiles extends Pick<ExportPlace, 'pathOf' | 'has' | 'sweep' | 'drop' | 'close'> {
  /**
   * Writes the next piece of an export.
   *
   * @throws Fault EXPORT_QUOTA, EXPORT_SPACE where there is no room for it: the export has failed for good
   */
  step(job: string, now: number): Promise<JobStep>
}

/** What file making needs. */
export interface ExportFilesOptions {
  readonly catalog: Catalog
  readonly storage: Pick<Storage, 'jobs' | 'exportsFolder' | 'pieces'>
  /** What tells this server from others on the database. */
  readonly server: string
}

/** Makes the files of exports. */
export function exportFiles({ catalog, storage, server }: ExportFilesOptions): ExportFiles {
  const { jobs, pieces, exportsFolder } = storage
  const place = pieces === undefined ? exportsInFolder(exportsFolder) : exportsInDatabase(pieces)
  return {
    pathOf: place.pathOf,
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
      // Given back at once: dozens of megabytes of such pieces may wait for the garbage collector.
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
 * What an export may hold was settled by the access rules of its time: a server with other rules does not go on with it
 * (AUT-9).
 *
 * @throws Error where the rules have changed
 */
function checkAccess(catalog: Catalog, { collection, access }: OpenExport): void {
  const resource = catalog.resources.get(collection)
  if (resource !== undefined && accessDigest(catalog, resource, 'read') !== access)
    throw new Error(`The access rules of ${collection} have changed since the export was asked for.`)
}

/** @throws Fault EXPORT_QUOTA, EXPORT_SPACE where a file must not become so long */
function checkRoom(bytes: number, { own, all }: ExportRoom): void {
  if (bytes > own) {
    const detail =
      'The file would be larger than the caller may have beside other exports. Delete exports, or ask for fewer ' +
      'records or fields.'
    throw fault('EXPORT_QUOTA', { detail })
  }
  if (bytes > all) throw noRoom('The exports of all callers together have as many bytes as they may.')
}

/** A piece as it is written, with what stands before the first and after the last. */
function partsOf(catalog: Catalog, claimed: OpenExport, piece: ExportPiece): Uint8Array[] {
  const { collection, version, fields, format, bytes } = claimed
  const resource = resourceInVersion(catalog, version, collection)
  if (resource === undefined) throw new Error(`There is no collection ${collection} to export any more.`)
  const head = bytes === 0 ? exportHead(resource, fields ?? undefined, format) : ''
  const tail = piece.after === undefined ? exportTail(format) : ''
  return [Buffer.from(head), textOf(resource, claimed, piece), Buffer.from(tail)]
}

/** The records of a piece: where an older version has values of its own, they are made here. */
function textOf(resource: Resource, { fields, format, count }: OpenExport, { text }: ExportPiece): Uint8Array {
  if (!isMapped(resource) || !hasConversions(resource)) return text
  const options = { fields: fields ?? undefined, format, isFirst: count === 0 }
  return Buffer.from(convertedTexts(resource, Buffer.from(text).toString(), options))
}
