/** The measurements of reads. */
import { join } from 'node:path'
import { ask, type Request } from './ask.ts'
import { type Competitor, jsonServer, platformatic } from './competitors.ts'
import type { Contest, Measurement } from './measurement.ts'
import type { Server } from './processes.ts'
import { recordAnswers, recordPages } from './recording.ts'
import type { Contestant } from './rounds.ts'
import { copyOf, get, type Setup, startYardstick } from './setup.ts'

const connections = 64
/** How many different addresses are asked for in turn. */
const variety = { cities: 2000, countries: 100 }

/** One record. */
export const city: Measurement = {
  name: 'city',
  title: 'GET of one city',
  yardstick: 'bare',
  target: 0.6,
  repeated: true,
  prepare: async (setup) => {
    const cities = everyNth(setup.data.records.cities, variety.cities)
    const requests = cities.map(({ id }) => get(setup.data, `/v1/cities/${id}`))
    return withPeers(await besideBare(setup, 'city', requests, 200), setup, {
      [jsonServer.name]: cities.map(({ id }) => get(setup.data, `/cities/${id}`)),
      [platformatic.name]: everyNth(setup.data.records.cities.keys(), variety.cities).map((row) =>
        get(setup.data, `/cities/${row + 1}`),
      ),
    })
  },
}

/** A page with its exact total, by page number. */
export const page: Measurement = {
  name: 'page',
  title: 'Page of 50 cities of a country, with the exact total (`per_page`)',
  yardstick: 'bare+SQL',
  target: 0.7,
  repeated: true,
  prepare: async (setup) => {
    const places = largeCountries(setup)
    const requests = places.map(({ id }) => get(setup.data, `/v1/cities?country_id=${id}&per_page=50`))
    return withPeers(await besideSql(setup, 'page', requests), setup, pagesOfPeers(setup, places))
  },
}

/** The same in the cursor style. */
export const cursor: Measurement = {
  name: 'cursor',
  title: 'The same page in the cursor style (`limit`)',
  yardstick: 'bare+SQL',
  target: 0.7,
  repeated: false,
  prepare: (setup) => {
    const requests = largeCountries(setup).map(({ id }) => get(setup.data, `/v1/cities?country_id=${id}&limit=50`))
    return besideSql(setup, 'cursor', requests)
  },
}

/** The page asked again. */
export const unchanged: Measurement = {
  name: 'unchanged',
  title: 'The page asked again with `If-None-Match`',
  yardstick: 'bare 304',
  target: 0.6,
  repeated: true,
  prepare: async (setup) => {
    const places = largeCountries(setup)
    const requests = places.map(({ id }) => get(setup.data, `/v1/cities?country_id=${id}&per_page=50`))
    const contest = await besideBare(setup, 'unchanged', await conditional(setup.ours, requests), 304)
    const peer = setup.peers.find(({ competitor }) => competitor === jsonServer)?.server
    if (peer === undefined) return contest
    // Platformatic DB has no entity tags.
    const asked = await conditional(peer, pagesOfPeers(setup, places)[jsonServer.name] ?? [])
    return withPeers(contest, setup, { [jsonServer.name]: asked }, 304)
  },
}

/** Each request with the entity tag of its answer. */
async function conditional(server: Server, requests: readonly Request[]): Promise<Request[]> {
  const asked: Request[] = []
  for (const request of requests) {
    const { headers } = await ask(server.origin + request.path, request)
    asked.push({ ...request, headers: { ...request.headers, 'If-None-Match': headers['ETag'] ?? '' } })
  }
  return asked
}

async function besideBare(setup: Setup, name: string, requests: readonly Request[], status: number): Promise<Contest> {
  const file = join(setup.folder, `${name}.json`)
  await recordAnswers(file, setup.ours.origin, requests)
  const bare = await startYardstick(setup, 'bare.ts', [file])
  return contest(setup, requests, 'bare', bare, status)
}

async function besideSql(setup: Setup, name: string, requests: readonly Request[]): Promise<Contest> {
  const file = join(setup.folder, `${name}.json`)
  const { catalog, file: database } = setup.data
  await recordPages(file, setup.ours.origin, requests, catalog, copyOf(database, setup.folder))
  const bare = await startYardstick(setup, 'bare-sql.ts', [file])
  return contest(setup, requests, 'bare+SQL', bare, 200)
}

function contest(setup: Setup, requests: readonly Request[], name: string, yardstick: Server, status: number): Contest {
  const own: Contestant = { name: 'ours', server: setup.ours, requests, connections, status }
  return { contestants: [own, { name, server: yardstick, requests, connections, status }], ends: [yardstick] }
}

/** Adds the others that have the operation. */
export function withPeers(
  { contestants, ends }: Contest,
  setup: Setup,
  requests: Readonly<Record<string, readonly Request[]>>,
  status = 200,
): Contest {
  const others = setup.peers.flatMap(({ competitor: { name }, server }): Contestant[] => {
    const asked = requests[name]
    return server === undefined || asked === undefined ? [] : [{ name, server, requests: asked, connections, status }]
  })
  return { contestants: [...contestants, ...others], ends }
}

function pagesOfPeers(
  { data }: Setup,
  places: readonly Place[],
): Readonly<Record<Competitor['name'], readonly Request[]>> {
  return {
    [jsonServer.name]: places.map(({ id }) => get(data, `/cities?country_id=${id}&_page=1&_limit=50`)),
    [platformatic.name]: places.map(({ number }) =>
      get(data, `/cities/?where.countryId.eq=${number}&limit=50&totalCount=true`),
    ),
  }
}

interface Place {
  readonly id: string
  /** Which country it is, from 1: its id where ids are numbers. */
  readonly number: number
}

/** Countries whose first page is full. */
function largeCountries({ data: { records } }: Setup): Place[] {
  const counts = new Map<unknown, number>()
  for (const { country_id } of records.cities) counts.set(country_id, (counts.get(country_id) ?? 0) + 1)
  const places = records.countries.map(({ id }, index) => ({ id: String(id), number: index + 1 }))
  return places.filter(({ id }) => (counts.get(id) ?? 0) > 50).slice(0, variety.countries)
}

/** So many items, spread over all of them, in an order that jumps about. */
function everyNth<T>(all: Iterable<T>, count: number): T[] {
  const items = [...all]
  const most = Math.min(count, items.length)
  return Array.from({ length: most }, (_, turn) => items[(turn * 7919) % items.length] as T)
}
