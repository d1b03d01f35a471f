/** Faults of HEAD and ranges. */
import { answering, on, withProblem, withStatus } from '../plant/answers.ts'
import { withField, without } from '../plant/messages.ts'
import { asking } from '../plant/requests.ts'
import { all, at, has, isCollection, isNowhere, isRecord, of } from '../plant/which.ts'
import type { Fault, PlantedAnswer } from '../planted.ts'

const unranged = without('range')

/** An answer to HEAD as it would be to something else. */
const answered =
  (status: number) =>
  (answer: PlantedAnswer): PlantedAnswer => ({ ...answer, status, body: '' })

const headsOf: readonly Fault[] = [
  {
    breaks: 'HED-1/record',
    says: 'HEAD of a record does not say of what type it is.',
    plant: answering(of('HEAD', isRecord), on(200, without('content-type'))),
  },
  {
    breaks: 'HED-1/length',
    says: 'HEAD says that the body is empty.',
    plant: answering(of('HEAD', isRecord), on(200, withField('content-length', '0'))),
  },
  {
    breaks: 'HED-1/list',
    says: 'HEAD of a collection is answered as one without a type.',
    plant: answering(of('HEAD', isCollection), on(200, without('content-type'))),
  },
  {
    breaks: 'HED-1/list-length',
    says: 'HEAD of a collection says that the body is empty.',
    plant: answering(of('HEAD', isCollection), on(200, withField('content-length', '0'))),
  },
  {
    breaks: 'HED-1/query',
    says: 'HEAD takes no notice of the query.',
    plant: answering(of('HEAD', at(/limit=-1/)), answered(200)),
  },
  {
    breaks: 'HED-1/missing',
    says: 'HEAD is answered 200 whatever the path.',
    plant: answering(of('HEAD', isNowhere), answered(200)),
  },
  {
    breaks: 'HED-1/deleted',
    says: 'HEAD does not look whether the record is there.',
    plant: answering(of('HEAD', isRecord), on(404, answered(200))),
  },
  {
    breaks: 'HED-1/refused',
    says: 'HEAD takes no credential.',
    plant: answering(of('HEAD'), on(401, answered(200))),
  },
  {
    breaks: 'HED-1/forbidden',
    says: 'HEAD takes no permission.',
    plant: answering(of('HEAD'), on(403, answered(200))),
  },
  {
    breaks: 'HED-1/condition',
    says: 'HEAD takes no notice of If-Match.',
    plant: asking(of('HEAD'), without('if-match')),
  },
  ...(
    [
      ['record', isRecord],
      ['list', isCollection],
      ['missing', isNowhere],
    ] as const
  ).map(
    ([name, which]): Fault => ({
      breaks: `HED-1/no-body-${name}`,
      says: `HEAD sends the body after all (${name}).`,
      // Only on a connection that ends with it: on others the next answer would be lost.
      plant: answering(of('HEAD', which, has('connection', 'close')), (answer) => ({
        ...answer,
        extra: '{"left":"over"}',
      })),
    }),
  ),
  ...['HEAD', 'GET'].map(
    (method): Fault => ({
      breaks: `HED-2/${method.toLowerCase()}`,
      says: `${method} of an export that is being written is answered 404.`,
      plant: answering(of(method), on(202, withProblem(404))),
    }),
  ),
]

const ranged = (range: string | RegExp) => all(isRecord, has('range', range))
const unsatisfied = withProblem(416)

const rangesOf: readonly Fault[] = [
  {
    breaks: 'HED-3/announced',
    says: 'It does not say that parts can be had.',
    plant: answering(isRecord, on(200, without('accept-ranges'))),
  },
  { breaks: 'HED-3/part', says: 'It takes no notice of Range.', plant: asking(isRecord, unranged) },
  {
    breaks: 'HED-3/length',
    says: 'It does not say with a part that others can be had.',
    plant: answering(isRecord, on(206, without('accept-ranges'))),
  },
  {
    breaks: 'HED-3/rest',
    says: 'It takes no notice of a range without an end.',
    plant: asking(ranged('bytes=5-'), unranged),
  },
  {
    breaks: 'HED-3/last',
    says: 'It takes a range without a beginning for one that begins at 0.',
    plant: asking(ranged('bytes=-4'), withField('range', 'bytes=0-4')),
  },
  {
    breaks: 'HED-3/over-end',
    says: 'It refuses a range that goes on after the end.',
    plant: answering(ranged(/-999999999$/), unsatisfied),
  },
  {
    breaks: 'HED-3/beyond',
    says: 'It answers 416 without saying how long the whole is.',
    plant: answering(isRecord, on(416, without('content-range'))),
  },
  {
    breaks: 'HED-3/head',
    says: 'HEAD takes no notice of Range.',
    plant: asking(of('HEAD', isRecord), unranged),
  },
  {
    breaks: 'HED-3/if-range',
    says: 'It finds that no If-Range fits.',
    plant: asking(has('if-range'), withField('if-range', '"of-nobody"')),
  },
  {
    breaks: 'HED-3/if-range-other',
    says: 'It takes no notice of an If-Range that does not fit.',
    plant: asking(has('if-range', '"of-another"'), without('if-range')),
  },
  {
    breaks: 'HED-3/not-modified',
    says: 'It takes no notice of conditions where there is a range.',
    plant: asking(has('range'), without('if-none-match')),
  },
  {
    breaks: 'HED-3/unknown-unit',
    says: 'It refuses ranges of units that it does not know.',
    plant: answering(ranged(/^records=/), unsatisfied),
  },
  {
    breaks: 'HED-3/backwards',
    says: 'It sends a part for a range that ends before it begins.',
    plant: answering(ranged('bytes=9-2'), withStatus(206)),
  },
  {
    breaks: 'HED-3/several',
    says: 'It puts several ranges together as if they were one.',
    plant: asking(ranged(/,/), withField('range', 'bytes=0-5')),
  },
]

export const headsFaults: readonly Fault[] = [...headsOf, ...rangesOf]
