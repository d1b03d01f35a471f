import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Carrier, carriers } from 'resourced-contract/model/declaration'
import { chooseVersion, completeVersions, type VersionedRequest } from './versions.ts'

const vendor = (version: string) => `application/vnd.notes.${version}+json`

function choose(carried: readonly Carrier[], asked: Partial<VersionedRequest>) {
  const declaration = {
    name: 'notes',
    resources: { notes: { fields: {} } },
    versions: { v1: {}, v2: {}, v10: {} },
    versionCarriers: carried,
  }
  const versions = completeVersions(declaration)
  return chooseVersion(versions, { path: '/notes', query: '', headers: {}, ...asked })
}

/** The version chosen, `-` where the path has none that there is, or the code of the refusal. */
function outcome(carried: readonly Carrier[], asked: Partial<VersionedRequest>): string {
  const { version, known, refusal } = choose(carried, asked)
  return refusal?.code ?? (known ? version.name : '-')
}

/** How a carrier says a version. */
const says: Readonly<Record<Carrier, (version: string) => Partial<VersionedRequest>>> = {
  path: (version) => ({ path: `/${version}/notes` }),
  header: (version) => ({ headers: { 'api-version': version } }),
  'media-type': (version) => ({ headers: { accept: vendor(version) } }),
  query: (version) => ({ query: `version=${version}` }),
}

function together(...asked: readonly Partial<VersionedRequest>[]): Partial<VersionedRequest> {
  return { ...Object.assign({}, ...asked), headers: Object.assign({}, ...asked.map(({ headers }) => headers)) }
}

const combinations = Array.from({ length: 2 ** carriers.length - 1 }, (_, bits) =>
  carriers.filter((_, index) => ((bits + 1) >> index) & 1),
)

test('VER-1: a longer first segment is no version, and percent-encoded letters count as letters', () => {
  assert.equal(outcome(['path'], { path: '/v100/notes' }), '-')
  assert.equal(outcome(['path'], { path: '/v10' }), 'v10')
  assert.equal(outcome(['path'], { path: '/%7610/notes' }), 'v10')
})

describe('every combination of carriers', () => {
  for (const carried of combinations) {
    const others = carried.filter((carrier) => carrier !== 'path')
    const inPath = carried.includes('path')
    test(carried.join(' and '), () => {
      for (const version of ['v1', 'v2', 'v10']) {
        assert.equal(outcome(carried, together(...carried.map((each) => says[each](version)))), version)
        for (const carrier of others) {
          const alone = together(inPath ? says.path(version) : {}, says[carrier](version))
          assert.equal(outcome(carried, alone), version, carrier)
        }
      }
      assert.equal(outcome(carried, inPath ? { path: '/v1/notes' } : {}), inPath ? 'v1' : 'v10')
      for (const odd of others) {
        const disagreeing = together(...carried.map((each) => says[each](each === odd ? 'v2' : 'v1')))
        assert.equal(outcome(carried, disagreeing), carried.length === 1 ? 'v2' : 'VERSION_MISMATCH', odd)
        const unknown = together(...carried.map((each) => says[each](each === odd ? 'v3' : 'v1')))
        assert.equal(outcome(carried, unknown), 'UNKNOWN_VERSION', odd)
      }
      for (const carrier of carriers.filter((each) => each !== 'path' && !carried.includes(each))) {
        const ignored = together(inPath ? says.path('v1') : {}, says[carrier]('v2'))
        assert.equal(outcome(carried, ignored), inPath ? 'v1' : 'v10', `${carrier} is no carrier`)
      }
    })
  }
})

