/** Small servers of other makes, for tests: records in memory, and errors in the manner of one framework or another. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { served } from '../client/served.fixture.ts'

/** A record as it is kept. */
type Thing = Readonly<Record<string, unknown>>

/** How a server is made. */
export interface Make {
  /** Members of a body that are wrong, and how: `required`, or what is said of a value. */
  readonly faults?: (body: Thing, all: readonly Thing[]) => Readonly<Record<string, string>>
  /** The answer to a body that is wrong. */
  readonly refusal?: (faults: Readonly<Record<string, string>>) => { readonly status: number; readonly body: unknown }
  /** The records that a query finds, if lists are not filtered by the members of records. */
  readonly find?: (all: readonly Thing[], query: URLSearchParams) => readonly Thing[]
  /** The answer of a list. */
  readonly list?: (all: readonly Thing[]) => unknown
  readonly headers?: (all: readonly Thing[]) => Readonly<Record<string, string>>
  /** What other addresses answer. */
  readonly pages?: Readonly<Record<string, unknown>>
  readonly records?: readonly Thing[]
  /** Methods that are there. */
  readonly methods?: readonly string[]
  readonly path?: string
  /** Whether its addresses end with a slash; others are redirected. */
  readonly hasSlashes?: boolean
  /** The member of bodies and of responses that holds a record; others are refused. */
  readonly envelope?: string
  /** The identifiers of new records, before the numbers. */
  readonly identifiers?: readonly string[]
  /** Members that every record has, whatever a body says. */
  readonly fixed?: Thing
}

/** A server of one collection. Gives its origin, what it keeps, and what was asked of it. */
export async function serveOther(context: TestContext, make: Make) {
  const path = make.path ?? '/books'
  const all = new Map<string, Thing>((make.records ?? []).map((each) => [String(each['id']), each]))
  const asked: string[] = []
  const identifiers = [...(make.identifiers ?? [])]
  let last = 100
  const origin = await served(context, (request, response, text) => {
    const { method = '', url = '' } = request
    asked.push(`${method} ${url}`)
    const { pathname: written, searchParams } = new URL(url, 'http://x')
    const pathname = make.hasSlashes === true ? written.replace(/(?<=.)\/$/, '') : written
    if (make.pages !== undefined && Object.hasOwn(make.pages, pathname))
      return send(response, 200, make.pages[pathname])
    const id = pathname.startsWith(`${path}/`) ? decodeURIComponent(pathname.slice(path.length + 1)) : undefined
    const known = [...all.values()]
    if (make.hasSlashes === true && written === pathname) {
      return send(response, 307, undefined, { Location: `${pathname}/` })
    }
    const isThere = pathname === path || (id !== undefined && all.has(id))
    if (!isThere) return send(response, 404, { error: 'Not Found', message: 'There is nothing here.' })
    if (!(make.methods ?? ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).includes(method)) return send(response, 405, {})
    if (method === 'GET' && id === undefined) {
      const isFound = (each: Thing) =>
        [...searchParams].every(([name, value]) => !(name in each) || String(each[name]) === value)
      const found = make.find?.(known, searchParams) ?? known.filter(isFound)
      return send(response, 200, make.list?.(found) ?? found, make.headers?.(found))
    }
    if (method === 'GET') {
      const record = all.get(id as string)
      return send(response, 200, make.envelope === undefined ? record : { [make.envelope]: record })
    }
    if (method === 'DELETE') {
      all.delete(id as string)
      return send(response, 204)
    }
    return write(request, response, { make, all, id, text, next: () => identifiers.shift() ?? ++last, path })
  })
  return { origin, all, asked }
}

interface Writing {
  readonly make: Make
  readonly all: Map<string, Thing>
  readonly id: string | undefined
  readonly text: string
  readonly next: () => number | string
  readonly path: string
}

function write(
  { method }: IncomingMessage,
  response: ServerResponse,
  { make, all, id, text, next, path }: Writing,
): void {
  const { envelope } = make
  const sent = JSON.parse(text) as Thing
  const unknown = envelope === undefined ? [] : Object.keys(sent).filter((each) => each !== envelope)
  if (unknown.length > 0) {
    const description = `Unrecognized keys in mapping: {'${unknown[0]}': …}`
    send(response, 400, { message: description, details: [{ location: 'body', name: '', description }] })
    return
  }
  const members = envelope === undefined ? sent : ((sent[envelope] ?? {}) as Thing)
  const body = { ...(method === 'PATCH' ? all.get(id as string) : {}), ...members }
  const others = [...all.values()].filter((each) => String(each['id']) !== id)
  const faults = make.faults?.(body, others) ?? {}
  if (Object.keys(faults).length > 0) {
    const refused = make.refusal?.(faults) ?? { status: 400, body: { errors: faults } }
    send(response, refused.status, refused.body)
    return
  }
  const key = id ?? String(next())
  const thing = { ...body, ...make.fixed, id: /^\d+$/.test(key) ? Number(key) : key }
  all.set(key, thing)
  const shown = envelope === undefined ? thing : { [envelope]: thing }
  send(response, id === undefined ? 201 : 200, shown, id === undefined ? { Location: `${path}/${key}` } : {})
}

function send(
  response: ServerResponse,
  status: number,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const isText = typeof body === 'string'
  response.writeHead(status, {
    ...(body === undefined ? {} : { 'Content-Type': isText ? 'text/html' : 'application/json' }),
    ...headers,
  })
  response.end(body === undefined ? undefined : isText ? body : JSON.stringify(body))
}
