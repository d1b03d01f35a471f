/**
 * Measures what operations lose when a collection grows: `node bench/by-size.ts [--folder FOLDER] [--records 1000000]
 * [--beside 10000] [--rounds 9] [--only NAME]`. Two applications in one process answer the same requests in turn, batch
 * by batch, over many records and over few. What counts is processor time, which a busy machine disturbs least. The
 * databases are made once if a folder is named. See docs/explanation/performance.md.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { loadDeclaration } from '../packages/server/src/cli/load-declaration.ts'
import { type App, createApp } from '../packages/server/src/index.ts'
import { makeCities } from './atlas.ts'
import type { Records } from './competitors.ts'
import { loadResource } from './declared.ts'
import { describeMachine, loadAverage } from './machine.ts'
import { openAtlasIn } from './ours.ts'
import { spreadOf } from './rounds.ts'
import { copyOf } from './setup.ts'

const { values: options } = parseArgs({
  options: {
    folder: { type: 'string' },
    records: { type: 'string', default: '1000000' },
    beside: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '9' },
    only: { type: 'string', multiple: true, default: [] },
  },
})
const rounds = Number(options.rounds)
/** The least that should be left of a rate. */
const target = 0.85

interface Request {
  readonly method: string
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

/** An application over a database of made-up cities. */
interface Size {
  readonly app: App
  readonly count: number
  /** The countries and cities that can be asked for: as many in each database. */
  readonly records: Records
  /** All ids, in an order that jumps about. */
  readonly ids: readonly string[]
}

/** What is measured: the request of a turn, of which each is sent once. Requests before turn 0 warm up. */
interface Operation {
  readonly name: string
  /** How many requests a batch has, and how many of them are sent at once. */
  readonly batch: number
  readonly together?: number
  /** What it has to do grows with the records, so no rate can stay. */
  readonly grows?: true
  request(size: Size, turn: number): Request | Promise<Request>
}

const city = '/v1/cities'
const get = (target: string, headers = {}): Request => ({ method: 'GET', target, headers })
/** The cities of a country that has as many in each database. */
const ofCountry = ({ records }: Size, turn: number) => `${city}?country_id=${at(records.countries, turn)['id']}`
const oneOf = ({ ids }: Size, turn: number) => `${city}/${at(ids, turn)}`
/** Never true of less or more records, and different in each turn: no answer is remembered. */
const unlike = (turn: number) => `created_at[lte]=${new Date(2e12 + turn * 1000).toISOString()}`
const bodyOf = ({ records }: Size, turn: number) => {
  const { id: _id, created_at: _created, updated_at: _updated, ...body } = at(records.cities, turn * 7_919)
  return { ...body, population: 2_000_000 + turn }
}

const operations: readonly Operation[] = [
  { name: 'GET, asked before', batch: 2_000, request: (size, turn) => get(oneOf(size, turn % 200)) },
  { name: 'GET, each id once', batch: 500, request: (size, turn) => get(oneOf(size, 1_000 + turn)) },
  {
    name: '304 of a record',
    batch: 2_000,
    async request(size, turn) {
      const target = oneOf(size, turn % 200)
      return get(target, { 'if-none-match': await tagOf(size, target) })
    },
  },
  {
    name: 'page of 50, asked before',
    batch: 1_000,
    request: (size, turn) => get(`${ofCountry(size, turn)}&per_page=50`),
  },
  // Another offset each time, so that no page is remembered.
  ...(
    [
      ['first', '', 0],
      ['15th', '', 650],
      ['first, sorted', '&sort=-population', 0],
      ['15th, sorted', '&sort=name', 650],
    ] as const
  ).map(
    ([name, query, from]): Operation => ({
      name: `page of 50, ${name}, each once`,
      batch: 100,
      request: (size, turn) => get(`${ofCountry(size, turn)}${query}&offset=${from + Math.floor(turn / 10)}&limit=50`),
    }),
  ),
  {
    name: 'walk by cursor, 50 at a time',
    batch: 100,
    request: async (size, turn) => get(await walked(size, turn)),
  },
  {
    name: 'two-word search',
    batch: 100,
    request: (size, turn) => {
      const [first, second = ''] = String(at(size.records.cities, turn * 31)['name']).split(' ')
      return get(`${city}?q=${first}+${second.slice(0, -1)}&offset=${Math.floor(turn / 40)}&limit=50`)
    },
  },
  ...[1, 64].flatMap((together): Operation[] => [
    {
      name: `POST, ${together} at once`,
      batch: 128,
      together,
      request: (size, turn) => ({ method: 'POST', target: city, body: bodyOf(size, turn) }),
    },
    {
      name: `PATCH, ${together} at once`,
      batch: 128,
      together,
      request: (size, turn) => ({ method: 'PATCH', target: oneOf(size, turn), body: { population: 3e6 + turn } }),
    },
    {
      name: `DELETE, ${together} at once`,
      batch: 64,
      together,
      request: (size, turn) => ({ method: 'DELETE', target: oneOf(size, (together === 1 ? 6_000 : 8_000) + turn) }),
    },
  ]),
  ...Object.entries({
    'first page of all': (_: Size, turn: number) => `offset=${turn}&limit=50`,
    'last page of all': ({ count }: Size, turn: number) => `offset=${count - 50 - turn}&limit=50`,
    'last page of all, sorted': ({ count }: Size, turn: number) => `offset=${count - 50 - turn}&limit=50&sort=name`,
    'page in the middle': ({ count }: Size, turn: number) => `offset=${count / 2 - turn}&limit=50`,
    'page in the middle, sorted': ({ count }: Size, turn: number) => `offset=${count / 2 - turn}&limit=50&sort=name`,
    'total of two filters and a page': (_: Size, turn: number) => `per_page=50&feature=PPL&${unlike(turn)}`,
    'search of a word that most have': (_: Size, turn: number) => `q=city&offset=${turn}&limit=50`,
    'the same, sorted': (_: Size, turn: number) => `q=city&sort=-population&offset=${turn}&limit=50`,
    'the same, sorted, in the middle': ({ count }: Size, turn: number) =>
      `q=city&sort=-population&offset=${count / 2 - 500 - turn}&limit=50`,
  }).map(
    ([name, query]): Operation => ({
      name,
      batch: 2,
      grows: true,
      request: (size, turn) => get(`${city}?${query(size, turn)}`),
    }),
  ),
  {
    name: 'page of a filter after a change',
    batch: 1,
    grows: true,
    async request(size, turn) {
      await send(size, { method: 'PATCH', target: oneOf(size, 100), body: { population: 4e6 + turn } })
      return get(`${city}?feature=PPL&per_page=50&page=2`)
    },
  },
]

const known = new Map<string, string>()

async function tagOf(size: Size, target: string): Promise<string> {
  const key = `${size.count} ${target}`
  const found = known.get(key) ?? (await send(size, get(target))).headers['ETag'] ?? ''
  known.set(key, found)
  return found
}

/** The address of the next page of a walk through the cities of one country after the other. */
async function walked(size: Size, turn: number): Promise<string> {
  const first = `${ofCountry(size, Math.floor(turn / 14))}&limit=${50 - Math.floor(turn / 140)}`
  const key = `${size.count} ${first} ${turn % 14}`
  const target = known.get(key) ?? first
  const { body } = await send(size, get(target))
  const { next_cursor } = (JSON.parse(String(body)) as { pagination: { next_cursor: string } }).pagination
  const next = `${first}&cursor=${next_cursor}`
  known.set(`${size.count} ${first} ${(turn % 14) + 1}`, next)
  return next
}

const temporary = join(tmpdir(), 'resourced-bench')
mkdirSync(temporary, { recursive: true })
const own = mkdtempSync(join(temporary, 'by-size-'))
process.once('exit', () => rmSync(own, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
await run()

async function run(): Promise<void> {
  const many = await open(Number(options.records))
  const few = await open(Number(options.beside))
  console.log(`${describeMachine(own)}, load ${loadAverage()}; ${many.count} records beside ${few.count}.\n`)
  console.log('| operation | few, µs | many, µs | rate that is left | target |\n| --- | --- | --- | --- | --- |')
  for (const operation of operations) {
    if (options.only.length > 0 && !options.only.some((each) => operation.name.includes(each))) continue
    await compare(operation, few, many)
  }
  await Promise.all([many, few].map(({ app }) => app.close()))
}

async function compare(operation: Operation, few: Size, many: Size): Promise<void> {
  const [ofFew, ofMany]: [number[], number[]] = [[], []]
  for (let round = -1; round < rounds; round++) {
    // Each begins every second round: what one leaves behind does not always meet the same one.
    const pairs = [
      { size: few, times: ofFew },
      { size: many, times: ofMany },
    ]
    for (const { size, times } of round % 2 === 0 ? pairs : pairs.toReversed()) {
      const took = await timed(operation, size, round + 1)
      if (round >= 0) times.push(took)
    }
  }
  const best = Math.min(...ofFew) / Math.min(...ofMany)
  const { median, min, max } = spreadOf(ofFew.map((each, round) => each / (ofMany[round] as number)))
  const micros = (times: number[]) => spreadOf(times).median.toFixed(1)
  const verdict = operation.grows ? '' : median >= target ? 'reached' : '**missed**'
  const left = `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)}), best ${best.toFixed(2)}`
  console.log(`| ${operation.name} | ${micros(ofFew)} | ${micros(ofMany)} | ${left} | ${verdict} |`)
}

/** Microseconds of processor time for each request of a batch. */
async function timed({ batch, together = 1, request }: Operation, size: Size, round: number): Promise<number> {
  const requests: Request[] = []
  for (let turn = 0; turn < batch; turn++) requests.push(await request(size, round * batch + turn))
  const before = process.cpuUsage()
  for (let turn = 0; turn < batch; turn += together) {
    await Promise.all(requests.slice(turn, turn + together).map((each) => send(size, each)))
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / batch
}

/** @throws Error if the response is an error */
async function send({ app }: Size, { method, target, headers, body }: Request) {
  const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body))
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const response = await app.respond({
    ...{ method, target, secure: true, address: '', readBody: async () => bytes },
    headers: { authorization: 'bench', ...type, ...headers },
  })
  if (response.status >= 400) throw new Error(`${method} ${target}: ${response.status} ${String(response.body)}`)
  return response
}

async function open(count: number): Promise<Size> {
  const served = openAtlasIn(own)
  const { catalog } = await loadResource(served, 'cities')
  const folder = options.folder ?? own
  const [made, listed] = [join(folder, `made-${count}.db`), join(folder, `made-${count}.json`)]
  if (!existsSync(listed)) writeFileSync(listed, JSON.stringify(await makeCities(made, catalog, count)))
  const file = copyOf(made, own)
  const app = createApp(await loadDeclaration(served), {
    database: `sqlite:${file}`,
    log: false,
    authenticate: () => ({ id: 'bench', roles: ['admin'] }),
    rateLimit: 'off',
  })
  await app.ready()
  const database = new DatabaseSync(file, { readOnly: true })
  const all = database.prepare('select id from cities').all() as { id: string }[]
  database.close()
  // The prime number is no divisor of how many there are.
  const ids = Array.from({ length: Math.min(count, 50_000) }, (_, turn) => all[(turn * 7_919) % count]?.id as string)
  return { app, count, records: JSON.parse(readFileSync(listed, 'utf8')) as Records, ids }
}

function at<T>(values: readonly T[], index: number): T {
  return values[index % values.length] as T
}
