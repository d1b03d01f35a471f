/** Reads OpenAPI documents (3.0 and 3.1): follows references, joins schemas, and lists endpoints. */
import { CannotCheck } from '../profile/profile.ts'
import { isObject, type JsonObject, objectOf, valueAt } from '../values/json.ts'
import { parseText } from '../values/openapi.ts'

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

/** An operation of a path. */
export interface Endpoint {
  readonly parameters: readonly Parameter[]
  /** Media type object of its JSON body. */
  readonly body?: JsonObject | undefined
  /** Response objects by status. */
  readonly responses: Readonly<Record<string, JsonObject>>
  /** Whether the document says that it needs no credential. */
  readonly isOpen: boolean
}

/** A path of a document. */
export interface Path {
  /** As written, without a slash at its end: `/cities/{id}`. */
  readonly path: string
  /** Whether it is written with a slash at its end. */
  readonly hasSlash: boolean
  /** The path item object. */
  readonly item: JsonObject
  /** By method, in capitals. */
  readonly endpoints: ReadonlyMap<string, Endpoint>
}

// The documents of the largest public interfaces have about 12 million characters.
const mostCharacters = 20_000_000

/**
 * Reads a document in JSON or YAML; `undefined` if the text is no OpenAPI document.
 *
 * @throws CannotCheck if it is a document of an unsupported version
 */
export function readDocument(text: string, where: string): JsonObject | undefined {
  if (text.length > mostCharacters || !/["']?(?:openapi|swagger)["']?\s*:/.test(text)) return undefined
  const root = parseText(text.replace(/^\uFEFF/, ''))
  if (!isObject(root)) return undefined
  if (typeof root['swagger'] === 'string') {
    throw new CannotCheck(
      `${where} is Swagger ${root['swagger']}. Convert it to OpenAPI 3.0 or 3.1, and give the result with --openapi.`,
    )
  }
  return /^3\./.test(String(root['openapi'] ?? '')) && isObject(root['paths']) ? root : undefined
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
    const properties = isObject(found['properties']) ? Object.entries(found['properties']) : undefined
    return {
      ...found,
      ...(properties && {
        properties: Object.fromEntries(properties.map(([name, each]) => [name, expand(each, depth + 1)])),
      }),
      ...(isObject(found['items']) && { items: expand(found['items'], depth + 1) }),
    }
  }
  const resolveAll = (value: unknown) => (Array.isArray(value) ? value.map((each) => resolve(root, each)) : [])
  const joined = ({ allOf, anyOf, oneOf, ...own }: JsonObject, depth: number): JsonObject => {
    if (depth > deepest) return own
    const branches = [anyOf, oneOf].flatMap((each) => {
      const some = resolveAll(each).filter(({ type }) => type !== 'null')
      return alternatives === 'all' ? some : some.slice(0, 1)
    })
    return [...resolveAll(allOf), ...branches].reduce<JsonObject>(
      (whole, each) => merged(whole, joined(each, depth + 1)),
      own,
    )
  }
  return expand(schema, 0)
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

/** All paths of a document. */
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
    return [{ name, in: place, required: required === true, description: text, schema: resolve(root, held) }]
  })
}

/** The JSON media type object of a request body or a response. */
function jsonMedia({ content }: JsonObject): JsonObject | undefined {
  const all = Object.entries(objectOf(content))
  const found =
    all.find(([type]) => /^application\/(?:problem\+)?json\b/i.test(type)) ?? all.find(([type]) => /json/i.test(type))
  return found && objectOf(found[1])
}

/** The schema of the first response with one of these statuses that has a JSON body. */
function responseSchema({ responses }: Endpoint, statuses: readonly string[]): unknown {
  return statuses.map((each) => responses[each] && jsonMedia(responses[each])?.['schema']).find((each) => each)
}

/** The schema of the JSON body of a successful response. */
export function successSchema(endpoint: Endpoint): unknown {
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
