import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { type Cors, isPreflight, preflightHeaders, readCors, withCors } from './cors.ts'
import type { ResponseHeaders } from './message.ts'

const app = 'https://app.example'
const origins = new Set([app, 'http://localhost:3000'])
const listed: Cors = { origins, credentials: false }
const credentialed: Cors = { origins, credentials: true }
const anyone: Cors = { origins: '*', credentials: false }

const settings: readonly (readonly [name: string, given: string[], origins: '*' | string[]])[] = [
  ['one origin', [app], [app]],
  ['several times', [app, 'http://localhost:3000'], [app, 'http://localhost:3000']],
  ['several with commas', [`${app}, http://localhost:3000`], [app, 'http://localhost:3000']],
  ['the same twice', [app, app], [app]],
  ['ports and addresses', ['http://[::1]:8080,http://127.0.0.1'], ['http://[::1]:8080', 'http://127.0.0.1']],
  ['the root dot of a host, which is another host', ['https://app.example.'], ['https://app.example.']],
  ['a host outside ASCII', ['https://xn--bcher-kva.example'], ['https://xn--bcher-kva.example']],
  ['a scheme of its own', ['capacitor://localhost'], ['capacitor://localhost']],
  ['everyone', ['*'], '*'],
]
for (const [name, given, origins] of settings) {
  test(`--cors-origin takes ${name}`, () => {
    const expected = { origins: origins === '*' ? origins : new Set(origins), credentials: false }
    assert.deepEqual(readCors(given), expected)
  })
}

test('without settings CORS is off; credentials can be allowed for an origin', () => {
  assert.equal(readCors([]), undefined)
  assert.deepEqual(readCors([app], true), { origins: new Set([app]), credentials: true })
})

const rewritten: readonly (readonly [given: string, write: string])[] = [
  ['https://App.example:443/', app],
  ['https://app.example/', app],
  ['https://app.example:443', app],
  ['HTTPS://app.example', app],
  ['http://app.example:80', 'http://app.example'],
  ['https://app.example/shop', app],
  ['https://app.example?a=b', app],
  ['https://app.example#top', app],
  ['https:app.example', app],
  ['app.example', app],
  ['localhost:3000', 'https://localhost:3000'],
  ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ['http://127.1', 'http://127.0.0.1'],
  ['https://app.exa\r\nmple', app],
]
/** What the error says when settings are refused. */
function problemOf(...settings: Parameters<typeof readCors>): string {
  try {
    readCors(...settings)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message
    throw error
  }
  return 'accepted'
}
for (const [given, write] of rewritten) {
  test(`--cors-origin ${JSON.stringify(given)} is refused, and the sentence says ${write}`, () => {
    const problem = problemOf([given])
    assert.ok(problem.includes(`write ${write} for ${JSON.stringify(given)}.`), problem)
  })
}

const refused: readonly (readonly [name: string, given: string[], credentials: boolean, says: RegExp])[] = [
  ['null', ['null'], false, /does not take null/],
  ['nothing', [''], false, /empty value/],
  ['nothing between commas', [`${app},`], false, /empty value/],
  ['a pattern', ['https://*.example'], false, /no patterns: list each origin/],
  ['no host', ['https://'], false, /origins such as https:\/\/app\.example, not "https:\/\/"/],
  ['a file', ['file:///home'], false, /origins such as/],
  ['an impossible port', ['https://app.example:99999'], false, /origins such as/],
  ['everyone and someone', ['*', app], false, /\* or origins, not both/],
  ['OPT-5: everyone, with credentials', ['*'], true, /does not go with --cors-origin \*/],
  ['OPT-5: everyone among others, with credentials', [`${app},*`], true, /does not go with --cors-origin \*/],
  ['credentials for nobody', [], true, /needs --cors-origin/],
]
for (const [name, given, credentials, says] of refused) {
  test(`refused: ${name}`, () => {
    assert.match(problemOf(given, credentials), says)
  })
}

for (const given of ['https://me:secret@app.example', 'me:secret@app.example']) {
  test(`a password in ${given} is not repeated (SEC-3)`, () => {
    assert.match(problemOf([given]), /write https:\/\/app\.example for "…@app\.example"\.$/)
  })
}

const ask = { origin: app, 'access-control-request-method': 'PATCH' }
const questions: readonly (readonly [
  method: string,
  headers: Record<string, string | undefined>,
  expected: boolean,
])[] = [
  ['OPTIONS', ask, true],
  ['OPTIONS', { ...ask, origin: 'null' }, true],
  ['OPTIONS', { ...ask, authorization: 'Bearer x' }, true],
  ['OPTIONS', { origin: app }, false],
  ['OPTIONS', { 'access-control-request-method': 'PATCH' }, false],
  ['OPTIONS', {}, false],
  ['GET', ask, false],
  ['options', ask, false],
]
for (const [method, headers, expected] of questions) {
  test(`OPT-3: ${method} with ${Object.keys(headers)} is ${expected ? 'a' : 'no'} preflight`, () =>
    assert.equal(isPreflight(method, headers), expected))
}

const varied = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers'

test('OPT-3: the response to a preflight has origin, methods, headers and age', () => {
  assert.deepEqual(preflightHeaders(listed, app, ['GET', 'HEAD', 'POST']), {
    'Access-Control-Allow-Origin': app,
    'Access-Control-Allow-Methods': 'GET, HEAD, POST',
    'Access-Control-Allow-Headers':
      'Accept, Accept-Language, API-Version, Authorization, Content-Type, Idempotency-Key, If-Match, ' +
      'If-Modified-Since, If-None-Match, If-Range, If-Unmodified-Since, Prefer, Range, traceparent, tracestate, X-Request-Id',
    'Access-Control-Max-Age': '7200',
    'Cache-Control': 'no-store',
    Vary: varied,
  })
  assert.equal(preflightHeaders(credentialed, app, [])['Access-Control-Allow-Credentials'], 'true')
  const open = preflightHeaders(anyone, 'null', ['GET'])
  assert.equal(open['Access-Control-Allow-Origin'], '*')
  assert.equal(open['Access-Control-Allow-Credentials'], undefined)
})

