/**
 * Keeps export files in a folder. The database has the valid length of each file: bytes are written and synced first,
 * and counted then. After a crash the bytes beyond the valid length are cut off and written again.
 */
import { constants, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportsKept } from '../plan/export-document.ts'
import { type ExportPlace, keepReserve, type Measure, noRoom } from './export-place.ts'

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
    folder ??= kept ?? mkdtempSync(join(tmpdir(), 'resourced-exports-'))
    // Other users of the machine must not read exported data.
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return folder
  }
  const pathOf = (job: string) => join(folderOf(), job)

  const leave = async (job: string) => {
    const file = handles.get(job)
    handles.delete(job)
    await file?.close()
  }

  return {
    pathOf,
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
      return await stat(pathOf(job)).then(
        () => true,
        () => false,
      )
    },
    async sweep(now) {
      if (kept === undefined) return
      for (const name of await readdir(kept).catch(() => [])) {
        const path = join(kept, name)
        const { mtimeMs } = await stat(path)
        if (mtimeMs + exportsKept <= now && !handles.has(name)) await rm(path)
      }
    },
    async drop(job) {
      await leave(job)
      const place = folder ?? kept
      if (place !== undefined) await rm(join(place, job), { force: true })
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
