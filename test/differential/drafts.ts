/** What requests ask for: reading, changing, deleting and restoring, exports, keys, and what makes no sense. */
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { pick, type Random } from '../durability/random.ts'
import { bodyOf, conditionText, patchOf } from './bodies.ts'
import type { Known, SeenRecord } from './known.ts'
import { queryOf, summaryOf } from './queries.ts'
import { jsonText, text } from './values.ts'

/** What a request is made from. */
export interface Making {
  readonly random: Random
  readonly known: Known
  /** By version. */
  readonly catalogs: ReadonlyMap<string, Catalog>
}

/** A request, but for who sends it and what every request may have. */
type Draft = { method: string; target: string; headers?: Record<string, string>; body?: string | undefined }
/** Makes a request. */
export type Maker = (making: Making, place: Place) => Draft

/** A collection as a version shows it. */
export interface Place {
  readonly version: string
  readonly resource: Resource
  readonly path: string
}

/** A record that was seen, mostly of the collection and in the version of a place; or nothing's address. */
function recordAt({ random, known }: Making, { version, resource, path }: Place): SeenRecord {
  const id = known.idOf(random, resource.name)
  if (id === undefined || random() < 0.03) {
    const missing = pick(random, [
      '00000000-0000-7000-8000-000000000000',
      'x',
      '%00',
      'ID',
      '%F0%9F%9A%80',
      "'",
      'a%2Fb',
    ])
    return { path: `${path}/${missing}`, collection: resource.name, values: {} }
  }
  const place = `/${version}/${resource.name}/${id}`
  return known.records.get(place) ?? { path: place, collection: resource.name, values: { id } }
}

function fieldsQuery({ random }: Making, { resource }: Place): string {
  if (random() > 0.25) return ''
  const names = resource.fields.map(({ name }) => name)
  return `?fields=${[pick(random, names), pick(random, [...names, 'created_at', 'nothing'])].join()}`
}

/** What can be asked, and how often. */
export const makers: readonly (readonly [number, Maker])[] = [
  [18, creation],
  [3, nestedCreation],
  [
    24,
    (making, place) => ({ method: pick(making.random, methods), target: `${place.path}?${queryOf(making, place)}` }),
  ],
  [4, nestedList],
  [
    6,
    (making, place) => ({
      method: pick(making.random, methods),
      target: `${place.path}/summary?${summaryOf(making, place)}`,
    }),
  ],
  [8, page],
  [
    8,
    (making, place) => ({
      method: pick(making.random, methods),
      target: recordAt(making, place).path + fieldsQuery(making, place),
    }),
  ],
  [7, replacement],
  [9, merge],
  [4, patch],
  [5, (making, place) => ({ method: 'DELETE', target: recordAt(making, place).path })],
  [4, restoration],
  [3, bulkDeletion],
  [1, (making, place) => ({ method: 'DELETE', target: `${place.path}?${queryOf(making, place, 'filters')}` })],
  [4, exported],
  [
    3,
    ({ random, known }) => ({ method: 'GET', target: known.jobs.length > 0 ? pick(random, known.jobs) : '/v2/jobs' }),
  ],
  [
    2,
    ({ random, known }) => {
      const job = known.jobs.length > 0 ? pick(random, known.jobs) : '/v2/jobs/x'
      return { method: 'DELETE', target: random() < 0.5 ? job : job.replace('/jobs/', '/exports/') }
    },
  ],
  [
    4,
    ({ random, known }) => ({
      method: pick(random, methods),
      target: known.files.length > 0 ? pick(random, known.files) : '/v2/exports/x/content',
    }),
  ],
  [
    1,
    ({ random }) => ({
      method: 'GET',
      target: `/${pick(random, ['v1', 'v2'])}/${pick(random, ['jobs', 'jobs?sort=-started_at', 'api-keys', 'api-keys?sort=subject', 'jobs?status=succeeded&kind=export'])}`,
    }),
  ],
  [1, keys],
  [
    1,
    ({ random }) => ({ method: pick(random, ['GET', 'HEAD']), target: `/${pick(random, ['v1', 'v2'])}/openapi.json` }),
  ],
  [
    1,
    (making, place) => ({
      method: 'OPTIONS',
      target: pick(making.random, [place.path, recordAt(making, place).path, '*']),
    }),
  ],
  [2, odd],
  [2, asQuery],
  [0.5, () => ({ method: 'PURGE', target: '' })],
]

const methods = ['GET', 'GET', 'GET', 'HEAD'] as const

/** A record to be made. */
export function creation(making: Making, place: Place): Draft {
  return { method: 'POST', target: place.path, body: bodyOf(making, place) }
}

function restoration(making: Making, place: Place): Draft {
  const { random, known } = making
  const lost = random() < 0.8 && known.gone.size > 0
  return { method: 'POST', target: `${lost ? pick(random, [...known.gone]) : recordAt(making, place).path}/restore` }
}

function nestedCreation(making: Making): Draft {
  const { random, known, catalogs } = making
  const beast = known.idOf(random, 'beasts') ?? 'x'
  const resource = catalogs.get('v2')?.resources.get('tags') as Resource
  const place = { version: 'v2', resource, path: `/v2/beasts/${beast}/tags` }
  return { method: 'POST', target: place.path, body: bodyOf(making, place, ['beast_id']) }
}

