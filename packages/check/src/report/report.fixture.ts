/** A report with something of every kind in it. */
import { rules } from 'resourced-contract/spec/rules'
import { placementOf } from '../case/tiers.ts'
import type { Exchange } from '../client/exchange.ts'
import { type CaseResult, type Report, ruleResult } from '../run/check.ts'

const exchange: Exchange = {
  step: 'stale',
  milliseconds: 4,
  asked: {
    method: 'DELETE',
    url: 'https://api.example.com/v1/cities/1?a=b&c=%27',
    fields: [
      ['Authorization', 'Bearer $KEY'],
      ['If-Match', '"1"'],
    ],
  },
  answer: {
    status: 200,
    version: '1.1',
    fields: [
      ['Content-Type', 'application/json'],
      ['ETag', '"2"'],
    ],
    body: '{"data":{"id":"1","name":"<b>it\'s</b>"},"tags":["a","b"]}',
  },
}

/** Its place, without the level. */
function placed(id: CaseResult['id']) {
  const { tier, section = '' } = placementOf({ id })
  return { tier, section }
}

function result(id: CaseResult['id'], more: Partial<CaseResult>): CaseResult {
  return {
    ...{
      id,
      title: `What ${id} says`,
      level: 'must',
      ...placed(id),
      mend: 'Do it otherwise.',
      verdict: 'holds',
      why: '',
    },
    ...{ collection: 'cities', findings: [], exchanges: [], milliseconds: 3 },
    ...more,
  }
}

const found = { exchanges: [exchange, exchange] }

const results: readonly CaseResult[] = [
  result('CON-2/etag', {}),
  result('CON-3/stale-delete', {
    ...found,
    verdict: 'fails',
    findings: [{ exchange, part: 'status', message: '200 in place of 412' }],
  }),
  result('CON-4/not-modified', {
    ...found,
    verdict: 'fails',
    level: 'should',
    findings: [{ exchange, part: { pointer: '/data/name' }, message: 'the name is another' }],
  }),
  result('MET-8/minimal', {
    ...found,
    verdict: 'advice',
    level: 'may',
    findings: [{ exchange, part: { field: 'etag' }, message: 'the tag is another' }],
  }),
  result('DEL-6/restore', { verdict: 'blocked', why: 'CON-3/stale-delete: fails', blockedBy: 'CON-3/stale-delete' }),
  result('DEL-9/all', { verdict: 'not set up', why: 'POST was answered 500 | <oops>' }),
  result('QRY-5/words', { verdict: 'not applicable', why: 'no collection can be searched' }),
]

/** Three findings: of a must, a should and a may. */
export const sample: Report = {
  base: 'https://api.example.com/v1',
  date: '2026-11-22T08:00:00.000Z',
  seconds: 6.4,
  requests: 212,
  rules: rules
    .filter(({ id }) => results.some((each) => each.id.startsWith(`${id}/`)) || id === 'OPS-2')
    .map((rule) => ruleResult(rule, results)),
  created: 40,
  vanished: 0,
  remains: ['/v1/cities/7'],
  jobs: ['/v1/jobs/3'],
  differences: [
    {
      collection: 'cities',
      before: 4,
      after: 6,
      created: ['/v1/cities/7'],
      unexplained: ['/v1/cities/<b>9'],
      isMade: true,
    },
    { collection: 'roads', before: 9, after: 8, created: [], unexplained: [], isMade: true },
  ],
  stopped: false,
  strict: false,
  seed: 42,
}
