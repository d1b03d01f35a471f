/** Faults of OPTIONS and CORS. */
import { giving, having, isCollection, isNowhere, isRecord, refusing, without } from '../alter.ts'
import type { Fault, PlantedAnswer, PlantedRequest } from '../planted.ts'
import { origin as own } from '../shop.ts'

const isOptions = ({ method }: PlantedRequest) => method === 'OPTIONS'
const isPreflight = (request: PlantedRequest) =>
  isOptions(request) && request.headers['access-control-request-method'] !== undefined
const isPlain = (request: PlantedRequest) => isOptions(request) && !isPreflight(request)
const isStar = ({ path }: PlantedRequest) => path === '*'
const originOf = ({ headers }: PlantedRequest) => headers['origin']
const isPage = (request: PlantedRequest) => originOf(request) !== undefined && !isOptions(request)

/** What a page is told goes away. */
function silent(answer: PlantedAnswer): PlantedAnswer {
  const headers = Object.entries(answer.headers).filter(([name]) => !name.startsWith('access-control-'))
  return { ...answer, headers: Object.fromEntries(headers) }
}

const allowing = (answer: PlantedAnswer, request: PlantedRequest) =>
  having(answer, 'access-control-allow-origin', originOf(request) ?? '')

const allowed = (answer: PlantedAnswer): PlantedAnswer => ({
  status: 204,
  headers: { ...answer.headers, allow: 'GET, HEAD, POST, OPTIONS' },
  body: '',
})

/** A list field without one of its names. */
const lacking = (field: string, name: string) => (answer: PlantedAnswer) => {
  if (answer.headers[field] === undefined) return answer
  const rest = answer.headers[field].split(', ').filter((each) => each !== name)
  return having(answer, field, rest.join(', '))
}

/** A list field with another name. */
const more = (field: string, name: string) => (answer: PlantedAnswer) =>
  having(answer, field, `${answer.headers[field]}, ${name}`)

const ofOptions: readonly Fault[] = [
  {
    breaks: 'OPT-1/record',
    says: 'OPTIONS of a record does not say what it supports.',
    plant: giving(
      (request) => isPlain(request) && isRecord(request),
      (answer) => without(answer, 'allow'),
    ),
  },
  {
    breaks: 'OPT-1/record-methods',
    says: 'Allow of a record forgets PATCH.',
    plant: giving((request) => isPlain(request) && isRecord(request), lacking('allow', 'PATCH')),
  },
  {
    breaks: 'OPT-1/record-named',
    says: 'Allow of a record names POST, which records do not take.',
    plant: giving((request) => isPlain(request) && isRecord(request), more('allow', 'POST')),
  },
  {
    breaks: 'OPT-1/record-others',
    says: 'Records take POST, and Allow does not name it.',
    plant: giving(
      (request, { status }) => request.method === 'POST' && isRecord(request) && status === 405 && request.body !== '{',
      (answer) => ({ ...without(answer, 'allow'), status: 200, body: '{}' }),
    ),
  },
  {
    breaks: 'OPT-1/collection',
    says: 'It answers OPTIONS of a collection with 405.',
    plant: giving((request) => isPlain(request) && isCollection(request), refusing(405)),
  },
  {
    breaks: 'OPT-1/collection-methods',
    says: 'Allow of a collection forgets POST.',
    plant: giving((request) => isPlain(request) && isCollection(request), lacking('allow', 'POST')),
  },
  {
    breaks: 'OPT-1/collection-named',
    says: 'Allow of a collection names TRACE, which nothing takes.',
    plant: giving((request) => isPlain(request) && isCollection(request), more('allow', 'TRACE')),
  },
  {
    breaks: 'OPT-1/missing',
    says: 'It answers OPTIONS the same way whatever the path.',
    plant: giving((request) => isPlain(request) && isNowhere(request), allowed),
  },
  {
    breaks: 'OPT-1/nobody',
    says: 'OPTIONS takes no credential.',
    plant: giving((request, { status }) => isPlain(request) && isCollection(request) && status === 401, allowed),
  },
  {
    breaks: 'OPT-1/forbidden',
    says: 'OPTIONS takes no permission.',
    plant: giving((request, { status }) => isPlain(request) && isCollection(request) && status === 403, allowed),
  },
  {
    breaks: 'OPT-2/answer',
    says: 'It takes the star for a path, and finds nothing there.',
    plant: giving(isStar, refusing(404)),
  },
  {
    breaks: 'OPT-2/methods',
    says: 'Allow of OPTIONS * forgets DELETE.',
    plant: giving(isStar, lacking('allow', 'DELETE')),
  },
  {
    breaks: 'OPT-2/nobody',
    says: 'OPTIONS * takes no credential.',
    plant: giving(
      (request, { status }) => isStar(request) && status === 401,
      (answer) => ({ ...allowed(answer), status: 200 }),
    ),
  },
]

