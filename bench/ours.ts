/** Our own server, started as users start it: the command, with its default settings but `--rate-limit off`. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Start } from './processes.ts'

const program = fileURLToPath(new URL('../src/cli/main.js', import.meta.url))
// The program sets the flags of its process itself.
const command = [program]

/** The declaration that is served. */
export const declaration = fileURLToPath(new URL('../examples/atlas/resources.yaml', import.meta.url))

/**
 * How it is started on a database (its address), with the atlas or another declaration; its log, one line a request,
 * goes to a file.
 */
export function ours(
  folder: string,
  name: string,
  database: string,
  port: number,
  secure: boolean,
  served = declaration,
): Start {
  const options = ['--database', database, '--port', String(port), '--rate-limit', 'off']
  return {
    args: [...command, 'serve', served, ...options, ...(secure ? [] : ['--http'])],
    origin: `${secure ? 'https' : 'http'}://127.0.0.1:${port}`,
    probe: '/health/live',
    folder,
    output: join(folder, `${name}.log`),
  }
}

/** Makes a key that may do everything, in the database of an address. */
export function createKey(database: string): string {
  const options = ['--subject', 'bench', '--roles', 'admin', '--database', database]
  const args = [...command, 'keys', 'create', ...options]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`No key could be made: ${stderr}`)
  return stdout.trim()
}
