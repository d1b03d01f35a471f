/** Writes export files piece by piece (JOB-6): into a folder, or into the database, as the storage demands. */
import {
  accessDigest,
  type Catalog,
  hasConversions,
  isMapped,
  type Resource,
  resourceInVersion,
} from '../model/resource.ts'
import { timestamp } from '../model/time.ts'
import { convertedTexts, exportHead, exportsKept, exportTail } from '../plan/export-document.ts'
import { fault } from '../spec/faults.ts'
import type { ExportPiece, ExportRoom, JobStep, OpenExport, Storage } from '../storage/storage.ts'
import { type ExportPlace, exportsInDatabase, exportsInFolder, noRoom } from './export-places.ts'

/** The files of exports. */
export interface ExportFiles extends Pick<ExportPlace, 'pathOf' | 'has' | 'sweep' | 'drop' | 'close'> {
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
function checkAccess(catalog: Catalog, { collection, access }: OpenExport): void {
  const resource = catalog.resources.get(collection)
  if (resource !== undefined && accessDigest(catalog, resource, 'read') !== access)
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
