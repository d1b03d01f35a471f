/** Finds the names that an interface leaves open (`Names`) in schemas and in responses. */

import type { Requester } from '../client/client.ts'
import { type Answer, fieldOf, isSuccess, jsonOf } from '../client/exchange.ts'
import { type Names, usualNames } from '../profile/profile.ts'
import { listOf, typeOf } from '../values/generate.ts'
import { isObject, type JsonObject, objectOf, parseJson, valueAt } from '../values/json.ts'
import { requestRecords } from './media-type.ts'
import { type Candidate, type Document, errorSchemas, itemsIn, type ListResponse } from './openapi.ts'

type TextName = Exclude<keyof Names, 'finished' | 'items'>

/** For each name: types of its value, and patterns for the last segment of its pointer, the best one first. */
type Searched = Partial<Record<TextName, readonly [types: readonly string[], patterns: readonly RegExp[]]>>

const inLists: Searched = {
  total: [
    ['integer', 'number'],
    [
      ...[/^total_?count$/i, /^total$/i, /^total_?(?:items|elements|records|results|rows)$/i],
      ...[/^(?:record|item|result)_?count$/i, /^count$/i],
    ],
  ],
  next: [
    ['string', 'null'],
    [/^next_?cursor$/i, /^(?:end|after)_?cursor$/i, /^next_?page_?token$/i, /^cursor$/i, /^next$/i],
  ],
  previous: [
    ['string', 'null'],
    [
      ...[/^prev(?:ious)?_?cursor$/i, /^(?:start|before)_?cursor$/i],
      ...[/^prev(?:ious)?_?page_?token$/i, /^prev(?:ious)?$/i],
    ],
  ],
}

const inErrors: Searched = {
  code: [['string'], [/^(?:error_?)?code$/i, /^error$/i, /^type$/i]],
  message: [
    ['string'],
    [/^detail$/i, /^message$/i, /^error_?(?:message|description)$/i, /^msg$/i, /^error$/i, /^title$/i],
  ],
  errors: [
    ['array', 'object'],
    [/^errors$/i, /^violations$/i, /^issues$/i, /^details?$/i, /^fields$/i, /^validation$/i],
  ],
}

/**
 * The names of an interface. Responses count more than the document, and the document more than usual names.
 *
 * @param failures responses to requests for an unknown path and for an unknown record: the first one counts most
 */
export function namesOf(
  candidates: readonly Candidate[],
  document: Document | undefined,
  failures: readonly (Answer | undefined)[],
): Names {
  const described = candidates.map(({ list }) => (list === undefined ? {} : namesInListSchema(list)))
  const seen = candidates.map(({ listed }) => listed?.names ?? {})
  const errors = document === undefined ? [] : errorSchemas(document.root)
  const finished = finishedStatuses(candidates.find(({ name }) => name === 'jobs')?.record)
  return Object.assign(
    { ...usualNames },
    ...described.toReversed(),
    ...errors.map((each) => found(inSchema(each), inErrors)).reverse(),
    ...seen.toReversed(),
    ...failures.toReversed().map((each) => ((each?.status ?? 0) >= 400 ? namesInError(each) : {})),
    finished === undefined ? {} : { finished },
  )
}

function namesInError(answer: Answer | undefined): Partial<Names> {
  const body = jsonOf(answer)
  const names = found(inValue(body), inErrors)
  if (names.message !== undefined) return names
  // Some servers say everything in a list of errors.
  const first = `${names.errors}/0`
  const { errors: _, ...inFirst } = found(located(valueAt(body, first), ...asValue, first), inErrors)
  return { ...names, ...inFirst }
}

export function namesInListSchema(list: JsonObject): Partial<Names> {
  const items = itemsIn(list)
  return { ...(items && { items: items.pointer }), ...found(inSchema(list), inLists) }
}

function namesInList(answer: Answer): Partial<Names> {
  const body = jsonOf(answer)
  const items = itemsPointer(body)
  const { next, ...rest } = found(inValue(body), inLists)
  // An address is no cursor.
  const isCursor = next !== undefined && !/^(?:https?:|\/)/.test(String(valueAt(body, next)))
  const header = ['X-Total-Count', 'Total-Count', 'X-Total'].find((name) => /^\d+$/.test(fieldOf(answer, name) ?? ''))
  return {
    ...(items !== undefined && { items }),
    ...rest,
    ...(isCursor && { next }),
    ...(rest.total === undefined && header !== undefined && { total: `header:${header}` }),
    ...(rest.total === undefined && header === undefined && totalInField(answer)),
  }
}

