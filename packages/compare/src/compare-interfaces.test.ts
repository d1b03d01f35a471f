import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compareInterfaces } from './compare-interfaces.ts'
import type { Finding } from './finding.ts'
import { documentOf, type Json } from './openapi-document.ts'

/** A document of 3.1 with these paths under /v1. */
function doc(paths: Json, more: Json = {}): Json {
  return { openapi: '3.1.0', servers: [{ url: 'https://api.example.org/v1' }], paths, ...more }
}
const ok = { 200: { description: 'Fine.' } }
/** GET /v1/tasks with these members. */
const list = (more: Json, root: Json = {}) =>
  doc({ '/tasks': { get: { tags: ['tasks'], responses: ok, ...more } } }, root)
/** GET /v1/tasks with one parameter. */
const asked = (parameter: Json) => list({ parameters: [{ name: 'a', in: 'query', schema: {}, ...parameter }] })
const param = (schema: Json) => asked({ schema })
/** POST /v1/tasks with this body. */
const sent = (schema: unknown, root: Json = {}) =>
  doc(
    {
      '/tasks': {
        post: { tags: ['tasks'], requestBody: { content: { 'application/json': { schema } } }, responses: ok },
      },
    },
    root,
  )
/** GET /v1/tasks/{id} with this answer. */
const shown = (schema: unknown, root: Json = {}) =>
  doc(
    {
      '/tasks/{id}': { get: { tags: ['tasks'], responses: { 200: { content: { 'application/json': { schema } } } } } },
    },
    root,
  )
const answers = (responses: Json) => list({ responses })
const problem = (...codes: string[]) => ({
  409: {
    content: { 'application/problem+json': { schema: { type: 'object', properties: { code: { enum: codes } } } } },
  },
})
const object = (properties: Json, more: Json = {}) => ({ type: 'object', properties, ...more })
const components = (schemas: Json) => ({ components: { schemas } })
const of3 = (document: Json) => ({ ...document, openapi: '3.0.3' })
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const bearer = {
  components: {
    securitySchemes: { b: { type: 'http', scheme: 'bearer' }, k: { type: 'apiKey', in: 'header', name: 'k' } },
  },
}
const text = { type: 'string' }
const whole = { type: 'integer' }

function found(old: unknown, now: unknown): Finding[] {
  return compareInterfaces([{ document: documentOf(old) }], [{ document: documentOf(now) }], 0)
}

/** `breaking field-removed answer a`: severity, kind, way, and what it is about. */
function brief({ severity, kind, direction, field, names, within }: Finding): string {
  const way = direction === undefined ? '' : direction === 'request' ? 'request' : 'answer'
  return [severity, kind, way, within?.split(' ')[0] === 'parameter' ? '' : field, names?.join(',')]
    .filter(Boolean)
    .join(' ')
}

type Row = [name: string, old: unknown, now: unknown, ...expected: string[]]

function table(title: string, rows: readonly Row[]): void {
  describe(title, () => {
    for (const [name, old, now, ...expected] of rows) {
      test(name, () => assert.deepEqual(found(old, now).map(brief).sort(), expected.sort()))
    }
  })
}

const get = (tag = 'tasks') => ({ get: { tags: [tag], responses: ok } })

