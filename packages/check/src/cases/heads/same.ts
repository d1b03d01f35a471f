/** HED-1, HED-2: HEAD returns what GET returns without the body, also for an unfinished export. */
import type { Case, Expectation, Observations, Request, Step } from '../../case/case.ts'
import { common, define, defineEach } from '../../case/define.ts'
import { answerOf, field, finding, short, status } from '../../case/expect.ts'
import { again, deletion, one, seen } from '../../case/names.ts'
import type { Need } from '../../case/needs.ts'
import { answered, applicableWhere, outcomeOf, readyWhere } from '../../case/preconditions.ts'
import {
  base,
  collection,
  collectionName,
  configured,
  credentialFields,
  host,
  mark,
  members,
  paging,
  Reference,
} from '../../case/references.ts'
import { body, bytes, create, setUp, simultaneous } from '../../case/steps.ts'
import { fieldOf } from '../../client/exchange.ts'

const [head, get, exporting, asked, known] = Reference.named('head', 'get', 'export', 'asked', 'known')

// Fields about the representation, without those that differ with every request.
const compared = [
  'Content-Type', 'Content-Language', 'Content-Encoding', 'Content-Location', 'Cache-Control', 'Vary', 'ETag',
  'Last-Modified', 'Link', 'Location', 'Allow', 'Accept-Ranges', 'WWW-Authenticate', 'Retry-After',
] // biome-ignore format: a list

// Fields that change with every change of the collection. The case compares only whether they are there.
const passing: ReadonlySet<string> = new Set(['ETag', 'Last-Modified', 'Link', 'Retry-After'])

/** The step `head` has the status of the step `get`. */
const sameStatus: Expectation = answerOf(head, ({ status }, seen, exchange) => {
  const wanted = seen.of(get).answer?.status
  return status === wanted ? undefined : finding(exchange, 'status', `${status}, and GET is answered ${wanted}`)
})

/** The step `head` has the fields of the step `get`. */
const sameFields = (loosely = false): Expectation =>
  answerOf(head, (answer, seen, exchange) => {
    const whole = seen.of(get).answer
    for (const name of compared) {
      const [value, wanted] = [fieldOf(answer, name), fieldOf(whole, name)]
      // RFC 9110, section 9.3.2: what is known only once content is made may be missing.
      if (name === 'Vary' && value === undefined) continue
      const isSame = loosely && passing.has(name) ? (value === undefined) === (wanted === undefined) : value === wanted
      if (!isSame) {
        return finding(exchange, { field: name }, `${name} is ${value ?? 'absent'}, and ${wanted ?? 'absent'} with GET`)
      }
    }
    return undefined
  })

/** The case is applicable only if GET has this status, or one of these. */
const about = (status: number | readonly number[], why: string): Expectation =>
  applicableWhere(answered(get, ...[status].flat()), (seen) => `${why} GET is answered ${outcomeOf(get, seen)}`)

/** A server that answers every HEAD with 404 shows nothing about HEAD of what is not there. */
const isSupported = applicableWhere((seen) => !answered(known, 404)(seen), 'HEAD of a collection is answered 404')

const both = (to: string, more: Omit<Request, 'method' | 'to'> = {}): Step[] => [get.get(to, more), head.head(to, more)]

function lengthOf(step: Reference, seen: Observations): string | undefined {
  return fieldOf(seen.of(step).answer, 'Content-Length')
}

/** The step `head` has the Content-Length of the step `get`. */
const sameLength: readonly Expectation[] = [
  applicableWhere((seen) => lengthOf(get, seen) !== undefined, 'GET has no Content-Length'),
  applicableWhere(
    (seen) => seen.of(head).answer === undefined || lengthOf(head, seen) !== undefined,
    'HEAD has no Content-Length, which RFC 9110 allows (section 9.3.2)',
  ),
  answerOf(head, (_, seen, exchange) => {
    const [value, wanted] = [lengthOf(head, seen), lengthOf(get, seen)]
    if (value === wanted) return undefined
    return finding(exchange, { field: 'Content-Length' }, `Content-Length is ${value}, and ${wanted} with GET`)
  }),
]

const lengthRemedy = 'Send Content-Length with HEAD as with GET: it is what clients ask for it.'

const remedy =
  'Let HEAD run all that GET runs, authentication and conditions too, and leave the body out at the very end.'

