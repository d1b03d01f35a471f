/** Faults of jobs and exports. */
import type { Fault, PlantedAnswer, PlantedRequest } from '../planted.ts'
import { answering, rowOf, showing, telling, watched, without, withStatus } from './deletion/watch.ts'

function isJob({ method, path }: PlantedRequest): boolean {
  return method === 'GET' && /^\/v3\/jobs\/[^/?]+$/.test(path)
}

function isContent({ method, path }: PlantedRequest): boolean {
  return method === 'GET' && /^\/v3\/exports\/[^/?]+\/content$/.test(path)
}

function isExport({ method, path }: PlantedRequest): boolean {
  return method === 'POST' && path === '/v3/exports'
}

function isOver(answer: PlantedAnswer): boolean {
  return ['succeeded', 'failed'].includes(String(rowOf(answer)['status']))
}

/** What others are refused they get as if somebody asked who may do everything. */
function openTo(isIt: (request: PlantedRequest, answer: PlantedAnswer) => boolean): Fault['plant'] {
  return (server, { key }) =>
    async (request) => {
      const [answer, authorization] = [await server(request), `Bearer ${key}`]
      if (request.headers['authorization'] === authorization || !isIt(request, answer)) return answer
      return server({ ...request, headers: { ...request.headers, authorization } })
    }
}

/** The content of an export in a format, otherwise than it should be. */
function writing(type: string, change: (body: string) => string): Fault['plant'] {
  return answering((answer, request) =>
    isContent(request) && answer.status === 200 && answer.headers['content-type']?.startsWith(type)
      ? { ...answer, body: change(answer.body) }
      : answer,
  )
}

export const jobsFaults: readonly Fault[] = [
  {
    breaks: 'JOB-1/status',
    says: 'A job tells another identifier than the deletion did.',
    plant: answering((answer, request) =>
      isJob(request) && answer.status === 200 ? telling(answer, { ...rowOf(answer), job_id: 1 }) : answer,
    ),
  },
  {
    breaks: 'JOB-1/members',
    says: 'A job does not tell how far it is.',
    plant: answering((answer, request) =>
      isJob(request) && answer.status === 200 ? telling(answer, { ...rowOf(answer), progress: null }) : answer,
    ),
  },
  {
    breaks: 'JOB-1/unknown',
    says: 'A job that never was is answered 200.',
    plant: answering((answer, request) =>
      isJob(request) && answer.status === 404 ? telling(answer, { status: 'unknown' }, 200) : answer,
    ),
  },
  {
    breaks: 'JOB-2/statuses',
    says: 'A job that has not ended is queued.',
    plant: answering((answer, request) =>
      isJob(request) && answer.status === 200 && !isOver(answer)
        ? telling(answer, { ...rowOf(answer), status: 'queued' })
        : answer,
    ),
  },
  {
    breaks: 'JOB-2/retry-after',
    says: 'A job that has not ended has no Retry-After.',
    plant: answering((answer, request) =>
      isJob(request) && !isOver(answer) ? without(answer, 'retry-after') : answer,
    ),
  },
  {
    breaks: 'JOB-2/over',
    says: 'A job that has ended still has Retry-After.',
    plant: answering((answer, request) =>
      isJob(request) && isOver(answer) ? { ...answer, headers: { ...answer.headers, 'retry-after': '1' } } : answer,
    ),
  },
  {
    breaks: 'JOB-4/others',
    says: 'A job is shown to whoever knows its address.',
    plant: openTo((request, { status }) => isJob(request) && status === 403),
  },
  {
    breaks: 'JOB-4/listed',
    says: 'The list of jobs is empty.',
    plant: answering((answer, { method, path }) =>
      method === 'GET' && path.startsWith('/v3/jobs?') && answer.status === 200 ? showing(answer, []) : answer,
    ),
  },
  {
    breaks: 'JOB-4/not-listed',
    says: 'The list of jobs shows those of all to everybody.',
    plant: openTo(({ method, path }) => method === 'GET' && path.startsWith('/v3/jobs?')),
  },
  {
    breaks: 'JOB-6/accepted',
    says: 'An export is answered 201.',
    plant: answering((answer, request) =>
      isExport(request) && answer.status === 202 ? withStatus(answer, 201) : answer,
    ),
  },
  {
    breaks: 'JOB-6/address',
    says: 'The job of an export does not tell where its content is.',
    plant: answering((answer, request) => {
      const { result } = rowOf(answer) as { result?: { content_url?: string } }
      if (!isJob(request) || result?.content_url === undefined) return answer
      return telling(answer, { ...rowOf(answer), result: { ...result, content_url: null } })
    }),
  },
  {
    breaks: 'JOB-6/json',
    says: 'An export as JSON makes numbers texts.',
    plant: writing('application/json', (body) => body.replaceAll(/"price":(\d+)/g, '"price":"$1"')),
  },
  {
    breaks: 'JOB-6/ndjson',
    says: 'An export as NDJSON loses its last line.',
    plant: writing('application/x-ndjson', (body) => body.split('\n').slice(0, -2).join('\n')),
  },
  {
    breaks: 'JOB-6/csv',
    says: 'An export as CSV has no header line.',
    plant: writing('text/csv', (body) => (body.includes('""') ? body : body.slice(body.indexOf('\n') + 1))),
  },
  {
    breaks: 'JOB-6/csv-quotes',
    says: 'An export as CSV does not double quotes.',
    plant: writing('text/csv', (body) => body.replaceAll('""', '"')),
  },
  {
    breaks: 'JOB-6/filtered',
    says: 'An export holds what was deleted.',
    plant: watched((server, { made, deleted }) => async (request) => {
      const answer = await server(request)
      if (!isContent(request) || answer.headers['content-type'] !== 'application/json' || answer.status !== 200) {
        return answer
      }
      const rows = JSON.parse(answer.body) as { name?: unknown }[]
      const ghosts = [...deleted.keys()].map((path) => made.get(path))
      const held = ghosts.filter((row) => row?.['name'] !== undefined && rows.some(({ name }) => name === row['name']))
      return held.length === 0 ? answer : telling(answer, [...rows, ...held])
    }),
  },
  {
    breaks: 'JOB-6/sorted',
    says: 'An export takes no notice of sort.',
    plant: (server) => (request) => {
      if (!isExport(request)) return server(request)
      const { sort: _, ...rest } = rowOf(request)
      return server({ ...request, body: JSON.stringify(rest) })
    },
  },
  {
    breaks: 'JOB-6/resumed',
    says: 'A range without an end is answered with the whole.',
    plant: (server) => (request) =>
      server(isContent(request) && request.headers['range']?.endsWith('-') ? without(request, 'range') : request),
  },
  {
    breaks: 'JOB-6/others',
    says: 'The content of an export is given to whoever knows its address.',
    plant: openTo((request, { status }) => isContent(request) && (status === 403 || status === 404)),
  },
  {
    breaks: 'JOB-6/wrong',
    says: 'An export of a collection by a path is answered 500.',
    plant: answering((answer, request) =>
      isExport(request) && request.body.includes('../') ? withStatus(answer, 500) : answer,
    ),
  },
]