table('endpoints (VER-5)', [
  ['an endpoint is gone', doc({ '/tasks': get(), '/a': get() }), doc({ '/tasks': get() }), 'breaking operation-removed'],
  ['an endpoint is new', doc({ '/tasks': get() }), doc({ '/tasks': get(), '/a': get() }), 'compatible operation-added'],
  ['a method is gone', doc({ '/tasks': { ...get(), post: { tags: ['tasks'] } } }), doc({ '/tasks': get() }), 'breaking operation-removed'],
  ['a resource is gone, said once', doc({ '/tasks': get(), '/a': get('a'), '/a/{id}': get('a') }), doc({ '/tasks': get() }), 'breaking resource-removed'],
  ['a resource is new, said once', doc({ '/tasks': get() }), doc({ '/tasks': get(), '/a': get('a'), '/a/{id}': get('a') }), 'compatible resource-added'],
  ['the version is another, said once', doc({ '/tasks': get(), '/a': get('a') }), { ...doc({ '/tasks': get(), '/a': get('a') }), servers: [{ url: '/v2' }] }, 'breaking version-removed v2', 'compatible version-added v1'],
  ['a version in the paths is gone', { openapi: '3.1.0', paths: { '/v1/a': get(), '/v2/a': get(), '/health': get('s') } }, { openapi: '3.1.0', paths: { '/v2/a': get(), '/health': get('s') } }, 'breaking version-removed v2'],
  ['the prefix moves from the server into the paths', doc({ '/a': get() }), { openapi: '3.1.0', paths: { '/v1/a': get() } }],
  ['the host is another', doc({ '/a': get() }), { ...doc({ '/a': get() }), servers: [{ url: 'http://elsewhere.example:8080/v1/' }] }],
  ['a path parameter has another name', doc({ '/a/{id}': { get: { tags: ['a'], parameters: [{ name: 'id', in: 'path', required: true, schema: text }] } } }), doc({ '/a/{key}': { get: { tags: ['a'], parameters: [{ name: 'key', in: 'path', required: true, schema: text }] } } })],
  ['a path parameter is of another type', doc({ '/a/{id}': { get: { parameters: [{ name: 'id', in: 'path', required: true, schema: text }] } } }), doc({ '/a/{id}': { get: { parameters: [{ name: 'id', in: 'path', required: true, schema: whole }] } } }), 'breaking type-changed request'],
  ['it is deprecated', list({}), list({ deprecated: true }), 'compatible operation-deprecated'],
  ['words and examples', list({ summary: 'a', description: 'b', operationId: 'c' }, { info: { title: 'x' } }), list({ summary: 'd', operationId: 'e', 'x-a': 1 })],
]) // biome-ignore format: one row reads best

table('authentication (VER-5)', [
  ['is needed where it was not', list({}, bearer), list({ security: [{ b: [] }] }, bearer), 'breaking security-added'],
  ['is needed by the document', list({}, bearer), list({}, { ...bearer, security: [{ b: [] }] }), 'breaking security-added'],
  ['is no longer needed', list({ security: [{ b: [] }] }, bearer), list({ security: [] }, bearer), 'compatible security-relaxed'],
  ['has another way', list({ security: [{ b: [] }] }, bearer), list({ security: [{ b: [] }, { k: [] }] }, bearer), 'compatible security-relaxed'],
  ['is another', list({ security: [{ b: [] }] }, bearer), list({ security: [{ k: [] }] }, bearer), 'breaking security-added'],
  ['needs two things', list({ security: [{ b: [] }] }, bearer), list({ security: [{ b: [], k: [] }] }, bearer), 'breaking security-added'],
  ['needs a scope', list({ security: [{ b: ['r'] }] }, bearer), list({ security: [{ b: ['r', 'w'] }] }, bearer), 'breaking security-added'],
  ['has another name in the document', list({ security: [{ b: [] }] }, bearer), list({ security: [{ c: [] }] }, { components: { securitySchemes: { c: { scheme: 'Bearer', type: 'http' } } } })],
]) // biome-ignore format: one row reads best

