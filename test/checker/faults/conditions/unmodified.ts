/** Faults of CON-4. */
import { giving, having, isCollection, isRecord, pathOf, taking, without } from '../../alter.ts'
import type { Fault, PlantedAnswer, PlantedRequest } from '../../planted.ts'

const noneMatch = ({ headers }: PlantedRequest) => headers['if-none-match']
const since = ({ headers }: PlantedRequest) => headers['if-modified-since']
const untagged = (request: PlantedRequest) => without(request, 'if-none-match')
const undated = (request: PlantedRequest) => without(request, 'if-modified-since')
const tomorrow = (request: PlantedRequest) =>
  having(request, 'if-modified-since', new Date(Date.now() + 86_400_000).toUTCString())

/** A server that has noted which tags were given out for an address, and does not look again. */
function remembering(instead: (request: PlantedRequest, answer: PlantedAnswer) => boolean): Fault['plant'] {
  return (server) => {
    const known = new Set<string>()
    return async (request) => {
      const answer = await server(request)
      const { etag } = answer.headers
      const tag = noneMatch(request)
      const path = pathOf(request)
      if (tag !== undefined && known.has(`${path} ${tag}`) && instead(request, answer)) {
        return { status: 304, headers: { etag: tag }, body: '' }
      }
      if (etag !== undefined && request.method === 'GET') known.add(`${path} ${etag}`)
      return answer
    }
  }
}

export const unmodifiedFaults: readonly Fault[] = [
  {
    breaks: 'CON-4/not-modified',
    says: 'It takes no notice of If-None-Match.',
    plant: taking((request) => isRecord(request), untagged),
  },
  {
    breaks: 'CON-4/fields',
    says: 'It answers 304 without Cache-Control.',
    plant: giving(
      (_, { status }) => status === 304,
      (answer) => without(answer, 'cache-control'),
    ),
  },
  {
    breaks: 'CON-4/list',
    says: 'It takes no notice of an If-None-Match with several tags.',
    plant: taking((request) => noneMatch(request)?.includes(',') === true, untagged),
  },
  {
    breaks: 'CON-4/weak',
    says: 'It compares If-None-Match strongly.',
    plant: taking((request) => noneMatch(request)?.startsWith('W/') === true, untagged),
  },
  {
    breaks: 'CON-4/star',
    says: 'It takes no notice of If-None-Match: *.',
    plant: taking((request) => noneMatch(request) === '*', untagged),
  },
  {
    breaks: 'CON-4/other',
    says: 'It answers 304 whenever there is an If-None-Match that it does not know.',
    plant: taking(
      (request) => isRecord(request) && noneMatch(request) === '"of-another"',
      (request) => having(request, 'if-none-match', '*'),
    ),
  },
  {
    breaks: 'CON-4/changed',
    says: 'It remembers tags, and not what has become of them.',
    plant: remembering((request, { status }) => isRecord(request) && status === 200),
  },
  {
    breaks: 'CON-4/deleted',
    says: 'It answers from a cache that hears nothing of deletions.',
    plant: remembering((request, { status }) => isRecord(request) && status === 404),
  },
  {
    breaks: 'CON-4/nobody',
    says: 'It looks at conditions before it asks who is there.',
    plant: remembering((_, { status }) => status === 401),
  },
  {
    breaks: 'CON-4/head',
    says: 'HEAD takes no notice of If-None-Match.',
    plant: taking(({ method }) => method === 'HEAD', untagged),
  },
  {
    breaks: 'CON-4/date',
    says: 'It takes no notice of If-Modified-Since.',
    plant: taking(() => true, undated),
  },
  {
    breaks: 'CON-4/head-date',
    says: 'HEAD takes no notice of If-Modified-Since.',
    plant: taking(({ method }) => method === 'HEAD', undated),
  },
  {
    breaks: 'CON-4/earlier-date',
    says: 'It answers 304 whenever there is an If-Modified-Since.',
    plant: taking((request) => since(request)?.endsWith('GMT') === true, tomorrow),
  },
  {
    breaks: 'CON-4/no-date',
    says: 'It takes an If-Modified-Since that is no date for now.',
    plant: taking((request) => since(request)?.endsWith('GMT') === false, tomorrow),
  },
  {
    breaks: 'CON-4/tag-before-date',
    says: 'It asks for the date alone where both are there.',
    plant: taking((request) => since(request) !== undefined, untagged),
  },
  {
    breaks: 'CON-4/collection',
    says: 'Lists take no notice of If-None-Match.',
    plant: taking((request) => isCollection(request), untagged),
  },
  {
    breaks: 'CON-4/collection-changed',
    says: 'It remembers the tags of lists, and not what has become of them.',
    plant: remembering((request, { status }) => isCollection(request) && status === 200),
  },
]
