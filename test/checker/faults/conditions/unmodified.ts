/** Faults of CON-4. */
import { answering, on } from '../../plant/answers.ts'
import { withField, without } from '../../plant/messages.ts'
import { asking } from '../../plant/requests.ts'
import { always, has, isCollection, isRecord, of, pathOf, type Which } from '../../plant/which.ts'
import type { Fault } from '../../planted.ts'

const untagged = without('if-none-match')
const undated = without('if-modified-since')
const tomorrow = withField('if-modified-since', () => new Date(Date.now() + 86_400_000).toUTCString())

/**
 * A server that has noted which tags were given out for an address, and does not look again where it would answer so.
 */
function fromMemory(status: number, which: Which): Fault['plant'] {
  return (server) => {
    const known = new Set<string>()
    return async (request) => {
      const answer = await server(request)
      const { etag } = answer.headers
      const { 'if-none-match': tag } = request.headers
      const path = pathOf(request)
      if (tag !== undefined && known.has(`${path} ${tag}`) && which(request) && answer.status === status) {
        return { status: 304, headers: { etag: tag }, body: '' }
      }
      if (etag !== undefined && request.method === 'GET') known.add(`${path} ${etag}`)
      return answer
    }
  }
}

/** A server that compares only tags that it has given out: any other tag counts as the current one. */
const takingUnknownTags: Fault['plant'] = (server) => {
  const given = new Set<string>()
  return async (request) => {
    const tag = request.headers['if-none-match']
    const isUnknown = tag !== undefined && /^"[^"]*"$/.test(tag) && !given.has(tag) && isRecord(request)
    const headers = isUnknown ? { ...request.headers, 'if-none-match': '*' } : request.headers
    const answer = await server({ ...request, headers })
    if (answer.headers.etag !== undefined) given.add(answer.headers.etag)
    return answer
  }
}

export const unmodifiedFaults: readonly Fault[] = [
  {
    breaks: 'CON-4/not-modified',
    says: 'It takes no notice of If-None-Match.',
    plant: asking(isRecord, untagged),
  },
  {
    breaks: 'CON-4/fields',
    says: 'It answers 304 without Cache-Control.',
    plant: answering(always, on(304, without('cache-control'))),
  },
  {
    breaks: 'CON-4/list',
    says: 'It takes no notice of an If-None-Match with several tags.',
    plant: asking(has('if-none-match', /,/), untagged),
  },
  {
    breaks: 'CON-4/weak',
    says: 'It compares If-None-Match strongly.',
    plant: asking(has('if-none-match', /^W\//), untagged),
  },
  {
    breaks: 'CON-4/star',
    says: 'It takes no notice of If-None-Match: *.',
    plant: asking(has('if-none-match', '*'), untagged),
  },
  {
    breaks: 'CON-4/other',
    says: 'It answers 304 whenever there is an If-None-Match that it does not know.',
    plant: takingUnknownTags,
  },
  {
    breaks: 'CON-4/changed',
    says: 'It remembers tags, and not what has become of them.',
    plant: fromMemory(200, isRecord),
  },
  {
    breaks: 'CON-4/deleted',
    says: 'It answers from a cache that hears nothing of deletions.',
    plant: fromMemory(404, isRecord),
  },
  {
    breaks: 'CON-4/nobody',
    says: 'It looks at conditions before it asks who is there.',
    plant: fromMemory(401, always),
  },
  {
    breaks: 'CON-4/head',
    says: 'HEAD takes no notice of If-None-Match.',
    plant: asking(of('HEAD'), untagged),
  },
  {
    breaks: 'CON-4/date',
    says: 'It takes no notice of If-Modified-Since.',
    plant: asking(always, undated),
  },
  {
    breaks: 'CON-4/head-date',
    says: 'HEAD takes no notice of If-Modified-Since.',
    plant: asking(of('HEAD'), undated),
  },
  {
    breaks: 'CON-4/earlier-date',
    says: 'It answers 304 whenever there is an If-Modified-Since.',
    plant: asking(has('if-modified-since', /GMT$/), tomorrow),
  },
  {
    breaks: 'CON-4/no-date',
    says: 'It takes an If-Modified-Since that is no date for now.',
    plant: asking(has('if-modified-since', /(?<!GMT)$/), tomorrow),
  },
  {
    breaks: 'CON-4/tag-before-date',
    says: 'It asks for the date alone where both are there.',
    plant: asking(has('if-modified-since'), untagged),
  },
  {
    breaks: 'CON-4/collection',
    says: 'Lists take no notice of If-None-Match.',
    plant: asking(isCollection, untagged),
  },
  {
    breaks: 'CON-4/collection-changed',
    says: 'It remembers the tags of lists, and not what has become of them.',
    plant: fromMemory(200, isCollection),
  },
]