const long = 'v1'.repeat(5_000)
const table: readonly (readonly [carrier: Carrier, asked: Partial<VersionedRequest>, expected: string])[] = [
  ['path', { path: '/v1' }, 'v1'],
  ['path', { path: '/%76%31/notes' }, 'v1'],
  ['path', { path: '/v10/notes' }, 'v10'],
  ...['/v3/notes', '/V1/notes', '/v01/notes', '/v1.0/notes', '/%zz/notes', '/notes', '//v1/notes', '/', '*', ''].map(
    (path) => ['path', { path }, '-'] as const,
  ),
  ['path', { path: `/${long}/notes` }, '-'],
  ['path', { path: '/__proto__/notes' }, '-'],
  ['header', { headers: { 'api-version': ' v1\t' } }, 'v1'],
  ...['v1,v2', 'v1, v1', ',', 'v1,', long.replaceAll('v1', 'v1,')].map(
    (text) => ['header', { headers: { 'api-version': text } }, 'VERSION_MISMATCH'] as const,
  ),
  ...['', ' ', '1', 'V1', 'v1;q=1', '*', '"v1"', 'v3', 'constructor', long].map(
    (text) => ['header', { headers: { 'api-version': text } }, 'UNKNOWN_VERSION'] as const,
  ),
  ...(
    [
      [vendor('v1'), 'v1'],
      [`${vendor('v1')};q=0.001`, 'v1'],
      [`${vendor('v1')};q=0`, 'v10'],
      [`${vendor('v1')};q=2`, 'v10'],
      [`${vendor('v1')}, ${vendor('v1')};q=0.5`, 'v1'],
      [`${vendor('v1')};q=0.4, ${vendor('v2')};q=0.5`, 'v2'],
      [`${vendor('v1')};q=0.5, ${vendor('v2')};q=0.5`, 'VERSION_MISMATCH'],
      [`${vendor('v1')};q=0.5, application/json`, 'v1'],
      [`${vendor('v3')}, ${vendor('v2')};q=0.1`, 'v2'],
      [`${vendor('v3')}, */*`, 'UNKNOWN_VERSION'],
      [`${vendor('v3')};q=0, */*`, 'v10'],
      [`${vendor('v3')}, ${vendor('v4')}`, 'VERSION_MISMATCH'],
      [`text/plain;x="${vendor('v1')}, ${vendor('v2')}"`, 'v10'],
      ['application/vnd.other.v1+json', 'v10'],
      ['application/vnd.notes.+json, application/vnd.notes.x+json, application/vnd.notes.v1', 'v10'],
      ['application/*, */*', 'v10'],
      ['', 'v10'],
      [`${vendor('v1')}${' '.repeat(10_000)};q=0.5`, 'v1'],
      [`application/vnd.notes.${long}+json`, 'v10'],
      [`${`${vendor('v1')},`.repeat(400)}${vendor('v2')};q=0.9`, 'v1'],
    ] as const
  ).map(([accept, expected]) => ['media-type', { headers: { accept } }, expected] as const),
  ['media-type', { headers: { 'content-type': `${vendor('v1')}; charset=utf-8` } }, 'v1'],
  ['media-type', { headers: { 'content-type': vendor('v3') } }, 'UNKNOWN_VERSION'],
  ['media-type', { headers: { 'content-type': 'application/json' } }, 'v10'],
  ['media-type', { headers: { 'content-type': long } }, 'v10'],
  ['media-type', { headers: { 'content-type': vendor('v1'), accept: vendor('v2') } }, 'VERSION_MISMATCH'],
  ['media-type', { headers: { 'content-type': vendor('v1'), accept: 'application/json' } }, 'v1'],
  ['query', { query: 'a=b&version=v1' }, 'v1'],
  ['query', { query: '%76ersion=%761' }, 'v1'],
  ['query', { query: 'versions=v1&version[in]=v1&Version=v1' }, 'v10'],
  ['query', { query: 'version=v1&version=v1' }, 'VERSION_MISMATCH'],
  ['query', { query: 'version=v1&%76ersion=v2' }, 'VERSION_MISMATCH'],
  ...['version', 'version=', 'version=v1,v2', 'version=%zz', 'version=+v1', `version=${long}`].map(
    (query) => ['query', { query }, 'UNKNOWN_VERSION'] as const,
  ),
]
describe('each carrier alone', () => {
  for (const [carrier, asked, expected] of table) {
    const text = JSON.stringify(asked)
    test(`${carrier}: ${text.length > 120 ? `${text.slice(0, 120)}…` : text} is ${expected}`, () => {
      assert.equal(outcome([carrier], asked), expected)
    })
  }
})

test('a refusal names each carrier, and repeats version names only', () => {
  const secret = 'hunter2'
  const all = { headers: { 'api-version': secret, accept: vendor('v3') }, query: `version=${secret}` }
  const { refusal } = choose(carriers, { path: '/v1/notes', ...all })
  const places = refusal?.details.errors?.map(({ header, parameter }) => header ?? parameter)
  assert.deepEqual(places, ['API-Version', 'Accept', 'version'])
  assert.ok(!JSON.stringify(refusal?.details).includes(secret))
  assert.match(refusal?.details.detail ?? '', /v1, v2 and v10/)
})

test('the version is removed from the query, and the rest is unchanged', () => {
  assert.equal(choose(['query'], { query: 'a=%20b&version=v1&&c' }).query, 'a=%20b&&c')
  assert.equal(choose(['header'], { query: 'version=v1' }).query, 'version=v1')
})

test('the response has a vendor media type only if Accept names the version', () => {
  assert.equal(choose(['media-type'], says['media-type']('v1')).mediaType, vendor('v1'))
  assert.equal(choose(['media-type'], { headers: { 'content-type': vendor('v1') } }).mediaType, undefined)
  assert.equal(choose(['media-type', 'header'], says.header('v1')).mediaType, undefined)
})

test('the time is linear in the length of the request', () => {
  const accept = Array.from({ length: 500 }, (_, index) => vendor(`v${index + 1}`)).join()
  const hostile = { headers: { 'api-version': ','.repeat(16_000), accept }, query: 'version&'.repeat(1_000) }
  const started = process.cpuUsage()
  assert.equal(outcome(carriers, { path: '/v1/notes', ...hostile }), 'VERSION_MISMATCH')
  assert.ok(process.cpuUsage(started).user < 250_000)
})
