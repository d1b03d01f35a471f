/** Runs commands as processes, in a folder of their own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandFile } from '../command-file.ts'

/** How a command ended, and what it wrote to both of its streams. */
export interface Ended {
  readonly code: number | null
  readonly said: string
}

/** A folder with a function that runs commands there. */
export function commandFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-import-'))
  const start = (given: readonly string[]): { child: ChildProcess; ended: Promise<Ended> } => {
    const child = spawn(process.execPath, [commandFile, ...given], { cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (text) => {
        said += text
      })
    }
    return { child, ended: new Promise((resolve) => child.on('close', (code) => resolve({ code, said }))) }
  }
  return {
    folder,
    start,
    run(given: readonly string[]): Promise<Ended> {
      const { child, ended } = start(given)
      child.stdin?.end()
      return ended
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
