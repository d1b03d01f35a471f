/**
 * Reads OpenAPI documents (3.0, 3.1 and Swagger 2.0): follows references, joins schemas, lists endpoints, and finds the
 * collections that a document describes.
 */

import type { Exchange } from '../client/exchange.ts'
import { plainDocument, plainSchema } from '../client/json-api.ts'
import type { Names, Operation, Slash } from '../profile/profile.ts'
import { isObject, type JsonObject, mapMembers, objectOf, valueAt, without } from '../values/json.ts'
import { parseText } from '../values/openapi.ts'
import { isListParameter } from './query-names.ts'
import { convertSwagger } from './swagger.ts'

/** A document, with its address if it has one. */
export interface Document {
  readonly root: JsonObject
  readonly url?: string | undefined
}

export interface Parameter {
  readonly name: string
  /** `query`, `header` or `path`. */
  readonly in: string
  readonly required: boolean
  readonly description: string
  readonly schema: JsonObject
}

interface Endpoint {
  readonly parameters: readonly Parameter[]
  /** Media type object of its JSON body. */
  readonly body?: JsonObject | undefined
  /** Response objects by status. */
  readonly responses: Readonly<Record<string, JsonObject>>
  /** Whether the document says that it needs no credential. */
  readonly isOpen: boolean
}

interface Path {
  /** As written, without a slash at its end: `/cities/{id}`. */
  readonly path: string
  readonly hasSlash: boolean
  readonly item: JsonObject
  /** By method, in capitals. */
  readonly endpoints: ReadonlyMap<string, Endpoint>
}

// The documents of the largest public interfaces have about 12 million characters.
const mostCharacters = 20_000_000