table('parameters (VER-5)', [
  ['one is gone', asked({}), list({}), 'breaking parameter-removed a'],
  ['one is new', list({}), asked({}), 'compatible parameter-added a'],
  ['one is new and required', list({}), asked({ required: true }), 'breaking parameter-added-required a'],
  ['one is required', asked({}), asked({ required: true }), 'breaking parameter-required a'],
  ['one may be left out', asked({ required: true }), asked({}), 'compatible parameter-optional a'],
  ['a filter is gone with its operators, said once', list({ parameters: [{ name: 'a', in: 'query' }, { name: 'a[gt]', in: 'query' }] }), list({}), 'breaking parameter-removed a,a[gt]'],
  ['a header is required, in other letters', list({ parameters: [{ name: 'If-Match', in: 'header' }] }), list({ parameters: [{ name: 'if-match', in: 'header', required: true }] }), 'breaking parameter-required If-Match'],
  ['a value is gone', param({ enum: ['x', 'y'] }), param({ enum: ['y'] }), 'breaking values-removed request x'],
  ['a value is new', param({ enum: ['y'] }), param({ enum: ['x', 'y'] }), 'compatible values-added request x'],
  ['a sort is gone', param({ type: 'string', pattern: '^-?(x|y)(,-?(x|y))*$' }), param({ type: 'string', pattern: '^-?(y)(,-?(y))*$' }), 'breaking values-removed request x'],
  ['a sort is new', param({ type: 'string', pattern: '^-?(y)(,-?(y))*$' }), param({ type: 'string', pattern: '^-?(x|y)(,-?(x|y))*$' }), 'compatible values-added request x'],
  ['the maximum is lower', param({ type: 'integer', maximum: 100 }), param({ type: 'integer', maximum: 50 }), 'breaking limit-narrowed request'],
  ['the default is another', param({ type: 'integer', default: 20 }), param({ type: 'integer', default: 50 }), 'review default-changed request'],
  ['it is written another way', asked({ explode: true }), asked({ explode: false }), 'breaking parameter-written a'],
  ['the usual way is written out', asked({}), asked({ style: 'form', explode: true, description: 'words' })],
  ['it moves to the path item', asked({ schema: text }), doc({ '/tasks': { parameters: [{ name: 'a', in: 'query', schema: text }], get: { tags: ['tasks'], responses: ok } } })],
]) // biome-ignore format: one row reads best

