/** Servers that others made, and the packages of the one made by hand: installed outside of this repository. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import type { Start } from './processes.ts'

/** Another server. */
export interface Competitor {
  readonly name: string
  readonly package: string
}

export const jsonServer: Competitor = { name: 'json-server', package: 'json-server@0.17.4' }
export const platformatic: Competitor = { name: 'Platformatic DB', package: '@platformatic/db@3.67.0' }

/** The records that all servers are given: as our own server shows them. */
export type Records = Readonly<Record<'countries' | 'cities', readonly Readonly<Record<string, unknown>>[]>>

const packages = join(tmpdir(), 'resourced-bench/packages')

/** Where a server is installed. */
export function folderOf(competitor: Competitor): string {
  return join(packages, competitor.package.replaceAll(/[^a-z0-9.]+/g, '-').replace(/^-/, ''))
}

/**
 * Installs a server outside of this repository, unless it is there already.
 *
 * @throws Error with npm's own words
 */
export function install(competitor: Competitor): void {
  npm(folderOf(competitor), ['install', '--save-exact', competitor.package], (draft) =>
    writeFileSync(join(draft, 'package.json'), '{ "private": true }\n'),
  )
}

/**
 * Installs the packages of a folder that has a lock file, outside of this repository, unless they are there already.
 *
 * @returns the folder that has them
 * @throws Error with npm's own words
 */
export function installLocked(source: string): string {
  const lock = readFileSync(join(source, 'package-lock.json'))
  const folder = join(packages, `${basename(source)}-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`)
  npm(folder, ['ci'], (draft) => {
    for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(source, name), join(draft, name))
  })
  return join(folder, 'node_modules')
}

/** Runs npm in a folder that takes its name once everything is there: several runs may need it at the same time. */
function npm(folder: string, args: readonly string[], prepare: (draft: string) => void): void {
  if (existsSync(folder)) return
  const draft = `${folder}.${process.pid}`
  mkdirSync(draft, { recursive: true })
  prepare(draft)
  // What is compiled must be compiled for the Node that runs it, not for the one that is installed here.
  const env = { ...process.env, npm_config_nodedir: dirname(dirname(process.execPath)) }
  const { status, stderr } = spawnSync('npm', [...args, '--no-audit', '--no-fund'], {
    cwd: draft,
    env,
    encoding: 'utf8',
  })
  if (status === 0 && !existsSync(folder)) renameSync(draft, folder)
  rmSync(draft, { recursive: true, force: true })
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed: ${stderr?.slice(-500)}`)
}

/**
 * How Platformatic DB is started: its interface comes from the tables, which have the keys and the index that it likes.
 */
export function startOfPlatformatic(folder: string, port: number, records: Records): Start {
  const file = join(folder, 'platformatic.db')
  fillTables(file, records)
  const script = fileURLToPath(new URL('platformatic.ts', import.meta.url))
  return {
    args: [script, folderOf(platformatic), folder, file, String(port)],
    origin: `http://127.0.0.1:${port}`,
    probe: '/countries/1',
    folder,
    output: join(folder, 'platformatic.log'),
    patience: 60_000,
  }
}

function fillTables(file: string, { countries, cities }: Records): void {
  const database = new DatabaseSync(file)
  database.exec(`pragma journal_mode = wal; begin;
    create table countries (id integer primary key, name text not null, code text not null);
    create table cities (id integer primary key, name text not null, country_id integer not null references countries(id),
      population integer not null, feature text not null, capital integer not null, admin_code text,
      latitude real not null, longitude real not null, created_at text, updated_at text);`)
  const country = database.prepare('insert into countries (name, code) values (?, ?)')
  const numbers = new Map<unknown, SQLInputValue>()
  for (const { id, name, code } of countries) numbers.set(id, country.run(String(name), String(code)).lastInsertRowid)
  const names = ['name', 'country_id', 'population', 'feature', 'capital', 'admin_code', 'latitude', 'longitude', 'created_at', 'updated_at'] // biome-ignore format: one row
  const city = database.prepare(`insert into cities (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`)
  for (const record of cities) {
    const values = { ...record, country_id: numbers.get(record['country_id']), capital: Number(record['capital']) }
    city.run(...names.map((name) => (values as Record<string, SQLInputValue>)[name] ?? null))
  }
  database.exec('create index cities_by_country on cities (country_id); commit')
  database.close()
}
