/** OPT-1, OPT-2: OPTIONS of an address and of the server. */
import type { Case, Expectation, Observations, Step } from '../../case/case.ts'
import { common, define } from '../../case/define.ts'
import { elementsOf, field, finding, status } from '../../case/expect.ts'
import { one } from '../../case/names.ts'
import { answered, applicableWhere } from '../../case/preconditions.ts'
import { base, collection, credentialFields, host, Reference } from '../../case/references.ts'
import { asNobody, asOther, body, bytes, create, setUp } from '../../case/steps.ts'
import { fieldOf } from '../../client/exchange.ts'

const [optionsStep, get, known] = Reference.named('options', 'get', 'known')

function allowed(seen: Observations, step: Reference): string[] {
  return elementsOf(fieldOf(seen.of(step).answer, 'Allow') ?? '')
}

const names = (step: Reference, ofCollection: (seen: Observations) => readonly string[]): Expectation =>
  field(step, 'Allow', (value, seen) => {
    const missing = ofCollection(seen).filter((method) => !elementsOf(value).includes(method))
    return missing.length === 0 ? undefined : `${value} lacks ${missing.join(', ')}`
  })

const byOperation = { read: 'GET', replace: 'PUT', update: 'PATCH', delete: 'DELETE' } as const

const ofRecords = ({ collection }: Observations): string[] =>
  Object.entries(byOperation).flatMap(([operation, method]) =>
    collection.operations.includes(operation as keyof typeof byOperation) ? [method] : [],
  )

const ofLists = ({ collection }: Observations): string[] => [
  ...(collection.operations.includes('list') ? ['GET'] : []),
  ...(collection.operations.includes('create') ? ['POST'] : []),
]

// Statuses of unsupported methods. Some frameworks return 404 instead of 405, which MET-6 judges.
const unsupported: ReadonlySet<number> = new Set([404, 405, 501])

/** The statuses of methods agree with Allow. */
const tells =
  (methods: readonly string[], isNamed: boolean): Expectation =>
  (seen) => {
    for (const method of methods) {
      const tried = seen.of(new Reference(`try-${method}`))
      const status = tried.answer?.status
      if (status === undefined || allowed(seen, optionsStep).includes(method) !== isNamed) continue
      if (isNamed && (status === 405 || status === 501)) {
        return finding(tried, 'status', `${method} is answered ${status}, and Allow names it`)
      }
      if (!isNamed && !unsupported.has(status)) {
        return finding(tried, 'status', `${method} is answered ${status}, and Allow does not name it`)
      }
    }
    return undefined
  }

// DELETE comes last because it deletes the record.
const methodsOfRecords = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
// Only methods that cannot change the whole collection on a careless server.
const methodsOfLists = ['GET', 'HEAD', 'POST', 'TRACE'] as const

const tryRecord: Step[] = [
  create(one),
  setUp(optionsStep.options(one)),
  ...methodsOfRecords.map((method) => {
    const body = method === 'POST' || method === 'PUT' ? 'example' : 'change'
    const more = method === 'GET' || method === 'HEAD' || method === 'DELETE' ? {} : { body: { from: body } as const }
    return new Reference(`try-${method}`).send(method, one, more)
  }),
]

const tryCollection: Step[] = [
  setUp(optionsStep.options(collection)),
  ...methodsOfLists.map((method) =>
    new Reference(`try-${method}`).send(method, collection, method === 'POST' ? { body: body.text('{') } : {}),
  ),
]

const answering = 'Answer OPTIONS with 204 and Allow, which names what the address supports, whoever asks.'
const telling = 'Make Allow from the same table that requests are routed by.'

