/** Faults of deletion by filter (DEL-10). */
import { answering, answerOf, on, withBody, withStatus } from '../../plant/answers.ts'
import { watching } from '../../plant/memory.ts'
import { without } from '../../plant/messages.ts'
import { asking } from '../../plant/requests.ts'
import { at, has, of } from '../../plant/which.ts'
import type { Fault } from '../../planted.ts'

const isFiltered = of('DELETE', at(/^\/v3\/items\?/))

export const filterFaults: readonly Fault[] = [
  {
    breaks: 'DEL-10/matching',
    says: 'Deletion by filter counts what it would delete, and deletes nothing.',
    plant: (server) => async (request) =>
      isFiltered(request) && has('prefer', /max-affected=2/)(request)
        ? answerOf(200, { deleted_count: 2 })
        : server(request),
  },
  {
    breaks: 'DEL-10/others-stay',
    says: 'Deletion by filter takes what the filter does not find.',
    plant: watching(({ made }) => (server) => {
      const taken = new Set<string>()
      return async (request) => {
        const answer = await server(request)
        if (isFiltered(request) && answer.status === 200) {
          for (const [path, { name }] of made) if (name === 'left alone') taken.add(path)
        }
        return request.method === 'GET' && taken.has(request.path) ? withStatus(404)(answer) : answer
      }
    }),
  },
  {
    breaks: 'DEL-10/number',
    says: 'Deletion by filter does not tell how many went.',
    plant: answering(isFiltered, on(200, withBody({ deleted: true }))),
  },
  {
    breaks: 'DEL-10/maximum',
    says: 'Deletion by filter takes no notice of max-affected.',
    plant: asking(isFiltered, without('prefer')),
  },
  {
    breaks: 'DEL-10/not-offered',
    says: 'DELETE of a collection is answered 404.',
    plant: answering(of('DELETE', at(/^\/v3\/shelves\?/)), on(405, withStatus(404))),
  },
]
