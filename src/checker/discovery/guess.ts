/** Guesses collections without an OpenAPI document: from links, lists, records and OPTIONS. */
import { type Requester, request } from '../client/client.ts'
import { type Answer, fieldOf, isSuccess, jsonOf } from '../client/exchange.ts'
import type { Operation } from '../profile/profile.ts'
import { schemaOf } from '../values/generate.ts'
import { isObject, objectOf, valueAt } from '../values/json.ts'
import { bareCandidate, type Candidate, type ListResponse } from './candidate.ts'
import { identifierIn } from './naming.ts'
import { itemsPointer, namesInList } from './response-names.ts'

const mostLinks = 30

/** Paths below the base that the response at the base links to. */
export async function linkedPaths(requester: Requester, base: string): Promise<string[]> {
  const { answer } = await request(requester, 'GET', `${base}/`)
  if (answer === undefined || answer.status >= 400) return []
  const found = [...targetsIn(answer)].flatMap((target) => {
    const url = URL.parse(target, `${base}/`)
    if (url === null || !url.href.startsWith(`${base}/`)) return []
    const path = url.pathname.slice(new URL(base).pathname.replace(/\/$/, '').length).replace(/\/+$/, '')
    return /^(?:\/[\w-]+)+$/.test(path) ? [path] : []
  })
  return [...new Set(found)].slice(0, mostLinks)
}

function* targetsIn(answer: Answer): Generator<string> {
  for (const [, target = ''] of (fieldOf(answer, 'Link') ?? '').matchAll(/<([^<>]*)>/g)) yield target
  const body = jsonOf(answer)
  if (body === undefined) {
    for (const [, target = ''] of answer.body.matchAll(/\bhref\s*=\s*["']([^"'#?{}]+)["']/gi)) yield target
    return
  }
  yield* addressesIn(body, 0)
  // Some servers answer with all of their collections by name.
  for (const [name, value] of Object.entries(objectOf(body))) if (Array.isArray(value)) yield name
}

function* addressesIn(value: unknown, depth: number): Generator<string> {
  if (typeof value === 'string' && /^(?:https?:|\/)/.test(value)) yield value.replace(/\{.*$/, '')
  if (typeof value !== 'object' || value === null || depth > 4) return
  for (const each of Object.values(value)) yield* addressesIn(each, depth + 1)
}

/** Requests a list, and reads what its response shows. */
export async function readList(requester: Requester, url: string): Promise<ListResponse> {
  const exchange = await request(requester, 'GET', url)
  const { answer } = exchange
  if (!isSuccess(answer) || itemsPointer(jsonOf(answer)) === undefined) return { exchange }
  const names = namesInList(answer)
  const items = valueAt(jsonOf(answer), names.items ?? '')
  return { exchange, names, first: Array.isArray(items) && isObject(items[0]) ? items[0] : undefined }
}

const setByServer = /(?:_at|At|_on)$|^(?:created|updated|modified|deleted)|^_/

/** A candidate from the response of its list: clients can create what the first record shows. */
export async function guessCandidate(
  requester: Requester,
  base: string,
  path: string,
  listed: ListResponse,
): Promise<Candidate> {
  const candidate = bareCandidate(path)
  const { first } = listed
  const idName = first && identifierIn(first, candidate.name)
  const example =
    first && Object.fromEntries(Object.entries(first).filter(([name]) => name !== idName && !setByServer.test(name)))
  return {
    ...{ ...candidate, listed, idName, example, record: first && schemaOf(first) },
    operations: await offeredOperations(requester, base + path, first && idName ? String(first[idName]) : undefined),
    creation: example ? schemaOf(example) : { type: 'object', properties: {} },
  }
}

const listMethods = [['POST', 'create']] as const
const recordMethods = [
  ['GET', 'read'],
  ['PUT', 'replace'],
  ['PATCH', 'update'],
  ['DELETE', 'delete'],
] as const

/** Operations that `Allow` names. If the server sends no `Allow`, all usual ones. */
async function offeredOperations(requester: Requester, url: string, id: string | undefined): Promise<Operation[]> {
  const offered = async (methods: readonly (readonly [string, Operation])[], at: string | undefined) => {
    const answer = at === undefined ? undefined : (await request(requester, 'OPTIONS', at)).answer
    const allow =
      answer && answer.status < 400
        ? fieldOf(answer, 'Allow')
            ?.toUpperCase()
            .split(/[\s,]+/)
        : undefined
    return methods.flatMap(([method, operation]) => ((allow?.includes(method) ?? true) ? [operation] : []))
  }
  const onRecord = id === undefined ? undefined : `${url}/${encodeURIComponent(id)}`
  return ['list', ...(await offered(listMethods, url)), ...(await offered(recordMethods, onRecord))]
}
