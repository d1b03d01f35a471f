/** OPT-3 to OPT-6: preflights, allowed origins and exposed header fields. */
import type { Case, Expectation, Observations, Request, Step } from '../../case/case.ts'
import { common, define } from '../../case/define.ts'
import { answerOf, elementsOf, field, fieldIs, finding, status, unless } from '../../case/expect.ts'
import { one, read } from '../../case/names.ts'
import { serverNeeds } from '../../case/needs.ts'
import { answered, applicableWhere } from '../../case/preconditions.ts'
import { base, collection, configured, Reference } from '../../case/references.ts'
import { body, create } from '../../case/steps.ts'
import { type Answer, fieldOf } from '../../client/exchange.ts'

const { allowedOrigin } = configured
const [options, creation, asking] = Reference.named('options', 'creation', 'preflight')

/** An origin that no server allows on purpose. */
const foreign = 'https://foreign.example'

/** The preflight that a browser sends before a POST from a page. */
const preflight = (origin: string, wanted = 'authorization, content-type'): Step =>
  asking.options(collection, {
    caller: 'nobody',
    headers: { Origin: origin, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': wanted },
  })

const readFrom = (origin: string, to = collection, more: Partial<Request> = {}): Step =>
  read.send('GET', to, { ...more, headers: { Origin: origin } })

const asked = { after: ['OPT-3/answer'] as const, steps: [preflight(allowedOrigin)] }

/** A list field of a response contains all of these. A star covers all but Authorization. */
const lists = (step: Reference, name: string, wanted: readonly string[]): Expectation =>
  field(step, name, (value) => {
    const all = elementsOf(value.toLowerCase())
    const covers = (each: string) => all.includes(each.toLowerCase()) || (all.includes('*') && each !== 'Authorization')
    const lacking = wanted.filter((each) => !covers(each))
    return unless(lacking.length === 0, `${value} lacks ${lacking.join(', ')}`)
  })

const isAllowed = (step: Reference): Expectation =>
  fieldIs(step, 'Access-Control-Allow-Origin', (seen) => `${seen.profile.origin}`)

/** The response has no Access-Control field. A server that sends them to no origin shows nothing by it. */
const saysNothing = (step: Reference): readonly Expectation[] => {
  const fieldIn = (answer: Answer | undefined) =>
    answer?.fields.find(([name]) => name.toLowerCase().startsWith('access-control-'))
  return [
    applicableWhere(
      (seen) => seen.profile.origin !== undefined || fieldIn(seen.of(step).answer) !== undefined,
      serverNeeds.origin[1],
    ),
    answerOf(step, (answer, _, exchange) => {
      const found = fieldIn(answer)
      return found && finding(exchange, { field: found[0] }, `${found[0]} is there: ${found[1]}`)
    }),
  ]
}

const variesByOrigin = (step: Reference): Expectation =>
  field(step, 'Vary', (value) =>
    unless(
      elementsOf(value.toLowerCase()).some((each) => each === 'origin' || each === '*'),
      `${value} lacks Origin`,
    ),
  )

/** The wildcard is not combined with credentials. */
const neverBoth = (step: Reference): Expectation =>
  answerOf(step, (answer, _, exchange) => {
    const [name, allowed] = ['Access-Control-Allow-Credentials', fieldOf(answer, 'Access-Control-Allow-Origin') ?? '']
    // A server that repeats whatever origin it gets allows all of them.
    if (!['*', foreign].includes(allowed) || fieldOf(answer, name)?.toLowerCase() !== 'true') return undefined
    return finding(exchange, { field: name }, `Access-Control-Allow-Origin is ${allowed}, and ${name} true`)
  })

const noBoth = 'List the origins whose pages may send credentials: browsers refuse * together with credentials.'

const wildcards: readonly Case[] = define({
  'OPT-5/answer': {
    title: 'No response allows all origins with credentials',
    steps: [readFrom(foreign)],
    expect: [neverBoth(read)],
    remedy: noBoth,
  },
  'OPT-5/preflight': {
    title: 'No preflight response allows all origins with credentials',
    steps: [preflight(foreign)],
    expect: [neverBoth(asking)],
    remedy: noBoth,
  },
})

const preflights: readonly Case[] = define({
  'OPT-3/answer': {
    title: 'A preflight without a credential returns 204 (or 200)',
    needs: ['create'],
    steps: [preflight(allowedOrigin)],
    expect: [status(asking, 204, 200)],
    remedy: 'Answer preflights before authentication: browsers send them without credentials.',
  },
  'OPT-3/no-content': {
    title: 'A preflight returns 204',
    ...asked,
    needs: ['create'],
    level: 'should',
    expect: [status(asking, 204)],
    remedy: 'Answer 204: the response consists of header fields only.',
  },
  'OPT-3/methods': {
    title: 'The response to a preflight lists the methods',
    ...asked,
    needs: ['create'],
    expect: [lists(asking, 'Access-Control-Allow-Methods', ['POST'])],
    remedy: 'Name in Access-Control-Allow-Methods the methods that the address supports.',
  },
  'OPT-3/headers': {
    title: 'The response to a preflight allows Authorization and Content-Type',
    ...asked,
    needs: ['create'],
    expect: [lists(asking, 'Access-Control-Allow-Headers', ['Authorization', 'Content-Type'])],
    remedy: 'List Authorization (* does not include it) and Content-Type in Access-Control-Allow-Headers.',
  },
  'OPT-3/condition-headers': {
    title: 'The response to a preflight allows If-Match and If-None-Match',
    needs: ['create'],
    level: 'should',
    after: ['OPT-3/headers'],
    steps: [preflight(allowedOrigin, 'authorization, if-match, if-none-match')],
    expect: [lists(asking, 'Access-Control-Allow-Headers', ['If-Match', 'If-None-Match'])],
    remedy: 'List If-Match and If-None-Match in Access-Control-Allow-Headers: pages need them for safe updates.',
  },
  'OPT-3/age': {
    title: 'The response to a preflight has Access-Control-Max-Age in seconds',
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
    title: 'OPTIONS with Origin that is not a preflight requires a credential',
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

/** Origins that the server must not allow. */
const strangers: readonly (readonly [name: string, what: string, origin: string, needsOwn: boolean])[] = [
  ['foreign', 'A request from a foreign origin', foreign, false],
  ['null', 'A request from the origin null', 'null', false],
  ['longer', 'A request from an origin that begins with an allowed one', `${allowedOrigin}.foreign.example`, true],
]

const origins: readonly Case[] = [
  ...common({ remedy: echoes, after: ['OPT-4/answer'] }).define({
    'OPT-4/answer': {
      title: 'Responses allow an allowed origin',
      needs: ['create'],
      after: ['OPT-5/answer'],
      steps: [readFrom(allowedOrigin)],
      expect: [isAllowed(read)],
    },
    'OPT-4/error': {
      title: 'Errors allow an allowed origin',
      needs: ['create', 'list'],
      steps: [readFrom(allowedOrigin, `${base}/no-such-thing`)],
      expect: [isAllowed(read)],
    },
    'OPT-4/refusal': {
      title: 'A 401 allows an allowed origin',
      needs: ['key'],
      steps: [readFrom(allowedOrigin, collection, { caller: 'nobody' })],
      expect: [applicableWhere(answered(read, 401), 'lists are read without a credential'), isAllowed(read)],
    },
    'OPT-4/preflight': {
      title: 'The response to a preflight allows an allowed origin',
      ...asked,
      needs: ['create'],
      after: ['OPT-3/answer', 'OPT-5/preflight'],
      expect: [isAllowed(asking)],
    },
    'OPT-4/vary': {
      title: 'A response to an allowed origin has Vary: Origin',
      needs: ['create'],
      steps: [readFrom(allowedOrigin)],
      expect: [variesByOrigin(read)],
      remedy: varies,
    },
    'OPT-4/vary-always': {
      title: 'A response without Origin in the request has Vary: Origin too',
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
      ...{ steps: [readFrom(origin)], expect: [...saysNothing(read)], remedy: refuses },
    },
    {
      id: `OPT-4/${name}-preflight`,
      title: `${what} gets no Access-Control field for a preflight`,
      kind: 'reading',
      needs: needsOwn ? ['list', 'origin', 'create'] : ['list'],
      after: needsOwn ? ['OPT-4/preflight', 'OPT-4/foreign-preflight'] : ['OPT-5/preflight'],
      ...{ steps: [preflight(origin)], expect: [...saysNothing(asking)], remedy: refuses },
    },
  ]),
]

/** Fields that a page can read only if they are exposed. */
const hidden = 'ETag Location Link Retry-After RateLimit Deprecation Sunset X-Total-Count Preference-Applied'.split(' ')

/** Every such field of the response is exposed. */
const exposes = (step: Reference): Expectation[] => {
  const here = (seen: Observations) => hidden.filter((name) => fieldOf(seen.of(step).answer, name) !== undefined)
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
    title: 'The header fields of a record are exposed to pages',
    steps: [create(one), read.get(one, { headers: page })],
    expect: exposes(read),
  },
  'OPT-6/creation': {
    title: 'Location of a creation is exposed to pages',
    steps: [create(one), creation.post(collection, body.example, { headers: page })],
    expect: exposes(creation),
  },
  'OPT-6/list': {
    title: 'The header fields of a list are exposed to pages',
    needs: ['create'],
    steps: [read.get(collection, { headers: page })],
    expect: exposes(read),
  },
})

export const cors: readonly Case[] = [...wildcards, ...preflights, ...origins, ...exposed]
