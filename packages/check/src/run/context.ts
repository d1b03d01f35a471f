/** The context of a run and of a case in it, and the requests that a case sends, with their bodies. */
import {
  type Ask,
  type Body,
  type Caller,
  type CaseState,
  type CreatedRecord,
  NotSetUp,
  type Request,
} from '../case/case.ts'
import { isUnconditionalChange } from '../case/define.ts'
import { recordOf, recordSent } from '../case/expect-records.ts'
import { fill, fillAll } from '../case/fill.ts'
import { brokenValues, objectMemberOf } from '../case/members.ts'
import { type Client, currentTag, type Requester } from '../client/client.ts'
import type { Exchange, Fields } from '../client/exchange.ts'
import { type CollectionProfile, type Profile, urlOf } from '../profile/profile.ts'
import { inQueryStyle } from '../profile/query-style.ts'
import { uniqueValue } from '../values/generate.ts'
import { isObject, type JsonObject, mapMembers, objectOf, pick, valueAt, without, wrapAt } from '../values/json.ts'
import { nextCount } from '../values/random.ts'
import { narrowMembers } from './choose-collections.ts'
import type { Ledger } from './ledger.ts'

export interface RunContext {
  readonly client: Client
  readonly profile: Profile
  /** Header fields of each caller's credential. */
  readonly credentials: Readonly<Record<Caller, Fields>>
  readonly ledger: Ledger
  /** All random values derive from it. */
  readonly seed: number
  /** Whether the server gives the identifier of a deleted record to the next one. */
  reusesIdentifiers?: boolean
}

export interface CaseRun extends RunContext, CaseState {
  readonly made: Map<string, CreatedRecord>
  readonly exchanges: Map<string, Exchange[]>
}

/** Sends requests outside of cases, as one of the callers. */
export function requesterFor(
  { client, credentials }: Pick<RunContext, 'client' | 'credentials'>,
  caller: Caller = 'caller',
): Requester {
  return { client, credential: credentials[caller] }
}

const mostRepetitions = 12

/**
 * Sends a request of a case. If a generated body is refused because another record has the same unique value, sends it
 * again with another value.
 *
 * @param atOnce send it while other requests are under way
 */
export async function send(run: CaseRun, asked: Ask, atOnce = false): Promise<Exchange> {
  let exchange = await sendOnce(run, asked, atOnce)
  const mayRepeat = !atOnce && hasRepeatableBody(asked.request, run)
  for (let turn = 0; mayRepeat && turn < mostRepetitions && exchange.answer?.status === 409; turn++) {
    exchange = await sendOnce(run, asked, atOnce)
  }
  return exchange
}

/** Whether a request has a generated value of a unique member with few possible values. */
function hasRepeatableBody({ body, headers = {} }: Request, { collection }: CaseState): boolean {
  if (body === undefined || !('from' in body) || (body.from !== 'example' && body.from !== 'least')) return false
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'idempotency-key')) return false
  return narrowMembers(collection).some((member) => !Object.hasOwn(body.with ?? {}, member))
}

async function sendOnce(run: CaseRun, { as, request: asked }: Ask, atOnce: boolean): Promise<Exchange> {
  const { method, to, headers = {}, caller = 'caller', noRetry, body: given } = changeFor(asked, run.collection)
  const body = given === undefined ? undefined : bodyText(given, run, to)
  const own = Object.entries(headers).map(([name, value]) => [fill(name, run), fill(value, run)] as const)
  const has = (name: string) => own.some(([each]) => each.toLowerCase() === name)
  // A list without a query of its own leaves an empty one.
  const address = fill(inQueryStyle(to, run.collection), run).replace(/\?(?:&|$)/, (end) => (end === '?&' ? '?' : ''))
  const url = urlOf(run.profile, address)
  const fields: Fields = [
    ...(has('authorization') || !isTrusted(run.profile, url) ? [] : run.credentials[caller]),
    ...own,
    ...(needsCondition(asked, run) && !atOnce ? [['If-Match', await currentTag(requesterFor(run), url)] as const] : []),
    ...(body === undefined || has('content-type') ? [] : [['Content-Type', 'application/json'] as const]),
    ...(has('accept') ? [] : [['Accept', 'application/json'] as const]),
  ]
  return run.client.send(as, { method, url, fields, body }, { noRetry, atOnce })
}

