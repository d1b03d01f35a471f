import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { InterfaceDeclaration, ResourceDeclaration } from 'resourced-contract/model/declaration'
import { faults } from 'resourced-contract/spec/fault-entries'
import { workshop } from '../../../../test/declarations-workshop.ts'
import { completeVersions } from '../versions/versions.ts'
import { type Credentials, openApiDocument, openApiText } from './openapi.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document is walked here as the JSON that it is
type Any = any

const tasks: ResourceDeclaration = {
  fields: {
    title: { type: 'string', minLength: 1, maxLength: 200, search: true, sort: true, unique: true },
    status: { enum: ['open', 'done'], default: 'open', transitions: { open: ['done'], done: [] } },
    project_id: { reference: 'projects', onDelete: 'cascade' },
    estimate: { type: 'integer', minimum: 0, filter: true, optional: true },
    settings: { type: 'object', required: ['color'], properties: { color: { type: 'string' } }, optional: true },
    owner_id: { type: 'string', readOnly: true },
    secret_note: { type: 'string', writeOnly: true, optional: true },
  },
  owner: 'owner_id',
  within: 'project_id',
  deletion: { byFilter: true },
}

function documentOf(resources: InterfaceDeclaration['resources']): Any {
  return openApiDocument(completeCatalog({ name: 'studio', description: 'A studio.', resources }))
}

const document = documentOf({ projects: { fields: { name: { type: 'string' } } }, tasks })

const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addFormat('decimal', true)
ajv.addSchema(document, 'document')
const fits = (schema: string, value: unknown): boolean =>
  ajv.validate({ $ref: `document#/components/schemas/${schema}` }, value)

const id = '0199d2c4-7b0e-7c3a-9f6e-2f1f6a3b5c11'
const at = '2026-11-21T08:00:00.000Z'
const task = {
  id,
  ...{ title: 'Paint', status: 'open', project_id: id, estimate: null, settings: null, owner_id: 'alice' },
  ...{ created_at: at, updated_at: at },
}
const without = (name: keyof typeof task) => Object.fromEntries(Object.entries(task).filter(([key]) => key !== name))

test('every address of the interface has its methods', () => {
  const methods = Object.entries(document.paths).map(([path, item]) => [
    path,
    Object.keys(item as object).filter((key) => !['parameters', 'servers'].includes(key)),
  ])
  assert.deepEqual(Object.fromEntries(methods), {
    '/projects': ['get', 'post', 'patch'],
    '/projects/summary': ['get'],
    '/projects/bulk-delete': ['post'],
    '/projects/{id}': ['get', 'put', 'patch', 'delete'],
    '/projects/{id}/deletion': ['get'],
    '/projects/{id}/restore': ['post'],
    '/projects/{id}/tasks': ['get', 'post'],
    '/tasks': ['get', 'post', 'patch', 'put', 'delete'],
    '/tasks/summary': ['get'],
    '/tasks/bulk-delete': ['post'],
    '/tasks/{id}': ['get', 'put', 'patch', 'delete'],
    '/tasks/{id}/deletion': ['get'],
    '/tasks/{id}/restore': ['post'],
    '/jobs': ['get'],
    '/jobs/{id}': ['get', 'delete'],
    '/api-keys': ['get', 'post'],
    '/api-keys/{id}': ['get', 'delete'],
    '/transactions': ['post'],
    '/exports': ['post'],
    '/exports/{id}': ['delete'],
    '/exports/{id}/content': ['get'],
    '/openapi.json': ['get'],
    '/caller': ['get'],
    '/health/metrics': ['get'],
    '/health/live': ['get'],
    '/health/ready': ['get'],
  })
})

test('operation ids are stable and unique', () => {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item as Any))
  const names = operations.flatMap((operation) => (operation as Any).operationId ?? [])
  for (const name of ['listTasks', 'createTask', 'getTask', 'replaceTask', 'updateTask', 'deleteTask']) {
    assert.ok(names.includes(name), name)
  }
  assert.ok(names.includes('listTasksOfProject'))
  assert.equal(new Set(names).size, names.length)
})

test('the server URL has the version; health does not belong to it', () => {
  assert.deepEqual(document.servers, [{ url: '/v1' }])
  assert.deepEqual(document.paths['/health/live'].servers, [{ url: '/' }])
  assert.deepEqual(document.paths['/health/live'].get.security, [])
})

