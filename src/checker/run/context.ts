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
import { fill, fillAll } from '../case/fill.ts'
import { objectMemberOf } from '../case/members.ts'
import { ifRequired } from '../case/references.ts'
import type { Client, Requester } from '../client/client.ts'
import { type Exchange, type Fields, jsonOf } from '../client/exchange.ts'
import { type CollectionProfile, type Profile, urlOf } from '../profile/profile.ts'
import { uniqueValue } from '../values/generate.ts'
import { isObject, type JsonObject } from '../values/json.ts'
import { narrowMembers } from './choose-collections.ts'
import type { Ledger } from './ledger.ts'

/** What all cases of a run share. */
export interface RunContext {
  readonly client: Client
  readonly profile: Profile
  /** Header fields of each caller's credential. */
  readonly credentials: Readonly<Record<Caller, Fields>>
  readonly ledger: Ledger
  /** Whether the server gives the identifier of a deleted record to the next one. */
  reusesIdentifiers?: boolean
}

/** A case that runs on a collection. */
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

function sendOnce(run: CaseRun, { as, request }: Ask, atOnce: boolean): Promise<Exchange> {
  const { method, to, headers = {}, caller = 'caller', noRetry } = request
  const body = request.body === undefined ? undefined : bodyText(request.body, run)
  const own = Object.entries(headers)
    .filter(([, value]) => value !== ifRequired.headers['If-Match'] || run.collection.conditional)
    .map(([name, value]) => [fill(name, run), fill(value, run)] as const)
  const has = (name: string) => own.some(([each]) => each.toLowerCase() === name)
  const url = urlOf(run.profile, fill(to, run))
  const fields: Fields = [
    ...(has('authorization') || !isTrusted(run.profile, url) ? [] : run.credentials[caller]),
    ...own,
    ...(body === undefined || has('content-type') ? [] : [['Content-Type', 'application/json'] as const]),
    ...(has('accept') ? [] : [['Accept', 'application/json'] as const]),
  ]
  return run.client.send(as, { method, url, fields, body }, { noRetry, atOnce })
}

/** Whether an address is on the checked server. Credentials are sent to no other. */
function isTrusted({ base, deprecated, retired }: Profile, url: string): boolean {
  const { origin } = new URL(url)
  return [base, deprecated, retired].some((each) => each !== undefined && new URL(each).origin === origin)
}

/** The text of a body. */
export function bodyText(body: Body, state: CaseState): string {
  if ('text' in body) return fill(body.text, state)
  if ('json' in body) return JSON.stringify(fillAll(body.json, state))
  const whole = {
    ...startOf(body.from, state),
    ...uniqueMembersSent(state, body.like),
    ...(body.plus === undefined ? {} : state.collection[body.plus]),
    ...(fillAll(body.with ?? {}, state) as JsonObject),
  }
  const names = (body.without ?? []).map((name) => fill(name, state))
  return JSON.stringify(without(whole, names))
}

function without(whole: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(whole).filter(([name]) => !names.includes(name)))
}

function startOf(from: Extract<Body, { from: unknown }>['from'], state: CaseState): JsonObject {
  const { collection, exchanges, mark } = state
  switch (from) {
    case 'example':
      return markedExample(state)
    case 'least':
      return without(markedExample(state), Object.keys(collection.optional))
    case 'change':
    case 'invalid':
      return collection[from]
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
  const value = 'sent' in from ? JSON.parse(asked?.body ?? '{}') : answer && jsonOf(answer)
  if (!isObject(value)) throw new NotSetUp('a body that was to be sent again is no JSON object')
  return value
}

/** The unique members in the request of a step. */
function uniqueMembersSent({ collection, exchanges }: CaseState, step: string | undefined): JsonObject {
  if (step === undefined) return {}
  const sent = JSON.parse(exchanges.get(step)?.at(-1)?.asked.body ?? '{}') as JsonObject
  return Object.fromEntries(Object.entries(sent).filter(([name]) => collection.unique.includes(name)))
}

/** A body that creates a record of a case, with the mark of the case. */
function markedExample({ collection, mark, made }: CaseState): JsonObject {
  const { example, unique, marker, label } = collection
  if (example === undefined) throw new NotSetUp(`no body is known that creates a record of ${collection.name}`)
  const body = newExample(collection, (other) => made.get(`parent ${other}`)?.id)
  if (marker !== undefined) return { ...body, [marker]: unique.includes(marker) ? `${mark}-${examples}` : mark }
  return label === undefined ? body : { ...body, [label]: `${body[label] ?? ''} ${mark}`.trim() }
}

let examples = 0

/**
 * The example of a collection with new values of its unique members.
 *
 * @param idOf the identifier of a record of another collection to which the new record refers
 */
export function newExample(
  { example = {}, unique, references, schemas = {} }: CollectionProfile,
  idOf: (collection: string) => string | undefined,
): JsonObject {
  const body: Record<string, unknown> = { ...example }
  examples++
  for (const member of unique) {
    if (Object.hasOwn(body, member)) body[member] = uniqueValue(body[member], examples, schemas[member])
  }
  for (const [member, other] of Object.entries(references)) {
    const id = idOf(other)
    const isNumber = typeof body[member] === 'number' || schemas[member]?.['type'] === 'integer'
    if (id !== undefined) body[member] = isNumber ? Number(id) : id
  }
  return body
}