const ofAddresses: readonly Case[] = common({ remedy: telling }).define({
  'OPT-1/record': {
    title: 'OPTIONS of a record returns 204 (or 200) with Allow',
    remedy: answering,
    steps: [create(one), optionsStep.options(one)],
    expect: [status(optionsStep, 204, 200), field(optionsStep, 'Allow')],
  },
  'OPT-1/record-methods': {
    title: 'Allow of a record lists the methods that records are known to support',
    after: ['OPT-1/record'],
    steps: [create(one), optionsStep.options(one)],
    expect: [names(optionsStep, ofRecords)],
  },
  'OPT-1/record-named': {
    title: 'No method that Allow of a record lists returns 405',
    needsOnly: ['create', 'read'],
    after: ['OPT-1/record'],
    steps: tryRecord,
    expect: [tells(methodsOfRecords, true)],
  },
  'OPT-1/record-others': {
    title: 'No method that Allow of a record omits is supported',
    needsOnly: ['create', 'read'],
    after: ['OPT-1/record-methods'],
    steps: tryRecord,
    expect: [tells(methodsOfRecords, false)],
  },
  'OPT-1/collection': {
    title: 'OPTIONS of a collection returns 204 (or 200) with Allow',
    remedy: answering,
    steps: [optionsStep.options(collection)],
    expect: [status(optionsStep, 204, 200), field(optionsStep, 'Allow')],
  },
  'OPT-1/collection-methods': {
    title: 'Allow of a collection lists the methods that it is known to support',
    after: ['OPT-1/collection'],
    steps: [optionsStep.options(collection)],
    expect: [names(optionsStep, ofLists)],
  },
  'OPT-1/collection-named': {
    title: 'No method that Allow of a collection lists returns 405',
    needsOnly: ['list'],
    after: ['OPT-1/collection'],
    steps: tryCollection,
    expect: [tells(methodsOfLists, true)],
  },
  'OPT-1/missing': {
    title: 'OPTIONS of an unknown path returns 404',
    steps: [known.options(collection), optionsStep.options(`${base}/no-such-thing`)],
    expect: [
      applicableWhere((seen) => !answered(known, 404)(seen), 'OPTIONS of a collection is answered 404, too'),
      status(optionsStep, 404),
    ],
    remedy: 'Find the path before you answer OPTIONS: a handler for all paths claims that every path exists.',
  },
  'OPT-1/nobody': {
    title: 'OPTIONS without a credential returns 401',
    needs: ['key'],
    after: ['OPT-1/collection'],
    steps: [optionsStep.options(collection, asNobody)],
    expect: [status(optionsStep, 401)],
    remedy: 'Authenticate OPTIONS like every method; only preflights are answered before authentication.',
  },
  'OPT-1/forbidden': {
    title: 'OPTIONS by a caller without permission returns 403',
    after: ['OPT-1/collection'],
    steps: [get.get(collection, asOther), optionsStep.options(collection, asOther)],
    expect: [
      applicableWhere(answered(get, 403), (seen) => `GET is answered ${seen.of(get).answer?.status}`),
      status(optionsStep, 403),
    ],
    remedy: 'Authorize OPTIONS like every method: callers without permission need not learn the methods.',
  },
})

const star = (credential: string): Step =>
  bytes(
    optionsStep,
    `OPTIONS * HTTP/1.1\r\nHost: ${host}\r\n${credential}Content-Length: 0\r\nConnection: close\r\n\r\n`,
  )

const ofServer: readonly Case[] = define({
  'OPT-2/answer': {
    title: 'OPTIONS * returns 200 with Allow',
    steps: [star(credentialFields)],
    expect: [status(optionsStep, 200), field(optionsStep, 'Allow')],
    remedy: 'Answer OPTIONS * with 200 and Allow: the target * is not a path and needs a route of its own.',
  },
  'OPT-2/methods': {
    title: 'Allow of OPTIONS * lists every method that any address is known to support',
    after: ['OPT-2/answer'],
    steps: [star(credentialFields)],
    expect: [
      names(optionsStep, (seen) => {
        const all = seen.profile.collections.map((collection) => ({ ...seen, collection }))
        return [...new Set(all.flatMap((each) => [...ofRecords(each), ...ofLists(each)]))]
      }),
    ],
    remedy: 'Name in Allow all methods that some address of the server supports.',
  },
  'OPT-2/nobody': {
    title: 'OPTIONS * without a credential returns 401',
    needs: ['key'],
    after: ['OPT-2/answer'],
    level: 'should',
    steps: [star('')],
    expect: [status(optionsStep, 401)],
    remedy: 'Authenticate OPTIONS * like every request.',
  },
})

export const options: readonly Case[] = [...ofAddresses, ...ofServer]