test('the same catalog gives the same document, and every reference can be resolved', () => {
  const again = documentOf({ projects: { fields: { name: { type: 'string' } } }, tasks })
  const text = JSON.stringify(document)
  assert.equal(JSON.stringify(again), text)
  for (const [, kind, name] of text.matchAll(/"#\/components\/(\w+)\/([\w.-]+)"/g)) {
    assert.ok(document.components[kind as string]?.[name as string], `${kind}/${name}`)
  }
})

const representations: readonly [string, string, unknown, boolean][] = [
  ['a whole record', 'Task', task, true],
  ['a record without an unset field', 'Task', without('estimate'), false],
  ['a record with more than was declared', 'Task', { ...task, colour: 'red' }, false],
  ['a record with a writeOnly field', 'Task', { ...task, secret_note: 'x' }, false],
  ['a record with null where a value is required', 'Task', { ...task, title: null }, false],
  ['a record with a date of another form', 'Task', { ...task, created_at: 'yesterday' }, false],
  ['a record that is deleted', 'Task', { ...task, deleted_at: at }, true],
]
for (const [name, schema, value, expected] of representations) {
  test(`answers: ${name} ${expected ? 'fits' : 'does not fit'}`, () => assert.equal(fits(schema, value), expected))
}

const page = {
  data: [task, { ...task, deleted_at: at }],
  pagination: { total_count: 2, limit: 20, next_cursor: null, previous_cursor: 'x' },
}
const pages: readonly [string, unknown, boolean][] = [
  ['by cursor', page, true],
  ['by number', { data: [], pagination: { total_count: 0, page: 1, per_page: 20, total_pages: 0 } }, true],
  ['by offset', { data: [], pagination: { total_count: 0, offset: 0, limit: 20 } }, true],
  ['with a member of no style', { data: [], pagination: { total_count: 0, pages: 1 } }, false],
  ['without its total', { data: [], pagination: { offset: 0, limit: 20 } }, false],
  ['of something else', { ...page, data: [{ id, name: 'Paint' }] }, false],
]
for (const [name, value, expected] of pages) {
  test(`answers: a page ${name} ${expected ? 'fits' : 'does not fit'}`, () =>
    assert.equal(fits('TaskPage', value), expected))
}

const bodies: readonly [string, string, unknown, boolean][] = [
  ['what is required', 'TaskCreate', { title: 'Paint', project_id: id }, true],
  ['nothing for the parent in the address', 'TaskCreateNested', { title: 'Paint' }, true],
  ['no reference to a parent', 'TaskCreate', { title: 'Paint' }, false],
  ['null, for which the default stands in', 'TaskCreate', { title: 'Paint', project_id: id, status: null }, true],
  ['its own id', 'TaskCreate', { title: 'Paint', project_id: id, id }, false],
  ['a secret', 'TaskCreate', { title: 'Paint', project_id: id, secret_note: 'x' }, true],
  ['what was answered, to put it back', 'TaskReplace', task, true],
  ['null for a required field', 'TaskReplace', { ...task, title: null }, false],
  ['one field', 'TaskPatch', { title: 'Sand' }, true],
  ['a part of an object, to merge it', 'TaskPatch', { settings: { size: 3 } }, true],
  ['null for a required field', 'TaskPatch', { title: null }, false],
]
for (const [name, schema, value, expected] of bodies) {
  test(`${schema} with ${name} ${expected ? 'fits' : 'does not fit'}`, () =>
    assert.equal(fits(schema, value), expected))
}

test('examples of bodies fit their schemas', () => {
  const schemas = Object.entries(document.components.schemas).filter(([, schema]) => (schema as Any).examples)
  assert.ok(schemas.length >= 2)
  for (const [name, schema] of schemas) assert.ok(fits(name, (schema as Any).examples[0]), name)
})

test('every filter is a parameter with the operators of its type', () => {
  const found = parametersOf(document, document.paths['/tasks'].get)
  const names = found.map(({ name }) => name)
  const filters = names.filter((name: string) => /^(status|estimate|title|project_id|secret_note)/.test(name))
  assert.deepEqual(filters, [
    ...['status', 'status[not]', 'status[null]', 'project_id', 'project_id[not]', 'project_id[null]', 'estimate'],
    ...['gt', 'gte', 'lt', 'lte', 'null'].map((operator) => `estimate[${operator}]`),
  ])
  const sort = found.find(({ name }) => name === 'sort')
  assert.match('-created_at,title', new RegExp(sort.schema.pattern))
  assert.doesNotMatch('status', new RegExp(sort.schema.pattern))
})

