/** OPT-1, OPT-2: what an address, and a server, supports. */
import type { Case, Expectation, Seen, Step } from '../../case/case.ts'
import { altogether, field, finding, onlyWhere, status } from '../../case/expect.ts'
import { given, record, when } from '../../case/steps.ts'
import { fieldOf } from '../../client/exchange.ts'

/** The methods in the Allow of a step's answer. */
function allowed(seen: Seen, step: string): string[] {
  const { answer } = seen.of(step)
  return methodsIn((answer && fieldOf(answer, 'Allow')) ?? '')
}

function methodsIn(value: string): string[] {
  return value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

/** Allow names these methods. */
const names = (step: string, ofCollection: (seen: Seen) => readonly string[]): Expectation =>
  field(step, 'Allow', 'names the methods that are known', (value, seen) => {
    const missing = ofCollection(seen).filter((method) => !methodsIn(value).includes(method))
    return missing.length === 0 ? undefined : `${value} lacks ${missing.join(', ')}`
  })

const byOperation = { read: 'GET', replace: 'PUT', update: 'PATCH', delete: 'DELETE' } as const

const ofRecords = ({ collection }: Seen): string[] =>
  Object.entries(byOperation).flatMap(([operation, method]) =>
    collection.operations.includes(operation as keyof typeof byOperation) ? [method] : [],
  )

const ofLists = ({ collection }: Seen): string[] => [
  ...(collection.operations.includes('list') ? ['GET'] : []),
  ...(collection.operations.includes('create') ? ['POST'] : []),
]

// Refused for want of support, whatever else is wrong. Frameworks that know no 405 say 404: that is for MET-6 to judge.
const unsupported: ReadonlySet<number> = new Set([404, 405, 501])

/** Tries methods, and compares with Allow what comes of it. */
const tells = (methods: readonly string[], isNamed: boolean): Expectation =>
  altogether(
    isNamed ? 'every method in Allow is supported' : 'no method beside those in Allow is supported',
    (seen) => {
      for (const method of methods) {
        const tried = seen.of(`try-${method}`)
        const status = tried.answer?.status
        if (status === undefined || allowed(seen, 'options').includes(method) !== isNamed) continue
        if (isNamed && (status === 405 || status === 501)) {
          return finding(tried, 'status', `${method} is answered ${status}, and Allow names it`)
        }
        if (!isNamed && !unsupported.has(status)) {
          return finding(tried, 'status', `${method} is answered ${status}, and Allow does not name it`)
        }
      }
      return undefined
    },
  )

// The last takes the record away.
const methodsOfRecords = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
// A careless server could take anything else for the whole collection.
const methodsOfLists = ['GET', 'HEAD', 'POST', 'TRACE'] as const

const tryRecord: Step[] = [
  record(),
  given('options', 'OPTIONS', '{one}'),
  ...methodsOfRecords.map((method) => {
    const body = method === 'POST' || method === 'PUT' ? 'example' : 'change'
    const more = method === 'GET' || method === 'HEAD' || method === 'DELETE' ? {} : { body: { from: body } as const }
    return when(`try-${method}`, method, '{one}', more)
  }),
]

const tryCollection: Step[] = [
  given('options', 'OPTIONS', '{collection}'),
  ...methodsOfLists.map((method) =>
    when(`try-${method}`, method, '{collection}', method === 'POST' ? { body: { text: '{' } } : {}),
  ),
]

const answering = 'Answer OPTIONS with 204 and Allow, which names what the address supports, whoever asks.'
const telling = 'Make Allow from the same table that requests are routed by.'

const ofAddresses: readonly Case[] = [
  {
    id: 'OPT-1/record',
    title: 'OPTIONS of a record is answered 204 (or 200), with Allow',
    ...{ kind: 'changing', needs: ['create', 'read'], mend: answering },
    steps: [record(), when('options', 'OPTIONS', '{one}')],
    expect: [status('options', 204, 200), field('options', 'Allow')],
  },
  {
    id: 'OPT-1/record-methods',
    title: 'Allow of a record names the methods that records are known to take',
    ...{ kind: 'changing', needs: ['create', 'read'], after: ['OPT-1/record'], mend: telling },
    steps: [record(), when('options', 'OPTIONS', '{one}')],
    expect: [names('options', ofRecords)],
  },
  {
    id: 'OPT-1/record-named',
    title: 'No method that Allow of a record names is answered 405',
    ...{ kind: 'changing', needs: ['create', 'read'], after: ['OPT-1/record'], steps: tryRecord, mend: telling },
    expect: [tells(methodsOfRecords, true)],
  },
  {
    id: 'OPT-1/record-others',
    title: 'No method that Allow of a record does not name is supported',
    ...{
      kind: 'changing',
      needs: ['create', 'read'],
      after: ['OPT-1/record-methods'],
      steps: tryRecord,
      mend: telling,
    },
    expect: [tells(methodsOfRecords, false)],
  },
  {
    id: 'OPT-1/collection',
    title: 'OPTIONS of a collection is answered 204 (or 200), with Allow',
    ...{ kind: 'reading', needs: ['list'], mend: answering },
    steps: [when('options', 'OPTIONS', '{collection}')],
    expect: [status('options', 204, 200), field('options', 'Allow')],
  },
  {
    id: 'OPT-1/collection-methods',
    title: 'Allow of a collection names the methods that it is known to take',
    ...{ kind: 'reading', needs: ['list'], after: ['OPT-1/collection'], mend: telling },
    steps: [when('options', 'OPTIONS', '{collection}')],
    expect: [names('options', ofLists)],
  },
  {
    id: 'OPT-1/collection-named',
    title: 'No method that Allow of a collection names is answered 405',
    ...{ kind: 'changing', needs: ['list'], after: ['OPT-1/collection'], steps: tryCollection, mend: telling },
    expect: [tells(methodsOfLists, true)],
  },
  {
    id: 'OPT-1/missing',
    title: 'OPTIONS of a path that is none is answered 404',
    ...{ kind: 'reading', needs: [], steps: [when('options', 'OPTIONS', '{base}/no-such-thing')] },
    expect: [status('options', 404)],
    mend: 'Look for the path before you answer OPTIONS: a handler for all paths says that everything is there.',
  },
  {
    id: 'OPT-1/nobody',
    title: 'OPTIONS without a credential is answered 401',
    ...{ kind: 'reading', needs: ['list', 'key'], after: ['OPT-1/collection'] },
    steps: [when('options', 'OPTIONS', '{collection}', { caller: 'nobody' })],
    expect: [status('options', 401)],
    mend: 'Authenticate OPTIONS like every method; only preflights, which have Origin and Access-Control-Request-Method, come before.',
  },
  {
    id: 'OPT-1/forbidden',
    title: 'OPTIONS of somebody who may do nothing with the collection is answered 403',
    ...{ kind: 'reading', needs: ['list', 'other'], after: ['OPT-1/collection'] },
    steps: [
      when('get', 'GET', '{collection}', { caller: 'other' }),
      when('options', 'OPTIONS', '{collection}', { caller: 'other' }),
    ],
    expect: [
      onlyWhere('GET is forbidden', (seen) =>
        seen.of('get').answer?.status === 403 ? undefined : `GET is answered ${seen.of('get').answer?.status}`,
      ),
      status('options', 403),
    ],
    mend: 'Authorize OPTIONS like every method: who may do nothing there need not learn what could be done.',
  },
]

const star = (credential: string): Step => ({
  ...{ kind: 'bytes', as: 'options' },
  bytes: `OPTIONS * HTTP/1.1\r\nHost: {host}\r\n${credential}Content-Length: 0\r\nConnection: close\r\n\r\n`,
})

const ofServer: readonly Case[] = [
  {
    id: 'OPT-2/answer',
    title: 'OPTIONS * is answered 200, with Allow',
    ...{ kind: 'reading', needs: [], steps: [star('{credential}')] },
    expect: [status('options', 200), field('options', 'Allow')],
    mend: 'Answer OPTIONS * with 200 and Allow: the target is a star, not a path, and routers need a rule of its own for it.',
  },
  {
    id: 'OPT-2/methods',
    title: 'Allow of OPTIONS * names every method that is known to be taken somewhere',
    ...{ kind: 'reading', needs: [], after: ['OPT-2/answer'], steps: [star('{credential}')] },
    expect: [
      names('options', (seen) => {
        const all = seen.profile.collections.map((collection) => ({ ...seen, collection }))
        return [...new Set(all.flatMap((each) => [...ofRecords(each), ...ofLists(each)]))]
      }),
    ],
    mend: 'Name in Allow all methods that some address of the server supports.',
  },
  {
    id: 'OPT-2/nobody',
    title: 'OPTIONS * without a credential is answered 401',
    ...{ kind: 'reading', needs: ['key'], after: ['OPT-2/answer'], level: 'should', steps: [star('')] },
    expect: [status('options', 401)],
    mend: 'Authenticate OPTIONS * like every request.',
  },
]

export const options: readonly Case[] = [...ofAddresses, ...ofServer]
