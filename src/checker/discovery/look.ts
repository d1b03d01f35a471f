/** Looks at a server with safe requests: what its lists and records are like. */
import { type Answer, type Exchange, fieldOf, jsonOf } from '../client/exchange.ts'
import type { Names, Operation } from '../profile/profile.ts'
import { isObject, type JsonObject, objectOf, valueAt } from '../values/json.ts'
import { type Asker, ask, isGood } from './asker.ts'
import type { Draft } from './drafts.ts'
import { schemaOf } from './members.ts'
import { itemsAt, namesInList } from './names.ts'
import { callsOf } from './words.ts'

/** What a list answered. */
export interface Looked {
  readonly exchange: Exchange
  /** Names in it, where it is a list. */
  readonly names: Partial<Names>
  /** The first record, where one is there. */
  readonly first?: JsonObject | undefined
}

/** Reads a list. */
export async function lookAt(asker: Asker, url: string): Promise<Looked> {
  const exchange = await ask(asker, 'GET', url)
  const { answer } = exchange
  if (!isGood(answer) || itemsAt(jsonOf(answer)) === undefined) return { exchange, names: {} }
  const names = namesInList(jsonOf(answer), (name) => fieldOf(answer, name))
  const items = valueAt(jsonOf(answer), names.items ?? '')
  return { exchange, names, first: Array.isArray(items) && isObject(items[0]) ? items[0] : undefined }
}

/** Whether it answered with a list. */
export function isList({ names }: Looked): boolean {
  return names.items !== undefined
}

const mostLinks = 30

/** Paths that a root document names: links, addresses and paths in it, that lie below. */
export async function linksAt(asker: Asker, base: string): Promise<string[]> {
  const { answer } = await ask(asker, 'GET', `${base}/`)
  if (answer === undefined || answer.status >= 400) return []
  const found = [...targetsIn(answer)].flatMap((target) => {
    const url = URL.canParse(target, `${base}/`) ? new URL(target, `${base}/`) : undefined
    if (url === undefined || url.origin !== new URL(base).origin || !url.href.startsWith(`${base}/`)) return []
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
  yield* textsIn(body, 0)
  // Some servers show all of their collections by name.
  for (const [name, value] of Object.entries(objectOf(body))) if (Array.isArray(value)) yield name
}

function* textsIn(value: unknown, depth: number): Generator<string> {
  if (typeof value === 'string' && /^(?:https?:|\/)/.test(value)) yield value.replace(/\{.*$/, '')
  if (typeof value !== 'object' || value === null || depth > 4) return
  for (const each of Object.values(value)) yield* textsIn(each, depth + 1)
}

const serverSet = /(?:_at|At|_on)$|^(?:created|updated|modified|deleted)|^_/

/** A collection that no document describes, from its list and what OPTIONS says. */
export async function draftFrom(asker: Asker, base: string, path: string, looked: Looked): Promise<Draft> {
  const name = path.split('/').at(-1) as string
  const { first } = looked
  const id = first && idIn(first, name)
  const record = first && schemaOf(first)
  const own =
    first && Object.fromEntries(Object.entries(first).filter(([each]) => each !== id && !serverSet.test(each)))
  return {
    ...{ name, path, query: [], below: [], deletionAnswers: [], isConditional: false, isSlashed: false },
    operations: await operationsAt(asker, base + path, first && id ? String(first[id]) : undefined),
    // What is there is what can be made, as far as anybody knows.
    ...{ creation: { ...(own ? schemaOf(own) : { type: 'object', properties: {} }) }, shown: own },
    ...{ record, list: undefined, idParameter: id },
  }
}

/** The member of a record that identifies it. */
export function idIn(record: JsonObject, name: string): string | undefined {
  const one = callsOf(name)[0]
  const isId = (each: string) => ['string', 'number'].includes(typeof record[each])
  return ['id', '_id', 'uuid', 'ID', `${one}_id`, `${one}Id`, 'key'].find(isId)
}

const methods: readonly (readonly [method: string, of: 'list' | 'record', operation: Operation])[] = [
  ['GET', 'list', 'list'],
  ['POST', 'list', 'create'],
  ['GET', 'record', 'read'],
  ['PUT', 'record', 'replace'],
  ['PATCH', 'record', 'update'],
  ['DELETE', 'record', 'delete'],
]

/** What can be done, by `Allow`; where that is silent all is tried that is usual. */
async function operationsAt(asker: Asker, url: string, id: string | undefined): Promise<Operation[]> {
  const allowed = async (each: string) => {
    const { answer } = await ask(asker, 'OPTIONS', each)
    return answer && answer.status < 400 ? fieldOf(answer, 'Allow')?.toUpperCase() : undefined
  }
  const allow = {
    list: await allowed(url),
    record: id === undefined ? undefined : await allowed(`${url}/${encodeURIComponent(id)}`),
  }
  return methods.flatMap(([method, of, operation]) =>
    operation === 'list' || (allow[of]?.split(/[\s,]+/).includes(method) ?? true) ? [operation] : [],
  )
}