const compares: readonly Case[] = common({ remedy }).define({
  'HED-1/record': {
    title: 'HEAD of a record has the status and the header fields of GET',
    steps: [create(one), ...both(one.path)],
    expect: [about(200, 'of a record'), sameStatus, sameFields()],
  },
  'HED-1/length': {
    title: 'HEAD of a record has the Content-Length of GET',
    after: ['HED-1/record'],
    steps: [create(one), ...both(one.path)],
    expect: sameLength,
    remedy: lengthRemedy,
  },
  'HED-1/list': {
    title: 'HEAD of a collection has the status and the header fields of GET',
    steps: both(collection),
    expect: [about(200, 'of a collection'), sameStatus, sameFields(true)],
  },
  'HED-1/list-length': {
    title: 'HEAD of a collection has the Content-Length of GET, or none',
    after: ['HED-1/list'],
    alone: true,
    steps: [...both(collection), again.get(collection)],
    expect: [
      readyWhere((seen) => lengthOf(again, seen) === lengthOf(get, seen), 'the list changed meanwhile'),
      ...sameLength,
    ],
    remedy: lengthRemedy,
  },
  'HED-1/query': {
    title: 'HEAD of a collection refuses a parameter as GET does',
    steps: both(`${collection}?${paging.size}=-1`),
    expect: [about([400, 422], 'with a size of pages below nothing'), sameStatus],
  },
  'HED-1/missing': {
    title: 'HEAD of an unknown path has the status of GET',
    // The control comes last: after a HEAD with a body, the next response on the connection cannot be read.
    steps: [...both(`${base}/no-such-thing`), known.head(collection)],
    expect: [isSupported, about(404, 'of nothing'), sameStatus],
  },
  'HED-1/deleted': {
    title: 'HEAD of a deleted record has the status of GET',
    // HEAD of the record would be a worse control: json-server deletes it.
    steps: [create(one), setUp(deletion.delete(one)), ...both(one.path), known.head(collection)],
    expect: [isSupported, about(404, 'of what was deleted'), sameStatus],
  },
  'HED-1/refused': {
    title: 'HEAD without a credential has the status and the header fields of GET',
    needs: ['key'],
    steps: [create(one), ...both(one.path, { caller: 'nobody' })],
    expect: [about(401, 'without a credential'), sameStatus, sameFields()],
  },
  'HED-1/forbidden': {
    title: 'HEAD by a caller who may not read has the status of GET',
    steps: [create(one), ...both(one.path, { caller: 'other' })],
    expect: [about(403, 'of somebody who may do nothing'), sameStatus],
  },
  'HED-1/condition': {
    title: 'HEAD with a failing condition has the status of GET',
    after: ['CON-2/etag'],
    // Some servers answer 400 to tags of another form than their own.
    steps: [create(one), setUp(seen.get(one)), ...both(one.path, { headers: { 'If-Match': seen.otherEtag } })],
    expect: [about([412, 409], 'with an If-Match that does not fit'), sameStatus],
  },
})

const bare: readonly { readonly name: string; readonly what: string; readonly to: string; readonly needs?: Need[] }[] =
  [
    { name: 'record', what: 'a record', to: one.path, needs: ['read'] },
    { name: 'list', what: 'a collection', to: collection, needs: ['list'] },
    { name: 'missing', what: 'nothing', to: `${base}/no-such-thing` },
  ]

/** HTTP clients ignore a body after HEAD, so the case reads the bytes of the connection. */
const bodiless = defineEach('HED-1/no-body-', bare, ({ what, to, needs = [] }) => ({
  title: `The response to HEAD of ${what} has no body`,
  needs,
  steps: [
    ...(to === one.path ? [create(one)] : []),
    bytes(
      head,
      `HEAD ${to} HTTP/1.1\r\nHost: ${host}\r\n${credentialFields}Accept: application/json\r\nConnection: ` +
        `close\r\n\r\n`,
    ),
  ],
  expect: [
    readyWhere(
      (seen) => seen.of(head).answer !== undefined,
      (seen) => outcomeOf(head, seen),
    ),
    answerOf(head, (_, __, { rest }) => (rest ? `after the header came: ${short(rest)}` : undefined)),
  ],
  remedy: 'Send nothing after the header of a response to HEAD: clients parse it as the next response.',
}))

export const same: readonly Case[] = [...compares, ...bodiless]

// With so many exports, the last one is unfinished when the case reads it.
const many = 12

/** What is wrong with a Retry-After, which is seconds or a date. */
function objection(value: string): string | undefined {
  return /^\d+$/.test(value) || /GMT$/.test(value) ? undefined : `${value} is neither seconds nor an HTTP date`
}

const asks = simultaneous(
  many,
  exporting.post(
    `${base}/exports`,
    body.json({ collection: collectionName, filter: { [members.marker]: mark }, format: configured.exportFormat }),
  ),
)

const pending = (method: 'HEAD' | 'GET') => ({
  title: `${method} of an unfinished export returns 202 with Retry-After`,
  needsOnly: ['exports', 'create', 'list', 'finder'] as const,
  alone: true,
  steps: [create(one), asks, asked.send(method, `${base}/exports/${exporting.json('/job_id')}/content`)],
  expect: [
    applicableWhere(answered(exporting, 202), (seen) => `POST of an export was answered ${outcomeOf(exporting, seen)}`),
    applicableWhere((seen) => !answered(asked, 200)(seen), 'the export was ready before the checker asked'),
    status(asked, 202),
    field(asked, 'Retry-After', objection),
  ],
  remedy: 'Answer GET and HEAD with 202 and Retry-After while the file is being written, not with 404.',
})

export const preparing = define({ 'HED-2/head': pending('HEAD'), 'HED-2/get': pending('GET') })
