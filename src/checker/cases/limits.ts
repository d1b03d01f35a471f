/** LIM: limits. */
import type { Case, Step } from '../case/case.ts'
import { altogether, field, finding, status, statusNot } from '../case/expect.ts'
import { NotSetUp } from '../case/not-judged.ts'
import { together, when } from '../case/steps.ts'
import { type Answer, fieldOf } from '../client/exchange.ts'

/** Asks with a bad credential until that is too often. */
const tooOften: Step = {
  kind: 'exhaust',
  as: 'last',
  request: { method: 'GET', to: '{collection}', caller: 'wrong' },
  until: 429,
}

/** How many requests are left, as a field says; `undefined` where none does. */
function leftOf(answer: Answer): number | undefined {
  const [, left] = /\b(?:r|remaining)\s*=\s*(\d+)/.exec(fieldOf(answer, 'RateLimit') ?? '') ?? []
  const told = left ?? fieldOf(answer, 'RateLimit-Remaining') ?? fieldOf(answer, 'X-RateLimit-Remaining')
  return told === undefined ? undefined : Number(told)
}

/** An item of a structured field (RFC 9651) with parameters: `"caller";r=5;t=60`. */
const quota = /^\s*(?:"[^"]*"|[A-Za-z*][\w*.:/-]*)(?:\s*;\s*[a-z][\w-]*(?:=[^;,]+)?)+\s*(?:,|$)/

const isWhole = (value: string) => /^\d+$/.test(value)

export const limits: readonly Case[] = [
  {
    id: 'LIM-1/too-many',
    title: 'Who signs in wrongly again and again is answered 429',
    kind: 'reading',
    needs: ['list', 'key', 'attempts'],
    alone: true,
    steps: [tooOften],
    expect: [status('last', 429)],
    mend: 'Count requests, and failed authentications by address, and answer 429 to those that are too many.',
  },
  {
    id: 'LIM-1/retry-after',
    title: 'A 429 says in Retry-After when to ask again',
    kind: 'reading',
    needs: ['list', 'key', 'attempts'],
    after: ['LIM-1/too-many'],
    alone: true,
    steps: [tooOften],
    expect: [
      field('last', 'Retry-After', 'is a number of seconds or a date', (value) =>
        (isWhole(value) && Number(value) > 0) || Date.parse(value) > 0 ? undefined : `${value} is neither`,
      ),
    ],
    mend: 'Send Retry-After with every 429: the seconds until the next request will be answered.',
  },
  {
    id: 'LIM-1/true',
    title: 'Who waits as long as Retry-After says is answered again',
    kind: 'reading',
    needs: ['list', 'key', 'attempts'],
    after: ['LIM-1/retry-after'],
    alone: true,
    steps: [
      tooOften,
      { kind: 'pause', after: 'last' },
      when('again', 'GET', '{collection}', { caller: 'wrong', impatient: true }),
    ],
    expect: [statusNot('again', 429)],
    mend: 'Round the time that is left up to whole seconds, and send that in Retry-After.',
  },
  {
    id: 'LIM-2/fields',
    title: 'Answers say in RateLimit and RateLimit-Policy how many requests are left',
    kind: 'reading',
    needs: ['list', 'key'],
    steps: [when('list', 'GET', '{collection}')],
    expect: ['RateLimit', 'RateLimit-Policy'].map((name) =>
      field('list', name, 'is a list of quotas', (value) =>
        quota.test(value) || /\blimit\s*=\s*\d+/.test(value) ? undefined : `${value} cannot be read`,
      ),
    ),
    mend: 'Send RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers): “"caller";r=599;t=60”.',
  },
  {
    id: 'LIM-2/left',
    title: 'What answers say is left goes down with every request',
    kind: 'reading',
    needs: ['list', 'key'],
    steps: [together(...Array.from({ length: 5 }, () => when('lists', 'GET', '{collection}')))],
    expect: [
      altogether('five requests at once do not all say the same', (seen) => {
        const all = seen.all('lists')
        const left = all.map(({ answer }) => answer && leftOf(answer))
        if (left.includes(undefined)) throw new NotSetUp('answers do not say how many requests are left')
        return new Set(left).size > 1
          ? undefined
          : finding(all.at(-1), { field: 'RateLimit' }, `after each of five requests ${left[0]} are left`)
      }),
    ],
    mend: 'Say what the counter says once this request is counted.',
  },
  {
    id: 'LIM-3/body',
    title: 'A body of two megabytes is refused with 413',
    kind: 'changing',
    needs: ['create'],
    steps: [when('large', 'POST', '{collection}', { body: { text: `{"no-such":"${'x'.repeat(2 * 1024 * 1024)}"}` } })],
    expect: [status('large', 413)],
    mend: 'Bound what is read of a body, and answer 413 as soon as it is more.',
  },
  {
    id: 'LIM-3/address',
    title: 'An address of ten thousand bytes is refused with 414',
    kind: 'reading',
    needs: ['list'],
    steps: [when('long', 'GET', `{collection}?no-such=${'x'.repeat(10_000)}`)],
    expect: [status('long', 414)],
    mend: 'Bound the length of addresses, and answer 414 beyond.',
  },
  {
    id: 'LIM-3/fields',
    title: 'Header fields of twenty thousand bytes are refused with 431',
    kind: 'reading',
    needs: ['list'],
    steps: [when('long', 'GET', '{collection}', { headers: { 'X-No-Such': 'x'.repeat(20_000) } })],
    expect: [status('long', 431)],
    mend: 'Bound the size of the header section, and answer 431 beyond (RFC 6585 section 5).',
  },
  {
    id: 'LIM-3/depth',
    title: 'JSON that is nested a thousand times is refused with 400',
    kind: 'changing',
    needs: ['create'],
    steps: [
      when('deep', 'POST', '{collection}', {
        body: { text: `{"no-such":${'['.repeat(200)}${']'.repeat(200)}}` },
      }),
    ],
    expect: [status('deep', 400)],
    mend: 'Bound the depth of JSON before anything walks through it, and answer 400 beyond.',
  },
  {
    id: 'LIM-5/words',
    title: 'A search for a hundred different words is refused with 400',
    kind: 'reading',
    needs: ['list', 'search'],
    steps: [
      when('many', 'GET', `{collection}?q=${Array.from({ length: 100 }, (_, index) => `w${index}`).join('%20')}`),
    ],
    expect: [status('many', 400)],
    mend: 'Bound how many different words a search may have: each of them costs a look into an index.',
  },
]
