/** OPT-3 to OPT-6: preflights, allowed origins and exposed header fields. */
import type { Case, Expectation, Observations, Request, Step } from '../../case/case.ts'
import { common, define } from '../../case/define.ts'
import { answerOf, elementsOf, field, fieldIs, finding, status, unless } from '../../case/expect.ts'
import { one, read } from '../../case/names.ts'
import { answered, applicableWhere } from '../../case/preconditions.ts'
import { base, collection, configured, Reference } from '../../case/references.ts'
import { body, create } from '../../case/steps.ts'
import { fieldOf } from '../../client/exchange.ts'

const { allowedOrigin } = configured
const [options, creation, asking] = Reference.named('options', 'creation', 'preflight')

/** An origin that no server means to allow. */
const foreign = 'https://foreign.example'

/** What a browser asks before it sends a DELETE of a page. */
const preflight = (origin: string, wanted = 'authorization, content-type'): Step =>
  asking.options(collection, {
    caller: 'nobody',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': wanted,
    },
  })

const readFrom = (origin: string, to = collection, more: Partial<Request> = {}): Step =>
  read.send('GET', to, { ...more, headers: { Origin: origin } })

const own = { kind: 'reading' as const, needs: ['origin', 'list', 'create'] as const }
const asked = { ...own, after: ['OPT-3/answer'] as const, steps: [preflight(allowedOrigin)] }

/** A list field of an answer has all of these, or a star in place of all but Authorization. */
const lists = (step: Reference, name: string, wanted: readonly string[]): Expectation =>
  field(step, name, (value) => {
    const all = elementsOf(value.toLowerCase())
    const lacking = wanted.filter(
      (each) => !all.includes(each.toLowerCase()) && (!all.includes('*') || each === 'Authorization'),
    )
    return lacking.length === 0 ? undefined : `${value} lacks ${lacking.join(', ')}`
  })

/** The origin that asked is named. */
const isAllowed = (step: Reference): Expectation =>
  fieldIs(step, 'Access-Control-Allow-Origin', (seen) => `${seen.profile.origin}`)

/** Nothing is said to a page. */
const saysNothing = (step: Reference): Expectation =>
  answerOf(step, ({ fields }, _, exchange) => {
    const found = fields.find(([name]) => name.toLowerCase().startsWith('access-control-'))
    return found && finding(exchange, { field: found[0] }, `${found[0]} is there: ${found[1]}`)
  })

const variesByOrigin = (step: Reference): Expectation =>
  field(step, 'Vary', (value) =>
    unless(
      elementsOf(value.toLowerCase()).some((each) => each === 'origin' || each === '*'),
      `${value} lacks Origin`,
    ),
  )

/** The wildcard and credentials do not stand together. */
const neverBoth = (step: Reference): Expectation =>
  answerOf(step, (answer, _, exchange) =>
    fieldOf(answer, 'Access-Control-Allow-Origin') === '*' &&
    fieldOf(answer, 'Access-Control-Allow-Credentials')?.toLowerCase() === 'true'
      ? finding(
          exchange,
          { field: 'Access-Control-Allow-Credentials' },
          'Access-Control-Allow-Origin is *, and Access-Control-Allow-Credentials true',
        )
      : undefined,
  )

const noBoth = 'List the origins whose pages may send credentials: browsers refuse * together with credentials.'

const wildcards: readonly Case[] = define({
  'OPT-5/answer': {
    title: 'No answer allows all origins together with credentials',
    steps: [readFrom(foreign)],
    expect: [neverBoth(read)],
    remedy: noBoth,
  },
  'OPT-5/preflight': {
    title: 'No preflight allows all origins together with credentials',
    steps: [preflight(foreign)],
    expect: [neverBoth(asking)],
    remedy: noBoth,
  },
})

const preflights: readonly Case[] = define({
  'OPT-3/answer': {
    title: 'A preflight, which has no credential, is answered 204 (or 200)',
    needs: ['create'],
    steps: [preflight(allowedOrigin)],
    expect: [status(asking, 204, 200)],
    remedy: 'Answer preflights before authentication: browsers send them without credentials.',
  },
  'OPT-3/no-content': {
    title: 'A preflight is answered 204',
    ...asked,
    needs: ['create'],
    level: 'should',
    expect: [status(asking, 204)],
    remedy: 'There is nothing to say but header fields: 204.',
  },
  'OPT-3/methods': {
    title: 'A preflight is told the methods',
    ...asked,
    needs: ['create'],
    expect: [lists(asking, 'Access-Control-Allow-Methods', ['POST'])],
    remedy: 'Name in Access-Control-Allow-Methods the methods that the address supports.',
  },
  'OPT-3/headers': {
    title: 'A preflight is told that pages may send Authorization and Content-Type',
    ...asked,
    needs: ['create'],
    expect: [lists(asking, 'Access-Control-Allow-Headers', ['Authorization', 'Content-Type'])],
    remedy: 'List Authorization (* does not include it) and Content-Type in Access-Control-Allow-Headers.',
  },
  'OPT-3/condition-headers': {
    title: 'A preflight is told that pages may send If-Match and If-None-Match',
    needs: ['create'],
    level: 'should',
    after: ['OPT-3/headers'],
    steps: [preflight(allowedOrigin, 'authorization, if-match, if-none-match')],
    expect: [lists(asking, 'Access-Control-Allow-Headers', ['If-Match', 'If-None-Match'])],
    remedy: 'List If-Match and If-None-Match in Access-Control-Allow-Headers: pages need them for safe updates.',
  },
  'OPT-3/age': {
    title: 'A preflight is told for how many seconds its answer keeps',
    ...asked,
    needs: ['create'],
    expect: [
      field(asking, 'Access-Control-Max-Age', (value) =>
        unless(/^\d+$/.test(value), `${value} is no number of seconds`),
      ),
    ],
    remedy: 'Send Access-Control-Max-Age in whole seconds: without it browsers ask again every five.',
  },
  'OPT-3/no-preflight': {
    title: 'OPTIONS of a page that is no preflight takes a credential',
    needs: ['key'],
    after: ['OPT-1/nobody'],
    steps: [options.options(collection, { caller: 'nobody', headers: { Origin: allowedOrigin } })],
    expect: [status(options, 401)],
    remedy: 'Only what has Origin and Access-Control-Request-Method is a preflight, and comes before authentication.',
  },
})

