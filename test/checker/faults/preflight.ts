/** Faults of OPTIONS and CORS. */
import { answering, on, withProblem, withStatus } from '../plant/answers.ts'
import { withField, without, withoutItem } from '../plant/messages.ts'
import { all, at, has, isCollection, isNowhere, isRecord, not, of, sends } from '../plant/which.ts'
import type { Fault, PlantedAnswer, PlantedRequest } from '../planted.ts'
import { origin as own } from '../shop.ts'

const isPreflight = of('OPTIONS', has('access-control-request-method'))
const isPlain = of('OPTIONS', not(has('access-control-request-method')))
const isOwnPreflight = all(isPreflight, has('origin', own))
const isStar = at('*')
const isPage = all(has('origin'), not(of('OPTIONS')))

/** What a page is told goes away. */
function silent(answer: PlantedAnswer): PlantedAnswer {
  const headers = Object.entries(answer.headers).filter(([name]) => !name.startsWith('access-control-'))
  return { ...answer, headers: Object.fromEntries(headers) }
}

const allowing = (answer: PlantedAnswer, { headers }: PlantedRequest) =>
  withField('access-control-allow-origin', headers['origin'] ?? '')(answer)

const allowed = (answer: PlantedAnswer): PlantedAnswer => ({
  status: 204,
  headers: { ...answer.headers, allow: 'GET, HEAD, POST, OPTIONS' },
  body: '',
})

const more = (name: string) => withField('allow', (names) => `${names}, ${name}`)

const ofOptions: readonly Fault[] = [
  {
    breaks: 'OPT-1/record',
    says: 'OPTIONS of a record does not say what it supports.',
    plant: answering(all(isPlain, isRecord), without('allow')),
  },
  {
    breaks: 'OPT-1/record-methods',
    says: 'Allow of a record forgets PATCH.',
    plant: answering(all(isPlain, isRecord), withoutItem('allow', 'PATCH')),
  },
  {
    breaks: 'OPT-1/record-named',
    says: 'Allow of a record names POST, which records do not take.',
    plant: answering(all(isPlain, isRecord), more('POST')),
  },
  {
    breaks: 'OPT-1/record-others',
    says: 'Records take POST, and Allow does not name it.',
    plant: answering(
      of('POST', isRecord, not(sends('{'))),
      on(405, (answer) => ({ ...without('allow')(answer), status: 200, body: '{}' })),
    ),
  },
  {
    breaks: 'OPT-1/collection',
    says: 'It answers OPTIONS of a collection with 405.',
    plant: answering(all(isPlain, isCollection), withProblem(405)),
  },
  {
    breaks: 'OPT-1/collection-methods',
    says: 'Allow of a collection forgets POST.',
    plant: answering(all(isPlain, isCollection), withoutItem('allow', 'POST')),
  },
  {
    breaks: 'OPT-1/collection-named',
    says: 'Allow of a collection names TRACE, which nothing takes.',
    plant: answering(all(isPlain, isCollection), more('TRACE')),
  },
  {
    breaks: 'OPT-1/missing',
    says: 'It answers OPTIONS the same way whatever the path.',
    plant: answering(all(isPlain, isNowhere), allowed),
  },
  {
    breaks: 'OPT-1/nobody',
    says: 'OPTIONS takes no credential.',
    plant: answering(all(isPlain, isCollection), on(401, allowed)),
  },
  {
    breaks: 'OPT-1/forbidden',
    says: 'OPTIONS takes no permission.',
    plant: answering(all(isPlain, isCollection), on(403, allowed)),
  },
  {
    breaks: 'OPT-2/answer',
    says: 'It takes the star for a path, and finds nothing there.',
    plant: answering(isStar, withProblem(404)),
  },
  {
    breaks: 'OPT-2/methods',
    says: 'Allow of OPTIONS * forgets DELETE.',
    plant: answering(isStar, withoutItem('allow', 'DELETE')),
  },
  {
    breaks: 'OPT-2/nobody',
    says: 'OPTIONS * takes no credential.',
    plant: answering(
      isStar,
      on(401, (answer) => ({ ...allowed(answer), status: 200 })),
    ),
  },
]