/** The codes of an operation, beside those of every operation: of its method, and its own. */
const codesOf = (made: Any, path: string, method: string): string[] =>
  [...made['x-problems'].methods[method], ...made.paths[path][method]['x-problems']].sort()
/** Those for a status. */
const codesAt = (made: Any, path: string, method: string, status: number): string[] =>
  codesOf(made, path, method).filter((code) => made['x-problems'].codes[code].status === status)
const codes = (path: string, method: string, status: number) => codesAt(document, path, method, status)

/** The parameters of an operation, references resolved. */
function parametersOf(made: Any, { parameters }: Any): Any[] {
  return parameters.map((each: Any) => (each.$ref ? made.components.parameters[each.$ref.split('/').at(-1)] : each))
}

test('DOC-7: every operation lists the codes of its errors', () => {
  assert.deepEqual(codes('/tasks/{id}', 'delete', 409), ['BEING_DELETED', 'CONFLICT', 'HAS_DEPENDENTS'])
  const changed = ['BEING_DELETED', 'CONFLICT', 'DUPLICATE_VALUE', 'INVALID_TRANSITION']
  assert.deepEqual(codes('/tasks/{id}', 'put', 409), changed)
  assert.deepEqual(codes('/projects', 'post', 409), ['CONFLICT', 'IDEMPOTENCY_KEY_IN_USE'])
  assert.ok(codes('/tasks', 'get', 400)?.includes('INVALID_CURSOR'))
  assert.ok(!codes('/tasks/{id}', 'get', 400)?.includes('INVALID_CURSOR'))
  assert.deepEqual(codes('/tasks', 'get', 404), [])
  assert.deepEqual(codes('/projects/{id}/tasks', 'get', 404), ['NOT_FOUND'])
})

const { versions, ...rest } = {
  name: 'studio',
  versions: { v1: { deprecated: '2026-09-01', sunset: '2027-06-01', guide: 'https://example.org/v2' }, v2: {} },
  versionCarriers: ['path', 'header', 'media-type', 'query'] as const,
  resources: { tasks: { fields: { title: { type: 'string' } } } },
}
const all = completeVersions({ ...rest, versions })
const documentAt = (name: string, day: string): Any =>
  openApiDocument(all.all.get(name)!.catalog, { versions: all, now: Date.parse(day) })
const versioned = documentAt('v1', '2026-09-01')

test('a retired version has an end at the root only where no path names the version (VER-4)', () => {
  const statuses = (document: Any) => codesOf(document, '/health/metrics', 'get')
  assert.ok(codesOf(versioned, '/tasks', 'get').includes('VERSION_RETIRED'))
  assert.ok(!statuses(versioned).includes('VERSION_RETIRED'))
  const byHeader = completeVersions({ ...rest, versions, versionCarriers: ['header'] })
  assert.ok(
    statuses(openApiDocument(byHeader.all.get('v1')!.catalog, { versions: byHeader })).includes('VERSION_RETIRED'),
  )
})

test('DOC-7: every fault is listed with its status', () => {
  const named = new Set<string>()
  const more = documentOf({
    tasks: { fields: { title: { type: 'string' } }, events: true, updates: { byFilter: true } },
  })
  const notes = { notes: { fields: { text: { type: 'string' } } } } as const
  const tenants = openApiDocument(
    completeCatalog({ name: 'notes', tenants: { caller: 'claims.team' }, resources: notes }),
  )
  for (const [code, { status }] of [document, versioned, more, tenants as Any].flatMap((each) =>
    Object.entries<Any>(each['x-problems'].codes),
  )) {
    assert.equal(faults[code as keyof typeof faults].status, status, code)
    named.add(code)
  }
  const missing = Object.keys(faults).filter((code) => !named.has(code) && code !== 'PRECONDITION_REQUIRED')
  // Only jobs have it, in `error`.
  assert.deepEqual(missing, ['EXPORT_SPACE'])
})

test('a tag says which references need no permission to read (AUT-5)', () => {
  const { tags } = documentOf({
    tasks: { fields: { up_id: { reference: 'tasks' }, free_id: { reference: 'tasks', requires: 'none' } } },
  })
  const { fields } = tags.find(({ name }: Any) => name === 'tasks')['x-collection']
  assert.deepEqual([fields.up_id.requires, fields.free_id.requires], [undefined, 'none'])
})