const ofPreflights: readonly Fault[] = [
  {
    breaks: 'OPT-3/answer',
    says: 'It asks preflights for a credential.',
    plant: giving((request) => isPreflight(request) && originOf(request) === own, refusing(401)),
  },
  {
    breaks: 'OPT-3/no-content',
    says: 'It answers preflights with 200.',
    plant: giving(isPreflight, (answer) => ({ ...answer, status: 200 })),
  },
  {
    breaks: 'OPT-3/methods',
    says: 'It tells preflights of GET alone.',
    plant: giving(
      (request) => isPreflight(request) && originOf(request) === own,
      (answer) => having(answer, 'access-control-allow-methods', 'GET'),
    ),
  },
  {
    breaks: 'OPT-3/headers',
    says: 'It takes * for all fields, Authorization too.',
    plant: giving(
      (request) => isPreflight(request) && originOf(request) === own,
      (answer) => having(answer, 'access-control-allow-headers', '*'),
    ),
  },
  {
    breaks: 'OPT-3/condition-headers',
    says: 'Pages may not send conditions.',
    plant: giving(
      (request) => isPreflight(request) && originOf(request) === own,
      lacking('access-control-allow-headers', 'If-Match'),
    ),
  },
  {
    breaks: 'OPT-3/age',
    says: 'It tells in words how long the answer keeps.',
    plant: giving(
      (request) => isPreflight(request) && originOf(request) === own,
      (answer) => having(answer, 'access-control-max-age', '2h'),
    ),
  },
  {
    breaks: 'OPT-3/no-preflight',
    says: 'It takes every OPTIONS of a page for a preflight.',
    plant: giving((request) => isPlain(request) && originOf(request) !== undefined, allowed),
  },
]

/** All origins, and with credentials. */
const everybody = (answer: PlantedAnswer) =>
  having(having(answer, 'access-control-allow-origin', '*'), 'access-control-allow-credentials', 'true')

const strangers: readonly (readonly [name: string, says: string, test: (origin: string) => boolean])[] = [
  ['foreign', 'It repeats whatever origin is foreign', (origin) => origin === 'https://foreign.example'],
  ['null', 'It allows pages without an origin', (origin) => origin === 'null'],
  ['longer', 'It compares only the beginning of an origin', (origin) => origin.startsWith(own)],
]

const ofOrigins: readonly Fault[] = [
  { breaks: 'OPT-5/answer', says: 'It allows everybody, with credentials.', plant: giving(isPage, everybody) },
  {
    breaks: 'OPT-5/preflight',
    says: 'It tells preflights that everybody is allowed, with credentials.',
    plant: giving(isPreflight, everybody),
  },
  {
    breaks: 'OPT-4/answer',
    says: 'It tells preflights alone that an origin is allowed.',
    plant: giving(isPage, silent),
  },
  {
    breaks: 'OPT-4/error',
    says: 'It forgets the origin where there is an error.',
    plant: giving((request, { status }) => isPage(request) && status === 404, silent),
  },
  {
    breaks: 'OPT-4/refusal',
    says: 'It looks at the origin only when it knows who asks.',
    plant: giving((request, { status }) => isPage(request) && status === 401, silent),
  },
  {
    breaks: 'OPT-4/preflight',
    says: 'It answers preflights with an origin of its own.',
    plant: giving(
      (request) => isPreflight(request) && originOf(request) === own,
      (answer) => having(answer, 'access-control-allow-origin', 'https://www.pages.example'),
    ),
  },
  {
    breaks: 'OPT-4/vary',
    says: 'It does not say that answers depend on Origin.',
    plant: giving(isPage, lacking('vary', 'Origin')),
  },
  {
    breaks: 'OPT-4/vary-always',
    says: 'It says only to pages that answers depend on Origin.',
    plant: giving(
      (request) => !isOptions(request) && isCollection(request) && originOf(request) === undefined,
      lacking('vary', 'Origin'),
    ),
  },
  ...strangers.flatMap(([name, says, test]): Fault[] => [
    {
      breaks: `OPT-4/${name}`,
      says: `${says}.`,
      plant: giving((request) => isPage(request) && test(originOf(request) ?? ''), allowing),
    },
    {
      breaks: `OPT-4/${name}-preflight`,
      says: `${says}, in preflights.`,
      plant: giving((request) => isPreflight(request) && test(originOf(request) ?? ''), allowing),
    },
  ]),
  {
    breaks: 'OPT-6/record',
    says: 'It hides ETag from pages.',
    plant: giving((request) => isPage(request) && isRecord(request), lacking('access-control-expose-headers', 'ETag')),
  },
  {
    breaks: 'OPT-6/creation',
    says: 'It hides Location from pages.',
    plant: giving(isPage, lacking('access-control-expose-headers', 'Location')),
  },
  {
    breaks: 'OPT-6/list',
    says: 'It hides Link from pages.',
    plant: giving(isPage, lacking('access-control-expose-headers', 'Link')),
  },
]

export const preflightFaults: readonly Fault[] = [...ofOptions, ...ofPreflights, ...ofOrigins]