/** Whether the server requires a condition (RFC 6585, section 3) that the case leaves out: it is not about it. */
function needsCondition(asked: Request, { collection }: CaseState): boolean {
  return collection.conditional && asked.isUnconditional !== true && isUnconditionalChange(asked)
}

/** The request that changes a record, as the collection supports it; any other request as it is. */
function changeFor(request: Request, { operations }: Pick<CollectionProfile, 'operations'>): Request {
  if (request.method !== 'CHANGE') return request
  if (operations.includes('update')) return { ...request, method: 'PATCH' }
  const [, step = ''] = /^«([^«»|]*)\|path»/.exec(request.to) ?? []
  return { ...request, method: 'PUT', body: { from: { sent: step }, plus: 'change' } }
}

/** Whether an address is on the checked server. Credentials are sent to no other. */
function isTrusted({ base, deprecated, retired }: Profile, url: string): boolean {
  const { origin } = new URL(url)
  return [base, deprecated, retired].some((each) => each !== undefined && new URL(each).origin === origin)
}

/** Where requests send records. */
const recordAddress = /^«(?:collection|[^«»|]*\|path)»(?:\/«absent»)?(?:\?|$)/

/**
 * The text of a body.
 *
 * @param to where it is sent: objects that are records get the envelope that the server expects
 */
export function bodyText(body: Body, state: CaseState, to: string): string {
  if ('text' in body) return fill(body.text, state)
  const envelope = recordAddress.test(to) ? state.profile.names.body : ''
  if ('json' in body) {
    const value = fillAll(body.json, state)
    return JSON.stringify(isObject(value) ? wrapAt(envelope, value) : patchAt(envelope, value))
  }
  const whole = {
    ...startOf(body.from, state),
    ...uniqueMembersSent(state, body.like),
    ...(body.plus === undefined ? {} : withNewUniqueValues(state.collection[body.plus], state.collection)),
    ...typedReferences(fillAll(body.with ?? {}, state) as JsonObject, state),
  }
  const names = (body.without ?? []).map((name) => fill(name, state))
  const { raw } = body
  if (raw === undefined) return JSON.stringify(wrapAt(envelope, without(whole, names)))
  const text = JSON.stringify(wrapAt(envelope, { ...without(whole, names), [rawMember]: 0 }))
  return text.replace(`"${rawMember}":0`, () => raw)
}

/** Identifiers in references as numbers, where a body has numbers there: a text would be refused for its type. */
function typedReferences(members: JsonObject, { collection }: CaseState): JsonObject {
  const { references, example = {}, schemas = {} } = collection
  const isNumber = (name: string) => typeof example[name] === 'number' || schemas[name]?.['type'] === 'integer'
  const isTyped = (name: string, value: unknown) =>
    Object.hasOwn(references, name) && isNumber(name) && /^\d+$/.test(String(value))
  return mapMembers(members, (value, name) => (isTyped(name, value) ? Number(value) : value))
}

/** Stands for a member whose text is inserted as it is. */
const rawMember = '«raw»'

/** A JSON Patch of a record in an envelope; any other value as it is. */
function patchAt(envelope: string, value: unknown): unknown {
  if (!Array.isArray(value)) return value
  return value.map((each) => (typeof each?.path === 'string' ? { ...each, path: envelope + each.path } : each))
}

