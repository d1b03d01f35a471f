/** Faults of errors. */
import { answering, on, withFirstError, withStatus } from '../plant/answers.ts'
import { withField, withJson, withMembers } from '../plant/messages.ts'
import { at, has, isAnonymous, isCollection, isNoRecord, of, sends } from '../plant/which.ts'
import type { Fault, PlantedAnswer } from '../planted.ts'

const isNoPath = at(/^\/v3\/no-such-checked-/)
const isEither = at(/\/no-such-(?:first|second)-checked-/)
const isMalformed = sends('{"no-such')
const isMistaken = sends('{"price":"much","color":"blue"}')

/** The errors of frameworks are seldom those of their users. */
const bare = (answer: PlantedAnswer) => ({ ...answer, body: '<h1>Error</h1>' })

const trace = withMembers({ stack: 'TypeError: odd\n    at list (/srv/shop/lists.js:12:8)' })
const withSql = withMembers({ detail: 'select id from items where id = $1: invalid input syntax for type uuid' })

const isOddPath = at(/\/odd%00$/)
const isOddSize = at(/\?limit=1e9$/)
const isOddFilter = at(/\?(?!cursor)\w+=odd%00$/)
const isOddQuery = at(/\?fields=constructor,__proto__$/)
const isOddBody = sends(/^\{"odd":1e400/)
const isDeep = sends(/sku.*"odd":\[\[\[\[/)
const isOddMember = of('POST', at('/v3/items'), sends(/:"odd\\u0000/), sends(/sku/))
const isOddField = has('if-none-match', '"odd')
const isOddBodyField = has('content-type', 'application/json; charset=odd-99')
const isNoText = sends(/\ufffd/)

export const errorsFaults: readonly Fault[] = [
  {
    breaks: 'ERR-1/record',
    says: 'It answers 200, and the body says what is wrong.',
    plant: answering(isNoRecord, withStatus(200)),
  },
  {
    breaks: 'ERR-1/path',
    says: 'What is no address is answered 200 by a page.',
    plant: answering(isNoPath, withStatus(200)),
  },
  {
    breaks: 'ERR-1/malformed-json',
    says: 'A body that it cannot read is answered 200.',
    plant: answering(isMalformed, withStatus(200)),
  },
  {
    breaks: 'ERR-1/validation',
    says: 'Validation is answered 200, with errors.',
    plant: answering(of('POST', isMistaken), withStatus(200)),
  },
  {
    breaks: 'ERR-2/record',
    says: 'The code of a 404 is in lower case.',
    plant: answering(isNoRecord, withMembers({ code: 'not_found' })),
  },
  { breaks: 'ERR-2/path', says: 'The 404 of its framework is a page.', plant: answering(isNoPath, bare) },
  {
    breaks: 'ERR-2/malformed-json',
    says: 'Its framework answers malformed JSON.',
    plant: answering(isMalformed, withMembers({ code: 'bad request' })),
  },
  {
    breaks: 'ERR-2/validation',
    says: 'Validation has no code.',
    plant: answering(of('POST', isMistaken), withMembers({ code: 400 })),
  },
  {
    breaks: 'ERR-2/no-credential',
    says: 'A 401 is bare.',
    plant: answering(of('POST', at('/v3/items'), isAnonymous), bare),
  },
  { breaks: 'ERR-2/forbidden', says: 'A 403 is bare.', plant: answering(of('POST', at('/v3/items')), on(403, bare)) },
  {
    breaks: 'ERR-2/same-code',
    says: 'The code counts.',
    plant(server) {
      let count = 0
      return async (request) => {
        const answer = await server(request)
        return isEither(request) ? withMembers({ code: `ERROR_${++count}` })(answer) : answer
      }
    },
  },
  {
    breaks: 'ERR-2/telling-codes',
    says: 'The code of everything is ERROR.',
    plant: answering((request) => isNoRecord(request) || isMalformed(request), withMembers({ code: 'ERROR' })),
  },
  {
    breaks: 'ERR-2/problem-json',
    says: 'Errors are application/json.',
    plant: answering(at(/\/no-such-/), withField('content-type', 'application/json')),
  },
  {
    breaks: 'ERR-2/members',
    says: 'The status is a text.',
    plant: answering(isNoRecord, withMembers({ status: '404' })),
  },
  {
    breaks: 'ERR-2/members',
    says: 'There is no title.',
    plant: answering(isNoRecord, withMembers({ title: undefined })),
  },
  {
    breaks: 'ERR-2/request-id',
    says: 'All requests have one request_id.',
    plant: answering(isEither, withMembers({ request_id: 'a' })),
  },
  {
    breaks: 'ERR-3/creation',
    says: 'It ends at the first thing that is wrong.',
    plant: answering(of('POST', at('/v3/items')), on(400, withFirstError)),
  },
  {
    breaks: 'ERR-3/replacement',
    says: 'It ends at the first thing that is wrong.',
    plant: answering(of('PUT'), on(400, withFirstError)),
  },
  {
    breaks: 'ERR-3/parameters',
    says: 'It ends at the first thing that is wrong.',
    plant: answering(at(/page=no-such/), withFirstError),
  },
  {
    breaks: 'ERR-3/places',
    says: 'Errors are sentences.',
    plant: answering(
      of('POST', isMistaken),
      withJson((body: { readonly errors: readonly object[] }) => ({
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
  { breaks: 'ERR-4/sizes', says: 'A size of no digits shows where it fails.', plant: answering(isOddSize, trace) },
  {
    breaks: 'ERR-4/filters',
    says: 'A filter with NUL in it shows the statement.',
    plant: answering(isOddFilter, withSql),
  },
  { breaks: 'ERR-4/bodies', says: 'A huge number shows where it fails.', plant: answering(isOddBody, trace) },
  { breaks: 'ERR-4/unknown-members', says: 'Deep JSON shows where it fails.', plant: answering(isDeep, trace) },
  {
    breaks: 'ERR-4/members',
    says: 'A text with NUL in it shows what the database says.',
    plant: answering(isOddMember, withMembers({ detail: 'invalid byte sequence for encoding "UTF8": 0x00' })),
  },
  {
    breaks: 'ERR-4/fields',
    says: 'A tag without an end shows where it fails.',
    plant: answering(isOddField, (answer) => trace({ ...answer, status: 400, body: '{}' })),
  },
  {
    breaks: 'ERR-4/body-fields',
    says: 'An unknown charset shows where it fails.',
    plant: answering(isOddBodyField, withMembers({ detail: 'unsupported: /usr/lib/node/charsets.js' })),
  },
  {
    breaks: 'ERR-4/encoding',
    says: 'A body that is no text shows where it fails.',
    plant: answering(isNoText, (answer) => trace({ ...answer, status: 400, body: '{}' })),
  },
  {
    breaks: 'ERR-4/conflict',
    says: 'The refusal of a value that is taken shows what the database says.',
    plant: answering(
      of('POST', at('/v3/items')),
      on(409, withMembers({ detail: 'UNIQUE constraint failed: items.sku' })),
    ),
  },
  {
    breaks: 'ERR-4/server-names',
    says: 'It says what it is made with.',
    plant: answering(isCollection, withField('x-powered-by', 'Express')),
  },
  {
    breaks: 'ERR-4/anywhere',
    says: 'The refusal of an unknown path tells where it was decided.',
    plant: answering(isNoPath, trace),
  },
  {
    breaks: 'ERR-5/anywhere',
    says: 'A sort by what is no field fails, with a body as for any refusal.',
    plant: answering(at(/sort=no_such_order/), withStatus(500)),
  },
  { breaks: 'ERR-5/paths', says: 'A path with NUL in it is a 500.', plant: answering(isOddPath, withStatus(500)) },
  { breaks: 'ERR-5/queries', says: 'A member that is none is a 500.', plant: answering(isOddQuery, withStatus(500)) },
  { breaks: 'ERR-5/sizes', says: 'A size of no digits is a 500.', plant: answering(isOddSize, withStatus(500)) },
  {
    breaks: 'ERR-5/filters',
    says: 'A filter with NUL in it is a 500.',
    plant: answering(isOddFilter, withStatus(500)),
  },
  { breaks: 'ERR-5/bodies', says: 'A huge number is a 500.', plant: answering(isOddBody, withStatus(500)) },
  { breaks: 'ERR-5/unknown-members', says: 'Deep JSON is a 500.', plant: answering(isDeep, withStatus(500)) },
  { breaks: 'ERR-5/members', says: 'A text with NUL in it is a 502.', plant: answering(isOddMember, withStatus(502)) },
  { breaks: 'ERR-5/fields', says: 'A tag without an end is a 500.', plant: answering(isOddField, withStatus(500)) },
  {
    breaks: 'ERR-5/body-fields',
    says: 'An unknown charset is a 500.',
    plant: answering(isOddBodyField, withStatus(500)),
  },
  { breaks: 'ERR-5/encoding', says: 'A body that is no text is a 500.', plant: answering(isNoText, withStatus(500)) },
  { breaks: 'ERR-5/validation', says: 'Validation is 422.', plant: answering(of('POST', isMistaken), withStatus(422)) },
  { breaks: 'ERR-5/malformed-json', says: 'Malformed JSON is 422.', plant: answering(isMalformed, withStatus(422)) },
  {
    breaks: 'ERR-5/record',
    says: 'An identifier of another form is 400.',
    plant: answering(isNoRecord, (answer) => withMembers({ status: 400 })({ ...answer, status: 400 })),
  },
  { breaks: 'ERR-5/path', says: 'An address that is nothing is 403.', plant: answering(isNoPath, withStatus(403)) },
  {
    breaks: 'ERR-5/media-type',
    says: 'A body of a kind that it cannot read is 500.',
    plant: answering(has('content-type', 'application/x-no-such'), withStatus(500)),
    also: ['ERR-5/anywhere'],
  },
  {
    breaks: 'ERR-5/accept',
    says: 'It sends a page to who accepts no JSON.',
    plant: answering(has('accept', 'application/x-no-such'), (answer) => bare({ ...answer, status: 200 })),
  },
]
