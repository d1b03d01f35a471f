/** LIM: limits. */
import { type Expectation, NotApplicable, type Step } from '../case/case.ts'
import { common, define } from '../case/define.ts'
import { answerOf, field, finding, status, unless } from '../case/expect.ts'
import { again, last, list, listings, many, one } from '../case/names.ts'
import { applicableWhere } from '../case/preconditions.ts'
import { collection, Reference } from '../case/references.ts'
import { body, create, simultaneous } from '../case/steps.ts'
import { type Answer, fieldOf, jsonOf } from '../client/exchange.ts'
import { valueAt } from '../values/json.ts'

const [large, long, deep] = Reference.named('large', 'long', 'deep')
const [short, shallow] = Reference.named('short', 'shallow')

/** Sends requests with an invalid credential until the rate limit is reached. */
const tooOften: Step = {
  kind: 'exhaust',
  as: 'last',
  request: { method: 'GET', to: collection, caller: 'wrong' },
  until: 429,
}

/** The number of remaining requests in a response; `undefined` if no field has it. */
function leftOf(answer: Answer): number | undefined {
  const [, left] = /\b(?:r|remaining)\s*=\s*(\d+)/.exec(fieldOf(answer, 'RateLimit') ?? '') ?? []
  const told = left ?? fieldOf(answer, 'RateLimit-Remaining') ?? fieldOf(answer, 'X-RateLimit-Remaining')
  return told === undefined ? undefined : Number(told)
}

/** An item of a structured field (RFC 9651) with parameters: `"caller";r=5;t=60`. */
const quota = /^\s*(?:"[^"]*"|[A-Za-z*][\w*.:/-]*)(?:\s*;\s*[a-z][\w-]*(?:=[^;,]+)?)+\s*(?:,|$)/

const isWhole = (value: string) => /^\d+$/.test(value)

const rates = common({ needs: ['attempts'], alone: true }).define({
  'LIM-1/too-many': {
    title: 'Repeated failed authentication returns 429',
    steps: [tooOften],
    expect: [status(last, 429)],
    remedy: 'Count requests, and failed authentications by address, and answer 429 to those that are too many.',
  },
  'LIM-1/retry-after': {
    title: 'A 429 has Retry-After',
    after: ['LIM-1/too-many'],
    steps: [tooOften],
    expect: [
      field(last, 'Retry-After', (value) =>
        unless((isWhole(value) && Number(value) > 0) || Date.parse(value) > 0, `${value} is neither`),
      ),
    ],
    remedy: 'Send Retry-After with every 429: the seconds until the next request will be answered.',
  },
  'LIM-1/true': {
    title: 'After the time in Retry-After requests are processed again',
    after: ['LIM-1/retry-after'],
    steps: [tooOften, { kind: 'pause', after: 'last' }, again.get(collection, { caller: 'wrong', noRetry: true })],
    expect: [answerOf(again, ({ status }, _, all) => (status === 429 ? finding(all, 'status', '429') : undefined))],
    remedy: 'Round the time that is left up to whole seconds, and send that in Retry-After.',
  },
})

export const limits = [
  ...rates,
  ...define({
    'LIM-2/fields': {
      title: 'Responses have RateLimit and RateLimit-Policy',
      needs: ['key'],
      steps: [list.get(collection)],
      expect: ['RateLimit', 'RateLimit-Policy'].map((name) =>
        field(list, name, (value) =>
          unless(quota.test(value) || /\blimit\s*=\s*\d+/.test(value), `${value} cannot be read`),
        ),
      ),
      remedy: 'Send RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers): “"caller";r=599;t=60”.',
    },
    'LIM-2/left': {
      title: 'The remaining requests in RateLimit decrease with every request',
      needs: ['key'],
      steps: [simultaneous(5, listings.get(collection))],
      expect: [
        (seen) => {
          const all = seen.all(listings)
          const left = all.map(({ answer }) => answer && leftOf(answer))
          if (left.includes(undefined)) throw new NotApplicable('responses do not say how many requests are left')
          if (new Set(left).size > 1) return undefined
          return finding(all.at(-1), { field: 'RateLimit' }, `after each of five requests ${left[0]} are left`)
        },
      ],
      remedy: 'Say what the counter says once this request is counted.',
    },
    'LIM-3/body': {
      title: 'A body of two megabytes is refused with 413',
      steps: [large.post(collection, body.text(`{"no-such":"${'x'.repeat(2 * 1024 * 1024)}"}`))],
      expect: [status(large, 413)],
      remedy: 'Bound what is read of a body, and answer 413 as soon as it is more.',
    },
    'LIM-3/address': {
      title: 'An address of ten thousand bytes is refused with 414',
      steps: [short.get(`${collection}?no-such=x`), long.get(`${collection}?no-such=${'x'.repeat(10_000)}`)],
      expect: [isForThis(long, short, 'an unknown parameter is refused, however long'), status(long, 414)],
      remedy: 'Bound the length of addresses, and answer 414 beyond.',
    },
    'LIM-3/fields': {
      title: 'Header fields of twenty thousand bytes are refused with 431',
      steps: [long.get(collection, { headers: { 'X-No-Such': 'x'.repeat(20_000) } })],
      expect: [status(long, 431)],
      remedy: 'Bound the size of the header section, and answer 431 beyond (RFC 6585 section 5).',
    },
    'LIM-3/depth': {
      title: 'JSON that is nested 200 times is refused with 400',
      steps: [
        create(one),
        shallow.post(collection, { ...body.example, with: { 'no-such': [] } }),
        deep.post(collection, { ...body.example, with: { 'no-such': nested(200) } }),
      ],
      expect: [isForThis(deep, shallow, 'a body with an unknown member is refused, however deep'), status(deep, 400)],
      remedy: 'Bound the depth of JSON before anything walks through it, and answer 400 beyond.',
    },
    'LIM-5/words': {
      title: 'A search for a hundred different words is refused with 400',
      steps: [many.get(`${collection}?q=${Array.from({ length: 100 }, (_, index) => `w${index}`).join('%20')}`)],
      expect: [status(many, 400)],
      remedy: 'Bound how many different words a search may have: each of them costs a look into an index.',
    },
  }),
]

function nested(depth: number): unknown {
  return depth === 0 ? [] : [nested(depth - 1)]
}

/** The case is applicable only if the request is not refused in the same way without its fault. */
function isForThis(step: Reference, sound: Reference, otherwise: string): Expectation {
  return applicableWhere((seen) => {
    const [faulty, plain] = [step, sound].map((each) => seen.of(each).answer)
    const { code } = seen.profile.names
    if (faulty === undefined || plain === undefined || plain.status < 400 || faulty.status !== plain.status) return true
    return valueAt(jsonOf(faulty), code) !== valueAt(jsonOf(plain), code)
  }, otherwise)
}
