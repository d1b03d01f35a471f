/** Faults of limits. */
import { answering, answerOf, on, withStatus } from '../plant/answers.ts'
import { withField, without } from '../plant/messages.ts'
import { at, has, isCollection, isUnknown, sends } from '../plant/which.ts'
import type { Fault, PlantedAnswer } from '../planted.ts'

export const limitsFaults: readonly Fault[] = [
  {
    breaks: 'LIM-1/too-many',
    says: 'Everybody may guess as often as they like.',
    secure: true,
    plant: answering(isUnknown, on(429, withStatus(401))),
  },
  {
    breaks: 'LIM-1/retry-after',
    says: 'A 429 does not say how long to wait.',
    secure: true,
    plant: answering(isUnknown, without('retry-after')),
  },
  {
    breaks: 'LIM-1/true',
    says: 'Retry-After is always a second.',
    secure: true,
    plant(server) {
      let refused: { readonly answer: PlantedAnswer; readonly until: number } | undefined
      return async (request) => {
        if (!isUnknown(request)) return server(request)
        if (refused !== undefined && performance.now() < refused.until) return refused.answer
        const answer = await server(request)
        refused = answer.status === 429 ? { answer, until: performance.now() + 2_000 } : undefined
        return answer
      }
    },
  },
  {
    breaks: 'LIM-2/fields',
    says: 'It keeps its policy to itself.',
    plant: answering(isCollection, without('ratelimit-policy')),
  },
  {
    breaks: 'LIM-2/fields',
    says: 'RateLimit is a number.',
    plant: answering(isCollection, (answer) =>
      answer.headers['ratelimit'] === undefined
        ? answer
        : {
            ...answer,
            headers: {
              ...answer.headers,
              ratelimit: '600',
              'ratelimit-remaining': /r=(\d+)/.exec(answer.headers['ratelimit'])?.[1] ?? '',
            },
          },
    ),
  },
  {
    breaks: 'LIM-2/left',
    says: 'What is left is what there was.',
    plant: answering(isCollection, withField('ratelimit', '"caller";r=600;t=60')),
  },
  {
    breaks: 'LIM-3/body',
    says: 'It stumbles over large bodies.',
    plant: (server) => (request) =>
      request.body.length > 2_000_000 ? Promise.resolve(answerOf(500)) : server(request),
  },
  { breaks: 'LIM-3/address', says: 'Long addresses are 404.', plant: answering(at(/^.{9001}/), withStatus(404)) },
  {
    breaks: 'LIM-3/fields',
    says: 'Many header fields are a 400.',
    plant: answering(has('x-no-such'), withStatus(400)),
  },
  {
    breaks: 'LIM-3/depth',
    says: 'It does not look how deep JSON is.',
    plant: answering(sends(/"no-such":\[\[/), withStatus(500)),
  },
  {
    breaks: 'LIM-5/words',
    says: 'A search may have as many words as fit into an address.',
    plant: answering(at(/[?&]q=w0%20w1%20/), withStatus(200)),
  },
]