test('each tag says what JSON Schema cannot say of its collection (DOC-5)', () => {
  const [projects, described] = ['projects', 'tasks'].map(
    (name) => document.tags.find((tag: Any) => tag.name === name)['x-collection'],
  )
  for (const { path, schemas } of [projects, described]) {
    assert.ok(path in document.paths, path)
    for (const name of Object.values<string>(schemas)) assert.ok(name in document.components.schemas, name)
  }
  const { title, project_id, status, secret_note, owner_id } = described.fields
  assert.deepEqual([project_id.reference, project_id.on_delete], ['projects', 'cascade'])
  assert.deepEqual(status.transitions, { open: ['done'], done: [] })
  assert.deepEqual(title, { unique: true, search: true, sort: true })
  assert.deepEqual([secret_note.write_only, owner_id.read_only], [true, true])
  assert.deepEqual([described.within.collection, described.within.field], ['projects', 'project_id'])
  assert.deepEqual(described.relations, { project: { to: 'one', collection: 'projects', field: 'project_id' } })
  assert.deepEqual(projects.relations, { tasks: { to: 'many', collection: 'tasks', field: 'project_id' } })
  assert.equal(described.owner, 'owner_id')
  // It has every operator; the parameters leave out what another one says too, or what finds nothing.
  const parameters = parametersOf(document, document.paths['/tasks'].get).map(({ name }) => name)
  for (const [name, { filter = [] }] of Object.entries<Any>(described.fields)) {
    assert.equal(filter.includes('eq'), parameters.includes(name), name)
    for (const parameter of parameters.filter((each: string) => each.startsWith(`${name}[`))) {
      assert.ok(filter.includes(parameter.slice(name.length + 1, -1)), parameter)
    }
  }
  assert.deepEqual(described.deletion, {
    ...{ variant: 'soft', grace_period: 30 * 86_400, restorable: true, bulk: 1000, by_filter: true },
  })
})

test('the document describes the response to unsupported methods', () => {
  assert.deepEqual(document['x-other-methods'], { $ref: '#/components/responses/ApiMethodNotAllowed' })
  assert.ok(document.components.responses.ApiMethodNotAllowed.headers.Allow)
})

test('a declaration decides the responses of a deletion, and whether it needs a condition', () => {
  const responses = (resource: Partial<ResourceDeclaration>): string[] => {
    const made = documentOf({ notes: { fields: {}, ...resource } })
    const { delete: deletion } = made.paths['/notes/{id}']
    return [...Object.keys(deletion.responses), ...codesOf(made, '/notes/{id}', 'delete')]
  }
  // Prefer can ask for either.
  assert.ok(responses({}).includes('204') && responses({}).includes('200'))
  assert.ok(!responses({ deletion: { repeated: 'no-content' } }).includes('NOT_FOUND'))
  assert.ok(!responses({}).includes('PRECONDITION_REQUIRED'))
  assert.ok(responses({ preconditions: 'required' }).includes('PRECONDITION_REQUIRED'))
})

test('PUT of a collection has the conditions that choose between creation and replacement (BLK-2)', () => {
  const names = document.paths['/tasks'].put.parameters.map(({ $ref = '' }: Any) => $ref.split('/').at(-1))
  for (const name of ['ApiIfNoneMatch', 'ApiIfMatch']) assert.ok(names.includes(name))
})

test('BLK-2, BLK-3: a change by filter without a body changes, and its operation takes an array too', () => {
  const { patch } = documentOf({ notes: { fields: {}, updates: { byFilter: true } } }).paths['/notes']
  assert.equal(patch.responses['204'].$ref, '#/components/responses/ApiChanged')
  assert.match(patch.description, /an array changes the records/)
})

test('the codes of business rules are conflicts; those of functions can be any', () => {
  const conflict = (rule: NonNullable<ResourceDeclaration['rules']>[number]): Any =>
    codesAt(documentOf({ notes: { fields: {}, rules: [rule] } }), '/notes', 'post', 409)
  const declared = { on: 'create', code: 'TOO_MANY', message: 'Enough.', unless: { none: 'notes', where: {} } } as const
  assert.deepEqual(conflict(declared), ['CONFLICT', 'IDEMPOTENCY_KEY_IN_USE', 'TOO_MANY'])
  assert.deepEqual(conflict({ on: 'create', check: () => undefined }), ['*', 'CONFLICT', 'IDEMPOTENCY_KEY_IN_USE'])
})

