/** The comparisons with the bare server and the one made by hand: a table. `run.ts` runs them in this order. */
import { ask, type Request } from './ask.ts'
import { patching, renumbering } from './patching.ts'
import { type Data, get } from './setup.ts'

/** A comparison: every server is asked the same. */
export interface Row {
  readonly name: string
  readonly title: string
  /** The least ratios to aim at; `undefined`: it is compared, without a target. */
  readonly targets: { readonly bare?: number | undefined; readonly 'by hand'?: number | undefined }
  /** 64 where left out. */
  readonly connections?: number
  /** 200 where left out. */
  readonly status?: number
  readonly secure?: boolean
  /** How many requests a round has, where each is sent once. */
  readonly once?: number
  readonly script?: string
  /** POSTs a second meanwhile. */
  readonly posts?: number
  requests(asked: Asked): readonly Request[] | Promise<readonly Request[]>
}

/** The server that is asked. Ours and the one by hand have the same addresses, but tags and cursors of their own. */
export interface Asked {
  readonly data: Data
  readonly origin: string
}

const hot = ({ data }: Asked) => citiesOf(data, 0, 2_000).map((id) => get(data, `/v1/cities/${id}`))
const cold = ({ data }: Asked) => citiesOf(data, 2_000).map((id) => get(data, `/v1/cities/${id}`))
const pages = ({ data }: Asked) => pagesOf(data, 50, 'per_page=50')
const sent = ({ data }: Asked) => bodiesOf(data).map((body) => send(data, 'POST', '/v1/cities', body))

