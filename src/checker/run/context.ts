/** The context of a run and of a case in it, and the requests that a case sends. */
import type { Ask, Caller, CaseState, CreatedRecord, Request } from '../case/case.ts'
import { fill } from '../case/fill.ts'
import { ifRequired } from '../case/references.ts'
import type { Client, Requester } from '../client/client.ts'
import type { Exchange, Fields } from '../client/exchange.ts'
import { type Profile, urlOf } from '../profile/profile.ts'
import { isNarrow } from '../values/unique-value.ts'
import type { Ledger } from './ledger.ts'
import { bodyText } from './request-body.ts'

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
  const { unique, schemas = {} } = collection
  if (body === undefined || !('from' in body) || (body.from !== 'example' && body.from !== 'least')) return false
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'idempotency-key')) return false
  return unique.some((member) => !Object.hasOwn(body.with ?? {}, member) && isNarrow(schemas[member] ?? {}))
}

function sendOnce(run: CaseRun, { as, request }: Ask, atOnce: boolean): Promise<Exchange> {
  const { method, to, headers = {}, caller = 'caller', impatient } = request
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
  return run.client.send(as, { method, url, fields, body }, { impatient, atOnce })
}

/** Whether an address is on the checked server. Credentials are sent to no other. */
function isTrusted({ base, deprecated, retired }: Profile, url: string): boolean {
  const { origin } = new URL(url)
  return [base, deprecated, retired].some((each) => each !== undefined && new URL(each).origin === origin)
}
