/** Faults of versions. */
import type { Fault, PlantedAnswer, PlantedRequest } from '../planted.ts'
import { answering, asking, lacking, saying, without } from './words.ts'

const isOf = (version: string) => (request: PlantedRequest) => request.path.startsWith(`/${version}/`)
const isOlder = isOf('v2')
const isRetired = isOf('v1')
const isRecord = ({ path }: PlantedRequest) => /^\/v2\/items\/[^/]+$/.test(path)
const withField = (name: string, value: string) => (answer: PlantedAnswer) => ({
  ...answer,
  headers: { ...answer.headers, [name]: value },
})

export const versionsFaults: readonly Fault[] = [
  {
    breaks: 'VER-1/once',
    says: 'It takes the version away as often as it is there.',
    plant: asking(
      ({ path }) => path.startsWith('/v3/v3/'),
      (request) => ({ ...request, path: request.path.slice(3) }),
    ),
  },
  {
    breaks: 'VER-1/disagreement',
    says: 'The path counts, whatever the header says.',
    plant: asking(
      ({ headers }) => headers['api-version'] === 'v2',
      (request) => without(request, 'api-version'),
    ),
  },
  {
    breaks: 'VER-2/one-database',
    says: 'The older version has records of its own.',
    plant: answering(isRecord, (answer) => (answer.status === 200 ? { ...answer, status: 404 } : answer)),
  },
  {
    breaks: 'VER-2/one-database',
    says: 'The older version has identifiers of its own.',
    plant: answering(isRecord, (answer) =>
      answer.status === 200 ? saying(answer, (body: object) => ({ ...body, id: '1' })) : answer,
    ),
  },
  {
    breaks: 'VER-2/deletion',
    says: 'The older version does not hear of deletions.',
    plant(server) {
      const seen = new Map<string, PlantedAnswer>()
      return async (request) => {
        const answer = await server(request)
        const path = request.path.replace(/^\/v[23]/, '')
        if (request.method === 'POST' && answer.status === 201)
          seen.set(`${path}/${JSON.parse(answer.body).id}`, answer)
        const kept = isRecord(request) && request.method === 'GET' && answer.status === 404 ? seen.get(path) : undefined
        return kept === undefined ? answer : { ...kept, status: 200 }
      }
    },
  },
  {
    breaks: 'VER-3/works',
    says: 'What is deprecated is taken away.',
    plant: answering(
      ({ path }) => path === '/v2/items',
      (answer) => ({ ...answer, status: 203 }),
    ),
  },
  {
    breaks: 'VER-3/deprecation',
    says: 'Deprecation is “true”, as drafts had it.',
    plant: answering(isOlder, withField('deprecation', 'true')),
  },
  {
    breaks: 'VER-3/says-so',
    says: 'Nothing tells that a version is deprecated.',
    plant: answering(isOlder, (answer) => lacking(lacking(lacking(answer, 'deprecation'), 'sunset'), 'link')),
  },
  {
    breaks: 'VER-3/sunset',
    says: 'Sunset is a date of ISO 8601.',
    plant: answering(isOlder, withField('sunset', '2030-01-01')),
  },
  {
    breaks: 'VER-3/sunset',
    says: 'It works after its sunset.',
    plant: answering(isOlder, withField('sunset', 'Sat, 01 Jan 2022 00:00:00 GMT')),
  },
  {
    breaks: 'VER-3/link',
    says: 'It does not say what comes after.',
    plant: answering(isOlder, withField('link', '</v2/items>; rel="first"')),
  },
  {
    breaks: 'VER-3/current',
    says: 'All versions are deprecated.',
    plant: answering(isOf('v3'), withField('deprecation', '@1688169599')),
  },
  {
    breaks: 'VER-4/reading',
    says: 'A retired version is 404.',
    plant: answering(
      (request) => isRetired(request) && request.method === 'GET',
      (answer) => ({ ...answer, status: 404 }),
    ),
  },
  {
    breaks: 'VER-4/writing',
    says: 'A retired version still deletes.',
    plant: asking(
      (request) => isRetired(request) && request.method === 'DELETE',
      (request) => ({ ...request, path: request.path.replace('/v1/', '/v3/') }),
    ),
  },
  {
    breaks: 'VER-4/target',
    says: 'A redirect leads back to the retired version.',
    plant: answering(
      (request) => isRetired(request) && request.method === 'GET',
      (answer) => ({ ...withField('location', '/v1/items/')(answer), status: 308 }),
    ),
  },
]
