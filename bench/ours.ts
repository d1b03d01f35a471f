/** Our own server, started as users start it: the command, with its default settings but `--rate-limit off`. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Start } from './processes.ts'

const command = fileURLToPath(new URL('../src/cli/main.js', import.meta.url))

/** The declaration that is served. */
export const declaration = fileURLToPath(new URL('../examples/atlas/resources.ts', import.meta.url))

/** How it is started on a database; its log, one line a request, goes to a file. */
export function ours(folder: string, name: string, database: string, port: number, secure: boolean): Start {
  const options = ['--database', `sqlite:${database}`, '--port', String(port), '--rate-limit', 'off']
  return {
    args: [command, 'serve', declaration, ...options, ...(secure ? [] : ['--http'])],
    origin: `${secure ? 'https' : 'http'}://127.0.0.1:${port}`,
    probe: '/health/live',
    folder,
    output: join(folder, `${name}.log`),
  }
}

/** Makes a key that may do everything. */
export function createKey(database: string): string {
  const args = [command, 'keys', 'create', '--subject', 'bench', '--roles', 'admin', '--database', `sqlite:${database}`]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`No key could be made: ${stderr}`)
  return stdout.trim()
}
