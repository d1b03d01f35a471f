/**
 * The server that a good engineer writes by hand (`by-hand/`): its packages, its database with the same records, and
 * how it is started.
 */
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { installLocked } from './competitors.ts'
import type { Start } from './processes.ts'

const source = join(import.meta.dirname, 'by-hand')

/**
 * How it is started on the records of a database of ours.
 *
 * @param file our database, which no server has open
 * @param authorization the credential that it accepts
 * @throws Error with npm's own words, if its packages cannot be installed
 */
export function byHand(folder: string, file: string, authorization: string, port: number): Start {
  const program = join(folder, `by-hand-${port}`)
  mkdirSync(program)
  symlinkSync(installLocked(source), join(program, 'node_modules'))
  for (const name of readdirSync(source)) copyFileSync(join(source, name), join(program, name))
  const database = join(folder, `by-hand-${port}.db`)
  fill(database, file, authorization)
  return {
    args: [join(program, 'server.js'), database, String(port)],
    origin: `http://127.0.0.1:${port}`,
    probe: '/health/live',
    folder,
    output: join(folder, `by-hand-${port}.log`),
  }
}

function fill(file: string, ours: string, authorization: string): void {
  const database = new DatabaseSync(file)
  const run = (name: string) => database.exec(readFileSync(join(source, name), 'utf8'))
  const copy = (table: string, columns: string) =>
    database.exec(`insert into ${table} (rowid, ${columns}) select _row, ${columns} from ours.${table} order by _row`)
  database.exec('pragma journal_mode = wal; pragma synchronous = off')
  database.prepare('attach ? as ours').run(ours)
  database.exec('begin')
  run('schema.sql')
  copy('countries', 'id, name, code')
  copy(
    'cities',
    'id, name, country_id, population, feature, capital, admin_code, latitude, longitude, created_at, updated_at',
  )
  database.exec('insert into cities_words (rowid, name) select rowid, name from cities')
  run('indexes.sql')
  const key = authorization.replace('Bearer ', '')
  database
    .prepare('insert into keys values (?, ?, ?)')
    .run(createHash('sha256').update(key).digest('hex'), 'bench', 'admin')
  database.exec('commit; pragma wal_checkpoint(truncate)')
  database.close()
}
