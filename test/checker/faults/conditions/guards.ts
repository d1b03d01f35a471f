/** Faults of CON-3. */
import { answering, on, withProblem } from '../../plant/answers.ts'
import { withField, without } from '../../plant/messages.ts'
import { asking } from '../../plant/requests.ts'
import { all, has, isRecord, isRestore, of, pathOf, type Which } from '../../plant/which.ts'
import type { Fault } from '../../planted.ts'

const single = /^"[^"]*"$/
const unguarded = without('if-match')
const guardedBy = (value: string) => withField('if-match', value)

/** A server that has noted the tags which records had, and takes all of them for good. */
function takingOldTags(which: Which): Fault['plant'] {
  return (server) => {
    const known = new Set<string>()
    return async (request) => {
      const path = pathOf(request)
      const match = request.headers['if-match']
      if (which(request) && has('if-match', single)(request) && known.has(`${path} ${match}`)) {
        return server(guardedBy('*')(request))
      }
      const answer = await server(request)
      const { etag } = answer.headers
      if (etag !== undefined) known.add(`${path} ${etag}`)
      return answer
    }
  }
}

function faultsOf(name: string, what: string, which: Which): Fault[] {
  const by = (value: string | RegExp) => all(which, has('if-match', value))
  return [
    {
      breaks: `CON-3/other-${name}`,
      says: `${what} takes no notice of If-Match.`,
      plant: asking(which, unguarded),
    },
    {
      breaks: `CON-3/star-${name}`,
      says: `${what} takes * for a tag.`,
      plant: asking(by('*'), guardedBy('"*"')),
    },
    {
      breaks: `CON-3/unreadable-${name}`,
      says: `${what} takes an If-Match that cannot be read for none.`,
      plant: asking(by(/^(?!\*$)[^"]+$/), unguarded),
    },
    {
      breaks: `CON-3/empty-${name}`,
      says: `${what} takes an empty If-Match for none.`,
      plant: asking(by(''), unguarded),
    },
    ...(name === 'restore' ? [] : ofWrites(name, what, which)),
  ]
}

function ofWrites(name: string, what: string, which: Which): Fault[] {
  const by = (value: string | RegExp) => all(which, has('if-match', value))
  const isDated = all(which, has('if-unmodified-since', /GMT$/))
  return [
    {
      breaks: `CON-3/fits-${name}`,
      says: `${what} finds that no tag fits.`,
      plant: asking(by(single), guardedBy('"of-nobody"')),
    },
    {
      breaks: `CON-3/stale-${name}`,
      says: `${what} takes every tag that the record ever had.`,
      plant: takingOldTags(which),
    },
    {
      breaks: `CON-3/list-with-${name}`,
      says: `${what} takes a list of tags for one.`,
      plant: asking(by(/,/), guardedBy('"a-list"')),
    },
    {
      breaks: `CON-3/list-without-${name}`,
      says: `${what} takes no notice of an If-Match with several tags.`,
      plant: asking(by(/,/), unguarded),
    },
    {
      breaks: `CON-3/weak-${name}`,
      says: `${what} takes every weak tag for a match.`,
      plant: asking(by(/^W\//), unguarded),
    },
    {
      breaks: `CON-3/malformed-${name}`,
      says: `${what} takes an If-Match that cannot be read for a tag that does not fit.`,
      plant: asking(by(/^(?!\*$)[^"]*$/), guardedBy('"of-nobody"')),
    },
    {
      breaks: `CON-3/status-${name}`,
      says: `${what} calls a failed condition a conflict.`,
      plant: answering(by(single), on(412, withProblem(409))),
    },
    {
      breaks: `CON-3/later-date-${name}`,
      says: `${what} takes no notice of If-Unmodified-Since.`,
      plant: asking(isDated, without('if-unmodified-since')),
    },
    {
      breaks: `CON-3/same-date-${name}`,
      says: `${what} finds that what has the same date is later.`,
      plant: asking(
        isDated,
        withField('if-unmodified-since', (date) => new Date(Date.parse(date) - 1_000).toUTCString()),
      ),
    },
    {
      breaks: `CON-3/tag-before-date-${name}`,
      says: `${what} wants the date to fit as well as the tag.`,
      plant: asking(isDated, unguarded),
    },
  ]
}

export const guardsFaults: readonly Fault[] = [
  ...['DELETE', 'PUT', 'PATCH'].flatMap((method) => faultsOf(method.toLowerCase(), method, of(method, isRecord))),
  ...faultsOf('restore', 'Restoring', isRestore),
]
