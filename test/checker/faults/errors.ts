/** Faults of errors. */
import type { Fault, PlantedAnswer, PlantedRequest } from '../planted.ts'
import { answering, isList, saying, type Which } from './words.ts'

const isNoRecord = ({ path }: PlantedRequest) => /^\/v3\/[a-z]+\/no-such-checked-/.test(path)
const isNoPath = ({ path }: PlantedRequest) => /^\/v3\/no-such-checked-/.test(path)
const isEither = ({ path }: PlantedRequest) => /\/no-such-(?:first|second)-checked-/.test(path)
const isNoSuch = ({ path }: PlantedRequest) => path.includes('/no-such-')
const isMalformed = ({ body }: PlantedRequest) => body === '{"no-such'
const isMistaken = ({ method, body }: PlantedRequest) => method === 'POST' && body === '{"price":"much","color":"blue"}'
const isAnonymous = ({ method, headers, path }: PlantedRequest) =>
  method === 'GET' && headers['authorization'] === undefined && path === '/v3/items'
const isForbidden: Which = ({ method, headers, path }, { otherKey }) =>
  method === 'POST' && path === '/v3/items' && headers['authorization'] === `Bearer ${otherKey}`
const isPage = ({ path }: PlantedRequest) => path.includes('page=no-such')

const with200 = (answer: PlantedAnswer) => ({ ...answer, status: 200 })
const withStatus = (status: number) => (answer: PlantedAnswer) => ({ ...answer, status })
const withBody = (body: string) => (answer: PlantedAnswer) => ({ ...answer, body })

/** The errors of frameworks are seldom those of their users. */
const bare = withBody('<h1>Error</h1>')

const withMember = (name: string, value: unknown) => (answer: PlantedAnswer) =>
  answer.status < 400 ? answer : saying(answer, (body: object) => ({ ...body, [name]: value }))

interface Several {
  readonly errors: readonly object[]
}

const onlyFirst = (answer: PlantedAnswer) =>
  saying(answer, (body: Several) => ({ ...body, errors: body.errors.slice(0, 1) }))

const trace = withMember('stack', 'TypeError: odd\n    at list (/srv/shop/lists.js:12:8)')
const withSql = withMember('detail', 'select id from items where id = $1: invalid input syntax for type uuid')

const isOddPath = ({ path }: PlantedRequest) => path.endsWith('/odd%00')
const isOddQuery = ({ path }: PlantedRequest) => path.endsWith('?fields=constructor,__proto__')
const isOddBody = ({ body }: PlantedRequest) => body.startsWith('{"odd":[[[[')
const isOddMember = ({ method, body, path }: PlantedRequest) =>
  method === 'POST' && path === '/v3/items' && body.includes('odd\\u0000') && body.includes('sku')
const isOddField = ({ headers }: PlantedRequest) => headers['content-type'] === 'application/json; charset=odd-99'
const isNoText = ({ body }: PlantedRequest) => body.includes('\ufffd')

