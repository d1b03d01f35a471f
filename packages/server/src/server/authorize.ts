/** The function `authorize` of a declaration, which refuses requests before their body is read (AUT-12). */

import { type InterfaceDeclaration, ruleCodeForm } from 'resourced-contract/model/declaration'
import { AbandonedFunction, awaitDeclared, FunctionFault } from 'resourced-contract/model/declared-function'
import type { AuthorizationRequest } from 'resourced-contract/model/declared-functions'
import { storedResource } from 'resourced-contract/model/resource'
import { Fault, fault, issue } from 'resourced-contract/spec/faults'
import { type Asked, collectionsAskedFor } from '../plan/plan-grants.ts'
import type { Input } from '../request/input.ts'
import { actionsOf, isHistoryOf, type Target } from '../request/target.ts'
import type { Accepted, Addressed } from './stages.ts'

type Authorize = NonNullable<InterfaceDeclaration['authorize']>
type Description = Omit<AuthorizationRequest, 'signal'>

/**
 * Asks the function whether a request may pass, about each of its actions.
 *
 * @throws Fault FORBIDDEN if it refuses, AUTHORIZATION_FAILED if it fails
 */
export async function askAuthorize(addressed: Addressed, authorize: Authorize): Promise<void> {
  const described = descriptionOf(addressed)
  await ask(addressed, authorize, described)
  const [, other] = actionsOf(addressed.target, described.method)
  if (other !== undefined) await ask(addressed, authorize, { ...described, action: other })
}

/**
 * Asks the function about each other collection that a request reads, in related records, filters, conditions and sort
 * orders, as about a GET of it (REL-4, WHR-3).
 *
 * @throws Fault as `askAuthorize`
 */
export async function askAboutRelated(addressed: Accepted, authorize: Authorize, input: Input): Promise<void> {
  const { app, caller, target, versionCatalog } = addressed
  if (!('resource' in target)) return
  const selecting = { caller, catalog: app.catalog, versionCatalog }
  for (const collection of collectionsAskedFor(selecting, askedIn(input), target.resource)) {
    await ask(addressed, authorize, { ...descriptionOf(addressed), collection, action: 'read', id: undefined })
  }
}

function askedIn(input: Input): Asked {
  if (input.kind === 'read-page') return { selected: input.query, include: input.query.include }
  if (input.kind === 'read-summary') return { selected: input.query.list }
  if (input.kind === 'read-record') return { include: input.include }
  return 'selected' in input ? { selected: input.selected } : {}
}

/**
 * Asks the function about each operation of a transaction, as about a request of its own.
 *
 * @returns the input, with the first refusal
 */
export async function askAboutOperations(
  addressed: Addressed,
  authorize: Authorize,
  input: Extract<Input, { readonly kind: 'transaction' }>,
): Promise<typeof input> {
  for (const [index, { method, path, target }] of input.operations.entries()) {
    const operation = { ...addressed, target, instance: `${addressed.basePath}${path}` }
    try {
      await ask(addressed, authorize, descriptionOf(operation, method))
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      return { ...input, refusal: { index, fault: error } }
    }
  }
  return input
}

async function ask(addressed: Addressed, authorize: Authorize, described: Description): Promise<void> {
  const { app, request } = addressed
  // The client may go while the function awaits.
  const bounds = { limit: app.catalog.limits.authorizeTime, abandoned: request.abandoned?.() }
  const { caller, headers, address } = described
  const takePlace = request.yieldPlace?.()
  try {
    const answer = await awaitDeclared('authorize', { caller, headers, address }, bounds, (signal) =>
      authorize(Object.freeze({ ...described, signal })),
    )
    obey(answer)
  } catch (error) {
    throw refusalOf(error)
  } finally {
    takePlace?.()
  }
}

function descriptionOf(addressed: Addressed, method = addressed.request.method): Description {
  const { request, target, instance, app } = addressed
  const { id, roles, claims } = addressed.caller
  const { address } = request
  // A history is a part of its record.
  const about = isHistoryOf(target) ? target.parent : target
  return {
    ...{ method, path: instance, address, now: app.now() },
    collection: 'resource' in about ? storedResource(about.resource).name : undefined,
    action: isExport(target) ? 'export' : actionsOf(target, method)[0],
    id: 'id' in about ? about.id : undefined,
    caller: Object.freeze({ id, roles, claims }),
    headers: Object.freeze(withoutCredentials(request.headers)),
  }
}

function isExport({ kind }: Target): boolean {
  return kind === 'exports' || kind === 'export' || kind === 'export-content'
}

const credentials: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie'])

type Headers = AuthorizationRequest['headers']

function withoutCredentials(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !credentials.has(name)))
}

/** @throws Fault FORBIDDEN; FunctionFault if it is no result of `authorize` */
function obey(answer: unknown): void {
  if (answer === true || answer === undefined) return
  if (answer === false) throw fault('FORBIDDEN', { detail: 'The request is not allowed for this credential.' })
  if (typeof answer !== 'object' || answer === null) throw invalid(`a ${answer === null ? 'null' : typeof answer}`)
  const { code, message } = answer as Readonly<Record<string, unknown>>
  if (typeof message !== 'string' || message.trim() === '') throw invalid('a refusal without a message')
  const detail = message.slice(0, longestMessage).toWellFormed()
  if (code === undefined) throw fault('FORBIDDEN', { detail })
  if (typeof code !== 'string' || !ruleCodeForm.test(code)) {
    throw invalid('a code that is not UPPER_CASE_WITH_UNDERSCORES')
  }
  throw fault('FORBIDDEN', { detail, errors: [issue('given', { code, message: detail })] })
}

const longestMessage = 2_000

function invalid(what: string): FunctionFault {
  return new FunctionFault(`authorize returned ${what}. Return true, false or { code, message }.`)
}

/** What ends the request: a refusal of the function, or its failure, which the log has. */
function refusalOf(error: unknown): Fault {
  if (error instanceof AbandonedFunction) return fault('OVERLOADED', { headers: { 'Retry-After': '1' } })
  if (error instanceof Fault) return error
  const detail = 'The function that decides about requests failed. The log has the reason under this request_id.'
  return fault('AUTHORIZATION_FAILED', { detail }, error)
}