/** Reads a document in JSON or YAML; `undefined` if the text is no OpenAPI document of a supported version. */
export function readDocument(text: string): JsonObject | undefined {
  if (text.length > mostCharacters || !/["']?(?:openapi|swagger)["']?\s*:/.test(text)) return undefined
  const root = parseText(text.replace(/^\uFEFF/, ''))
  if (!isObject(root)) return undefined
  if (!isObject(root['paths'])) return undefined
  if (/^2(?:\.0)?$/.test(String(root['swagger'] ?? ''))) return convertSwagger(root)
  return /^3\./.test(String(root['openapi'] ?? '')) ? withHoisted(root) : undefined
}

/**
 * The document with the `$defs` of its schemas also where references look for them that begin at the root of the
 * document: generators put a schema into another one and leave its references as they are.
 */
function withHoisted(root: JsonObject): JsonObject {
  const hoisted: Record<string, unknown> = {}
  const collect = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { $defs } = node as { $defs?: unknown }
    if (isObject($defs)) Object.assign(hoisted, { ...$defs, ...hoisted })
    for (const each of Object.values(node)) collect(each)
  }
  collect(root['paths'])
  collect(root['components'])
  if (Object.keys(hoisted).length === 0) return root
  const components = objectOf(root['components'])
  return {
    ...root,
    $defs: { ...hoisted, ...objectOf(root['$defs']) },
    components: { ...components, schemas: { ...hoisted, ...objectOf(components['schemas']) } },
  }
}

/** The target of a reference; other values unchanged. References that lead nowhere or in a circle are empty objects. */
export function resolve(root: JsonObject, value: unknown): JsonObject {
  let found = value
  for (let count = 0; isObject(found) && typeof found['$ref'] === 'string'; count++) {
    const { $ref, ...siblings } = found as { $ref: string }
    const target = $ref.startsWith('#') && count < 30 ? valueAt(root, decoded($ref.slice(1))) : undefined
    if (!isObject(target)) return {}
    found = { ...target, ...siblings }
  }
  return objectOf(found)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const deepest = 10
// A small document may stand for an unlimited number of schemas.
const mostSchemas = 4_000

/**
 * A schema without references, `allOf` and alternatives. Schemas that are nested too deeply are cut off.
 *
 * @param alternatives whether the first of `anyOf` and `oneOf` counts, or all of them together
 */
export function expandSchema(root: JsonObject, schema: unknown, alternatives: 'first' | 'all' = 'first'): JsonObject {
  let left = mostSchemas
  const expand = (value: unknown, depth: number): JsonObject => {
    if (depth > deepest || --left < 0) return {}
    const found = joined(resolve(root, value), 0)
    const { properties, items } = found
    return {
      ...found,
      ...(isObject(properties) && { properties: mapMembers(properties, (each) => expand(each, depth + 1)) }),
      ...(isObject(items) && { items: expand(items, depth + 1) }),
    }
  }
  const resolveAll = (value: unknown) => (Array.isArray(value) ? value.map((each) => resolve(root, each)) : [])
  const joined = ({ allOf, anyOf, oneOf, ...own }: JsonObject, depth: number): JsonObject => {
    if (depth > deepest) return own
    const values = choicesIn([anyOf, oneOf].flatMap(resolveAll))
    if (values !== undefined) return { ...own, type: typeof values[0], enum: values }
    const branches = [anyOf, oneOf].flatMap((each) => {
      // Some libraries take a number in a text, too: {"anyOf": [{"type": "string", "format": "integer"}, …]}.
      const isInText = ({ type, format }: JsonObject) =>
        type === 'string' && /^(?:integer|number|numeric|boolean)$/.test(String(format))
      const all = resolveAll(each).filter(({ type }) => type !== 'null')
      const some = all.toSorted((left, right) => Number(isInText(left)) - Number(isInText(right)))
      return alternatives === 'all' ? some : some.slice(0, 1)
    })
    return [...resolveAll(allOf), ...branches].reduce<JsonObject>(
      (whole, each) => merged(whole, joined(each, depth + 1)),
      own,
    )
  }
  return expand(schema, 0)
}

/** The values of alternatives that are single values, as some libraries write an enumeration. */
function choicesIn(branches: readonly JsonObject[]): readonly unknown[] | undefined {
  const some = branches.filter(({ type }) => type !== 'null')
  const all = some.map((each) => ('const' in each ? [each['const']] : each['enum']))
  return some.length > 0 && all.every(Array.isArray) ? all.flat() : undefined
}

function merged(left: JsonObject, right: JsonObject): JsonObject {
  const own = objectOf(left['properties'])
  const properties = { ...own, ...objectOf(right['properties']), ...own }
  const required = [left['required'], right['required']].flatMap((each) => (Array.isArray(each) ? each : []))
  return {
    ...right,
    ...left,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  }
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

export function pathsOf(root: JsonObject): Path[] {
  return Object.entries(objectOf(root['paths'])).map(([path, value]) => {
    const item = resolve(root, value)
    const shared = parametersOf(root, item['parameters'])
    const endpoints = methods.flatMap((method) =>
      isObject(item[method]) ? [[method.toUpperCase(), endpointOf(root, item[method], shared)] as const] : [],
    )
    const bare = path.replace(/\/+$/, '')
    return { path: bare, hasSlash: path !== bare, item, endpoints: new Map(endpoints) }
  })
}

function endpointOf(root: JsonObject, value: JsonObject, shared: readonly Parameter[]): Endpoint {
  const own = parametersOf(root, value['parameters'])
  const inherited = shared.filter((each) => !own.some((one) => one.name === each.name && one.in === each.in))
  const responses = Object.entries(objectOf(value['responses'])).map(([status, each]) => [status, resolve(root, each)])
  return {
    parameters: [...inherited, ...own],
    body: jsonMedia(resolve(root, value['requestBody'])),
    responses: Object.fromEntries(responses),
    isOpen: Array.isArray(value['security']) && value['security'].length === 0,
  }
}

function parametersOf(root: JsonObject, value: unknown): Parameter[] {
  return (Array.isArray(value) ? value : []).flatMap((each) => {
    const { name, in: place, required, description, schema, content } = resolve(root, each)
    if (typeof name !== 'string' || typeof place !== 'string') return []
    const held = schema ?? objectOf(Object.values(objectOf(content))[0])['schema']
    const text = typeof description === 'string' ? description : ''
    return [{ name, in: place, required: required === true, description: text, schema: expandSchema(root, held) }]
  })
}

/** The JSON media type object of a request body or a response. */
function jsonMedia({ content }: JsonObject): JsonObject | undefined {
  const all = Object.entries(objectOf(content))
  const found =
    all.find(([type]) => /^application\/(?:problem\+)?json\b/i.test(type)) ??
    all.find(([type]) => /json/i.test(type)) ??
    all.find(([type]) => /^(?:application|\*)\/\*/.test(type))
  return found && objectOf(found[1])
}

/** The schema of the first response with one of these statuses that has a JSON body. */
function responseSchema({ responses }: Endpoint, statuses: readonly string[]): unknown {
  return statuses.map((each) => responses[each] && jsonMedia(responses[each])?.['schema']).find((each) => each)
}

/** The schema of the JSON body of a successful response. */
function successSchema(endpoint: Endpoint): unknown {
  return responseSchema(endpoint, ['200', '201', '2XX', 'default'])
}

/** The schemas of the errors of the first endpoint that has any. */
export function errorSchemas(root: JsonObject): JsonObject[] {
  for (const { endpoints } of pathsOf(root)) {
    for (const endpoint of endpoints.values()) {
      const found = ['400', '422', '404', '4XX', 'default'].flatMap((each) => responseSchema(endpoint, [each]) ?? [])
      if (found.length > 0) return found.map((each) => expandSchema(root, each, 'all'))
    }
  }
  return []
}

/** A collection that may be checked. Each step of discovery adds what it finds out. */
export interface Candidate {
  readonly name: string
  /** Path from the base, after the base is known. */
  readonly path: string
  readonly operations: readonly Operation[]
  /** Schemas without references: a body that creates, a body that changes, a record, and a list in its envelope. */
  readonly creation?: JsonObject | undefined
  readonly changing?: JsonObject | undefined
  readonly record?: JsonObject | undefined
  readonly list?: JsonObject | undefined
  /** Body that the document shows, or record that a list showed. */
  readonly example?: JsonObject | undefined
  /** Query parameters of the list. */
  readonly query: readonly Parameter[]
  /** Query parameters that restrict a deletion by filter. */
  readonly deletionFilters?: readonly string[] | undefined
  /** Name of the identifier in the path of a record, or in records that a list showed. */
  readonly idName?: string | undefined
  /** Last segments of the paths of lists below its records. */
  readonly children: readonly string[]
  /** Statuses of successful deletions. */
  readonly deletionAnswers: readonly number[]
  readonly isConditional: boolean
  readonly slashes: readonly Slash[]
  /** Names that differ from those of the other collections. */
  readonly names?: Partial<Names> | undefined
  readonly listed?: ListResponse | undefined
}

export interface ListResponse {
  readonly exchange: Exchange
  /** Where the response holds records, total and cursors; `undefined` if it is no list. */
  readonly names?: Partial<Names> | undefined
  /** The first record, and all records. */
  readonly first?: JsonObject | undefined
  readonly items?: readonly JsonObject[] | undefined
}

/** A candidate of which only its path is known, and perhaps a name that a user gave it. */
export function bareCandidate(path: string, name = path.split('/').at(-1) ?? ''): Candidate {
  return {
    ...{ name, path, operations: [], query: [], children: [], deletionAnswers: [] },
    ...{ isConditional: false, slashes: [] },
  }
}

/** Whether a user means this candidate by a name or a path. */
export function isCalled({ name, path }: Pick<Candidate, 'name' | 'path'>, called: string): boolean {
  const bare = called.replace(/^\//, '')
  return name === bare || path === `/${bare}`
}

/** The collections of a document: paths with a path of single records below, and paths of lists. */
export function candidatesIn(root: JsonObject): Candidate[] {
  const paths = pathsOf(root).filter(({ path }) => path !== '')
  return paths.flatMap((each) => {
    if (each.path.includes('{') || /\/bulk-delete$/.test(each.path)) return []
    const item = paths.find(({ path }) => /^\/\{[^/]*\}$/.test(rest(path, each.path)))
    return candidateAt(root, each, item, paths) ?? []
  })
}

function rest(path: string, start: string): string {
  return path.startsWith(start) ? path.slice(start.length) : ''
}

function candidateAt(
  root: JsonObject,
  { path, endpoints, hasSlash }: Path,
  item: Path | undefined,
  paths: readonly Path[],
): Candidate | undefined {
  const [get, post] = [endpoints.get('GET'), endpoints.get('POST')]
  const [read, patch, remove] = ['GET', 'PATCH', 'DELETE'].map((method) => item?.endpoints.get(method))
  const items = get && itemsIn(expandSchema(root, successSchema(get)))
  if (item === undefined ? items === undefined : get === undefined && post === undefined) return undefined
  // A search of another collection, which has no records of its own.
  const isSearch = get?.parameters.some((each) => each.in === 'query' && each.required) === true
  if (item === undefined && post === undefined && isSearch) return undefined
  const document = post?.body && expandSchema(root, post.body['schema'])
  const creation = document && plainSchema(document)
  const change = patch ?? item?.endpoints.get('PUT')
  const recordSchema = (read && successSchema(read)) ?? items?.schema ?? (post && successSchema(post))
  const deletionFilters = (endpoints.get('DELETE')?.parameters ?? []).flatMap(({ in: place, name }) =>
    place === 'query' && !isListParameter(name) ? [name] : [],
  )
  const offers = (at: string, method: string) => paths.find((each) => each.path === at)?.endpoints.has(method) === true
  const offered: readonly (readonly [Operation, boolean])[] = [
    ['list', get !== undefined],
    ['create', post !== undefined],
    ['read', read !== undefined],
    ['replace', item?.endpoints.has('PUT') === true],
    ['update', patch !== undefined],
    ['delete', remove !== undefined],
    ['restore', item !== undefined && offers(`${item.path}/restore`, 'POST')],
    ['bulk-delete', offers(`${path}/bulk-delete`, 'POST')],
    ['delete-by-filter', deletionFilters.length > 0],
  ]
  return {
    ...bareCandidate(path),
    operations: offered.flatMap(([operation, isOffered]) => (isOffered ? [operation] : [])),
    ...{ creation, example: post?.body && plainExample(exampleIn(post.body, document ?? {})) },
    changing: change?.body && plainSchema(expandSchema(root, change.body['schema'])),
    record: recordSchema === undefined ? undefined : plainSchema(withoutEnvelope(expandSchema(root, recordSchema))),
    list: get && expandSchema(root, successSchema(get), 'all'),
    query: (get?.parameters ?? []).filter((each) => each.in === 'query'),
    slashes: [...(hasSlash ? ['collection' as const] : []), ...(item?.hasSlash ? ['record' as const] : [])],
    ...{ deletionFilters, idName: item && /\{([^/]*)\}$/.exec(item.path)?.[1] },
    children: item === undefined ? [] : childrenOf(item.path, paths),
    deletionAnswers: Object.keys(remove?.responses ?? {}).flatMap((status) =>
      /^2\d\d$/.test(status) ? [Number(status)] : [],
    ),
    isConditional: [patch, remove].some((each) => each !== undefined && needsCondition(each)),
  }
}

/** A record, if it stands alone as an object in an envelope. */
function withoutEnvelope(schema: JsonObject): JsonObject {
  const properties = objectOf(schema['properties'])
  const objects = Object.values(properties).filter((each) => objectOf(each)['properties'])
  return objects.length === 1 && 'data' in properties ? objectOf(objects[0]) : schema
}

function needsCondition({ parameters, responses }: Endpoint): boolean {
  return '428' in responses || parameters.some(({ name, required }) => required && name.toLowerCase() === 'if-match')
}

function childrenOf(path: string, paths: readonly Path[]): string[] {
  return paths.flatMap((each) => {
    const found = /^\/([^/{}]+)$/.exec(rest(each.path, path))
    return found !== null && each.endpoints.has('GET') ? [found[1] as string] : []
  })
}

/** Where the schema of a list holds records, and the schema of a record. */
export function itemsIn(list: JsonObject): { readonly pointer: string; readonly schema: JsonObject } | undefined {
  if (isObject(list['items'])) return { pointer: '', schema: list['items'] }
  for (const [name, value] of Object.entries(objectOf(list['properties']))) {
    const { items, properties } = objectOf(value)
    if (isObject(items) && (items['properties'] !== undefined || items['type'] === 'object')) {
      return { pointer: `/${name}`, schema: items }
    }
    const inner = name === '_embedded' && properties !== undefined ? itemsIn(objectOf(value)) : undefined
    if (inner !== undefined) return { pointer: `/${name}${inner.pointer}`, schema: inner.schema }
  }
  return undefined
}

/** An example as it is, or the record of a document of JSON:API. */
function plainExample(example: JsonObject | undefined): JsonObject | undefined {
  const { data } = objectOf(plainDocument(example))
  return isObject(data) && isObject(objectOf(example?.['data'])['attributes']) ? without(data, ['id']) : example
}

function exampleIn(media: JsonObject, schema: JsonObject): JsonObject | undefined {
  const all = [
    media['example'],
    ...Object.values(objectOf(media['examples'])).map((each) => objectOf(each)['value']),
    ...(Array.isArray(schema['examples']) ? schema['examples'] : []),
    schema['example'],
  ]
  return all.find((each): each is JsonObject => isObject(each) && Object.keys(each).length > 0)
}
