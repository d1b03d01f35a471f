/** Faults of HEAD and ranges. */
import { giving, having, isCollection, isNowhere, isRecord, refusing, taking, without } from '../alter.ts'
import type { Fault, PlantedAnswer, PlantedRequest } from '../planted.ts'

const isHead = ({ method }: PlantedRequest) => method === 'HEAD'
const range = ({ headers }: PlantedRequest) => headers['range']
const unranged = (request: PlantedRequest) => without(request, 'range')
const content = '{"left":"over"}'

/** An answer to HEAD as it would be to something else. */
const answered =
  (status: number) =>
  (answer: PlantedAnswer): PlantedAnswer => ({ ...answer, status, body: '' })

const headsOf: readonly Fault[] = [
  {
    breaks: 'HED-1/record',
    says: 'HEAD of a record does not say of what type it is.',
    plant: giving(
      (request, { status }) => isHead(request) && isRecord(request) && status === 200,
      (answer) => without(answer, 'content-type'),
    ),
  },
  {
    breaks: 'HED-1/length',
    says: 'HEAD says that the body is empty.',
    plant: giving(
      (request, { status }) => isHead(request) && isRecord(request) && status === 200,
      (answer) => having(answer, 'content-length', '0'),
    ),
  },
  {
    breaks: 'HED-1/list',
    says: 'HEAD of a collection is answered as one without a type.',
    plant: giving(
      (request, { status }) => isHead(request) && isCollection(request) && status === 200,
      (answer) => without(answer, 'content-type'),
    ),
  },
  {
    breaks: 'HED-1/query',
    says: 'HEAD takes no notice of the query.',
    plant: giving((request) => isHead(request) && request.path.includes('limit=-1'), answered(200)),
  },
  {
    breaks: 'HED-1/missing',
    says: 'HEAD is answered 200 whatever the path.',
    plant: giving((request) => isHead(request) && isNowhere(request), answered(200)),
  },
  {
    breaks: 'HED-1/deleted',
    says: 'HEAD does not look whether the record is there.',
    plant: giving((request, { status }) => isHead(request) && isRecord(request) && status === 404, answered(200)),
  },
  {
    breaks: 'HED-1/refused',
    says: 'HEAD takes no credential.',
    plant: giving((request, { status }) => isHead(request) && status === 401, answered(200)),
  },
  {
    breaks: 'HED-1/forbidden',
    says: 'HEAD takes no permission.',
    plant: giving((request, { status }) => isHead(request) && status === 403, answered(200)),
  },
  {
    breaks: 'HED-1/condition',
    says: 'HEAD takes no notice of If-Match.',
    plant: taking(isHead, (request) => without(request, 'if-match')),
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
      plant: giving(
        (request) => isHead(request) && which(request) && request.headers['connection'] === 'close',
        (answer) => ({ ...answer, extra: content }),
      ),
    }),
  ),
  ...['HEAD', 'GET'].map(
    (method): Fault => ({
      breaks: `HED-2/${method.toLowerCase()}`,
      says: `${method} of an export that is being written is answered 404.`,
      plant: giving((request, { status }) => request.method === method && status === 202, refusing(404)),
    }),
  ),
]

const isPart = (request: PlantedRequest, { status }: PlantedAnswer) => isRecord(request) && status === 206
const ofRecord =
  (test: (value: string) => boolean) =>
  (request: PlantedRequest): boolean => {
    const value = range(request)
    return isRecord(request) && value !== undefined && test(value)
  }
const unsatisfied = refusing(416)

const rangesOf: readonly Fault[] = [
  {
    breaks: 'HED-3/announced',
    says: 'It does not say that parts can be had.',
    plant: giving(
      (request, { status }) => isRecord(request) && status === 200,
      (answer) => without(answer, 'accept-ranges'),
    ),
  },
  { breaks: 'HED-3/part', says: 'It takes no notice of Range.', plant: taking(isRecord, unranged) },
  {
    breaks: 'HED-3/length',
    says: 'It does not say with a part that others can be had.',
    plant: giving(isPart, (answer) => without(answer, 'accept-ranges')),
  },
  {
    breaks: 'HED-3/rest',
    says: 'It takes no notice of a range without an end.',
    plant: taking(
      ofRecord((value) => value === 'bytes=5-'),
      unranged,
    ),
  },
  {
    breaks: 'HED-3/last',
    says: 'It takes a range without a beginning for one that begins at 0.',
    plant: taking(
      ofRecord((value) => value === 'bytes=-4'),
      (request) => having(request, 'range', 'bytes=0-4'),
    ),
  },
  {
    breaks: 'HED-3/over-end',
    says: 'It refuses a range that goes on after the end.',
    plant: giving((request) => ofRecord((value) => value.endsWith('-999999999'))(request), unsatisfied),
  },
  {
    breaks: 'HED-3/beyond',
    says: 'It answers 416 without saying how long the whole is.',
    plant: giving(
      (request, { status }) => isRecord(request) && status === 416,
      (answer) => without(answer, 'content-range'),
    ),
  },
  {
    breaks: 'HED-3/head',
    says: 'HEAD takes no notice of Range.',
    plant: taking((request) => isHead(request) && isRecord(request), unranged),
  },
  {
    breaks: 'HED-3/if-range',
    says: 'It finds that no If-Range fits.',
    plant: taking(
      ({ headers }) => headers['if-range'] !== undefined,
      (request) => having(request, 'if-range', '"of-nobody"'),
    ),
  },
  {
    breaks: 'HED-3/if-range-other',
    says: 'It takes no notice of an If-Range that does not fit.',
    plant: taking(
      ({ headers }) => headers['if-range'] === '"of-another"',
      (request) => without(request, 'if-range'),
    ),
  },
  {
    breaks: 'HED-3/not-modified',
    says: 'It takes no notice of conditions where there is a range.',
    plant: taking(
      (request) => range(request) !== undefined,
      (request) => without(request, 'if-none-match'),
    ),
  },
  {
    breaks: 'HED-3/unknown-unit',
    says: 'It refuses ranges of units that it does not know.',
    plant: giving((request) => ofRecord((value) => value.startsWith('records='))(request), unsatisfied),
  },
  {
    breaks: 'HED-3/backwards',
    says: 'It refuses a range that it cannot read.',
    plant: giving((request) => ofRecord((value) => value === 'bytes=9-2')(request), unsatisfied),
  },
  {
    breaks: 'HED-3/several',
    says: 'It puts several ranges together as if they were one.',
    plant: taking(
      ofRecord((value) => value.includes(',')),
      (request) => having(request, 'range', 'bytes=0-5'),
    ),
  },
]

export const headsFaults: readonly Fault[] = [...headsOf, ...rangesOf]