/** A total in the JSON value of a header field, or behind the slash of Content-Range. */
function totalInField(answer: Answer): Partial<Names> {
  if (/^[\w-]+ [^/]*\/\d+$/.test(fieldOf(answer, 'Content-Range') ?? '')) return { total: 'header:Content-Range' }
  const name = ['X-Pagination', 'Pagination'].find((each) => fieldOf(answer, each)?.startsWith('{'))
  const { total } = name === undefined ? {} : found(inValue(parseJson(fieldOf(answer, name) ?? '')), inLists)
  return total === undefined ? {} : { total: `header:${name}${total}` }
}

/** Statuses of a job that do not say that it goes on. */
function finishedStatuses(job: JsonObject | undefined): readonly string[] | undefined {
  const all = listOf(objectOf(objectOf(job?.['properties'])['status'])['enum']).map(String)
  const ended = all.filter(
    (each) => !/pending|queued|running|progress|waiting|started|processing|scheduled|active/i.test(each),
  )
  return ended.length > 0 && ended.length < all.length ? ended : undefined
}

/** The pointer of the records in a response; `undefined` if the response does not look like a list. */
function itemsPointer(body: unknown): string | undefined {
  if (Array.isArray(body)) return ''
  const lists = Object.entries(objectOf(body)).filter(([, value]) => Array.isArray(value) && value.every(isObject))
  const usual = lists.find(([name]) => /^(?:data|items|results|records|content|value|rows|entries)$/i.test(name))
  const chosen = usual ?? (lists.length === 1 ? lists[0] : lists.find(([, value]) => (value as unknown[]).length > 0))
  if (chosen !== undefined) return `/${chosen[0]}`
  const name = ['_embedded', 'data'].find((each) => isObject(objectOf(body)[each]))
  const inner = name === undefined ? undefined : objectOf(body)[name]
  const below = isObject(inner) ? itemsPointer(inner) : undefined
  return below && `/${name}${below}`
}

/** A value in a response, or what a schema says about one. */
interface Located {
  readonly pointer: string
  readonly name: string
  /** As in JSON Schema; `null` too. */
  readonly type: string
}

function found(all: readonly Located[], searched: Searched): Partial<Names> {
  const names: Partial<Record<TextName, string>> = {}
  for (const [name, [types, patterns]] of Object.entries(searched)) {
    const fitting = all.filter(({ type }) => types.includes(type))
    const best = patterns.flatMap((pattern) => fitting.find((each) => pattern.test(each.name)) ?? [])[0]
    if (best !== undefined) names[name as TextName] = best.pointer
  }
  // One text cannot be both the code and the message.
  if (names.code === names.message) delete names.code
  return names
}

function inSchema(schema: JsonObject): Located[] {
  return located(
    schema,
    (each) => objectOf(each)['properties'],
    (each) => typeOf(objectOf(each)) ?? 'string',
  )
}

function inValue(value: unknown): Located[] {
  return located(value, ...asValue)
}

const asValue = [
  (each: unknown) => each,
  (each: unknown) => (each === null ? 'null' : Array.isArray(each) ? 'array' : typeof each),
] as const

const deepest = 3

/** All members of a value or a schema, the members of an object before those of its members. */
function located(
  holder: unknown,
  membersOf: (holder: unknown) => unknown,
  typeOfMember: (member: unknown) => string,
  at = '',
): Located[] {
  const own = Object.entries(objectOf(membersOf(holder)))
  const isDeepest = at.split('/').length > deepest
  return [
    ...own.map(([name, each]) => ({ pointer: `${at}/${name}`, name, type: typeOfMember(each) })),
    ...(isDeepest ? [] : own.flatMap(([name, each]) => located(each, membersOf, typeOfMember, `${at}/${name}`))),
  ]
}

export async function readList(requester: Requester, url: string): Promise<ListResponse> {
  const exchange = await requestRecords(requester, url)
  const { answer } = exchange
  if (!isSuccess(answer) || itemsPointer(jsonOf(answer)) === undefined) return { exchange }
  const names = namesInList(answer)
  const items = valueAt(jsonOf(answer), names.items ?? '')
  const records = Array.isArray(items) ? items.filter(isObject) : []
  return { exchange, names, first: records[0], items: records }
}
