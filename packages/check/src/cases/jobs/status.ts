/** JOB-1, JOB-2, JOB-4: what a job shows, and to whom. The jobs are deletions that were answered 202. */
import type { Observations } from '../../case/case.ts'
import { common } from '../../case/define.ts'
import {
  answerOf,
  everyAnswerOf,
  finding,
  isText,
  itemsOf,
  member,
  memberIs,
  noField,
  short,
  status,
  unexpected,
} from '../../case/expect.ts'
import { again, gone, job, one, three } from '../../case/names.ts'
import { answered, applicableIf } from '../../case/preconditions.ts'
import { base, Reference } from '../../case/references.ts'
import { asOther, create, createMany, settled, setUp } from '../../case/steps.ts'
import { type Answer, fieldOf, jsonOf } from '../../client/exchange.ts'
import { valueAt } from '../../values/json.ts'

const [known, unknown, jobs] = Reference.named('known', 'unknown', 'jobs')

const begun = [
  create(one),
  gone.delete(one, { headers: { Prefer: 'respond-async' } }),
  applicableIf(answered(gone, 202), 'a deletion was not answered 202'),
] as const

/** Three deletions in a row, so that the checker almost certainly sees an unfinished job. */
const threeJobs = [
  createMany(three, 3),
  ...Reference.named('gone 0', 'gone 1', 'gone 2').flatMap((gone, turn) => [
    gone.delete(three.at(turn), { headers: { Prefer: 'respond-async' } }),
    applicableIf(answered(gone, 202), 'a deletion was not answered 202'),
    settled(gone),
  ]),
]

const statusUrl = gone.json('/status_url')
const newest = `${base}/jobs?sort=-created_at`

function showsJob(answer: Answer | undefined, seen: Observations): boolean {
  const id = seen.fill(gone.json('/job_id'))
  return itemsOf(answer, seen)?.some((item) => item?.['job_id'] === id || item?.['id'] === id) === true
}

function statusOf(answer: Answer | undefined): unknown {
  return valueAt(jsonOf(answer), '/status')
}

function isOver(answer: Answer | undefined, { profile }: Observations): boolean {
  return profile.names.finished.includes(String(statusOf(answer)))
}