table('request bodies (VER-5)', [
  ['a field is new and required', sent(object({})), sent(object({ a: text }, { required: ['a'] })), 'breaking field-added-required request a'],
  ['a field is new', sent(object({})), sent(object({ a: text })), 'compatible field-added request a'],
  ['a field is required', sent(object({ a: text })), sent(object({ a: text }, { required: ['a'] })), 'breaking field-required request a'],
  ['a field may be left out', sent(object({ a: text }, { required: ['a'] })), sent(object({ a: text })), 'compatible field-optional request a'],
  ['a field is gone', sent(object({ a: text })), sent(object({})), 'breaking field-removed request a'],
  ['a field is renamed', sent(object({ a: text })), sent(object({ b: text })), 'breaking field-removed request a', 'compatible field-added request b'],
  ['a field is read-only', sent(object({ a: text })), sent(object({ a: { type: 'string', readOnly: true } })), 'breaking field-read-only request a'],
  ['a read-only field is gone: it could not be sent', sent(object({ a: { readOnly: true } })), sent(object({}))],
  ['a deep field is gone', sent(object({ a: { type: 'array', items: object({ b: text }) } })), sent(object({ a: { type: 'array', items: object({}) } })), 'breaking field-removed request a[].b'],
  ['another type', sent(object({ a: text })), sent(object({ a: whole })), 'breaking type-changed request a'],
  ['a narrower type', sent(object({ a: { type: 'number' } })), sent(object({ a: whole })), 'breaking type-narrowed request a'],
  ['a wider type', sent(object({ a: whole })), sent(object({ a: { type: 'number' } })), 'compatible type-widened request a'],
  ['anything, and then a type', sent(object({ a: {} })), sent(object({ a: text })), 'breaking null-removed request a', 'breaking type-narrowed request a'],
  ['null is refused', sent(object({ a: { type: ['string', 'null'] } })), sent(object({ a: text })), 'breaking null-removed request a'],
  ['null is taken', sent(object({ a: text })), sent(object({ a: { type: ['string', 'null'] } })), 'compatible null-added request a'],
  ['a list of values', sent(object({ a: text })), sent(object({ a: { type: 'string', enum: ['x'] } })), 'breaking values-listed request a x'],
  ['a value less and one more', sent(object({ a: { enum: ['x', 'y'] } })), sent(object({ a: { enum: ['y', 'z'] } })), 'breaking values-removed request a x', 'compatible values-added request a z'],
  ['shorter', sent({ type: 'string', maxLength: 9 }), sent({ type: 'string', maxLength: 8 }), 'breaking limit-narrowed request'],
  ['longer', sent({ type: 'string', maxLength: 9 }), sent({ type: 'string', maxLength: 10 }), 'compatible limit-widened request'],
  ['no longer empty', sent({ type: 'string', minLength: 0 }), sent({ type: 'string', minLength: 1 }), 'breaking limit-narrowed request'],
  ['a pattern is new', sent(text), sent({ type: 'string', pattern: 'a' }), 'breaking limit-narrowed request'],
  ['a pattern is gone', sent({ type: 'string', pattern: 'a' }), sent(text), 'compatible limit-widened request'],
  ['a pattern is another', sent({ type: 'string', pattern: 'a' }), sent({ type: 'string', pattern: 'b' }), 'review pattern-changed request'],
  ['a format is new', sent(text), sent({ type: 'string', format: 'date' }), 'breaking limit-narrowed request'],
  ['a format is another', sent({ type: 'string', format: 'date-time' }), sent({ type: 'string', format: 'date' }), 'breaking format-changed request'],
  ['multiples', sent({ type: 'integer', multipleOf: 2 }), sent({ type: 'integer', multipleOf: 4 }), 'breaking limit-narrowed request'],
  ['unique items', sent({ type: 'array' }), sent({ type: 'array', uniqueItems: true }), 'breaking limit-narrowed request'],
  ['a default behind a reference is another', sent(object({ a: ref('A') }), components({ A: { type: 'string', default: 'x' } })), sent(object({ a: ref('A') }), components({ A: { type: 'string', default: 'y' } })), 'review default-changed request a'],
  ['closed', sent(object({ a: text })), sent(object({ a: text }, { additionalProperties: false })), 'breaking object-closed request'],
  ['opened', sent(object({}, { additionalProperties: false })), sent(object({})), 'compatible object-opened request'],
  ['what only equality compares', sent({ type: 'object', not: { required: ['a'] } }), sent({ type: 'object', not: { required: ['b'] } }), 'review keyword-changed request'],
  ['a form more', sent({ oneOf: [text] }), sent({ oneOf: [text, whole] }), 'compatible type-widened request'],
  ['a form less', sent({ oneOf: [text, whole] }), sent({ oneOf: [text] }), 'breaking type-narrowed request'],
  ['a form loses a field, whatever other forms have', sent({ anyOf: [ref('A'), ref('B')] }, components({ A: object({ a: text }), B: object({ b: text }) })), sent({ anyOf: [ref('B'), ref('A')] }, components({ A: object({}), B: object({ b: text }) })), 'breaking field-removed request a'],
  ['a media type is gone', doc({ '/a': { post: { requestBody: { content: { 'application/json': {}, 'text/csv': {} } } } } }), doc({ '/a': { post: { requestBody: { content: { 'application/json': {} } } } } }), 'breaking media-type-removed request text/csv'],
  ['a media type is new', doc({ '/a': { post: { requestBody: { content: { 'application/json': {} } } } } }), doc({ '/a': { post: { requestBody: { content: { 'application/json; charset=utf-8': {}, 'text/csv': {} } } } } }), 'compatible media-type-added request text/csv'],
  ['the body is required', doc({ '/a': { post: { requestBody: {} } } }), doc({ '/a': { post: { requestBody: { required: true } } } }), 'breaking body-required request'],
  ['a body is no longer read', doc({ '/a': { post: { requestBody: {} } } }), doc({ '/a': { post: {} } }), 'breaking body-removed request'],
]) // biome-ignore format: one row reads best