export const rows: readonly Row[] = [
  { name: 'get', title: 'GET by id, asked before', targets: { bare: 0.7, 'by hand': 1.3 }, requests: hot },
  {
    name: 'get-cold',
    title: 'GET by id, 33,000 different ids, each once',
    targets: { 'by hand': 1.1 },
    once: 33_000,
    requests: cold,
  },
  {
    name: 'unchanged',
    title: '304 by id',
    targets: { bare: 0.7, 'by hand': 1 },
    status: 304,
    requests: (asked) => conditional(asked, hot(asked)),
  },
  {
    name: 'unchanged-page',
    title: '304 of a page of 50',
    targets: { bare: 0.7, 'by hand': 1 },
    status: 304,
    requests: (asked) => conditional(asked, pages(asked)),
  },
  {
    name: 'page',
    title: 'Page of 50 cities of a country, exact total, first',
    targets: { bare: 0.3, 'by hand': 2.5 },
    requests: pages,
  },
  {
    name: 'page-cold',
    title: 'Page of 50, 3,000 different pages, each once',
    targets: { 'by hand': 1 },
    once: 3_000,
    requests: ({ data }) => differentPages(data),
  },
  {
    name: 'page-15',
    title: 'The same, 15th page',
    targets: { bare: undefined, 'by hand': 1.5 },
    requests: ({ data }) => pagesOf(data, 750, 'per_page=50&page=15'),
  },
  {
    name: 'sorted',
    title: 'Page of 50 cities of a country, sorted by population',
    targets: { bare: undefined, 'by hand': 1.5 },
    requests: ({ data }) => pagesOf(data, 50, 'sort=-population&per_page=50'),
  },
  {
    name: 'cursor',
    title: 'Walk by cursor, 50 cities at a time',
    targets: { bare: undefined, 'by hand': 1.5 },
    requests: (asked) => walk(asked),
  },
  {
    name: 'search',
    title: 'Search for two words, page of 50',
    targets: { 'by hand': 1.2 },
    requests: ({ data }) => wordsOf(data).map((words) => get(data, `/v1/cities?q=${words}&per_page=50`)),
  },
  {
    name: 'include-one',
    title: 'Page of 50 cities of a country, with the country of each',
    targets: { 'by hand': 1 },
    requests: ({ data }) => pagesOf(data, 50, 'per_page=50&include=country&fields[country]=id,name,code'),
  },
  {
    name: 'include-many',
    title: 'Page of 50 countries, with 20 cities of each and their number',
    targets: { 'by hand': 0.8 },
    requests: ({ data }) => [get(data, '/v1/countries?fields=id,name,code&per_page=50&page=1&include=cities')],
  },
  {
    name: 'through',
    title: 'Page of 50 cities of a country, by the code of the country',
    targets: { 'by hand': 1 },
    requests: ({ data }) =>
      largeCountries(data, 50).map(({ code }) => get(data, `/v1/cities?country.code=${code}&per_page=50`)),
  },
  {
    name: 'summary',
    title: 'Number and people of the cities by kind of place',
    targets: { 'by hand': 0.8 },
    connections: 1,
    requests: ({ data }) => [get(data, '/v1/cities/summary?group=feature&sum=population&per_page=50')],
  },
  { name: 'get-https', title: 'GET by id, HTTPS', targets: { bare: 0.7 }, secure: true, requests: hot },
  { name: 'page-https', title: 'Page of 50, HTTPS', targets: { bare: 0.14 }, secure: true, requests: pages },
  // From here on the servers may have different records: each row adds as many as the server can.
  {
    name: 'page-beside-20',
    title: 'Page of 50 beside 20 POSTs a second',
    targets: { 'by hand': 1 },
    posts: 20,
    requests: pages,
  },
  {
    name: 'get-beside-20',
    title: 'GET by id beside 20 POSTs a second',
    targets: { 'by hand': 1 },
    posts: 20,
    requests: hot,
  },
  {
    name: 'get-beside-200',
    title: 'GET by id beside 200 POSTs a second',
    targets: { 'by hand': 1 },
    posts: 200,
    requests: hot,
  },
  ...[1, 16, 64].map((connections, index) => ({
    name: `post-${connections}`,
    title: `Durable POST, ${many(connections)}`,
    targets: { 'by hand': [1, 1.25, 2.5][index] },
    connections,
    status: 201,
    requests: sent,
  })),
  {
    name: 'bulk',
    title: 'Durable POST of 1,000 records, 1 connection',
    targets: { 'by hand': 0.8 },
    connections: 1,
    status: 201,
    requests: ({ data }) => [send(data, 'POST', '/v1/cities', bodiesOf(data).slice(0, 1_000))],
  },
  ...[1, 64].map((connections, index) => ({
    name: `patch-${connections}`,
    title: `Durable PATCH, ${many(connections)}`,
    targets: { 'by hand': [1.3, 2][index] },
    connections,
    script: renumbering,
    requests: ({ data }: Asked) => changesOf(data, {}, connections),
  })),
  ...[1, 64].map((connections, index) => ({
    name: `patch-tag-${connections}`,
    title: `Durable PATCH with \`If-Match\`, ${many(connections)}`,
    targets: { 'by hand': [1.1, 2.5][index] },
    connections,
    script: patching,
    requests: ({ data }: Asked) => changesOf(data, { 'If-Match': '*' }, connections),
  })),
  ...[1, 64].map((connections, index) => ({
    name: `delete-${connections}`,
    title: `Durable DELETE (soft), ${many(connections)}`,
    targets: { 'by hand': [1, 2][index] },
    connections,
    status: 204,
    once: [3_000, 10_000][index] as number,
    requests: ({ data }: Asked) => deletionsOf(data, [50_000, 75_000][index] as number, [25_000, 60_000][index]),
  })),
]

function many(connections: number): string {
  return connections === 1 ? '1 connection' : `${connections} connections`
}

/** What is sent beside others: cities that are added. */
export function postsOf(data: Data): Request[] {
  return bodiesOf(data).map((body) => send(data, 'POST', '/v1/cities', body))
}

/** Deletions of cities that no other row asks for. */
export function deletionsOf(data: Data, start: number, count?: number): Request[] {
  return citiesOf(data, start, count).map((id) => send(data, 'DELETE', `/v1/cities/${id}`))
}

/** Each request with the entity tag of its answer. */
async function conditional({ origin }: Asked, requests: readonly Request[]): Promise<Request[]> {
  const asked: Request[] = []
  for (const request of requests) {
    const { headers } = await ask(origin + request.path, request)
    const tag = headers['ETag'] ?? headers['etag'] ?? ''
    asked.push({ ...request, headers: { ...request.headers, 'If-None-Match': tag } })
  }
  return asked
}