export const jobCases = common({ needs: ['deferred', 'read'] }).define({
  'JOB-1/status': {
    title: 'GET of a job returns its identifier, its status and its address',
    steps: [...begun, settled(gone), job.get(statusUrl)],
    expect: [
      status(job, 200),
      memberIs(job, '/job_id', (it, seen) => it === seen.fill(gone.json('/job_id'))),
      memberIs(job, '/status', isText),
      memberIs(job, '/status_url', (it, seen) => it === seen.fill(statusUrl)),
    ],
    remedy: 'Answer GET of status_url with at least { "job_id": …, "status": …, "status_url": … }.',
  },
  'JOB-1/members': {
    title: 'A job has its kind, progress, times and result',
    level: 'may',
    steps: [...begun, settled(gone), job.get(statusUrl)],
    expect: [
      memberIs(job, '/kind', isText),
      member(job, '/progress', (it) => {
        const [done, total] = [valueAt(it, '/done'), valueAt(it, '/total')]
        return Number.isInteger(done) && done === total ? undefined : `of a job that is over it is ${short(it)}`
      }),
      member(job, '', (body) => {
        const times = ['/created_at', '/started_at', '/finished_at'].map((each) => valueAt(body, each))
        const instants = times.map((each) => (typeof each === 'string' ? Date.parse(each) : Number.NaN))
        const isInOrder = instants.every((each, index) => each >= (instants[index - 1] ?? each))
        return isInOrder ? undefined : `the times are ${short(times)}`
      }),
      member(job, '/result', (it) => (it === undefined || it === null ? 'there is none' : undefined)),
    ],
    remedy: 'Tell kind, progress { done, total }, created_at, started_at, finished_at and result in the job.',
  },
  'JOB-1/unknown': {
    title: 'GET of a nonexistent job returns 404',
    after: ['JOB-1/status'],
    steps: [
      ...begun,
      settled(gone),
      setUp(known.get(`${base}/jobs/${gone.json('/job_id')}`)),
      unknown.get(`${base}/jobs/${one.otherId}`),
    ],
    expect: [status(known, 200), status(unknown, 404)],
    remedy: 'Answer 404 where there is no job with the identifier.',
  },
  'JOB-2/statuses': {
    title: 'A job is pending, running or finished',
    steps: threeJobs,
    expect: [
      everyAnswerOf(job, (answer, { profile }, exchange) => {
        const all = ['pending', 'running', ...profile.names.finished]
        const told = statusOf(answer)
        if (all.includes(String(told))) return undefined
        return finding(exchange, { pointer: '/status' }, `${short(told)} in place of ${all.join(', ')}`)
      }),
    ],
    remedy: 'Use the statuses pending, running, succeeded and failed.',
  },
  'JOB-2/retry-after': {
    title: 'An unfinished job has Retry-After',
    steps: [
      ...threeJobs,
      applicableIf(
        (seen) => seen.all(job).some(({ answer }) => !isOver(answer, seen)),
        'no job was met before its end',
      ),
    ],
    expect: [
      everyAnswerOf(job, (answer, seen, exchange) => {
        if (isOver(answer, seen) || fieldOf(answer, 'Retry-After') !== undefined) return undefined
        return finding(exchange, { field: 'Retry-After' }, `it is ${short(statusOf(answer))}, and there is none`)
      }),
    ],
    remedy: 'Send Retry-After with every answer about a job that is not over, in whole seconds.',
  },
  'JOB-2/over': {
    title: 'A finished job keeps its status and has no Retry-After',
    steps: [...begun, settled(gone), again.get(statusUrl)],
    expect: [
      answerOf(again, (answer, seen, exchange) => {
        const [was, is] = [statusOf(seen.of(job).answer), statusOf(answer)]
        return was === is ? undefined : finding(exchange, { pointer: '/status' }, `${short(is)} after ${short(was)}`)
      }),
      noField(again, 'Retry-After'),
    ],
    remedy: 'Leave Retry-After out where there is nothing to wait for.',
  },
  'JOB-4/others': {
    title: 'A job is not shown to other callers',
    steps: [...begun, settled(gone), job.get(statusUrl, asOther)],
    // A 404 conceals the job, which is as good.
    expect: [status(job, 403, 404)],
    remedy: 'Store the caller who started a job, and answer 403 to other callers except administrators.',
  },
  'JOB-4/listed': {
    title: 'The list of jobs contains a job for its caller',
    // Immediately, because others may start jobs meanwhile.
    steps: [
      ...begun,
      jobs.get(newest),
      settled(gone),
      applicableIf((seen) => seen.of(jobs).answer?.status !== 400, 'jobs cannot be listed by when they were made'),
    ],
    expect: [
      status(jobs, 200),
      answerOf(jobs, (answer, seen, exchange) => {
        if (showsJob(answer, seen)) return undefined
        const at = { pointer: seen.profile.names.items }
        return finding(exchange, at, `${seen.fill(gone.json('/job_id'))} is not there`)
      }),
    ],
    remedy: 'List at /jobs the jobs that the caller has started; those of all to administrators.',
  },
  'JOB-4/not-listed': {
    title: 'The list of jobs does not contain a job for other callers',
    after: ['JOB-4/listed'],
    steps: [...begun, jobs.get(newest, asOther), settled(gone)],
    expect: [
      answerOf(jobs, (answer, seen, exchange) => {
        if (answer.status === 403) return undefined
        if (answer.status !== 200) return unexpected(exchange, '200 or 403')
        if (!showsJob(answer, seen)) return undefined
        return finding(exchange, { pointer: seen.profile.names.items }, `${seen.fill(gone.json('/job_id'))} is there`)
      }),
    ],
    remedy: 'Narrow the list of jobs to those that the caller has started.',
  },
})
