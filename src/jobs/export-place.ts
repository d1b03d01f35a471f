/** A place for the files of exports: beside a database, or in it. */
import type { OpenExport } from '../storage/storage.ts'

/** Where the files of exports are. */
export interface ExportPlace {
  /** Makes ready to write on; `false`: of what counts not all is there, so that the export has to begin again. */
  prepare(job: string, claimed: OpenExport): Promise<boolean>
  /**
   * Writes what comes next.
   *
   * @returns what the database is to keep of it, together with how far the export is then
   */
  write(job: string, claimed: OpenExport, parts: readonly Uint8Array[]): Promise<Uint8Array | undefined>
  /** No more is written, here and now. */
  leave(job: string): Promise<void>
  /** Where the file of an export is on this server, once `has` says so. */
  pathOf(job: string): string
  /**
   * Sees that the file of an export is here.
   *
   * @param bytes how long it is
   * @param now milliseconds since 1970
   * @returns `false` where it is gone, or on another server
   */
  has(job: string, bytes: number, now: number): Promise<boolean>
  /** Removes files here whose time is over. */
  sweep(now: number): Promise<void>
  /** Takes the file of an export that has failed away. */
  drop(job: string): Promise<void>
  close(): Promise<void>
}
