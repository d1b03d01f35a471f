/** Faults of CON-3. */
import { having, isRecord, pathOf, taking, without } from '../../alter.ts'
import type { Fault, PlantedRequest, Server } from '../../planted.ts'

const isSingle = (value = '') => /^"[^"]*"$/.test(value)

/** A server that has noted the tags which records had, and takes all of them for good. */
function remembering(which: (request: PlantedRequest) => boolean): Fault['plant'] {
  return (server: Server) => {
    const known = new Set<string>()
    return async (request) => {
      const path = pathOf(request)
      const match = request.headers['if-match']
      if (which(request) && isSingle(match) && known.has(`${path} ${match}`)) {
        return server(having(request, 'if-match', '*'))
      }
      const answer = await server(request)
      const { etag } = answer.headers
      if (etag !== undefined) known.add(`${path} ${etag}`)
      return answer
    }
  }
}

function faultsOf(name: string, what: string, which: (request: PlantedRequest) => boolean): Fault[] {
  const match = ({ headers }: PlantedRequest) => headers['if-match']
  const and = (test: (value: string) => boolean) => (request: PlantedRequest) => {
    const value = match(request)
    return which(request) && value !== undefined && test(value)
  }
  const ignored = (request: PlantedRequest) => without(request, 'if-match')
  const as = (value: string) => (request: PlantedRequest) => having(request, 'if-match', value)
  const isReadable = (value: string) => value === '*' || value.includes('"')
  return [
    {
      breaks: `CON-3/other-${name}`,
      says: `${what} takes no notice of If-Match.`,
      plant: taking(which, ignored),
    },
    {
      breaks: `CON-3/star-${name}`,
      says: `${what} takes * for a tag.`,
      plant: taking(
        and((value) => value === '*'),
        as('"*"'),
      ),
    },
    {
      breaks: `CON-3/unreadable-${name}`,
      says: `${what} takes an If-Match that cannot be read for none.`,
      plant: taking(
        and((value) => value !== '' && !isReadable(value)),
        ignored,
      ),
    },
    {
      breaks: `CON-3/empty-${name}`,
      says: `${what} takes an empty If-Match for none.`,
      plant: taking(
        and((value) => value === ''),
        ignored,
      ),
    },
    ...(name === 'restore' ? [] : ofWrites(name, what, which, and)),
  ]
}

function ofWrites(
  name: string,
  what: string,
  which: (request: PlantedRequest) => boolean,
  and: (test: (value: string) => boolean) => (request: PlantedRequest) => boolean,
): Fault[] {
  const as = (value: string) => (request: PlantedRequest) => having(request, 'if-match', value)
  const isDated = (request: PlantedRequest) =>
    which(request) && /GMT$/.test(request.headers['if-unmodified-since'] ?? '')
  return [
    {
      breaks: `CON-3/fits-${name}`,
      says: `${what} finds that no tag fits.`,
      plant: taking(and(isSingle), as('"of-nobody"')),
    },
    {
      breaks: `CON-3/stale-${name}`,
      says: `${what} takes every tag that the record ever had.`,
      plant: remembering(which),
    },
    {
      breaks: `CON-3/list-with-${name}`,
      says: `${what} takes a list of tags for one.`,
      plant: taking(
        and((value) => value.includes(',')),
        as('"a list"'.replace(' ', '-')),
      ),
    },
    {
      breaks: `CON-3/list-without-${name}`,
      says: `${what} takes no notice of an If-Match with several tags.`,
      plant: taking(
        and((value) => value.includes(',')),
        (request) => without(request, 'if-match'),
      ),
    },
    {
      breaks: `CON-3/weak-${name}`,
      says: `${what} compares weakly.`,
      plant: taking(
        and((value) => value.startsWith('W/')),
        (request) => having(request, 'if-match', (request.headers['if-match'] as string).slice(2)),
      ),
    },
    {
      breaks: `CON-3/malformed-${name}`,
      says: `${what} takes an If-Match that cannot be read for a tag that does not fit.`,
      plant: taking(
        and((value) => value !== '*' && !value.includes('"')),
        as('"of-nobody"'),
      ),
    },
    {
      breaks: `CON-3/later-date-${name}`,
      says: `${what} takes no notice of If-Unmodified-Since.`,
      plant: taking(isDated, (request) => without(request, 'if-unmodified-since')),
    },
    {
      breaks: `CON-3/same-date-${name}`,
      says: `${what} finds that what has the same date is later.`,
      plant: taking(isDated, (request) => {
        const date = Date.parse(request.headers['if-unmodified-since'] as string)
        return having(request, 'if-unmodified-since', new Date(date - 1_000).toUTCString())
      }),
    },
    {
      breaks: `CON-3/tag-before-date-${name}`,
      says: `${what} wants the date to fit as well as the tag.`,
      plant: taking(
        (request) => isDated(request) && request.headers['if-match'] !== undefined,
        (request) => without(request, 'if-match'),
      ),
    },
  ]
}

export const guardsFaults: readonly Fault[] = [
  ...['DELETE', 'PUT', 'PATCH'].flatMap((method) =>
    faultsOf(method.toLowerCase(), method, (request) => request.method === method && isRecord(request)),
  ),
  ...faultsOf('restore', 'Restoring', (request) => pathOf(request).endsWith('/restore')),
]
