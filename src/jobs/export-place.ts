/** What a place for the files of exports must do, and how much of a disk these files may use (LIM-8). */
import { statfs } from 'node:fs/promises'
import { type Fault, fault } from '../spec/faults.ts'
import type { OpenExport } from '../storage/storage.ts'

/** Where export files are kept: in a folder, or in the database. */
export interface ExportPlace {
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
  /** The path of a file on this server, after `has` returned `true`. */
  pathOf(job: string): string
  /**
   * Makes sure that the file is on this server.
   *
   * @param bytes the length of the file
   * @param now milliseconds since 1970
   * @returns `false` if the file is gone, or on another server
   */
  has(job: string, bytes: number, now: number): Promise<boolean>
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
export type Measure = (folder: string) => Promise<DiskSpace>

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
export function noRoom(reason: string, cause?: unknown): Fault {
  const detail = `${reason} Try again when other exports have expired or are deleted.`
  return fault('EXPORT_SPACE', { detail, headers: { 'Retry-After': '600' } }, cause)
}
