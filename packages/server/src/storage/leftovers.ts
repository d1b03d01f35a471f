/**
 * Names of temporary files and folders that contain their process, so that another process can remove what a killed
 * one has left behind, and nothing else.
 */
import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** How long what a process of another machine has made is kept after its last change, in milliseconds. */
const foreignKept = 2 * 86_400_000

let machine: string | undefined

/**
 * The mark of this process, for names: its number, and a hash of the machine, its start and its namespace of numbers.
 * Processes of two containers may have the same number.
 */
export function processMark(pid = process.pid): string {
  machine ??= createHash('sha256')
    .update(JSON.stringify([hostname(), systemText('/proc/sys/kernel/random/boot_id', readFileSync)]))
    .update(systemText('/proc/self/ns/pid', readlinkSync))
    .digest('hex')
    .slice(0, 8)
  return `p${pid}-${machine}`
}

/** What only Linux tells; elsewhere empty. */
function systemText(path: string, read: (path: string, encoding: 'utf8') => string): string {
  try {
    return read(path, 'utf8')
  } catch {
    return ''
  }
}

/**
 * Removes entries of a folder whose process has ended. Of another machine, nothing says whether it has, so its entries
 * are removed two days after their last change.
 *
 * @param isMarked whether a name is one of ours; it must contain the mark of a process
 */
export async function removeLeftovers(folder: string, isMarked: (name: string) => boolean): Promise<void> {
  const user = process.getuid?.()
  const names = await readdir(folder).catch(() => [])
  for (const name of names.filter(isMarked)) {
    const [mark, pid] = /\bp(\d+)-[\da-f]{8}\b/.exec(name) ?? []
    if (mark === undefined || pid === undefined) continue
    const path = join(folder, name)
    const found = await stat(path).catch(() => undefined)
    if (found === undefined || found.uid !== (user ?? found.uid)) continue
    // The system's clock, which also made the time of the change: a server may have another one.
    const isLeft = mark === processMark(Number(pid)) ? hasEnded(Number(pid)) : found.mtimeMs + foreignKept <= Date.now()
    if (isLeft) await rm(path, { recursive: true, force: true }).catch(() => {})
  }
}

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
