/** Faults of jobs and exports. */
import { answering, type Change, on, withBody, withStatus } from '../plant/answers.ts'
import { withData } from '../plant/lists.ts'
import { ghostsIn, watching } from '../plant/memory.ts'
import { jsonOf, withField, withJson, withMembers, without, withoutMembers } from '../plant/messages.ts'
import { asCaller, asking } from '../plant/requests.ts'
import { all, at, has, of, sends, type Which } from '../plant/which.ts'
import type { Fault, PlantedAnswer } from '../planted.ts'

const isJob = of('GET', at(/^\/v3\/jobs\/[^/?]+$/))
const isJobs = of('GET', at(/^\/v3\/jobs\?/))
const isContent = of('GET', at(/^\/v3\/exports\/[^/?]+\/content$/))
const isExport = of('POST', at('/v3/exports'))

function isOver(answer: PlantedAnswer): boolean {
  return ['succeeded', 'failed'].includes(String(jsonOf(answer)['status']))
}

/** A change of jobs that have not ended. */
function untilOver(change: Change): Change {
  return (answer, request) => (isOver(answer) ? answer : change(answer, request))
}

/** What others are refused they get as if somebody asked who may do everything. */
function openTo(which: Which, ...statuses: readonly number[]): Fault['plant'] {
  return (server, keys) => async (request) => {
    const [answer, asked] = [await server(request), asCaller(request, keys)]
    const isCaller = request.headers['authorization'] === asked.headers['authorization']
    return !isCaller && which(request) && statuses.includes(answer.status) ? server(asked) : answer
  }
}

/** The content of an export in a format, otherwise than it should be. */
function exporting(type: string, change: (body: string) => string): Fault['plant'] {
  return answering(
    isContent,
    on(200, (answer) =>
      answer.headers['content-type']?.startsWith(type) ? { ...answer, body: change(answer.body) } : answer,
    ),
  )
}

export const jobsFaults: readonly Fault[] = [
  {
    breaks: 'JOB-1/status',
    says: 'A job tells another identifier than the deletion did.',
    plant: answering(isJob, on(200, withMembers({ job_id: 1 }))),
  },
  {
    breaks: 'JOB-1/members',
    says: 'A job does not tell how far it is.',
    plant: answering(isJob, on(200, withMembers({ progress: null }))),
  },
  {
    breaks: 'JOB-1/unknown',
    says: 'A job that never was is answered 200.',
    plant: answering(isJob, on(404, withBody({ status: 'unknown' }, 200))),
  },
  {
    breaks: 'JOB-2/statuses',
    says: 'A job that has not ended is queued.',
    plant: answering(isJob, on(200, untilOver(withMembers({ status: 'queued' })))),
  },
  {
    breaks: 'JOB-2/retry-after',
    says: 'A job that has not ended has no Retry-After.',
    plant: answering(isJob, untilOver(without('retry-after'))),
  },
  {
    breaks: 'JOB-2/over',
    says: 'A job that has ended still has Retry-After.',
    plant: answering(isJob, (answer) => (isOver(answer) ? withField('retry-after', '1')(answer) : answer)),
  },
  {
    breaks: 'JOB-4/others',
    says: 'A job is shown to whoever knows its address.',
    plant: openTo(isJob, 403),
  },
  {
    breaks: 'JOB-4/listed',
    says: 'The list of jobs is empty.',
    plant: answering(isJobs, withData([])),
  },
  {
    breaks: 'JOB-4/not-listed',
    says: 'The list of jobs shows those of all to everybody.',
    plant: openTo(isJobs, 200),
  },
  {
    breaks: 'JOB-6/accepted',
    says: 'An export is answered 201.',
    plant: answering(isExport, on(202, withStatus(201))),
  },
  {
    breaks: 'JOB-6/address',
    says: 'The job of an export does not tell where its content is.',
    plant: answering(
      isJob,
      withJson(({ result, ...body }: { result?: { content_url?: string } }) => ({
        ...body,
        result: result?.content_url === undefined ? result : { ...result, content_url: null },
      })),
    ),
  },
  {
    breaks: 'JOB-6/json',
    says: 'An export as JSON makes numbers texts.',
    plant: exporting('application/json', (body) => body.replaceAll(/"price":(\d+)/g, '"price":"$1"')),
  },
  {
    breaks: 'JOB-6/ndjson',
    says: 'An export as NDJSON loses its last line.',
    plant: exporting('application/x-ndjson', (body) => body.split('\n').slice(0, -2).join('\n')),
  },
  {
    breaks: 'JOB-6/csv',
    says: 'An export as CSV has no header line.',
    plant: exporting('text/csv', (body) => (body.includes('""') ? body : body.slice(body.indexOf('\n') + 1))),
  },
  {
    breaks: 'JOB-6/csv-quotes',
    says: 'An export as CSV does not double quotes.',
    plant: exporting('text/csv', (body) => body.replaceAll('""', '"')),
  },
  {
    breaks: 'JOB-6/filtered',
    says: 'An export holds what was deleted.',
    plant: watching((watch) =>
      answering(
        isContent,
        on(200, (answer) => {
          if (answer.headers['content-type'] !== 'application/json') return answer
          const rows = JSON.parse(answer.body) as { name?: unknown }[]
          const held = ghostsIn(watch).filter(
            (row) => row['name'] !== undefined && rows.some(({ name }) => name === row['name']),
          )
          return held.length === 0 ? answer : { ...answer, body: JSON.stringify([...rows, ...held]) }
        }),
      ),
    ),
  },
  {
    breaks: 'JOB-6/sorted',
    says: 'An export takes no notice of sort.',
    plant: asking(isExport, withoutMembers('sort')),
  },
  {
    breaks: 'JOB-6/resumed',
    says: 'A range without an end is answered with the whole.',
    plant: asking(all(isContent, has('range', /-$/)), without('range')),
  },
  {
    breaks: 'JOB-6/others',
    says: 'The content of an export is given to whoever knows its address.',
    plant: openTo(isContent, 403, 404),
  },
  {
    breaks: 'JOB-6/wrong',
    says: 'An export of a collection by a path is answered 500.',
    plant: answering(all(isExport, sends(/\.\.\//)), withStatus(500)),
  },
]
