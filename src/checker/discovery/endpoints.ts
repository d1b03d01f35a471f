/** What an OpenAPI document says about addresses and methods. */

import { isObject, type JsonObject, objectOf } from '../values/json.ts'
import { followed } from './document.ts'

/** A parameter. */
export interface Parameter {
  readonly name: string
  /** `query`, `header`, `path`. */
  readonly in: string
  readonly required: boolean
  readonly description: string
  readonly schema: JsonObject
}

/** A method of an address. */
export interface Endpoint {
  /** In capitals. */
  readonly method: string
  readonly parameters: readonly Parameter[]
  /** What it takes, where that is JSON: a media type object. */
  readonly body?: JsonObject | undefined
  /** Responses by status. */
  readonly responses: Readonly<Record<string, JsonObject>>
  /** Whether it says that no credential is needed. */
  readonly isOpen: boolean
}

/** An address, and its methods. */
export interface Address {
  /** As written: `/cities/{id}`, without a slash at the end. */
  readonly path: string
  readonly isSlashed: boolean
  /** Where its paths begin, where it says so for itself. */
  readonly servers: readonly string[]
  readonly endpoints: ReadonlyMap<string, Endpoint>
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

/** All addresses of a document. */
export function addressesOf(root: JsonObject): Address[] {
  return Object.entries(objectOf(root['paths'])).flatMap(([path, value]) => {
    const item = followed(root, value)
    const shared = parametersOf(root, item['parameters'])
    const endpoints = methods.flatMap((method) =>
      isObject(item[method]) ? [[method.toUpperCase(), endpointOf(root, method, item[method], shared)] as const] : [],
    )
    const bare = path.replace(/\/+$/, '')
    return [{ path: bare, isSlashed: path !== bare, servers: serversOf(item), endpoints: new Map(endpoints) }]
  })
}

/** The addresses of servers, with variables as their defaults. */
export function serversOf(holder: JsonObject): string[] {
  return (Array.isArray(holder['servers']) ? holder['servers'] : []).flatMap((each) => {
    const { url, variables } = objectOf(each)
    if (typeof url !== 'string') return []
    return [url.replace(/\{([^{}]*)\}/g, (_, name) => String(objectOf(objectOf(variables)[name])['default'] ?? ''))]
  })
}

function endpointOf(root: JsonObject, method: string, value: JsonObject, shared: readonly Parameter[]): Endpoint {
  const own = parametersOf(root, value['parameters'])
  const inherited = shared.filter((each) => !own.some((one) => one.name === each.name && one.in === each.in))
  const responses = Object.entries(objectOf(value['responses'])).map(([status, each]) => [status, followed(root, each)])
  const security = value['security'] ?? root['security']
  return {
    method: method.toUpperCase(),
    parameters: [...inherited, ...own],
    body: jsonMedia(followed(root, value['requestBody'])),
    responses: Object.fromEntries(responses),
    isOpen: Array.isArray(value['security']) && Array.isArray(security) && security.length === 0,
  }
}

function parametersOf(root: JsonObject, value: unknown): Parameter[] {
  return (Array.isArray(value) ? value : []).flatMap((each) => {
    const { name, in: place, required, description, schema, content } = followed(root, each)
    if (typeof name !== 'string' || typeof place !== 'string') return []
    const held = schema ?? objectOf(Object.values(objectOf(content))[0])['schema']
    const text = typeof description === 'string' ? description : ''
    return [{ name, in: place, required: required === true, description: text, schema: followed(root, held) }]
  })
}

/** The media type object of JSON in a request body or a response. */
export function jsonMedia({ content }: JsonObject): JsonObject | undefined {
  const all = Object.entries(objectOf(content))
  const found =
    all.find(([type]) => /^application\/(?:problem\+)?json\b/i.test(type)) ?? all.find(([type]) => /json/i.test(type))
  return found && objectOf(found[1])
}

/** What a success holds: the schema of the first 2xx response that has JSON. */
export function successSchema({ responses }: Endpoint): unknown {
  for (const status of ['200', '201', '2XX', 'default']) {
    const schema = responses[status] && jsonMedia(responses[status])?.['schema']
    if (schema !== undefined) return schema
  }
  return undefined
}
