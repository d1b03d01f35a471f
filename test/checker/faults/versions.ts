/** Faults of versions. */
import { answering, on, withStatus } from '../plant/answers.ts'
import { jsonOf, withField, withMembers, without } from '../plant/messages.ts'
import { addressing, asking } from '../plant/requests.ts'
import { at, has, of } from '../plant/which.ts'
import type { Fault, PlantedAnswer } from '../planted.ts'

const isOlder = at(/^\/v2\//)
const isRetired = at(/^\/v1\//)
const isItem = at(/^\/v2\/items\/[^/]+$/)

export const versionsFaults: readonly Fault[] = [
  {
    breaks: 'VER-1/once',
    says: 'It takes the version away as often as it is there.',
    plant: addressing(at(/^\/v3\/v3\//), '/v3', ''),
  },
  {
    breaks: 'VER-1/disagreement',
    says: 'The path counts, whatever the header says.',
    plant: asking(has('api-version', 'v2'), without('api-version')),
  },
  {
    breaks: 'VER-2/one-database',
    says: 'The older version has records of its own.',
    plant: answering(isItem, on(200, withStatus(404))),
  },
  {
    breaks: 'VER-2/one-database',
    says: 'The older version has identifiers of its own.',
    plant: answering(isItem, on(200, withMembers({ id: '1' }))),
  },
  {
    breaks: 'VER-2/deletion',
    says: 'The older version does not hear of deletions.',
    plant(server) {
      const seen = new Map<string, PlantedAnswer>()
      return async (request) => {
        const answer = await server(request)
        const path = request.path.replace(/^\/v[23]/, '')
        if (request.method === 'POST' && answer.status === 201) seen.set(`${path}/${jsonOf(answer)['id']}`, answer)
        const kept = of('GET', isItem)(request) && answer.status === 404 ? seen.get(path) : undefined
        return kept === undefined ? answer : { ...kept, status: 200 }
      }
    },
  },
  {
    breaks: 'VER-3/works',
    says: 'What is deprecated is taken away.',
    plant: answering(at('/v2/items'), withStatus(203)),
  },
  {
    breaks: 'VER-3/deprecation',
    says: 'Deprecation is “true”, as drafts had it.',
    plant: answering(isOlder, withField('deprecation', 'true')),
  },
  {
    breaks: 'VER-3/says-so',
    says: 'Nothing tells that a version is deprecated.',
    plant: answering(isOlder, without('deprecation', 'sunset', 'link')),
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
    plant: answering(at(/^\/v3\//), withField('deprecation', '@1688169599')),
  },
  {
    breaks: 'VER-4/reading',
    says: 'A retired version is 404.',
    plant: answering(of('GET', isRetired), withStatus(404)),
  },
  {
    breaks: 'VER-4/writing',
    says: 'A retired version still deletes.',
    plant: addressing(of('DELETE', isRetired), '/v1/', '/v3/'),
  },
  {
    breaks: 'VER-4/target',
    says: 'A redirect leads back to the retired version.',
    plant: answering(of('GET', isRetired), (answer) => ({
      ...withField('location', '/v1/items/')(answer),
      status: 308,
    })),
  },
]