table('responses (VER-5)', [
  ['a field is gone', shown(object({ a: text })), shown(object({})), 'breaking field-removed answer a'],
  ['a field is new, though no others were declared', shown(object({}, { additionalProperties: false })), shown(object({ a: text }, { additionalProperties: false, required: ['a'] })), 'compatible field-added answer a', ],
  ['a field is no longer shown', shown(object({ a: text })), shown(object({ a: { type: 'string', writeOnly: true } })), 'breaking field-removed answer a'],
  ['a field may be absent', shown(object({ a: text }, { required: ['a'] })), shown(object({ a: text })), 'breaking field-optional answer a'],
  ['a field is always there', shown(object({ a: text })), shown(object({ a: text }, { required: ['a'] })), 'compatible field-required answer a'],
  ['a field is deprecated', shown(object({ a: text })), shown(object({ a: { ...text, deprecated: true } })), 'compatible field-deprecated answer a'],
  ['another type', shown(object({ a: text })), shown(object({ a: whole })), 'breaking type-changed answer a'],
  ['a wider type', shown(object({ a: whole })), shown(object({ a: { type: 'number' } })), 'breaking type-widened answer a'],
  ['a narrower type', shown(object({ a: { type: 'number' } })), shown(object({ a: whole })), 'compatible type-narrowed answer a'],
  ['null may come', shown(object({ a: text })), shown(object({ a: { type: ['string', 'null'] } })), 'breaking null-added answer a'],
  ['null never comes', shown(object({ a: { type: ['string', 'null'] } })), shown(object({ a: text })), 'compatible null-removed answer a'],
  ['a value may come that was not listed', shown(object({ a: { enum: ['x'] } })), shown(object({ a: { enum: ['x', 'y'] } })), 'breaking values-added answer a y'],
  ['a value never comes', shown(object({ a: { enum: ['x', 'y'] } })), shown(object({ a: { enum: ['x'] } })), 'compatible values-removed answer a y'],
  ['longer texts may come', shown(object({ a: { type: 'string', maxLength: 9 } })), shown(object({ a: text })), 'breaking limit-widened answer a'],
  ['a form that was not declared', shown(object({ a: text }, { required: ['a'] })), shown({ anyOf: [object({ a: text }, { required: ['a'] }), object({ a: text })] }), 'breaking field-optional answer a'],
  ['a form never comes', shown({ anyOf: [object({ a: text }), text] }), shown(object({ a: text })), 'compatible type-narrowed answer'],
  ['further fields of any type', shown({ type: 'object', additionalProperties: text }), shown({ type: 'object' }), 'breaking others-widened answer'],
  ['further fields of another type', shown({ type: 'object', additionalProperties: text }), shown({ type: 'object', additionalProperties: whole }), 'breaking type-changed answer *'],
  ['another default: answers have none', shown({ type: 'string', default: 'x' }), shown({ type: 'string', default: 'y' })],
  ['a status is gone', answers({ 200: {}, 202: {} }), answers({ 200: {} }), 'breaking status-removed answer 202'],
  ['a status is another', answers({ 200: {} }), answers({ 204: {} }), 'breaking status-removed answer 200', 'review status-added answer 204'],
  ['a range speaks for a status', answers({ 200: {} }), answers({ '2xx': {} })],
  ['parts are answered to those who ask', answers({ 200: {} }), answers({ 200: {}, 206: {}, 304: {} }), 'compatible part-status-added answer 206', 'compatible part-status-added answer 304'],
  ['a condition is required', answers({ 200: {} }), answers({ 200: {}, 428: {} }), 'breaking condition-required'],
  ['a condition is not required', answers({ 200: {}, 428: {} }), answers({ 200: {} }), 'compatible condition-optional'],
  ['an error code is gone', answers(problem('A', 'B')), answers(problem('A')), 'breaking code-removed answer code B'],
  ['an error code is new', answers(problem('A')), answers(problem('A', 'B')), 'review code-added answer code B'],
  ['a header is gone', answers({ 200: { headers: { ETag: { schema: text } } } }), answers({ 200: {} }), 'breaking header-removed answer ETag'],
  ['a header is new', answers({ 200: {} }), answers({ 200: { headers: { ETag: { schema: text } } } }), 'compatible header-added answer ETag'],
  ['a header in other letters', answers({ 200: { headers: { 'x-a': { schema: text } } } }), answers({ 200: { headers: { 'X-A': { schema: text } } } })],
  ['a media type is gone', answers({ 200: { content: { 'text/csv': {}, 'application/json': {} } } }), answers({ 200: { content: { 'application/json': {} } } }), 'breaking media-type-removed answer text/csv'],
]) // biome-ignore format: one row reads best

