/** JOB-1, JOB-2 and JOB-4: what a job says of itself, and to whom. The jobs are deletions that were answered 202. */
import type { Case, Need, Seen } from '../../case/case.ts'
import { answerOf, everyAnswerOf, finding, itemsOf, member, noField, short, status } from '../../case/expect.ts'
import { answered } from '../../case/expect-records.ts'
import { about, given, record, records, settled, when } from '../../case/steps.ts'
import { type Answer, fieldOf, jsonOf } from '../../client/exchange.ts'
import { valueAt } from '../../values/json.ts'

const base: readonly Need[] = ['create', 'read', 'delete', 'unconditional', 'deferred']

const begun = [
  record(),
  when('gone', 'DELETE', '{one}', { headers: { Prefer: 'respond-async' } }),
  about('a deletion was not answered 202', answered('gone', 202)),
] as const

/** Three in a row: that one of them is met before its end is as good as certain. */
const three = [
  records('three', 3),
  ...['0', '1', '2'].flatMap((turn) => [
    when(`gone ${turn}`, 'DELETE', `{three.${turn}}`, { headers: { Prefer: 'respond-async' } }),
    about('a deletion was not answered 202', answered(`gone ${turn}`, 202)),
    settled(`gone ${turn}`),
  ]),
]

const newest = '{base}/jobs?sort=-created_at'

function showsJob(answer: Answer | undefined, seen: Seen): boolean {
  const id = seen.fill('{gone.json:/job_id}')
  return itemsOf(answer, seen)?.some((item) => item?.['job_id'] === id || item?.['id'] === id) === true
}

function statusOf(body: unknown): unknown {
  return valueAt(body, '/status')
}