test('a deletion lists the codes of rules of all resources that it deletes from', () => {
  const stays = { on: 'delete', code: 'STAYS', message: 'It stays.', unless: { where: { done: true } } } as const
  const made = documentOf({
    projects: { fields: {} },
    tasks: { fields: { project_id: { reference: 'projects', onDelete: 'cascade' } } },
    notes: {
      fields: { done: { type: 'boolean' }, task_id: { reference: 'tasks', onDelete: 'cascade' } },
      rules: [stays],
    },
  })
  assert.ok(codesAt(made, '/projects/{id}', 'delete', 409).includes('STAYS'))
})

test('lists have no deleted records of a resource with hard deletion', () => {
  const made = documentOf({ notes: { fields: {}, deletion: { variant: 'hard' } } })
  assert.ok(!('deleted_at' in made.components.schemas.Note.properties))
  assert.ok(!JSON.stringify(made.paths['/notes'].get.parameters).includes('IncludeDeleted'))
})

test('operations of a deprecated version are marked from its date on; those outside of versions never', () => {
  const deprecated = (document: Any) =>
    Object.entries<Any>(document.paths).flatMap(([path, item]) => (item.get?.deprecated ? [path] : []))
  assert.deepEqual(deprecated(documentAt('v1', '2026-08-31')), [])
  assert.deepEqual(deprecated(documentAt('v2', '2030-01-01')), [])
  const paths = deprecated(versioned)
  assert.ok(paths.includes('/tasks/{id}') && paths.includes('/openapi.json') && !paths.includes('/health/live'))
})

test('the document of a version describes its server, its carriers, and the header fields of its end', () => {
  assert.deepEqual([versioned.servers, versioned.info.version], [[{ url: '/v1' }], 'v1'])
  assert.match(versioned.info.description, /version v1 of v1, v2.*deprecated.*From 2027-06-01T.* 410/s)
  const { get, post } = versioned.paths['/tasks']
  for (const name of ['ApiVersion', 'Version']) {
    assert.ok(
      get.parameters.some((each: Any) => each.$ref === `#/components/parameters/${name}`),
      name,
    )
    assert.equal(versioned.components.parameters[name].schema.const, 'v1')
  }
  const headers = versioned['x-headers'].authenticated
  for (const name of ['API-Version', 'Deprecation', 'Sunset', 'Link', 'Vary']) assert.ok(name in headers, name)
  const types = ['application/json', 'application/vnd.studio.v1+json']
  assert.deepEqual(Object.keys(versioned.components.responses.TaskPage.content), types)
  assert.deepEqual(Object.keys(post.requestBody.content), types)
  assert.ok(codesOf(versioned, '/tasks', 'get').includes('VERSION_RETIRED'))
  assert.ok(!codesOf(documentAt('v2', '2026-09-01'), '/tasks', 'get').includes('VERSION_RETIRED'))
})

test('PAG-2: parameters that exclude each other have no defaults, because generated clients would send them all', () => {
  const { ApiPage, ApiPerPage, ApiOffset, ApiLimit, ApiCursor } = document.components.parameters
  for (const { name, schema } of [ApiPage, ApiPerPage, ApiOffset, ApiLimit, ApiCursor]) {
    assert.equal(Object.hasOwn(schema, 'default'), false, name)
  }
  assert.deepEqual(
    [ApiPage, ApiPerPage, ApiLimit].map(({ schema }) => schema['x-default']),
    [1, 20, 20],
  )
})

test('HED-3: a part of a representation is bytes of the media type of the whole, and no JSON value', () => {
  const reads = Object.values<Any>(document.paths).flatMap((item) => item.get ?? [])
  assert.ok(reads.length > 5)
  for (const { operationId, responses, 'x-responses': more } of reads) {
    assert.equal(responses[206], undefined, operationId)
    const { $ref } = { ...document['x-ranges'].responses, ...more }[206]
    const { content } = document.components.responses[$ref.split('/').at(-1)]
    for (const { schema } of Object.values<Any>(content)) assert.deepEqual(schema, { type: 'string', format: 'binary' })
  }
})