/** The second to the fifteenth page of twenty countries, each by the cursor of the one before it. */
async function walk({ origin, data }: Asked): Promise<Request[]> {
  const requests: Request[] = []
  for (const first of pagesOf(data, 750, 'limit=50').slice(0, 20)) {
    for (let path = first.path, page = 1; page < 15; page++) {
      const { body } = await ask(origin + path, first)
      const { next_cursor } = (JSON.parse(body) as { pagination: { next_cursor: string } }).pagination
      path = `${first.path}&cursor=${next_cursor}`
      requests.push({ ...first, path })
    }
  }
  return requests
}

/** Ids of cities, spread over all of them, in an order that jumps about. */
function citiesOf({ records: { cities } }: Data, start: number, count = cities.length - start): string[] {
  return Array.from({ length: Math.min(count, cities.length - start) }, (_, turn) =>
    String(cities[((start + turn) * 7919) % cities.length]?.['id']),
  )
}

/** A page of each country that has more cities than so many: of a hundred at most. */
function pagesOf(data: Data, least: number, query: string): Request[] {
  return largeCountries(data, least).map(({ id }) => get(data, `/v1/cities?country_id=${id}&${query}`))
}

/** The countries that have more cities than so many: a hundred at most. */
function largeCountries({ records: { countries, cities } }: Data, least: number): Data['records']['countries'] {
  const counts = Map.groupBy(cities, ({ country_id }) => country_id)
  return countries.filter(({ id }) => (counts.get(id)?.length ?? 0) > least).slice(0, 100)
}

/** All pages of all countries in four orders, and with another size: some twenty thousand. */
function differentPages(data: Data): Request[] {
  const counts = Map.groupBy(data.records.cities, ({ country_id }) => country_id)
  const queries = ['name', '-name', 'population', '-population'].flatMap((sort) =>
    [50, 49].flatMap((size) =>
      [...counts].flatMap(([country, cities]) =>
        Array.from({ length: Math.floor(cities.length / 50) }, (_, page) => {
          return `country_id=${country}&sort=${sort}&per_page=${size}&page=${page + 1}`
        }),
      ),
    ),
  )
  // In an order that jumps about: the prime number is no divisor of how many there are.
  return queries.map((_, turn) => get(data, `/v1/cities?${queries[(turn * 7919) % queries.length]}`))
}

/** Two words of a name: the first whole, of the second the beginning. */
function wordsOf({ records: { cities } }: Data): string[] {
  const found = cities.flatMap(({ name }) => /^([A-Z][a-z]+) ([A-Z][a-z]{3,})/.exec(String(name)) ?? [])
  const texts = found.filter((_, index) => index % 3 === 0).map((text) => text.replace(' ', '+').slice(0, -1))
  return [...new Set(texts)].filter((_, index) => index % 17 === 0).slice(0, 200)
}

/** Cities as clients send them. */
function bodiesOf({ records: { cities } }: Data): Record<string, unknown>[] {
  return Array.from({ length: 2_000 }, (_, turn) => {
    const city = cities[(turn * 7919) % cities.length]
    const { id: _id, created_at: _created, updated_at: _updated, ...body } = city ?? {}
    return { ...body, name: `${body['name']} ${turn}` }
  })
}

/** Changes of a few records that are far more than there are connections: no two change one at the same time. */
function changesOf(data: Data, headers: Readonly<Record<string, string>>, connections: number): Request[] {
  const ids = citiesOf(data, 2_000, connections === 1 ? 20 : 1_000)
  return ids.map((id) => {
    const request = send(data, 'PATCH', `/v1/cities/${id}`, { population: 1_000_000 })
    return { ...request, headers: { ...request.headers, ...headers } }
  })
}

function send({ authorization }: Data, method: string, path: string, body?: object): Request {
  if (body === undefined) return { method, path, headers: { Authorization: authorization } }
  const headers = { Authorization: authorization, 'Content-Type': 'application/json' }
  return { method, path, headers, body: JSON.stringify(body) }
}
