/** Reads an OpenAPI document as the operations that clients can send, independent of how the document writes them. */
import { canonicalJson, isObject } from 'resourced-contract/model/plain-copy'
import { child, type Document, DocumentError, follow, items, members, type Part } from './openapi-document.ts'
import { withProblems } from './read-problems.ts'

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  /** How its value is written: style and explode, defaults filled in. */
  readonly written: string
  readonly schema: Part | undefined
  readonly pointer: string
}

export interface Body {
  /** Schemas by media type; `undefined`: anything of that type. */
  readonly content: ReadonlyMap<string, Part | undefined>
  readonly required: boolean
  readonly pointer: string
}

/** A response: its body, and header fields by lower-case name. */
export interface Answer extends Body {
  readonly headers: ReadonlyMap<string, { readonly name: string; readonly schema: Part | undefined; pointer: string }>
}

export interface Operation {
  /** Equal in both documents for the same method and address: the names of path parameters make no difference. */
  readonly key: string
  /** `GET /v1/tasks/{id}` */
  readonly name: string
  readonly method: string
  /** With the path of the server before it. */
  readonly path: string
  /** The first segment of the path where it is a version; otherwise the version of the document. */
  readonly version: string
  readonly resource: string
  readonly deprecated: boolean
  /** By place and name. */
  readonly parameters: ReadonlyMap<string, Parameter>
  readonly body: Body | undefined
  /** By status, range of statuses (`2XX`) or `default`. */
  readonly answers: ReadonlyMap<string, Answer>
  /** Alternatives, each a set of what the caller needs. */
  readonly security: readonly ReadonlySet<string>[]
  readonly pointer: string
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/**
 * The operations of a document, by key.
 *
 * @param version the version of operations whose paths have none
 * @throws DocumentError where a reference leads nowhere
 */
export function operationsOf(document: Document, version = ''): Map<string, Operation> {
  const found = new Map<string, Operation>()
  for (const [path, item] of members(child(document.root, 'paths'))) {
    if (!path.startsWith('/')) continue
    const shared = follow(document, item)
    for (const method of methods) {
      const part = child(shared, method)
      if (part === undefined) continue
      if (!isObject(part.value)) throw new DocumentError(part.pointer, 'must be an object.')
      const operation = operationOf(document, { method, path, version }, part, shared)
      if (!found.has(operation.key)) found.set(operation.key, operation)
    }
  }
  return found
}

interface Address {
  readonly method: string
  readonly path: string
  readonly version: string
}

function operationOf(document: Document, address: Address, part: Part, shared: Part): Operation {
  // The path item and the document supply what the operation omits.
  const nearest = (key: string) => child(part, key) ?? child(shared, key) ?? child(document.root, key)
  const path = basePath(nearest('servers')) + address.path
  const method = address.method.toUpperCase()
  const first = path.split('/')[1] ?? ''
  const version = /^v\d+(?:\.\d+)*$/.test(first) ? first : address.version
  const tag = items(child(part, 'tags'))[0]?.value
  const names = path.split('/').filter((segment) => segment !== '' && segment !== version && !segment.startsWith('{'))
  const body = child(part, 'requestBody')
  return {
    key: `${method} ${path.replaceAll(/\{[^{}]*\}/g, '{}')} ${version === first ? '' : version}`,
    name: `${method} ${path}`,
    method,
    path,
    version,
    resource: typeof tag === 'string' ? tag : (names[0] ?? '/'),
    deprecated: isTrue(part, 'deprecated'),
    // Parameters of the operation replace those of the path item.
    parameters: parametersOf(document, path, [
      ...['parameters', 'x-parameters'].flatMap((key) => [shared, part].flatMap((each) => items(child(each, key)))),
      ...items(child(rangesOf(document, address), 'parameters')),
    ]),
    body: body && bodyOf(document, body),
    answers: answersOf(document, address, part),
    security: securityOf(document, nearest('security')),
    pointer: part.pointer,
  }
}

/** What the document says of every GET (`x-ranges`). */
function rangesOf({ root }: Document, { method }: Address): Part | undefined {
  return method === 'get' ? child(root, 'x-ranges') : undefined
}

function answersOf(document: Document, address: Address, part: Part): Map<string, Answer> {
  const parts = [
    ...members(child(rangesOf(document, address), 'responses')),
    ...['responses', 'x-responses'].flatMap((key) => members(child(part, key))),
  ]
  const answers = new Map(
    parts
      .filter(([status]) => /^(?:\d{3}|[1-5]XX|default)$/i.test(status))
      .map(([status, each]) => [status.toUpperCase(), answerOf(document, each)]),
  )
  return withProblems(document, { part, method: address.method }, answers)
}

function isTrue(part: Part, key: string): boolean {
  return child(part, key)?.value === true
}

/** The path of the first server, without a slash at its end. Hosts differ between installations. */
function basePath(servers: Part | undefined): string {
  const server = items(servers)[0]
  const url = child(server, 'url')?.value
  if (typeof url !== 'string') return ''
  const filled = url.replaceAll(/\{([^{}]*)\}/g, (_, name: string) =>
    String(child(child(child(server, 'variables'), name), 'default')?.value ?? name),
  )
  const [, path = ''] = /^(?:[a-z][a-z0-9+.-]*:)?(?:\/\/[^/?#]*)?([^?#]*)/i.exec(filled) ?? []
  let end = path.length
  while (path[end - 1] === '/') end--
  return path.slice(0, end)
}

// OpenAPI ignores parameters with these names (OpenAPI 3.1, section 4.8.12.1).
const notParameters = ['accept', 'content-type', 'authorization']

function parametersOf(document: Document, path: string, parts: readonly Part[]): Map<string, Parameter> {
  const inPath = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name ?? '')
  const found = new Map<string, Parameter>()
  for (const each of parts) {
    const part = follow(document, each)
    const name = child(part, 'name')?.value
    const place = child(part, 'in')?.value
    if (typeof name !== 'string' || typeof place !== 'string') continue
    if (place === 'header' && notParameters.includes(name.toLowerCase())) continue
    const key = place === 'path' ? String(inPath.indexOf(name)) : place === 'header' ? name.toLowerCase() : name
    found.set(`${place} ${key}`, {
      name,
      in: place,
      required: isTrue(part, 'required') || place === 'path',
      written: writtenAs(part, place),
      schema: child(part, 'schema') ?? [...contentOf(document, part).values()][0],
      pointer: part.pointer,
    })
  }
  return found
}

function writtenAs(part: Part, place: string): string {
  const [type] = members(child(part, 'content'))[0] ?? []
  if (type !== undefined) return mediaType(type)
  const style = child(part, 'style')?.value ?? (place === 'query' || place === 'cookie' ? 'form' : 'simple')
  const explode = child(part, 'explode')?.value ?? style === 'form'
  return `style ${String(style)}, ${explode === true ? 'exploded' : 'not exploded'}`
}

function bodyOf(document: Document, part: Part): Body {
  const body = follow(document, part)
  return { required: isTrue(body, 'required'), content: contentOf(document, body), pointer: body.pointer }
}

function answerOf(document: Document, part: Part): Answer {
  const headers = [...members(child(follow(document, part), 'headers')), ...commonHeaders(document)].map(
    ([name, each]) => {
      const header = follow(document, each)
      return [name.toLowerCase(), { name, schema: child(header, 'schema'), pointer: header.pointer }] as const
    },
  )
  return { ...bodyOf(document, part), headers: new Map(headers.filter(([name]) => name !== 'content-type')) }
}

/** The header fields that every response can have (`x-headers`). */
function commonHeaders(document: Document): [name: string, part: Part][] {
  return members(child(document.root, 'x-headers')).flatMap(([, fields]) => members(fields))
}

function contentOf(document: Document, part: Part): Map<string, Part | undefined> {
  const types = ['content', 'x-content'].flatMap((key) => members(child(part, key)))
  return new Map(types.map(([type, each]) => [mediaType(type), child(follow(document, each), 'schema')]))
}

/** Parameters such as `charset=utf-8` do not make another media type. */
function mediaType(type: string): string {
  return (type.split(';')[0] ?? '').trim().toLowerCase()
}

const mostSecurity = 100

/**
 * What callers need: alternatives, each a set. A scheme is identified by its definition, not by its name in the
 * document. No declaration, and an empty requirement, mean that no credential is needed.
 */
function securityOf(document: Document, part: Part | undefined): ReadonlySet<string>[] {
  const schemes = child(child(document.root, 'components'), 'securitySchemes')
  const alternatives = items(part).map((requirement) => {
    const needs = members(requirement).flatMap(([name, scopes]) => {
      const scheme = child(schemes, name)
      const known = scheme === undefined ? name : schemeText(follow(document, scheme).value, name)
      return [known, ...items(scopes).map(({ value }) => `${known} with scope ${String(value)}`)]
    })
    return new Set(needs)
  })
  const different = [...new Map(alternatives.map((needs) => [[...needs].sort().join('\n'), needs])).values()]
  if (different.length > mostSecurity) {
    throw new DocumentError(part?.pointer ?? '', `names more than ${mostSecurity} ways to authenticate.`)
  }
  return different.length === 0 ? [new Set()] : different
}

function schemeText(value: unknown, name: string): string {
  if (!isObject(value)) return name
  const { type, scheme, name: field, in: place, flows, openIdConnectUrl } = value
  if (type === 'http') return `HTTP ${String(scheme).toLowerCase()}`
  if (type === 'apiKey') return `key in ${String(place)} ${String(field)}`
  if (type === 'oauth2') return `OAuth 2 (${isObject(flows) ? Object.keys(flows).sort().join(', ') : ''})`
  if (type === 'openIdConnect') return `OpenID Connect of ${String(openIdConnectUrl)}`
  return canonicalJson(value)
}
