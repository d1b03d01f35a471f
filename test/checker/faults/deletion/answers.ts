/** Faults of how deletions are answered (DEL-2, DEL-3, DEL-8). */
import { answering, on, withBody, withStatus } from '../../plant/answers.ts'
import { sharing, watching } from '../../plant/memory.ts'
import { withField, withJson, withMembers, without } from '../../plant/messages.ts'
import { asking } from '../../plant/requests.ts'
import { at, has, not, of } from '../../plant/which.ts'
import type { Fault } from '../../planted.ts'

const isDeletion = of('DELETE')
const isDeletionOfItem = of('DELETE', at(/^\/v3\/items\/[^/?]+$/))

export const answerFaults: readonly Fault[] = [
  {
    breaks: 'DEL-2/answer',
    says: 'A deletion is answered 201.',
    plant: answering(isDeletionOfItem, on(204, withStatus(201))),
  },
  {
    breaks: 'DEL-2/no-body',
    says: 'It announces a body with 204.',
    plant: answering(
      isDeletion,
      on(204, (answer) => ({ ...withField('content-length', '2')(answer), body: '{}' })),
    ),
  },
  {
    breaks: 'DEL-2/summary',
    says: 'A deletion is answered with the whole record.',
    plant: watching(({ made }) =>
      answering(
        of('DELETE', at(/\/receipts\//)),
        on(200, (answer, { path }) => withJson((body) => ({ ...made.get(path), ...body }))(answer)),
      ),
    ),
  },
  {
    breaks: 'DEL-3/again',
    says: 'Deleting once more is answered 410.',
    plant: watching(({ deleted }) =>
      answering(
        of('DELETE', ({ path }) => deleted.has(path)),
        on(404, withStatus(410)),
      ),
    ),
  },
  {
    breaks: 'DEL-3/never',
    says: 'An identifier that it has never given is malformed to it.',
    plant: answering(of('DELETE', at(/\/items\/ffffffff-ffff-/)), on(404, withStatus(400))),
  },
  {
    breaks: 'DEL-3/odd',
    says: 'Its database takes no NUL, and says so by 500.',
    plant: answering(of('DELETE', at(/%00/)), withStatus(500)),
  },
  {
    breaks: 'DEL-3/at-once',
    says: 'Deletions that meet all think that they have deleted.',
    plant: sharing((request) => (of('DELETE', not(has('if-match')))(request) ? request.path : undefined)),
  },
  {
    breaks: 'DEL-8/body',
    says: 'A deletion that takes long is queued, not pending.',
    plant: answering(isDeletion, on(202, withMembers({ status: 'queued' }))),
  },
  {
    breaks: 'DEL-8/location',
    says: 'A deletion that takes long has no Location.',
    plant: answering(isDeletion, on(202, without('location'))),
  },
  {
    breaks: 'DEL-8/retry-after',
    says: 'A deletion that takes long has no Retry-After.',
    plant: answering(isDeletion, on(202, without('retry-after'))),
  },
  {
    breaks: 'DEL-8/done',
    says: 'Jobs say that they have succeeded before they have begun.',
    plant: watching(({ made, deleted }) =>
      answering(
        of('GET', at(/\/archives\//), ({ path }) => deleted.has(path)),
        (answer, request) => withBody(made.get(request.path), 200)(answer),
      ),
    ),
  },
  {
    breaks: 'DEL-8/preferred',
    says: 'It takes no notice of Prefer: respond-async.',
    plant: asking(has('prefer', 'respond-async'), without('prefer')),
  },
]