const task = object({ a: text, child: ref('Task') })
table('equal schemas in different notations (VER-5)', [
  ['a reference, or written out', shown(ref('A'), components({ A: object({ a: text }) })), shown(object({ a: text }))],
  ['allOf of one', shown(object({ a: text })), shown({ allOf: [object({ a: text })] })],
  ['allOf of two, or one', shown(object({ a: text, b: whole }, { required: ['a', 'b'] })), shown({ allOf: [object({ a: text }, { required: ['a'] }), object({ b: whole }, { required: ['b'] })] })],
  ['anyOf of one', shown(text), shown({ anyOf: [text] })],
  ['null by type, or by anyOf', shown({ type: ['string', 'null'] }), shown({ anyOf: [text, { type: 'null' }] })],
  ['null in 3.0, and in 3.1', of3(shown({ type: 'string', nullable: true })), shown({ type: ['null', 'string'] })],
  ['null beside allOf in 3.0', of3(shown({ nullable: true, allOf: [ref('A')] }, components({ A: object({ a: text }) }))), shown({ oneOf: [ref('A'), { type: 'null' }] }, components({ A: object({ a: text }) }))],
  ['null in a list', of3(shown({ type: 'string', enum: ['x'], nullable: true })), shown({ enum: ['x', null] })],
  ['const, or enum of one', shown({ const: 'x' }), shown({ type: 'string', enum: ['x'] })],
  ['values, or constants side by side', shown({ enum: ['x', 'y'] }), shown({ oneOf: [{ const: 'y', title: 'Y' }, { const: 'x' }] })],
  ['the order of everything', sent(object({ a: { enum: ['x', 'y'] }, b: text }, { required: ['a', 'b'] })), sent({ required: ['b', 'a'], properties: { b: text, a: { enum: ['y', 'x'] } }, type: 'object' })],
  ['exclusive in 3.0, and in 3.1', of3(sent({ type: 'integer', minimum: 1, exclusiveMinimum: true })), sent({ type: 'integer', exclusiveMinimum: 1 })],
  ['types side by side', sent({ type: ['string', 'integer'] }), sent({ anyOf: [whole, text] })],
  ['object, or told by its properties', sent(object({ a: text })), sent({ properties: { a: text } })],
  ['a reference with words beside it', shown(ref('A'), components({ A: text })), shown({ ...ref('A'), description: 'words', examples: ['x'] }, components({ A: text }))],
  ['a circle', shown(ref('Task'), components({ Task: task })), shown(ref('Other'), components({ Other: object({ a: text, child: ref('Other') }) }))],
  ['records that other responses show', shown({ type: 'object', 'x-repeats': true, additionalProperties: text }), shown({ type: 'object', 'x-repeats': true, additionalProperties: whole })],
  ['additional properties, or true', sent(object({})), sent(object({}, { additionalProperties: true }))],
]) // biome-ignore format: one row reads best

