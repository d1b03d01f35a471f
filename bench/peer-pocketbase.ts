/** PocketBase: built from its Go module, with collections of the same fields, and an index by country. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { ask, type Request } from './ask.ts'
import { buildGo } from './competitors.ts'
import { askedOf, type Peer } from './peer.ts'
import { freePort, type Start, startServer } from './processes.ts'
import type { Data } from './setup.ts'

const [identity, password] = ['bench@example.com', 'no-secret-at-all']

/**
 * Builds it and starts it on the same records.
 *
 * @throws Error if there is no Go, or with its own words
 */
export async function startPocketBase(folder: string, { records }: Data): Promise<Peer> {
  const program = buildGo(join(import.meta.dirname, 'pocketbase'))
  const [place, port] = [join(folder, 'pocketbase'), await freePort()]
  const { status, stderr } = spawnSync(program, ['superuser', 'upsert', identity, password, '--dir', place])
  if (status !== 0) throw new Error(`PocketBase did not start: ${stderr}`)
  const start: Start = {
    program,
    args: ['serve', '--http', `127.0.0.1:${port}`, '--dir', place],
    origin: `http://127.0.0.1:${port}`,
    probe: '/api/health',
    folder,
    output: join(folder, 'pocketbase.log'),
    patience: 60_000,
  }
  const first = await startServer(start)
  const token = await makeCollections(start.origin)
  await first.stop()
  const ids = new Map<unknown, string>()
  for (const all of [records.countries, records.cities]) {
    for (const [index, { id }] of all.entries()) ids.set(id, `r${String(index).padStart(14, '0')}`)
  }
  fill(join(place, 'data.db'), records, ids)
  const server = await startServer(start)
  return { name: 'PocketBase', server, translate: (request) => translate(request, ids, token) }
}

const text = (name: string) => ({ name, type: 'text' })
const number = (name: string) => ({ name, type: 'number' })

/** Makes the collections. @returns the credential of an administrator */
async function makeCollections(origin: string): Promise<string> {
  const send = async (path: string, body: object, token = '') => {
    const headers = { 'Content-Type': 'application/json', Authorization: token }
    const answer = await ask(origin + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (answer.status !== 200) throw new Error(`PocketBase answers ${path} with ${answer.status}: ${answer.body}`)
    return JSON.parse(answer.body) as { readonly id: string; readonly token: string }
  }
  const { token } = await send('/api/collections/_superusers/auth-with-password', { identity, password })
  const create = (name: string, fields: object[], indexes: string[]) =>
    send('/api/collections', { name, type: 'base', fields, indexes }, token)
  const { id } = await create('countries', [text('name'), text('code')], [])
  const times = [
    { name: 'created', type: 'autodate', onCreate: true },
    { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true },
  ]
  const country = { name: 'country', type: 'relation', collectionId: id, maxSelect: 1, required: true }
  const capital = { name: 'capital', type: 'bool' }
  await create(
    'cities',
    [...['name', 'feature', 'admin_code'].map(text), ...['population', 'latitude', 'longitude'].map(number), country]
      .concat(capital as never)
      .concat(times as never),
    ['create index cities_by_country on cities (country)'],
  )
  return token
}

function fill(file: string, { countries, cities }: Data['records'], ids: ReadonlyMap<unknown, string>): void {
  const database = new DatabaseSync(file)
  database.exec('begin')
  const insert = (table: string, values: Readonly<Record<string, unknown>>) => {
    const names = Object.keys(values)
    const places = names.map(() => '?').join(', ')
    const statement = database.prepare(`insert into ${table} (${names.join(', ')}) values (${places})`)
    return statement.run(...(Object.values(values) as SQLInputValue[]))
  }
  for (const { id, name, code } of countries) insert('countries', { id: ids.get(id), name, code })
  for (const { id, country_id, capital, admin_code, created_at, updated_at, ...rest } of cities) {
    const times = { created: String(created_at).replace('T', ' '), updated: String(updated_at).replace('T', ' ') }
    const values = { country: ids.get(country_id), capital: Number(capital), admin_code: admin_code ?? '' }
    insert('cities', { id: ids.get(id), ...rest, ...values, ...times })
  }
  database.exec('commit')
  database.close()
}

function translate(request: Request, ids: ReadonlyMap<unknown, string>, token: string): Request | undefined {
  const asked = askedOf(request)
  if (asked === undefined) return undefined
  const { id, query, fields } = asked
  const base = '/api/collections/cities/records'
  const headers = { ...request.headers, Authorization: token }
  if (id !== undefined) return { ...request, path: `${base}/${ids.get(id)}`, headers }
  if (fields !== undefined) {
    const { country_id, ...rest } = fields
    return { ...request, path: base, headers, body: JSON.stringify({ ...rest, country: ids.get(country_id) }) }
  }
  const filter = encodeURIComponent(`country='${ids.get(query.get('country_id'))}'`)
  const order = query.has('sort') ? '&sort=-population' : ''
  return { ...request, path: `${base}?filter=${filter}&perPage=50&page=${query.get('page') ?? 1}${order}`, headers }
}