export const errorsFaults: readonly Fault[] = [
  {
    breaks: 'ERR-1/record',
    says: 'It answers 200, and the body says what is wrong.',
    plant: answering(isNoRecord, with200),
  },
  { breaks: 'ERR-1/path', says: 'What is no address is answered 200 by a page.', plant: answering(isNoPath, with200) },
  {
    breaks: 'ERR-1/malformed-json',
    says: 'A body that it cannot read is answered 200.',
    plant: answering(isMalformed, with200),
  },
  {
    breaks: 'ERR-1/validation',
    says: 'Validation is answered 200, with errors.',
    plant: answering(isMistaken, with200),
  },
  {
    breaks: 'ERR-2/record',
    says: 'The code of a 404 is in lower case.',
    plant: answering(isNoRecord, withMember('code', 'not_found')),
  },
  { breaks: 'ERR-2/path', says: 'The 404 of its framework is a page.', plant: answering(isNoPath, bare) },
  {
    breaks: 'ERR-2/malformed-json',
    says: 'Its framework answers malformed JSON.',
    plant: answering(isMalformed, withMember('code', 'bad request')),
  },
  {
    breaks: 'ERR-2/validation',
    says: 'Validation has no code.',
    plant: answering(isMistaken, withMember('code', 400)),
  },
  { breaks: 'ERR-2/no-credential', says: 'A 401 is bare.', plant: answering(isAnonymous, bare) },
  { breaks: 'ERR-2/forbidden', says: 'A 403 is bare.', plant: answering(isForbidden, bare) },
  {
    breaks: 'ERR-2/same-code',
    says: 'The code counts.',
    plant(server) {
      let count = 0
      return async (request) => {
        const answer = await server(request)
        return isEither(request) ? withMember('code', `ERROR_${++count}`)(answer) : answer
      }
    },
  },
  {
    breaks: 'ERR-2/telling-codes',
    says: 'The code of everything is ERROR.',
    plant: answering((request) => isNoRecord(request) || isMalformed(request), withMember('code', 'ERROR')),
  },
  {
    breaks: 'ERR-2/problem-json',
    says: 'Errors are application/json.',
    plant: answering(isNoSuch, (answer) => ({
      ...answer,
      headers: { ...answer.headers, 'content-type': 'application/json' },
    })),
  },
  { breaks: 'ERR-2/members', says: 'The status is a text.', plant: answering(isNoRecord, withMember('status', '404')) },
  { breaks: 'ERR-2/members', says: 'There is no title.', plant: answering(isNoRecord, withMember('title', undefined)) },
  {
    breaks: 'ERR-2/request-id',
    says: 'All requests have one request_id.',
    plant: answering(isEither, withMember('request_id', 'a')),
  },
  {
    breaks: 'ERR-3/creation',
    says: 'It ends at the first thing that is wrong.',
    plant: answering(isMistaken, onlyFirst),
  },
  {
    breaks: 'ERR-3/replacement',
    says: 'It ends at the first thing that is wrong.',
    plant: answering(({ method, body }) => method === 'PUT' && body === '{"price":"much","color":"blue"}', onlyFirst),
  },
  {
    breaks: 'ERR-3/parameters',
    says: 'It ends at the first thing that is wrong.',
    plant: answering(isPage, onlyFirst),
  },
  {
    breaks: 'ERR-3/places',
    says: 'Errors are sentences.',
    plant: answering(isMistaken, (answer) =>
      saying(answer, (body: Several) => ({
        ...body,
        errors: body.errors.map((each) => ({ ...each, pointer: undefined })),
      })),
    ),
  },
  { breaks: 'ERR-4/paths', says: 'A path with NUL in it shows where it fails.', plant: answering(isOddPath, trace) },
  {
    breaks: 'ERR-4/queries',
    says: 'A member that is none shows the statement.',
    plant: answering(isOddQuery, withSql),
  },
  { breaks: 'ERR-4/bodies', says: 'Deep JSON shows where it fails.', plant: answering(isOddBody, trace) },
  {
    breaks: 'ERR-4/members',
    says: 'A text with NUL in it shows what the database says.',
    plant: answering(isOddMember, withMember('detail', 'invalid byte sequence for encoding "UTF8": 0x00')),
  },
  {
    breaks: 'ERR-4/fields',
    says: 'An unknown charset shows where it fails.',
    plant: answering(isOddField, withMember('detail', 'unsupported: /usr/lib/node/charsets.js')),
  },
  {
    breaks: 'ERR-4/encoding',
    says: 'A body that is no text shows where it fails.',
    plant: answering(isNoText, (answer) => trace(withStatus(400)({ ...answer, body: '{}' }))),
  },
  {
    breaks: 'ERR-4/server-names',
    says: 'It says what it is made with.',
    plant: answering(isList, (answer) => ({ ...answer, headers: { ...answer.headers, 'x-powered-by': 'Express' } })),
  },
  { breaks: 'ERR-5/paths', says: 'A path with NUL in it is a 500.', plant: answering(isOddPath, withStatus(500)) },
  { breaks: 'ERR-5/queries', says: 'A member that is none is a 500.', plant: answering(isOddQuery, withStatus(500)) },
  { breaks: 'ERR-5/bodies', says: 'Deep JSON is a 500.', plant: answering(isOddBody, withStatus(500)) },
  { breaks: 'ERR-5/members', says: 'A text with NUL in it is a 502.', plant: answering(isOddMember, withStatus(502)) },
  { breaks: 'ERR-5/fields', says: 'An unknown charset is a 500.', plant: answering(isOddField, withStatus(500)) },
  { breaks: 'ERR-5/encoding', says: 'A body that is no text is a 500.', plant: answering(isNoText, withStatus(500)) },
  { breaks: 'ERR-5/validation', says: 'Validation is 422.', plant: answering(isMistaken, withStatus(422)) },
  { breaks: 'ERR-5/malformed-json', says: 'Malformed JSON is 422.', plant: answering(isMalformed, withStatus(422)) },
  {
    breaks: 'ERR-5/record',
    says: 'An identifier of another form is 400.',
    plant: answering(isNoRecord, (answer) => withMember('status', 400)(withStatus(400)(answer))),
  },
  { breaks: 'ERR-5/path', says: 'An address that is nothing is 403.', plant: answering(isNoPath, withStatus(403)) },
  {
    breaks: 'ERR-5/media-type',
    says: 'A body of a kind that it cannot read is 500.',
    plant: answering(({ headers }) => headers['content-type'] === 'application/x-no-such', withStatus(500)),
  },
  {
    breaks: 'ERR-5/accept',
    says: 'It sends a page to who accepts no JSON.',
    plant: answering(({ headers }) => headers['accept'] === 'application/x-no-such', bare),
  },
]