const ofPreflights: readonly Fault[] = [
  {
    breaks: 'OPT-3/answer',
    says: 'It asks preflights for a credential.',
    plant: answering(isOwnPreflight, withProblem(401)),
  },
  {
    breaks: 'OPT-3/no-content',
    says: 'It answers preflights with 200.',
    plant: answering(isPreflight, withStatus(200)),
  },
  {
    breaks: 'OPT-3/methods',
    says: 'It tells preflights of GET alone.',
    plant: answering(isOwnPreflight, withField('access-control-allow-methods', 'GET')),
  },
  {
    breaks: 'OPT-3/headers',
    says: 'It takes * for all fields, Authorization too.',
    plant: answering(isOwnPreflight, withField('access-control-allow-headers', '*')),
  },
  {
    breaks: 'OPT-3/condition-headers',
    says: 'Pages may not send conditions.',
    plant: answering(isOwnPreflight, withoutItem('access-control-allow-headers', 'If-Match')),
  },
  {
    breaks: 'OPT-3/age',
    says: 'It tells in words how long the answer keeps.',
    plant: answering(isOwnPreflight, withField('access-control-max-age', '2h')),
  },
  {
    breaks: 'OPT-3/no-preflight',
    says: 'It takes every OPTIONS of a page for a preflight.',
    plant: answering(all(isPlain, has('origin')), allowed),
  },
]

/** All origins, and with credentials. */
const everybody = (answer: PlantedAnswer) =>
  withField('access-control-allow-credentials', 'true')(withField('access-control-allow-origin', '*')(answer))

const repeated = (answer: PlantedAnswer) =>
  withField(
    'access-control-allow-credentials',
    'true',
  )(withField('access-control-allow-origin', 'https://foreign.example')(answer))

const strangers: readonly (readonly [name: string, says: string, origin: string | RegExp])[] = [
  ['foreign', 'It repeats whatever origin is foreign', 'https://foreign.example'],
  ['null', 'It allows pages without an origin', 'null'],
  ['longer', 'It compares only the beginning of an origin', new RegExp(`^${own}`)],
]

const ofOrigins: readonly Fault[] = [
  { breaks: 'OPT-5/answer', says: 'It allows everybody, with credentials.', plant: answering(isPage, everybody) },
  {
    breaks: 'OPT-5/answer',
    says: 'It repeats the origin of every page, with credentials.',
    plant: answering(isPage, repeated),
  },
  {
    breaks: 'OPT-5/preflight',
    says: 'It tells preflights that everybody is allowed, with credentials.',
    plant: answering(isPreflight, everybody),
  },
  {
    breaks: 'OPT-4/answer',
    says: 'It tells preflights alone that an origin is allowed.',
    plant: answering(isPage, silent),
  },
  {
    breaks: 'OPT-4/error',
    says: 'It forgets the origin where there is an error.',
    plant: answering(isPage, on(404, silent)),
  },
  {
    breaks: 'OPT-4/refusal',
    says: 'It looks at the origin only when it knows who asks.',
    plant: answering(isPage, on(401, silent)),
  },
  {
    breaks: 'OPT-4/preflight',
    says: 'It answers preflights with an origin of its own.',
    plant: answering(isOwnPreflight, withField('access-control-allow-origin', 'https://www.pages.example')),
  },
  {
    breaks: 'OPT-4/vary',
    says: 'It does not say that answers depend on Origin.',
    plant: answering(isPage, withoutItem('vary', 'Origin')),
  },
  {
    breaks: 'OPT-4/vary-always',
    says: 'It says only to pages that answers depend on Origin.',
    plant: answering(all(isCollection, not(has('origin')), not(of('OPTIONS'))), withoutItem('vary', 'Origin')),
  },
  ...strangers.flatMap(([name, says, origin]): Fault[] => [
    {
      breaks: `OPT-4/${name}`,
      says: `${says}.`,
      plant: answering(all(isPage, has('origin', origin)), allowing),
    },
    {
      breaks: `OPT-4/${name}-preflight`,
      says: `${says}, in preflights.`,
      plant: answering(all(isPreflight, has('origin', origin)), allowing),
    },
  ]),
  {
    breaks: 'OPT-6/record',
    says: 'It hides ETag from pages.',
    plant: answering(all(isPage, isRecord), withoutItem('access-control-expose-headers', 'ETag')),
  },
  {
    breaks: 'OPT-6/creation',
    says: 'It hides Location from pages.',
    plant: answering(isPage, withoutItem('access-control-expose-headers', 'Location')),
  },
  {
    breaks: 'OPT-6/list',
    says: 'It hides Link from pages.',
    plant: answering(isPage, withoutItem('access-control-expose-headers', 'Link')),
  },
]

export const preflightFaults: readonly Fault[] = [...ofOptions, ...ofPreflights, ...ofOrigins]
