/** Platformatic DB: its interface comes from the tables, which have the keys that it likes, and an index by country. */
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { Request } from './ask.ts'
import { folderOf, install, platformatic, type Records } from './competitors.ts'
import { askedOf, type Peer } from './peer.ts'
import { freePort, startServer } from './processes.ts'
import type { Data } from './setup.ts'

/**
 * Installs it and starts it on the same records.
 *
 * @throws Error with npm's own words
 */
export async function startPlatformatic(folder: string, { records }: Data): Promise<Peer> {
  install(platformatic)
  const [file, port] = [join(folder, 'platformatic.db'), await freePort()]
  fillTables(file, records)
  const server = await startServer({
    args: [join(import.meta.dirname, 'platformatic.ts'), folderOf(platformatic), folder, file, String(port)],
    origin: `http://127.0.0.1:${port}`,
    probe: '/countries/1',
    folder,
    output: join(folder, 'platformatic.log'),
    patience: 60_000,
  })
  const numbers = new Map<unknown, number>()
  for (const all of [records.countries, records.cities]) {
    for (const [index, { id }] of all.entries()) numbers.set(id, index + 1)
  }
  return { name: platformatic.name, server, translate: (request) => translate(request, numbers) }
}

function translate(request: Request, numbers: ReadonlyMap<unknown, number>): Request | undefined {
  const asked = askedOf(request)
  // It has PUT alone for changes, of which a record's whole is sent.
  if (asked === undefined || asked.method === 'PATCH' || asked.method === 'DELETE') return undefined
  const { id, query, fields } = asked
  if (id !== undefined) return { ...request, path: `/cities/${numbers.get(id)}` }
  if (fields !== undefined) {
    const { country_id, admin_code, capital, ...rest } = fields
    const body = { ...rest, countryId: numbers.get(country_id), adminCode: admin_code, capital: Number(capital) }
    return { ...request, path: '/cities/', body: JSON.stringify(body) }
  }
  const offset = 50 * (Number(query.get('page') ?? 1) - 1)
  const order = query.has('sort') ? '&orderby.population=desc' : ''
  const where = `where.countryId.eq=${numbers.get(query.get('country_id'))}`
  return { ...request, path: `/cities/?${where}&limit=50&offset=${offset}&totalCount=true${order}` }
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