test('MET-9: every operation that takes an Idempotency-Key documents how it refuses one', () => {
  const keyed = Object.values<Any>(document.paths).flatMap((item) =>
    Object.values<Any>(item).filter((operation) =>
      operation.parameters?.some(({ $ref }: Any) => $ref?.endsWith('/ApiIdempotencyKey')),
    ),
  )
  assert.ok(keyed.some(({ operationId }) => operationId.startsWith('restore')))
  for (const { operationId, 'x-problems': listed } of keyed) {
    for (const code of ['INVALID_IDEMPOTENCY_KEY', 'IDEMPOTENCY_KEY_REUSED']) {
      assert.ok([...document['x-problems'].methods.post, ...listed].includes(code), `${operationId} ${code}`)
    }
  }
})

test('DOC-6: no property of a request has a `default`, also not inside of objects', () => {
  const color = { type: 'string', default: 'red' }
  const made = documentOf({
    notes: { fields: { kind: { enum: ['a', 'b'], default: 'a' }, look: { type: 'object', properties: { color } } } },
  })
  assert.doesNotMatch(JSON.stringify(made), /"default":/)
  const { NoteCreate, NotePatch } = made.components.schemas
  assert.equal(NoteCreate.properties.kind['x-default'], 'a')
  assert.equal(NoteCreate.properties.look.properties.color['x-default'], 'red')
  assert.equal(NotePatch.properties.kind['x-default'], undefined)
})

test('DOC-6: the text of a document has a line for each operation, and is the same document', () => {
  const text = openApiText(document)
  assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(document)))
  assert.equal(text.split('\n').filter((line) => line.includes('"operationId":"listTasks"')).length, 1)
})

test('DOC-6: no response is a union of what the request decides', () => {
  const operations = Object.values<Any>(document.paths).flatMap((item) =>
    ['get', 'post', 'put', 'patch', 'delete'].flatMap((method) => item[method] ?? []),
  )
  for (const { operationId, responses } of operations) {
    for (const [status, each] of Object.entries<Any>(responses)) {
      const { content = {} } = each.$ref ? document.components.responses[each.$ref.split('/').at(-1)] : each
      const { schema = {} } = content['application/json'] ?? {}
      const { type, anyOf, oneOf } = schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)] : schema
      assert.deepEqual([anyOf, oneOf, Array.isArray(type)], [undefined, undefined, false], `${operationId} ${status}`)
    }
  }
})

test('DOC-1: operation ids are unique for a collection without a singular too', () => {
  const { paths } = documentOf({ news: { fields: { text: { type: 'string' } }, deletion: { byFilter: true } } })
  const operations = Object.values<Any>(paths).flatMap((item) =>
    Object.values<Any>(item).flatMap(({ operationId }) => operationId ?? []),
  )
  assert.ok(operations.includes('deleteMatchingNews'))
  assert.deepEqual([...new Set(operations)], operations)
})

test('AUT-2: the document names the credentials that its server accepts', () => {
  const catalog = completeCatalog({ name: 'notes', resources: { notes: { fields: {} } } })
  const described = (credentials?: Credentials) => {
    const { security, components } = openApiDocument(catalog, credentials && { credentials }) as Described
    return [security, components.securitySchemes.bearer.description]
  }
  const jwt = { issuer: 'https://id.example.org', audience: 'notes' }
  const bearer = [{ bearer: [] }]
  const [key, sent] = ['An API key', 'sent as Authorization: Bearer.']
  assert.deepEqual(described(), [bearer, `${key} or, if the server is configured for an issuer, a JWT; ${sent}`])
  assert.deepEqual(described({ jwt: undefined, hasOwn: false }), [bearer, `${key}; ${sent}`])
  assert.deepEqual(described({ jwt, hasOwn: true }), [
    [...bearer, {}],
    `${key}, or a JWT of https://id.example.org for the audience notes; ${sent}`,
  ])
})

interface Described {
  readonly security: unknown
  readonly components: { readonly securitySchemes: { readonly bearer: { readonly description: string } } }
}

const workshopVersions = completeVersions(workshop)

test('the document of five collections is printed in at most 165,000 bytes', () => {
  const { size } = workshopVersions.stored.resources
  const bytes = Buffer.byteLength(openApiText(openApiDocument(workshopVersions.stored, { versions: workshopVersions })))
  assert.equal(size, 5)
  assert.ok(bytes <= 165_000, `${bytes} bytes`)
  assert.ok(bytes > 120_000, `${bytes} bytes: the declaration is no longer one of the usual size`)
})