test('OPT-4: a preflight from another origin gets no Access-Control fields', () => {
  for (const cors of [listed, credentialed]) {
    assert.deepEqual(preflightHeaders(cors, 'https://evil.example', ['GET']), {
      'Cache-Control': 'no-store',
      Vary: varied,
    })
  }
})

test('OPT-4, OPT-6: a listed origin may read responses, errors too', () => {
  const problem = { 'Content-Type': 'application/problem+json', Vary: 'Accept' }
  const { 'Access-Control-Expose-Headers': exposed, ...rest } = withCors(problem, credentialed, app)
  assert.deepEqual(rest, {
    ...problem,
    'Access-Control-Allow-Origin': app,
    'Access-Control-Allow-Credentials': 'true',
    Vary: 'Accept, Origin',
  })
  const names = exposed?.split(', ') ?? []
  const rule = ['ETag', 'Location', 'Link', 'Retry-After', 'RateLimit', 'Deprecation', 'Sunset', 'X-Total-Count']
  const beyond = ['Content-Range', 'Accept-Ranges', 'WWW-Authenticate', 'Allow', 'Server-Timing', 'X-Request-Id']
  for (const name of [...rule, 'Preference-Applied', ...beyond, 'Content-Location'])
    assert.ok(names.includes(name), name)
  assert.deepEqual(problem, { 'Content-Type': 'application/problem+json', Vary: 'Accept' }, 'the given ones stay')
})

test('OPT-4: a response to another origin, or to none, has only Vary', () => {
  for (const origin of ['https://evil.example', undefined]) {
    assert.deepEqual(withCors({ ETag: '"1"' }, credentialed, origin), { ETag: '"1"', Vary: 'Origin' })
  }
})

test('with *, every response allows all origins, because caches share it', () => {
  for (const origin of ['https://evil.example', 'null', undefined]) {
    const headers = withCors({ Vary: 'Accept' }, anyone, origin)
    assert.equal(headers['Access-Control-Allow-Origin'], '*')
    assert.equal(headers['Access-Control-Allow-Credentials'], undefined)
    assert.equal(headers.Vary, 'Accept')
  }
})

test('with CORS off the header fields are unchanged', () => {
  const headers = { ETag: '"1"' }
  assert.equal(withCors(headers, undefined, app), headers)
})

const vary: readonly (readonly [before: string | undefined, after: string])[] = [
  [undefined, 'Origin'],
  ['', 'Origin'],
  ['Accept', 'Accept, Origin'],
  ['Origin', 'Origin'],
  ['Accept,origin', 'Accept,origin'],
  ['X-Origin', 'X-Origin, Origin'],
  ['*', '*'],
  [varied, varied],
]
for (const [before, after] of vary) {
  test(`Vary: ${before} becomes ${after}`, () => {
    const headers: ResponseHeaders = before === undefined ? {} : { Vary: before }
    assert.equal(withCors(headers, listed, undefined).Vary, after)
  })
}

const hostile = {
  'a line break': `${app}\r\nSet-Cookie: a=b`,
  'a trailing line break': `${app}\n`,
  'several values': `${app}, http://localhost:3000`,
  'one value twice': `${app} ${app}`,
  '8 KB': `https://${'a'.repeat(8192)}.example`,
  'no origin': 'null',
  nothing: '',
  star: '*',
  'capital letters': 'https://APP.example',
  'the root dot': 'https://app.example.',
  'the default port': `${app}:443`,
  'a slash': `${app}/`,
  'another scheme': 'http://app.example',
  'a longer name': `${app}.evil.example`,
  'a subdomain': 'https://evil.app.example',
  'a blank before': ` ${app}`,
  'a name of every object': '__proto__',
} satisfies Record<string, string>
for (const [name, origin] of Object.entries(hostile)) {
  test(`an Origin with ${name} is foreign`, () => {
    for (const cors of [listed, credentialed]) {
      assert.deepEqual(withCors({}, cors, origin), { Vary: 'Origin' })
      assert.equal(preflightHeaders(cors, origin, ['GET'])['Access-Control-Allow-Origin'], undefined)
    }
  })
}

test('only configured origins are sent back, and they fit into a header field', () => {
  const pieces = ['https://', 'a', 'B', 'ü', '.', ':', '8080', '[::1]', '/', '@', '?', ' ', '\r\n', '"', '%20', ',']
  const text = fc.oneof(
    fc.array(fc.constantFrom(...pieces), { maxLength: 4 }).map((rest) => `https://a${rest.join('')}`),
    fc.array(fc.constantFrom(...pieces), { maxLength: 4 }).map((rest) => `tauri://a${rest.join('')}`),
    fc.string(),
  )
  fc.assert(
    fc.property(text, text, (configured, other) => {
      if (problemOf([configured]) !== 'accepted') return
      const cors = readCors([configured])
      if (cors === undefined || cors.origins === '*') return
      const allowed = (origin: string) => withCors({}, cors, origin)['Access-Control-Allow-Origin']
      for (const origin of cors.origins) assert.match(origin, /^[!-~]+$/)
      for (const origin of cors.origins) assert.equal(allowed(origin), origin)
      assert.equal(allowed(other), cors.origins.has(other) ? other : undefined)
    }),
  )
})