test('a reference to another document is refused everywhere but in examples', () => {
  const elsewhere = { $ref: 'other.yaml#/a' }
  assert.throws(() => documentOf(sent(text, components({ A: { properties: { a: elsewhere } } }))), /other\.yaml/)
  assert.deepEqual(found(sent({ ...text, examples: [elsewhere] }), sent({ ...text, example: elsewhere })), [])
})

test('a field of a recursive schema is one finding, with every operation concerned', () => {
  const paths = (schema: Json) => ({
    '/tasks': { get: { tags: ['tasks'], responses: { 200: { content: { 'application/json': { schema: object({ data: { type: 'array', items: schema } }) } } } } } },
    '/tasks/{id}': { get: { tags: ['tasks'], responses: { 200: { content: { 'application/json': { schema } } } } } },
  }) // biome-ignore format: one row reads best
  const old = doc(paths(ref('Task')), components({ Task: object({ a: text, b: text, child: ref('Task') }) }))
  const now = doc(paths(ref('Task')), components({ Task: object({ a: text, child: ref('Task') }) }))
  const findings = found(old, now)
  assert.deepEqual(findings.map(brief), ['breaking field-removed answer b'])
  const [finding] = findings as [Finding]
  assert.deepEqual(finding.operations, ['GET /v1/tasks', 'GET /v1/tasks/{id}'])
  assert.deepEqual(finding.resources, ['tasks'])
  assert.equal(finding.message, 'the field b is gone from responses')
  assert.equal(finding.rule, 'spec 9.3, VER-5')
  assert.deepEqual(finding.places, [
    { in: 'old', of: 'openapi', pointer: '/components/schemas/Task/properties/b' },
    { in: 'new', of: 'openapi', pointer: '/components/schemas/Task' },
  ])
})

describe('versions (VER-5)', () => {
  const v1 = { version: 'v1', document: documentOf(doc({ '/tasks': get() })) }
  const v2 = {
    version: 'v2',
    document: documentOf({ ...doc({ '/tasks': get(), '/b': get('b') }), servers: [{ url: '/v2' }] }),
  }
  const kindsOf = (findings: readonly Finding[]) => findings.map(({ kind }) => kind)

  test('each version is compared with the same version', () => {
    assert.deepEqual(compareInterfaces([v1, v2], [v1, v2], 0), [])
    const broken = { ...v1, document: documentOf(doc({})) }
    assert.deepEqual(
      compareInterfaces([v1, v2], [broken, v2], 0).map(({ version, kind }) => [version, kind]),
      [['v1', 'version-removed']],
    )
  })
  test('a removed version breaks clients until its sunset', () => {
    assert.deepEqual(kindsOf(compareInterfaces([v1, v2], [v2], 0)), ['version-removed'])
    assert.deepEqual(kindsOf(compareInterfaces([{ ...v1, sunset: 10 }, v2], [v2], 9)), ['version-removed'])
    assert.deepEqual(kindsOf(compareInterfaces([{ ...v1, sunset: 10 }, v2], [v2], 10)), ['version-retired'])
  })
  test('a new version breaks nothing', () => {
    assert.deepEqual(kindsOf(compareInterfaces([v1], [v1, v2], 0)), ['version-added'])
  })
  test('paths without a version belong to the version of the document', () => {
    const named = (version: string, paths: Json) => ({
      version,
      pathless: true,
      document: documentOf({ openapi: '3.1.0', paths }),
    })
    const old = [named('v1', { '/a': get() })]
    assert.deepEqual(kindsOf(compareInterfaces(old, [named('v1', {}), named('v2', { '/a': get() })], 0)), [
      'version-removed',
      'version-added',
    ])
    assert.deepEqual(kindsOf(compareInterfaces(old, [named('v1', { '/a': get() })], 0)), [])
  })
})
