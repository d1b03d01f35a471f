/** Faults of CON-7 and CON-8. */
import { answering, withProblem } from '../../plant/answers.ts'
import { withField, withoutItem } from '../../plant/messages.ts'
import { asking } from '../../plant/requests.ts'
import { all, always, at, has, isRead, isRecord, not, of, pathOf, type Which } from '../../plant/which.ts'
import type { Fault } from '../../planted.ts'

const isContract = at(/^[^?]*\/contracts\//)

export const requiredFaults: readonly Fault[] = ['PUT', 'PATCH', 'DELETE'].flatMap((method): Fault[] => {
  const name = method.toLowerCase()
  return [
    {
      breaks: `CON-7/${name}`,
      says: `${method} needs no condition.`,
      plant: asking(of(method, isContract, not(has('if-match'))), withField('if-match', '*')),
    },
    {
      breaks: `CON-7/${name}-with`,
      says: `${method} does not see that there is a condition.`,
      plant: answering(of(method, isContract, has('if-match', /^"/)), withProblem(428)),
    },
  ]
})

const isPart = all(isRecord, at(/\?fields=/))

/** After some requests for a record, no tag fits it when it is changed. */
function losingTags(which: Which): Fault['plant'] {
  return (server) => {
    const lost = new Set<string>()
    return (request) => {
      if (which(request)) lost.add(pathOf(request))
      const isLost = of('PATCH', has('if-match'))(request) && lost.has(pathOf(request))
      return server(isLost ? withField('if-match', '"of-nobody"')(request) : request)
    }
  }
}

export const tagsFaults: readonly Fault[] = [
  {
    breaks: 'CON-8/fields',
    says: 'It makes the tag from the bytes of the answer.',
    plant(server, keys) {
      // If-Match takes both.
      const whole = asking(
        always,
        withField('if-match', (tag) => tag.replace(/^"part-/, '"')),
      )
      const part = answering(
        isPart,
        withField('etag', (tag) => `"part-${tag.slice(1)}`),
      )
      return part(whole(server, keys), keys)
    },
  },
  {
    breaks: 'CON-8/tag-of-fields',
    says: 'It takes a tag only from who has read the whole record.',
    plant: losingTags(isPart),
  },
  { breaks: 'CON-8/tag-of-head', says: 'HEAD gives a tag that fits nothing.', plant: losingTags(of('HEAD')) },
  {
    breaks: 'CON-8/vary',
    says: 'Its answers do not say that they depend on Accept.',
    plant: answering(isRead, withoutItem('vary', 'Accept')),
  },
]