function startOf(from: Extract<Body, { from: unknown }>['from'], state: CaseState): JsonObject {
  const { collection, exchanges, mark } = state
  switch (from) {
    case 'example':
      return markedExample(state)
    case 'least':
      return without(markedExample(state), Object.keys(collection.optional))
    case 'change':
      return withNewUniqueValues(collection.change, collection)
    case 'some-change': {
      const entries = Object.entries(collection.change)
      const some = Object.fromEntries(entries.length > 1 ? entries.slice(0, -1) : entries)
      return withNewUniqueValues(some, collection)
    }
    case 'invalid':
      return collection.invalid
    case 'broken':
      return brokenValues(collection)
    case 'mark': {
      const member = collection.marker ?? collection.label
      return member === undefined ? {} : { [member]: mark }
    }
    case 'part': {
      const found = objectMemberOf(collection)
      return found === undefined ? {} : { [found.member]: found.part }
    }
  }
  const { asked, answer } = exchanges.get('sent' in from ? from.sent : from.answered)?.at(-1) ?? {}
  const value = 'sent' in from ? recordSent(asked, state) : recordOf(answer, state)
  if (!isObject(value)) throw new NotSetUp('a body that was to be sent again is no JSON object')
  return value
}

/** A copy of an object with another value at a pointer; without it if the pointer leads nowhere. */
function withValueAt(whole: JsonObject, pointer: string, value: unknown): JsonObject {
  const names = pointer.split('/').slice(1)
  const copy = structuredClone(whole)
  const last = names.pop()?.replaceAll('~1', '/').replaceAll('~0', '~') ?? ''
  const holder = valueAt(copy, names.map((each) => `/${each}`).join(''))
  if (typeof holder === 'object' && holder !== null) Object.assign(holder, { [last]: value })
  return copy
}

/** The value of a member that refers to a record, in the form of the value before. */
function referenceTo(
  { id, path }: Pick<CreatedRecord, 'id' | 'path'>,
  form: 'object' | 'path' | undefined,
  schema: JsonObject = {},
  before: unknown,
): unknown {
  switch (form) {
    case 'path':
      return path + (String(before).endsWith('/') ? '/' : '')
    case 'object':
      return { id: /^\d+$/.test(id) ? Number(id) : id }
  }
  return typeof before === 'number' || schema['type'] === 'integer' ? Number(id) : id
}

/** The unique members in the request of a step. */
function uniqueMembersSent({ collection, exchanges, profile }: CaseState, step: string | undefined): JsonObject {
  if (step === undefined) return {}
  const sent = recordSent(exchanges.get(step)?.at(-1)?.asked, { profile })
  return pick(objectOf(sent), (name) => collection.unique.includes(name))
}

/** A body that creates a record of a case, with the mark of the case. */
function markedExample({ collection, mark, made }: CaseState): JsonObject {
  const { example, unique, marker, label } = collection
  if (example === undefined) throw new NotSetUp(`no body is known that creates a record of ${collection.name}`)
  const body = newExample(collection, (other) => made.get(`parent ${other}`))
  if (marker !== undefined) return { ...body, [marker]: unique.includes(marker) ? `${mark}-${nextCount()}` : mark }
  return label === undefined ? body : { ...body, [label]: `${body[label] ?? ''} ${mark}`.trim() }
}

/** Values with new ones of unique members: no two records can have the same. */
function withNewUniqueValues(
  values: JsonObject,
  { unique, schemas = {} }: Pick<CollectionProfile, 'unique' | 'schemas'>,
): Record<string, unknown> {
  const count = nextCount()
  return mapMembers(values, (value, name) => (unique.includes(name) ? uniqueValue(value, count, schemas[name]) : value))
}

/**
 * The example of a collection with new values of its unique members.
 *
 * @param idOf the identifier of a record of another collection to which the new record refers
 */
export function newExample(
  { example = {}, unique, references, referenceForms = {}, nestedReferences = {}, schemas = {} }: CollectionProfile,
  recordOfOther: (collection: string) => Pick<CreatedRecord, 'id' | 'path'> | undefined,
): JsonObject {
  const body = withNewUniqueValues(example, { unique, schemas })
  for (const [member, other] of Object.entries(references)) {
    const record = recordOfOther(other)
    if (record === undefined) continue
    body[member] = referenceTo(record, referenceForms[member], schemas[member], body[member])
  }
  return Object.entries(nestedReferences).reduce<JsonObject>((whole, [at, other]) => {
    const id = recordOfOther(other)?.id
    return id === undefined ? whole : withValueAt(whole, at, typeof valueAt(whole, at) === 'number' ? Number(id) : id)
  }, body)
}
