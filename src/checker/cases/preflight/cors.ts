/** OPT-3 to OPT-6: which pages of other origins may call, and read. */
import type { Case, Expectation, Request, Step } from '../../case/case.ts'
import { answerOf, field, finding, onlyWhere, status } from '../../case/expect.ts'
import { record, when } from '../../case/steps.ts'
import { fieldOf } from '../../client/exchange.ts'

/** An origin that no server means to allow. */
const foreign = 'https://foreign.example'

/** What a browser asks before it sends a DELETE of a page. */
const preflight = (origin: string, as = 'preflight', wanted = 'authorization, content-type'): Step =>
  when(as, 'OPTIONS', '{collection}', {
    caller: 'nobody',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': wanted,
    },
  })

const read = (origin: string, to = '{collection}', more: Partial<Request> = {}): Step =>
  when('read', 'GET', to, { ...more, headers: { Origin: origin } })

const own = { kind: 'reading' as const, needs: ['origin', 'list', 'create'] as const }
const asked = { ...own, after: ['OPT-3/answer'] as const, steps: [preflight('{origin}')] }

/** The values of a field that is a list, in lower case. */
function listed(value: string): string[] {
  return value
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

/** A list field of an answer has all of these, or a star in place of all but Authorization. */
const lists = (step: string, name: string, wanted: readonly string[]): Expectation =>
  field(step, name, `names ${wanted.join(', ')}`, (value) => {
    const all = listed(value)
    const lacking = wanted.filter(
      (each) => !all.includes(each.toLowerCase()) && (!all.includes('*') || each === 'Authorization'),
    )
    return lacking.length === 0 ? undefined : `${value} lacks ${lacking.join(', ')}`
  })

/** The origin that asked is named. */
const isAllowed = (step: string): Expectation =>
  field(step, 'Access-Control-Allow-Origin', 'repeats the origin', (value, seen) =>
    value === seen.profile.origin ? undefined : `${value} in place of ${seen.profile.origin}`,
  )

/** Nothing is said to a page. */
const saysNothing = (step: string): Expectation =>
  answerOf(step, 'has no Access-Control field', ({ fields }, _, exchange) => {
    const found = fields.find(([name]) => name.toLowerCase().startsWith('access-control-'))
    return found && finding(exchange, { field: found[0] }, `${found[0]} is there: ${found[1]}`)
  })

const variesByOrigin = (step: string): Expectation =>
  field(step, 'Vary', 'names Origin', (value) =>
    listed(value).some((each) => each === 'origin' || each === '*') ? undefined : `${value} lacks Origin`,
  )

/** The wildcard and credentials do not stand together. */
const neverBoth = (step: string): Expectation =>
  answerOf(step, 'does not allow all origins together with credentials', (answer, _, exchange) =>
    fieldOf(answer, 'Access-Control-Allow-Origin') === '*' &&
    fieldOf(answer, 'Access-Control-Allow-Credentials')?.toLowerCase() === 'true'
      ? finding(
          exchange,
          { field: 'Access-Control-Allow-Credentials' },
          'Access-Control-Allow-Origin is *, and Access-Control-Allow-Credentials true',
        )
      : undefined,
  )

const noBoth =
  'List the origins whose pages may send credentials: browsers refuse * beside them, and what repeats every origin instead is worse.'

const wildcards: readonly Case[] = [
  {
    id: 'OPT-5/answer',
    title: 'No answer allows all origins together with credentials',
    ...{ kind: 'reading', needs: ['list'], steps: [read(foreign)], expect: [neverBoth('read')], mend: noBoth },
  },
  {
    id: 'OPT-5/preflight',
    title: 'No preflight allows all origins together with credentials',
    ...{ kind: 'reading', needs: ['list'], steps: [preflight(foreign)] },
    ...{ expect: [neverBoth('preflight')], mend: noBoth },
  },
]

const preflights: readonly Case[] = [
  {
    id: 'OPT-3/answer',
    title: 'A preflight, which has no credential, is answered 204 (or 200)',
    ...{ ...own, steps: [preflight('{origin}')], expect: [status('preflight', 204, 200)] },
    mend: 'Answer OPTIONS that has Origin and Access-Control-Request-Method before you authenticate: browsers send it without credentials.',
  },
  {
    id: 'OPT-3/no-content',
    title: 'A preflight is answered 204',
    ...{ ...asked, level: 'should', expect: [status('preflight', 204)] },
    mend: 'There is nothing to say but header fields: 204.',
  },
  {
    id: 'OPT-3/methods',
    title: 'A preflight is told the methods',
    ...{ ...asked, expect: [lists('preflight', 'Access-Control-Allow-Methods', ['POST'])] },
    mend: 'Name in Access-Control-Allow-Methods the methods that the address supports.',
  },
  {
    id: 'OPT-3/headers',
    title: 'A preflight is told that pages may send Authorization and Content-Type',
    ...{ ...asked, expect: [lists('preflight', 'Access-Control-Allow-Headers', ['Authorization', 'Content-Type'])] },
    mend: 'Name in Access-Control-Allow-Headers Authorization, which * does not mean, and Content-Type, which JSON needs.',
  },
  {
    id: 'OPT-3/condition-headers',
    title: 'A preflight is told that pages may send If-Match and If-None-Match',
    ...{ ...own, level: 'should', after: ['OPT-3/headers'] },
    steps: [preflight('{origin}', 'preflight', 'authorization, if-match, if-none-match')],
    expect: [lists('preflight', 'Access-Control-Allow-Headers', ['If-Match', 'If-None-Match'])],
    mend: 'Name the fields of conditions in Access-Control-Allow-Headers: without them pages overwrite what others wrote.',
  },
  {
    id: 'OPT-3/age',
    title: 'A preflight is told for how many seconds its answer keeps',
    ...asked,
    expect: [
      field('preflight', 'Access-Control-Max-Age', 'is a number of seconds', (value) =>
        /^\d+$/.test(value) ? undefined : `${value} is no number of seconds`,
      ),
    ],
    mend: 'Send Access-Control-Max-Age in whole seconds: without it browsers ask again every five.',
  },
  {
    id: 'OPT-3/no-preflight',
    title: 'OPTIONS of a page that is no preflight takes a credential',
    ...{ kind: 'reading', needs: ['origin', 'list', 'key'], after: ['OPT-1/nobody'] },
    steps: [when('options', 'OPTIONS', '{collection}', { caller: 'nobody', headers: { Origin: '{origin}' } })],
    expect: [status('options', 401)],
    mend: 'Only what has Origin and Access-Control-Request-Method is a preflight, and comes before authentication.',
  },
]

const echoes =
  'Repeat in Access-Control-Allow-Origin the origin that asked, where it stands on your list, on every answer: errors too.'
const refuses =
  'Compare Origin, whole, with the origins on a list; where it is none of them leave every Access-Control field out.'
const varies =
  'Send Vary: Origin with every answer, to whoever asks: otherwise a cache gives one origin what was said to another.'

/** Origins that are not to be allowed. */
const strangers: readonly (readonly [name: string, what: string, origin: string, needsOwn: boolean])[] = [
  ['foreign', 'A page of an origin that is not allowed', foreign, false],
  ['null', 'A page without an origin (null)', 'null', false],
  ['longer', 'A page whose origin begins with one that is allowed', '{origin}.foreign.example', true],
]

const origins: readonly Case[] = [
  {
    id: 'OPT-4/answer',
    title: 'A page of an origin that is allowed may read answers',
    ...{ ...own, after: ['OPT-5/answer'], steps: [read('{origin}')], expect: [isAllowed('read')], mend: echoes },
  },
  {
    id: 'OPT-4/error',
    title: 'A page of an origin that is allowed may read errors',
    ...{ ...own, after: ['OPT-4/answer'], steps: [read('{origin}', '{base}/no-such-thing')] },
    ...{ expect: [isAllowed('read')], mend: echoes },
  },
  {
    id: 'OPT-4/refusal',
    title: 'A page of an origin that is allowed may read that its credential is missing',
    ...{ kind: 'reading', needs: ['origin', 'list', 'key'], after: ['OPT-4/answer'] },
    steps: [read('{origin}', '{collection}', { caller: 'nobody' })],
    expect: [
      onlyWhere('reading takes a credential', (seen) =>
        seen.of('read').answer?.status === 401 ? undefined : 'lists are read without a credential',
      ),
      isAllowed('read'),
    ],
    mend: echoes,
  },
  {
    id: 'OPT-4/preflight',
    title: 'A preflight is told that its origin is allowed',
    ...{ ...asked, after: ['OPT-3/answer', 'OPT-5/preflight'], expect: [isAllowed('preflight')], mend: echoes },
  },
  {
    id: 'OPT-4/vary',
    title: 'An answer to a page says that it depends on Origin',
    ...{ ...own, after: ['OPT-4/answer'], steps: [read('{origin}')], expect: [variesByOrigin('read')], mend: varies },
  },
  {
    id: 'OPT-4/vary-always',
    title: 'An answer to who is no page says that it depends on Origin, too',
    ...{ ...own, level: 'should', after: ['OPT-4/vary'], steps: [when('read', 'GET', '{collection}')] },
    ...{ expect: [variesByOrigin('read')], mend: varies },
  },
  ...strangers.flatMap(([name, what, origin, needsOwn]): Case[] => [
    {
      id: `OPT-4/${name}`,
      title: `${what} gets no Access-Control field`,
      kind: 'reading',
      needs: needsOwn ? ['list', 'origin'] : ['list'],
      after: needsOwn ? ['OPT-4/answer', 'OPT-4/foreign'] : ['OPT-5/answer'],
      ...{ steps: [read(origin)], expect: [saysNothing('read')], mend: refuses },
    },
    {
      id: `OPT-4/${name}-preflight`,
      title: `${what} gets no Access-Control field with a preflight`,
      kind: 'reading',
      needs: needsOwn ? ['list', 'origin', 'create'] : ['list'],
      after: needsOwn ? ['OPT-4/preflight', 'OPT-4/foreign-preflight'] : ['OPT-5/preflight'],
      ...{ steps: [preflight(origin)], expect: [saysNothing('preflight')], mend: refuses },
    },
  ]),
]

/** Fields of this interface that a page cannot read unless they are named. */
const hidden = [
  'ETag',
  'Location',
  'Link',
  'Retry-After',
  'RateLimit',
  'Deprecation',
  'Sunset',
  'X-Total-Count',
  'Preference-Applied',
]

/** Whichever of the fields an answer has, pages may read. */
const exposes = (step: string): Expectation[] => {
  const here = (seen: Parameters<Expectation['judge']>[0]) => {
    const { answer } = seen.of(step)
    return hidden.filter((name) => answer !== undefined && fieldOf(answer, name) !== undefined)
  }
  return [
    onlyWhere('the answer has fields that browsers hide', (seen) =>
      here(seen).length > 0 ? undefined : `the answer has none of ${hidden.join(', ')}`,
    ),
    {
      says: 'Access-Control-Expose-Headers names the fields that browsers would hide',
      judge: (seen) => lists(step, 'Access-Control-Expose-Headers', here(seen)).judge(seen),
    },
  ]
}

const expose =
  'Name in Access-Control-Expose-Headers, on every answer to a page, the fields that it needs: browsers hide ETag, Location and Link.'
const page = { Origin: '{origin}' }

const exposed: readonly Case[] = [
  {
    id: 'OPT-6/record',
    title: 'A page may read the header fields of a record',
    ...{ kind: 'changing', needs: ['origin', 'create', 'read'], after: ['OPT-4/answer'], mend: expose },
    steps: [record(), when('read', 'GET', '{one}', { headers: page })],
    expect: exposes('read'),
  },
  {
    id: 'OPT-6/creation',
    title: 'A page may read where the record is that it created',
    ...{ kind: 'changing', needs: ['origin', 'create'], after: ['OPT-4/answer'], mend: expose },
    steps: [record(), when('creation', 'POST', '{collection}', { body: { from: 'example' }, headers: page })],
    expect: exposes('creation'),
  },
  {
    id: 'OPT-6/list',
    title: 'A page may read the header fields of a list',
    ...{ kind: 'reading', needs: ['origin', 'list', 'create'], after: ['OPT-4/answer'], mend: expose },
    steps: [when('read', 'GET', '{collection}', { headers: page })],
    expect: exposes('read'),
  },
]

export const cors: readonly Case[] = [...wildcards, ...preflights, ...origins, ...exposed]
