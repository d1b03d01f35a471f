/**
 * The share of a disk that the files of exports never take (LIM-8): what is exported must not stop the database from
 * writing.
 */
import { statfs } from 'node:fs/promises'
import { type Fault, fault } from '../spec/faults.ts'

/** The largest reserve, in bytes. */
const largestReserve = 1_073_741_824

/** How large a disk is, and how much of it is free, in blocks. */
interface DiskSpace {
  readonly bsize: number
  readonly blocks: number
  readonly bavail: number
}

/** Measures the disk that a folder is on. */
export type Measure = (folder: string) => Promise<DiskSpace>

/**
 * Checks that a file may grow: a tenth of its disk stays free, or 1 GiB where that is less.
 *
 * @param bytes by how much it grows
 * @throws Fault EXPORT_SPACE where the reserve would be touched
 */
export async function keepReserve(folder: string, bytes: number, measure: Measure = statfs): Promise<void> {
  const { bsize, blocks, bavail } = await measure(folder)
  const reserve = Math.min((blocks * bsize) / 10, largestReserve)
  if (bavail * bsize - bytes < reserve) throw noRoom('The rest of the disk is kept for the database.')
}

/**
 * The refusal of a file for which there is no room.
 *
 * @param reason one sentence, without a path (ERR-4)
 */
export function noRoom(reason: string, cause?: unknown): Fault {
  const detail = `${reason} Try again when other exports have expired or are deleted.`
  return fault('EXPORT_SPACE', { detail, headers: { 'Retry-After': '600' } }, cause)
}
