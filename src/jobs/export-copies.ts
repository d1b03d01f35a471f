/**
 * Keeps export files in the database, in pieces: one server writes them, and any server can send them. A server that is
 * asked for a file first copies the pieces into a local file, once (decision 027).
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportsKept } from '../plan/export-document.ts'
import type { PieceStore } from '../storage/storage.ts'
import { type ExportPlace, keepReserve } from './export-place.ts'

/** How long a copy is kept after the last request for it, in milliseconds. */
const copiesKept = 3_600_000

const prefix = 'resourced-export-copies-'

interface Copy {
  /** Whether the copy exists; `false` if pieces are missing. */
  readonly made: Promise<boolean>
  used: number
}

/** Keeps the files in a database, and copies in a temporary folder of this process. */
export function exportsInDatabase(pieces: PieceStore): ExportPlace {
  const copies = new Map<string, Copy>()
  const removals = new Map<string, Promise<void>>()
  let folder: string | undefined
  const folderOf = () => {
    folder ??= mkdtempSync(join(tmpdir(), prefix))
    // A cleaner of temporary files may have removed the folder.
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return folder
  }
  const pathOf = (job: string) => join(folderOf(), job)

  const copy = async (job: string, bytes: number) => {
    await removals.get(job)
    const path = pathOf(job)
    const half = `${path}.half`
    await keepReserve(folderOf(), bytes)
    try {
      const isWhole = await writePieces(pieces, job, bytes, half)
      // Only a complete copy gets the name from which it is sent.
      if (isWhole) await rename(half, path)
      else await rm(half)
      return isWhole
    } catch (error) {
      await rm(half, { force: true })
      throw error
    }
  }

  const remove = async (job: string) => {
    const { made } = copies.get(job) as Copy
    copies.delete(job)
    const removed = made.catch(() => false).then(() => rm(pathOf(job), { force: true }))
    removals.set(job, removed)
    await removed
    removals.delete(job)
  }

  const begin = (job: string, bytes: number, now: number) => {
    const begun: Copy = { made: copy(job, bytes), used: now }
    copies.set(job, begun)
    const forget = () => void (copies.get(job) === begun && copies.delete(job))
    begun.made.then((isWhole) => isWhole || forget(), forget)
    return begun
  }

  const has = async (job: string, bytes: number, now: number): Promise<boolean> => {
    const known = copies.get(job) ?? begin(job, bytes, now)
    known.used = now
    if (!(await known.made)) return false
    if (await isThere(pathOf(job))) return true
    // A cleaner of temporary files has removed the copy.
    if (copies.get(job) === known) copies.delete(job)
    return await has(job, bytes, now)
  }

  return {
    pathOf,
    has,
    prepare: async () => true,
    write: async (_, __, parts) => Buffer.concat(parts),
    async leave() {},
    async sweep(now) {
      for (const [job, { used }] of copies) if (used + copiesKept <= now) await remove(job)
      await removeLeft(now)
    },
    async drop(job) {
      if (copies.has(job)) await remove(job)
    },
    async close() {
      await Promise.allSettled([...copies.values()].map(({ made }) => made))
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** Writes the pieces of a file in order. Returns `false` if one is missing. */
async function writePieces({ read }: PieceStore, job: string, bytes: number, path: string): Promise<boolean> {
  const file = await open(path, 'w', 0o600)
  try {
    for (let start = 0; start < bytes; ) {
      const piece = await read(job, start)
      if (piece === undefined) return false
      await file.writeFile(piece)
      start += piece.length
    }
    return true
  } finally {
    await file.close()
  }
}

/** Removes the folders that killed servers of this user left behind, once their exports have expired. */
async function removeLeft(now: number): Promise<void> {
  const user = process.getuid?.()
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    if (!name.startsWith(prefix)) continue
    const path = join(tmpdir(), name)
    const found = await stat(path).catch(() => undefined)
    // The modification time of a folder is that of its newest copy.
    if (found?.uid === user && found !== undefined && found.mtimeMs + 2 * exportsKept <= now) {
      await rm(path, { recursive: true, force: true })
    }
  }
}
