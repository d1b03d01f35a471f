/** Our own server, started as users start it: the command, with its default settings. */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Start } from './processes.ts'

/** The command. It sets the flags of its process itself. */
export const program = fileURLToPath(new URL('../packages/server/src/cli/main.js', import.meta.url))

/** The declaration that is served. */
export const declaration = fileURLToPath(new URL('../examples/atlas/resources.yaml', import.meta.url))

/** A rate that no load reaches. The requests of a caller are counted all the same. */
export const rate = '100000000/minute'

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
  served = atlasIn(folder),
): Start {
  const options = ['--database', database, '--port', String(port), ...(secure ? [] : ['--http'])]
  return {
    args: [program, 'serve', served, ...options],
    origin: `${secure ? 'https' : 'http'}://127.0.0.1:${port}`,
    probe: '/health/live',
    folder,
    output: join(folder, `${name}.log`),
  }
}

/** The atlas with a rate of calls that the load does not reach, as a file of a folder. */
export function atlasIn(folder: string): string {
  const file = join(folder, 'atlas.yaml')
  writeFileSync(file, readFileSync(declaration, 'utf8').replace('10000/minute', rate))
  return file
}

/** The same, where cities can also be filtered by their names, without an index, and deleted by filter. */
export function openAtlasIn(folder: string): string {
  const file = join(folder, 'open-atlas.yaml')
  const text = readFileSync(atlasIn(folder), 'utf8')
  const name = /(?<=maxLength: 200, search: true, sort: true)(?= })/
  writeFileSync(
    file,
    text.replace(name, ', filter: true').replace(/(?= within: )/, ' deletion: { byFilter: true }\n   '),
  )
  return file
}

/** Makes a key of a caller who may do everything, in the database of an address. */
export function createKey(database: string, subject = 'bench'): string {
  const options = ['--subject', subject, '--roles', 'admin', '--database', database]
  const args = [program, 'keys', 'create', ...options]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`No key could be made: ${stderr}`)
  return stdout.trim()
}