const echoes = 'Repeat an allowed Origin in Access-Control-Allow-Origin on every response, errors too.'
const refuses =
  'Compare Origin, whole, with the origins on a list; where it is none of them leave every Access-Control field out.'
const varies =
  'Send Vary: Origin with every answer, to whoever asks: otherwise a cache gives one origin what was said to another.'

/** Origins that are not to be allowed. */
const strangers: readonly (readonly [name: string, what: string, origin: string, needsOwn: boolean])[] = [
  ['foreign', 'A page of an origin that is not allowed', foreign, false],
  ['null', 'A page without an origin (null)', 'null', false],
  ['longer', 'A page whose origin begins with one that is allowed', `${allowedOrigin}.foreign.example`, true],
]

const origins: readonly Case[] = [
  ...common({ remedy: echoes, after: ['OPT-4/answer'] }).define({
    'OPT-4/answer': {
      title: 'A page of an origin that is allowed may read answers',
      needs: ['create'],
      after: ['OPT-5/answer'],
      steps: [readFrom(allowedOrigin)],
      expect: [isAllowed(read)],
    },
    'OPT-4/error': {
      title: 'A page of an origin that is allowed may read errors',
      needs: ['create', 'list'],
      steps: [readFrom(allowedOrigin, `${base}/no-such-thing`)],
      expect: [isAllowed(read)],
    },
    'OPT-4/refusal': {
      title: 'A page of an origin that is allowed may read that its credential is missing',
      needs: ['key'],
      steps: [readFrom(allowedOrigin, collection, { caller: 'nobody' })],
      expect: [applicableWhere(answered(read, 401), 'lists are read without a credential'), isAllowed(read)],
    },
    'OPT-4/preflight': {
      title: 'A preflight is told that its origin is allowed',
      ...asked,
      needs: ['create'],
      after: ['OPT-3/answer', 'OPT-5/preflight'],
      expect: [isAllowed(asking)],
    },
    'OPT-4/vary': {
      title: 'An answer to a page says that it depends on Origin',
      needs: ['create'],
      steps: [readFrom(allowedOrigin)],
      expect: [variesByOrigin(read)],
      remedy: varies,
    },
    'OPT-4/vary-always': {
      title: 'An answer to who is no page says that it depends on Origin, too',
      needs: ['create', 'origin'],
      level: 'should',
      after: ['OPT-4/vary'],
      steps: [read.get(collection)],
      expect: [variesByOrigin(read)],
      remedy: varies,
    },
  }),
  ...strangers.flatMap(([name, what, origin, needsOwn]): Case[] => [
    {
      id: `OPT-4/${name}`,
      title: `${what} gets no Access-Control field`,
      kind: 'reading',
      needs: needsOwn ? ['list', 'origin'] : ['list'],
      after: needsOwn ? ['OPT-4/answer', 'OPT-4/foreign'] : ['OPT-5/answer'],
      ...{ steps: [readFrom(origin)], expect: [saysNothing(read)], remedy: refuses },
    },
    {
      id: `OPT-4/${name}-preflight`,
      title: `${what} gets no Access-Control field with a preflight`,
      kind: 'reading',
      needs: needsOwn ? ['list', 'origin', 'create'] : ['list'],
      after: needsOwn ? ['OPT-4/preflight', 'OPT-4/foreign-preflight'] : ['OPT-5/preflight'],
      ...{ steps: [preflight(origin)], expect: [saysNothing(asking)], remedy: refuses },
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
const exposes = (step: Reference): Expectation[] => {
  const here = (seen: Observations) => {
    const { answer } = seen.of(step)
    return hidden.filter((name) => answer !== undefined && fieldOf(answer, name) !== undefined)
  }
  return [
    applicableWhere((seen) => here(seen).length > 0, `the answer has none of ${hidden.join(', ')}`),
    (seen) => lists(step, 'Access-Control-Expose-Headers', here(seen))(seen),
  ]
}

const expose =
  'List the fields that pages need (ETag, Location, Link) in Access-Control-Expose-Headers on every response.'
const page = { Origin: allowedOrigin }

const exposed: readonly Case[] = common({ after: ['OPT-4/answer'], remedy: expose }).define({
  'OPT-6/record': {
    title: 'A page may read the header fields of a record',
    steps: [create(one), read.get(one, { headers: page })],
    expect: exposes(read),
  },
  'OPT-6/creation': {
    title: 'A page may read where the record is that it created',
    steps: [create(one), creation.post(collection, body.example, { headers: page })],
    expect: exposes(creation),
  },
  'OPT-6/list': {
    title: 'A page may read the header fields of a list',
    needs: ['create'],
    steps: [read.get(collection, { headers: page })],
    expect: exposes(read),
  },
})

export const cors: readonly Case[] = [...wildcards, ...preflights, ...origins, ...exposed]
