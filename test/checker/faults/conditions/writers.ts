/** Faults of CON-5. */
import { withField } from '../../plant/messages.ts'
import { othersArrive, readOf } from '../../plant/requests.ts'
import type { Fault, PlantedAnswer } from '../../planted.ts'

/** It is there: that is all that is asked when it is written. */
const unguarded = withField('if-match', '*')

/** It decides the condition, and writes a little later. */
function late(method: string, tell: (answer: PlantedAnswer) => PlantedAnswer = (answer) => answer): Fault['plant'] {
  return (server) => async (request) => {
    const match = request.headers['if-match']
    if (request.method !== method || match === undefined) return server(request)
    const current = await server(readOf(request))
    if (match !== current.headers['etag']) return server(request)
    await othersArrive()
    return tell(await server(unguarded(request)))
  }
}

export const writersFaults: readonly Fault[] = [
  {
    breaks: 'CON-5/one-wins',
    says: 'PATCH decides the condition before it waits for its turn to write.',
    plant: late('PATCH'),
  },
  {
    breaks: 'CON-5/one-replaces',
    says: 'PUT decides the condition before it waits for its turn to write.',
    plant: late('PUT'),
  },
  {
    breaks: 'CON-5/one-deletes',
    says: 'Everybody who has found the record is told that they have deleted it.',
    plant: late('DELETE', (answer) => (answer.status === 404 ? { ...answer, status: 204, body: '' } : answer)),
  },
  {
    breaks: 'CON-5/change-or-deletion',
    says: 'DELETE does not see what was changed since it decided the condition.',
    plant: late('DELETE'),
  },
]
