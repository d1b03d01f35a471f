/** Names that the interface leaves open, found in schemas or in answers. */

import type { Names } from '../profile/profile.ts'
import { listOf, typeOf } from '../values/generate.ts'
import { isObject, type JsonObject, objectOf, valueAt } from '../values/json.ts'
import { itemsIn } from './drafts.ts'

/** Something that an answer holds: of which type, `null` too. */
interface Held {
  readonly pointer: string
  readonly name: string
  readonly type: string
}

type Part = keyof Omit<Names, 'finished'>
type Wanted = Readonly<Record<string, readonly RegExp[]>>

const types: Readonly<Record<string, readonly string[]>> = {
  total: ['integer', 'number'],
  next: ['string', 'null'],
  previous: ['string', 'null'],
  code: ['string'],
  message: ['string'],
  errors: ['array', 'object'],
}

const ofLists: Wanted = {
  total: [
    /^total_?count$/i,
    /^total$/i,
    /^total_?(?:items|elements|records|results|rows)$/i,
    /^(?:record|item|result)_?count$/i,
    /^count$/i,
  ],
  next: [/^next_?cursor$/i, /^(?:end|after)_?cursor$/i, /^next_?page_?token$/i, /^cursor$/i, /^next$/i],
  previous: [
    /^prev(?:ious)?_?cursor$/i,
    /^(?:start|before)_?cursor$/i,
    /^prev(?:ious)?_?page_?token$/i,
    /^prev(?:ious)?$/i,
  ],
}

const ofErrors: Wanted = {
  code: [/^(?:error_?)?code$/i, /^error$/i, /^type$/i],
  message: [/^detail$/i, /^message$/i, /^error_?(?:message|description)$/i, /^msg$/i, /^error$/i, /^title$/i],
  errors: [/^errors$/i, /^violations$/i, /^issues$/i, /^details?$/i, /^fields$/i, /^validation$/i],
}

/** What a list's schema says. */
export function namesOfList(list: JsonObject): Partial<Names> {
  const items = itemsIn(list)
  return { ...(items && { items: items.pointer }), ...found(inSchema(list), ofLists) }
}

/** What a list's answer says. */
export function namesInList(body: unknown, header: (name: string) => string | undefined): Partial<Names> {
  const items = itemsAt(body)
  const named = found(inValue(body), ofLists)
  const { next, ...rest } = named
  const counted = ['X-Total-Count', 'Total-Count', 'X-Total'].find((name) => /^\d+$/.test(header(name) ?? ''))
  return {
    ...(items !== undefined && { items }),
    ...rest,
    // An address is no cursor.
    ...(next !== undefined && !isAddress(body, next) && { next }),
    ...(rest.total === undefined && counted !== undefined && { total: `header:${counted}` }),
  }
}

/** What the schemas of errors say. */
export function namesOfErrors(schemas: readonly JsonObject[]): Partial<Names> {
  return Object.assign({}, ...schemas.map((each) => found(inSchema(each), ofErrors)).reverse())
}

/** What an error that was answered says. */
export function namesInError(body: unknown): Partial<Names> {
  return found(inValue(body), ofErrors)
}

/** Statuses with which a job has ended: those that do not say that it goes on. */
export function finishedOf(job: JsonObject | undefined): readonly string[] | undefined {
  const all = listOf(objectOf(objectOf(job?.['properties'])['status'])['enum']).map(String)
  const ended = all.filter(
    (each) => !/pending|queued|running|progress|waiting|started|processing|scheduled|active/i.test(each),
  )
  return ended.length > 0 && ended.length < all.length ? ended : undefined
}

/** Where a list holds its records; `undefined` where it seems to be none. */
export function itemsAt(body: unknown): string | undefined {
  if (Array.isArray(body)) return ''
  const lists = Object.entries(objectOf(body)).filter(([, value]) => Array.isArray(value) && value.every(isObject))
  const usual = lists.find(([name]) => /^(?:data|items|results|records|content|value|rows|entries)$/i.test(name))
  const chosen = usual ?? (lists.length === 1 ? lists[0] : lists.find(([, value]) => (value as unknown[]).length > 0))
  if (chosen !== undefined) return `/${chosen[0]}`
  const inner = objectOf(body)['_embedded'] ?? objectOf(body)['data']
  const below = isObject(inner) ? itemsAt(inner) : undefined
  return below && `/${inner === objectOf(body)['data'] ? 'data' : '_embedded'}${below}`
}

function found(all: readonly Held[], wanted: Wanted): Partial<Names> {
  const names: Partial<Record<Part, string>> = {}
  for (const [part, patterns] of Object.entries(wanted)) {
    const fitting = all.filter(({ type }) => types[part]?.includes(type))
    const held = patterns.flatMap((pattern) => fitting.find(({ name }) => pattern.test(name)) ?? [])[0]
    if (held !== undefined) names[part as Part] = held.pointer
  }
  // One and the same text cannot be both.
  if (names.code === names.message) delete names.code
  return names
}

function isAddress(body: unknown, pointer: string): boolean {
  const held = inValue(body).find((each) => each.pointer === pointer)
  return held !== undefined && held.type === 'string' && /^(?:https?:|\/)/.test(String(valueAt(body, pointer)))
}

const deepest = 3

function inSchema(schema: JsonObject, at = '', depth = 0): Held[] {
  // What is nearer counts first.
  const own = Object.entries(objectOf(schema['properties']))
  return [
    ...own.map(([name, each]) => ({ pointer: `${at}/${name}`, name, type: typeOf(objectOf(each)) ?? 'string' })),
    ...(depth < deepest ? own.flatMap(([name, each]) => inSchema(objectOf(each), `${at}/${name}`, depth + 1)) : []),
  ]
}

function inValue(value: unknown, at = '', depth = 0): Held[] {
  const own = Object.entries(objectOf(value))
  const type = (each: unknown) => (each === null ? 'null' : Array.isArray(each) ? 'array' : typeof each)
  return [
    ...own.map(([name, each]) => ({ pointer: `${at}/${name}`, name, type: type(each) })),
    ...(depth < deepest ? own.flatMap(([name, each]) => inValue(each, `${at}/${name}`, depth + 1)) : []),
  ]
}