export const jobCases: readonly Case[] = [
  {
    id: 'JOB-1/status',
    title: 'The address of a job answers with its identifier, its status and its address',
    kind: 'changing',
    needs: base,
    steps: [...begun, settled('gone'), when('job', 'GET', '{gone.json:/status_url}')],
    expect: [
      status('job', 200),
      member('job', '/job_id', 'is that of the job', (it, seen) =>
        it === seen.fill('{gone.json:/job_id}') ? undefined : `it is ${short(it)}`,
      ),
      member('job', '/status', 'is a text', (it) => (typeof it === 'string' ? undefined : `it is ${short(it)}`)),
      member('job', '/status_url', 'is its address', (it, seen) =>
        it === seen.fill('{gone.json:/status_url}') ? undefined : `it is ${short(it)}`,
      ),
    ],
    mend: 'Answer GET of status_url with { "job_id": …, "status": …, "status_url": … } and what else there is to say.',
  },
  {
    id: 'JOB-1/members',
    title: 'A job says its kind, progress, times and result',
    kind: 'changing',
    needs: base,
    level: 'may',
    steps: [...begun, settled('gone'), when('job', 'GET', '{gone.json:/status_url}')],
    expect: [
      member('job', '/kind', 'is a text', (it) => (typeof it === 'string' ? undefined : `it is ${short(it)}`)),
      member('job', '/progress', 'says how much is done of how much', (it) => {
        const [done, total] = [valueAt(it, '/done'), valueAt(it, '/total')]
        return Number.isInteger(done) && done === total ? undefined : `of a job that is over it is ${short(it)}`
      }),
      member('job', '', 'tells when it was made, began and ended', (body) => {
        const times = ['/created_at', '/started_at', '/finished_at'].map((each) => valueAt(body, each))
        const instants = times.map((each) => (typeof each === 'string' ? Date.parse(each) : Number.NaN))
        const isInOrder = instants.every((each, index) => each >= (instants[index - 1] ?? each))
        return isInOrder ? undefined : `the times are ${short(times)}`
      }),
      member('job', '/result', 'is there', (it) => (it === undefined || it === null ? 'there is none' : undefined)),
    ],
    mend: 'Tell kind, progress { done, total }, created_at, started_at, finished_at and result in the job.',
  },
  {
    id: 'JOB-1/unknown',
    title: 'A job that never was is answered 404',
    kind: 'changing',
    needs: base,
    after: ['JOB-1/status'],
    steps: [
      ...begun,
      settled('gone'),
      given('known', 'GET', '{base}/jobs/{gone.json:/job_id}'),
      when('unknown', 'GET', '{base}/jobs/{one.other}'),
    ],
    expect: [status('known', 200), status('unknown', 404)],
    mend: 'Answer 404 where there is no job with the identifier.',
  },
  {
    id: 'JOB-2/statuses',
    title: 'A job is pending, running, or over',
    kind: 'changing',
    needs: base,
    steps: three,
    expect: [
      everyAnswerOf('job', 'tells one of the four statuses', (answer, { profile }, exchange) => {
        const all = ['pending', 'running', ...profile.names.finished]
        const told = statusOf(jsonOf(answer))
        if (all.includes(String(told))) return undefined
        return finding(exchange, { pointer: '/status' }, `${short(told)} in place of ${all.join(', ')}`)
      }),
    ],
    mend: 'Use the statuses pending, running, succeeded and failed.',
  },
  {
    id: 'JOB-2/retry-after',
    title: 'A job that is not over says in Retry-After when to ask again',
    kind: 'changing',
    needs: base,
    steps: [
      ...three,
      about('no job was met before its end', (seen) =>
        seen.all('job').some(({ answer }) => !isOver(answer && jsonOf(answer), seen.profile.names.finished)),
      ),
    ],
    expect: [
      everyAnswerOf('job', 'has Retry-After unless it is over', (answer, { profile }, exchange) => {
        if (isOver(jsonOf(answer), profile.names.finished) || fieldOf(answer, 'Retry-After') !== undefined)
          return undefined
        return finding(
          exchange,
          { field: 'Retry-After' },
          `it is ${short(statusOf(jsonOf(answer)))}, and there is none`,
        )
      }),
    ],
    mend: 'Send Retry-After with every answer about a job that is not over, in whole seconds.',
  },
  {
    id: 'JOB-2/over',
    title: 'A job that is over stays so, and has no Retry-After any more',
    kind: 'changing',
    needs: base,
    steps: [...begun, settled('gone'), when('again', 'GET', '{gone.json:/status_url}')],
    expect: [
      answerOf('again', 'tells the same status', (answer, seen, exchange) => {
        const before = seen.of('job').answer
        const [was, is] = [before && statusOf(jsonOf(before)), statusOf(jsonOf(answer))]
        return was === is ? undefined : finding(exchange, { pointer: '/status' }, `${short(is)} after ${short(was)}`)
      }),
      noField('again', 'Retry-After'),
    ],
    mend: 'Leave Retry-After out where there is nothing to wait for.',
  },
  {
    id: 'JOB-4/others',
    title: 'A job is not shown to others',
    kind: 'changing',
    needs: [...base, 'other'],
    steps: [...begun, settled('gone'), when('job', 'GET', '{gone.json:/status_url}', { caller: 'other' })],
    // To conceal that there is one is as good.
    expect: [status('job', 403, 404)],
    mend: 'Keep with a job who started it, and answer 403 to anybody else who is no administrator.',
  },
  {
    id: 'JOB-4/listed',
    title: 'The list of jobs shows a job to who has started it',
    kind: 'changing',
    needs: base,
    // At once: others may begin jobs meanwhile.
    steps: [
      ...begun,
      when('jobs', 'GET', newest),
      settled('gone'),
      about('jobs cannot be listed by when they were made', (seen) => seen.of('jobs').answer?.status !== 400),
    ],
    expect: [
      status('jobs', 200),
      answerOf('jobs', 'lists the job', (answer, seen, exchange) => {
        if (showsJob(answer, seen)) return undefined
        const at = { pointer: seen.profile.names.items }
        return finding(exchange, at, `${seen.fill('{gone.json:/job_id}')} is not there`)
      }),
    ],
    mend: 'List at /jobs the jobs that the caller has started; those of all to administrators.',
  },
  {
    id: 'JOB-4/not-listed',
    title: 'The list of jobs does not show a job to others',
    kind: 'changing',
    needs: [...base, 'other'],
    after: ['JOB-4/listed'],
    steps: [...begun, when('jobs', 'GET', newest, { caller: 'other' }), settled('gone')],
    expect: [
      answerOf('jobs', 'does not list the job', (answer, seen, exchange) => {
        if (answer.status === 403) return undefined
        if (answer.status !== 200) return finding(exchange, 'status', `${answer.status} in place of 200 or 403`)
        if (!showsJob(answer, seen)) return undefined
        return finding(exchange, { pointer: seen.profile.names.items }, `${seen.fill('{gone.json:/job_id}')} is there`)
      }),
    ],
    mend: 'Narrow the list of jobs to those that the caller has started.',
  },
]

function isOver(body: unknown, finished: readonly string[]): boolean {
  return finished.includes(String(statusOf(body)))
}
