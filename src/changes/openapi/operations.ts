/** An OpenAPI document as what clients can ask: operations by address, whatever the spelling. */
import { child, type Document, DocumentError, follow, isObject, items, members, type Part } from './document.ts'
import { securityOf } from './security.ts'

/** A parameter of an operation. */
export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  /** How its value is written: style and explode, defaults filled in. */
  readonly written: string
  readonly schema: Part | undefined
  readonly pointer: string
}

/** Schemas by media type; `undefined`: anything of that type. */
export type Content = ReadonlyMap<string, Part | undefined>

/** What a request may or must bring. */
export interface Body {
  readonly required: boolean
  readonly content: Content
  readonly pointer: string
}

/** What is answered with a status. */
export interface Answer {
  readonly content: Content
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, { readonly name: string; readonly schema: Part | undefined; pointer: string }>
  readonly pointer: string
}

/** One method of one address. */
export interface Operation {
  /** What it goes by in both documents: the names of path parameters make no difference. */
  readonly key: string
  /** `GET /v1/tasks/{id}` */
  readonly name: string
  readonly method: string
  /** With the path of the server before it. */
  readonly path: string
  /** The first segment of the path where it is a version; else what the document is said to be. */
  readonly version: string
  readonly resource: string
  readonly deprecated: boolean
  /** By place and name. */
  readonly parameters: ReadonlyMap<string, Parameter>
  readonly body: Body | undefined
  /** By status, range of statuses (`2XX`) or `default`. */
  readonly answers: ReadonlyMap<string, Answer>
  /** Any of these does; each is a set of what it needs. */
  readonly security: readonly ReadonlySet<string>[]
  readonly pointer: string
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/**
 * The operations of a document, by key.
 *
 * @param version the version of operations whose paths carry none
 * @throws DocumentError where a reference leads nowhere
 */
export function operationsOf(document: Document, version = ''): Map<string, Operation> {
  const root: Part = { value: document.root, pointer: '' }
  const found = new Map<string, Operation>()
  for (const [path, item] of members(child(root, 'paths'))) {
    if (!path.startsWith('/')) continue
    const shared = follow(document, item)
    for (const method of methods) {
      const part = child(shared, method)
      if (part === undefined) continue
      if (!isObject(part.value)) throw new DocumentError(part.pointer, 'must be an object.')
      const operation = operationOf(document, { method, path, version }, [part, shared, root])
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

/** @param around the operation, its path item and the document: what one leaves out the next one says */
function operationOf(document: Document, address: Address, around: readonly [Part, Part, Part]): Operation {
  const [part, shared] = around
  const nearest = (key: string) => around.map((each) => child(each, key)).find((each) => each !== undefined)
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
    deprecated: child(part, 'deprecated')?.value === true,
    parameters: parametersOf(document, path, [
      ...items(child(shared, 'parameters')),
      ...items(child(part, 'parameters')),
    ]),
    body: body && bodyOf(document, body),
    answers: new Map(
      members(child(part, 'responses'))
        .filter(([status]) => /^(?:\d{3}|[1-5]XX|default)$/i.test(status))
        .map(([status, each]) => [status.toUpperCase(), answerOf(document, each)]),
    ),
    security: securityOf(document, nearest('security')),
    pointer: part.pointer,
  }
}

/** The path of the first server, without a slash at the end; hosts differ between installations, and clients know theirs. */
function basePath(servers: Part | undefined): string {
  const server = items(servers)[0]
  const url = server && child(server, 'url')?.value
  if (server === undefined || typeof url !== 'string') return ''
  const variables = child(server, 'variables')
  const filled = url.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
    const variable = variables && child(variables, name)
    return String((variable && child(variable, 'default')?.value) ?? name)
  })
  const [, path = ''] = /^(?:[a-z][a-z0-9+.-]*:)?(?:\/\/[^/?#]*)?([^?#]*)/i.exec(filled) ?? []
  let end = path.length
  while (path[end - 1] === '/') end--
  return path.slice(0, end)
}

// The document says elsewhere what these three may hold (OpenAPI 3.1, section 4.8.12.1).
const notParameters = ['accept', 'content-type', 'authorization']

/** @param parts those of the path item first: the operation's own go over them */
function parametersOf(document: Document, path: string, parts: readonly Part[]): Map<string, Parameter> {
  const inPath = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name ?? '')
  const found = new Map<string, Parameter>()
  for (const each of parts) {
    const part = follow(document, each)
    const name = child(part, 'name')?.value
    const place = child(part, 'in')?.value
    if (typeof name !== 'string' || typeof place !== 'string') continue
    if (place === 'header' && notParameters.includes(name.toLowerCase())) continue
    const known = place === 'path' ? String(inPath.indexOf(name)) : place === 'header' ? name.toLowerCase() : name
    found.set(`${place} ${known}`, {
      name,
      in: place,
      required: child(part, 'required')?.value === true || place === 'path',
      written: writtenAs(part, place),
      schema: child(part, 'schema') ?? [...contentOf(document, child(part, 'content')).values()][0],
      pointer: part.pointer,
    })
  }
  return found
}

function writtenAs(part: Part, place: string): string {
  const [type] = members(child(part, 'content'))[0] ?? []
  if (type !== undefined) return mediaType(type)
  const usual = place === 'query' || place === 'cookie' ? 'form' : 'simple'
  const style = child(part, 'style')?.value ?? usual
  const exploded = child(part, 'explode')?.value ?? style === 'form'
  return `style ${String(style)}, ${exploded === true ? 'exploded' : 'not exploded'}`
}

function bodyOf(document: Document, part: Part): Body {
  const body = follow(document, part)
  return {
    required: child(body, 'required')?.value === true,
    content: contentOf(document, child(body, 'content')),
    pointer: body.pointer,
  }
}

function answerOf(document: Document, part: Part): Answer {
  const answer = follow(document, part)
  const headers = members(child(answer, 'headers')).map(([name, each]) => {
    const header = follow(document, each)
    return [name.toLowerCase(), { name, schema: child(header, 'schema'), pointer: header.pointer }] as const
  })
  return {
    content: contentOf(document, child(answer, 'content')),
    headers: new Map(headers.filter(([name]) => name !== 'content-type')),
    pointer: answer.pointer,
  }
}

function contentOf(document: Document, part: Part | undefined): Map<string, Part | undefined> {
  return new Map(members(part).map(([type, each]) => [mediaType(type), child(follow(document, each), 'schema')]))
}

/** Without its parameters: what they say (`charset=utf-8`) is no other type. */
function mediaType(type: string): string {
  return (type.split(';')[0] ?? '').trim().toLowerCase()
}