function nestedList(making: Making): Draft {
  const { random, known, catalogs } = making
  const resource = catalogs.get('v2')?.resources.get('tags') as Resource
  const path = `/v2/beasts/${known.idOf(random, 'beasts') ?? 'x'}/tags`
  return { method: 'GET', target: `${path}?${queryOf(making, { version: 'v2', resource, path })}` }
}

/** Another page of a list that was read before, whatever has happened to it meanwhile. */
function page({ random, known }: Making, place: Place): Draft {
  if (known.pages.length === 0) return { method: 'GET', target: place.path }
  const target = pick(random, known.pages)
  if (random() < 0.05) return { method: 'GET', target: target.replace(/cursor=./, 'cursor=x') }
  return { method: 'GET', target: random() < 0.1 ? target.replace(/limit=\d+/, 'limit=3') : target }
}

function replacement(making: Making, place: Place): Draft {
  const { random } = making
  const record = recordAt(making, place)
  const sent = random() < 0.4 && record.values['title' in record.values ? 'title' : 'name'] !== undefined
  return { method: 'PUT', target: record.path, body: sent ? JSON.stringify(record.values) : bodyOf(making, place) }
}

function merge(making: Making, place: Place): Draft {
  const { random } = making
  const type = pick(random, ['application/json', 'application/merge-patch+json'])
  const body = bodyOf(making, place, undefined, 0.12)
  return { method: 'PATCH', target: recordAt(making, place).path, headers: { 'content-type': type }, body }
}

function patch(making: Making, place: Place): Draft {
  const record = recordAt(making, place)
  const headers = { 'content-type': 'application/json-patch+json' }
  return { method: 'PATCH', target: record.path, headers, body: patchOf(making, place, record.values) }
}

function bulkDeletion({ random, known }: Making, { path, resource }: Place): Draft {
  const length = 1 + Math.floor(random() * 4)
  const ids = Array.from({ length }, () => known.idOf(random, resource.name) ?? 'x')
  if (random() < 0.1) ids.push(pick(random, ['x', '', '00000000-0000-7000-8000-000000000000']))
  const unique = random() < 0.9 ? [...new Set(ids)] : ids
  return { method: 'POST', target: `${path}/bulk-delete`, body: JSON.stringify({ ids: unique }) }
}

function exported(making: Making, { version, resource }: Place): Draft {
  const { random } = making
  const sorted = resource.fields.filter((field) => field.sort).map(({ name }) => name)
  const names = resource.fields.filter((field) => !field.writeOnly).map(({ name }) => name)
  const body = {
    collection: resource.name,
    format: pick(random, ['json', 'ndjson', 'csv', 'csv', 'xml'].slice(0, random() < 0.05 ? 5 : 4)),
    ...(random() < 0.5 && { sort: `${pick(random, ['', '-'])}${pick(random, sorted)}` }),
    ...(random() < 0.3 && { fields: [pick(random, names), pick(random, names)] }),
  }
  const filter = random() < 0.4 ? `,"filter":${conditionText(making, resource)}` : ''
  return { method: 'POST', target: `/${version}/exports`, body: `${JSON.stringify(body).slice(0, -1)}${filter}}` }
}

function keys({ random }: Making): Draft {
  const expires_at = pick(random, [undefined, null, '2030-01-01T00:00:00Z', 'x', '2020-01-01T00:00:00Z'])
  const body = JSON.stringify({
    subject: pick(random, ['ann', 'new', 'É']),
    roles: pick(random, [['editor'], [], 'x']),
    expires_at,
  })
  return { method: 'POST', target: '/v2/api-keys', body }
}

function odd(making: Making, { path }: Place): Draft {
  const { random } = making
  const target = pick(random, [
    ...[
      `${path}/`,
      '/v2',
      '/',
      '/v3/beasts',
      `${path}?token=x`,
      `${path}?%ff`,
      '/v2/nothing',
      `${path}//x`,
      '/health/ready',
    ],
    ...[`${path}?page=1&cursor=x`, `${path}?unknown=1&sort=nothing`, `${path}?page=9007199254740991&per_page=50`],
    ...[`${path}?offset=9007199254740991`, `${path}?offset=4503599627370496&limit=50`, `${path}/bulk-delete`],
    `${path}?sort=${encodeURIComponent(text(random))}`,
  ])
  const method = pick(random, ['GET', 'GET', 'PUT', 'PATCH', 'TRACE', 'POST', 'DELETE'])
  const hasBody = method !== 'GET' && method !== 'TRACE'
  return {
    method,
    target,
    ...(hasBody && { body: pick(random, [jsonText(random), '{', '', '{"a":1,"a":2}', '\ufeff{}']) }),
  }
}

/** The parameters of a list in the body of QUERY (MET-10). */
function asQuery(making: Making, place: Place): Draft {
  const asked: Record<string, string | string[]> = {}
  for (const [name, value] of new URLSearchParams(queryOf(making, place))) {
    const before = asked[name]
    asked[name] = before === undefined ? value : [before, value].flat()
  }
  return { method: 'QUERY', target: place.path, body: JSON.stringify(asked) }
}
