/**
 * The checks that a request passes before anything of it is planned. A gate throws the Fault that refuses the request,
 * returns a response that ends it, or lets it pass. `respond.ts` has their order.
 */

import { actions } from 'resourced-contract/model/declaration'
import type { CallerView } from 'resourced-contract/model/declared-functions'
import { type Catalog, type Resource, storedResource } from 'resourced-contract/model/resource'
import { fault } from 'resourced-contract/spec/faults'
import { headLimits } from 'resourced-contract/spec/limits'
import { streamType } from 'resourced-contract/spec/media-types'
import { isPreflight, preflightHeaders } from '../http/cors.ts'
import { type HttpResponse, pathWithin, type ResponseHeaders } from '../http/message.ts'
import { accepts, prefers } from '../http/preferences.ts'
import { type Caller, refusalIn } from '../policy/caller.ts'
import { permit } from '../policy/permit.ts'
import { acceptedTypes } from '../request/input.ts'
import { refuseSecrets } from '../request/parameters.ts'
import {
  everyMethod,
  findTarget,
  isEventList,
  methodsOf,
  requireMethod,
  requireTarget,
  routeOf,
  type Target,
} from '../request/target.ts'
import { StorageFault } from '../storage/storage.ts'
import { chooseVersion } from '../versions/choose-version.ts'
import { isLeaving, isRetired, noticeOf, retiredResponse } from '../versions/versions.ts'
import { authorizeByFunction } from './authorize.ts'
import { isFunction } from './client-as.ts'
import type { RateDecision } from './rates/rate-limiter.ts'
import { type RequestContext, toFault } from './request-context.ts'

/** One check. A promise only where something must be awaited: each costs time on every request. */
export type Gate = (context: RequestContext) => HttpResponse | undefined | Promise<HttpResponse | undefined>

/** 414. */
export const limitTarget: Gate = ({ request }) => {
  if (request.target.length <= headLimits.target) return undefined
  throw fault('URL_TOO_LONG', { detail: `An address has at most ${headLimits.target.toLocaleString('en')} bytes.` })
}

/** Finds the version and the address. Nothing is refused for them yet: callers without a credential learn nothing. */
export const locate: Gate = (context) => {
  const { app, path, query, request } = context
  const { versions } = app
  // An address outside the base path is one that does not exist.
  const within = pathWithin(versions.basePath, path) ?? ''
  const choice = chooseVersion(versions, { path: within, query, headers: request.headers })
  const { basePath, catalog } = choice.version
  const found = findTarget(catalog, within, versions.carriers.includes('path'))
  context.choice = choice
  context.found = found
  context.versionCatalog = catalog
  context.basePath = basePath
  if (found.kind === 'found') context.route = routeOf(found.target, basePath, versions.basePath)
  return undefined
}

/** Health checks need no credential and no HTTPS, and are answered during maintenance. */
export const answerHealth: Gate = (context) => {
  const { found, choice } = context
  if (found.kind === 'found' && found.target.kind === 'health') return health(context, found.target.probe)
  if (choice.known) context.version = choice.version
  return undefined
}

/**
 * Answers a health check: whether the server runs, or whether a load balancer should send it requests (OPS-1).
 *
 * @throws Fault METHOD_NOT_ALLOWED, SHUTTING_DOWN, NOT_READY
 * @throws StorageFault if the database is only busy
 */
async function health(context: RequestContext, probe: 'live' | 'ready'): Promise<HttpResponse> {
  const { app, request } = context
  const target = { kind: 'health', probe } as const
  requireMethod(target, request.method)
  if (request.method === 'OPTIONS') return addressOptions(app.catalog, undefined, target)
  const status = probe === 'ready' ? await readiness(context) : 'live'
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
  return { status: 200, headers, body: `${JSON.stringify({ status })}\n` }
}

async function readiness({ app, requestId }: RequestContext): Promise<'ready' | 'maintenance'> {
  requireRunning(app)
  // A load balancer that took all servers out would answer in their place, without our Retry-After.
  if (app.maintenance.current !== undefined) return 'maintenance'
  try {
    await app.storage.ping()
  } catch (error) {
    if (!(error instanceof StorageFault) || error.kind === 'busy') throw error
    app.observe({ kind: 'failure', requestId, error })
    const detail = 'The database does not answer, or takes no changes. The log has the reason under this request_id.'
    throw fault('NOT_READY', { detail, headers: { 'Retry-After': '5' } }, error)
  }
  return 'ready'
}

/** @throws Fault SHUTTING_DOWN */
function requireRunning({ state }: RequestContext['app']): void {
  if (state.stopping) throw fault('SHUTTING_DOWN', { headers: { 'Retry-After': '5' } })
}

/** 403 (SEC-1). */
export const requireHttps: Gate = ({ app, request }) => {
  if (app.requireHttps && !request.secure) throw fault('HTTPS_REQUIRED', { detail: 'Ask again by https://.' })
  return undefined
}

/** Pages need no credential (AUT-1). They are served during maintenance, so that they can show it. */
export const answerPage: Gate = ({ app, choice, found, query, request: { method, headers } }) => {
  if (found.kind !== 'found' || found.target.kind !== 'page') return undefined
  const { target } = found
  if (app.cors !== undefined && isPreflight(method, headers)) return undefined
  refuseSecrets(query)
  requireMethod(target, method)
  if (method === 'OPTIONS') return addressOptions(app.catalog, undefined, target)
  return app.pages({ target, version: choice.version, headers })
}

/** 503 (ERR-6). Browsers must get their preflight response, or their pages could not read the 503. */
export const refuseInMaintenance: Gate = ({ app, request }) => {
  const { current } = app.maintenance
  if (current === undefined) return undefined
  if (app.cors !== undefined && isPreflight(request.method, request.headers)) return undefined
  throw fault('MAINTENANCE', { detail: current.message, headers: { 'Retry-After': String(current.retryAfter) } })
}

/** 400 (QRY-9). */
export const refuseSecretsInQuery: Gate = ({ query }) => {
  refuseSecrets(query)
  return undefined
}

/** A preflight comes without credentials, so the response says what any address of this kind supports (OPT-3). */
export const answerPreflight: Gate = ({ app: { cors }, request: { method, headers }, found }) => {
  if (cors === undefined || !isPreflight(method, headers)) return undefined
  const methods = found.kind === 'found' ? methodsOf(found.target) : everyMethod
  return { status: 204, headers: preflightHeaders(cors, headers['origin'], methods), body: undefined }
}

/**
 * Notes a revocation of an API key before anything is awaited: a request that comes later, before the revocation is
 * answered, must not be authenticated by that key.
 */
export const noteRevocation: Gate = (context) => {
  const { app, found, request } = context
  context.earlierRevocations = app.revocations.running()
  if (request.method !== 'DELETE' || found.kind !== 'found' || found.target.kind !== 'record') return undefined
  const { resource, id } = found.target
  if (resource.name === 'api-keys') context.endRevocation = app.revocations.begin(id)
  return undefined
}

/** 401; 429 if the address has failed too often. A valid credential passes even then. */
export const authenticate: Gate = (context) => {
  const { app, request, givenCaller, earlierRevocations } = context
  const isOwn = givenCaller !== undefined || app.authenticateOwn !== undefined
  if (isOwn || earlierRevocations !== undefined) return verify(context)
  const caller = app.authenticate.remembered(request.headers['authorization'])
  return caller === undefined ? verify(context) : welcome(context, caller)
}

async function verify(context: RequestContext): Promise<undefined> {
  const { app, request, givenCaller, earlierRevocations } = context
  const credential = request.headers['authorization']
  let caller: Caller
  try {
    const own = givenCaller ?? (await app.authenticateOwn?.(request))
    caller = own ?? (await app.authenticate(credential))
    if (earlierRevocations !== undefined && (await earlierRevocations(caller.credential)))
      caller = await app.authenticate(credential)
  } catch (error) {
    throw await countFailure(context, error)
  }
  return welcome(context, caller)
}

/** Notes the caller, and what authenticated callers are told about the version. */
function welcome(context: RequestContext, caller: Caller): undefined {
  const { app, choice, instance } = context
  context.caller = caller
  context.callerId = caller.id
  if (isLeaving(choice.version)) context.versionMoment = app.now()
  if (choice.known) context.versionNotice = noticeOf(app.versions, choice, instance, context.versionMoment)
}

/** Reports and counts a failed authentication, and gives what to throw for it. */
async function countFailure({ app, request, requestId }: RequestContext, error: unknown): Promise<unknown> {
  const refusal = refusalIn(error)
  if (refusal !== undefined) app.observe({ kind: 'credential-refused', requestId, ...refusal })
  if (app.rates === undefined || toFault(error).code !== 'UNAUTHENTICATED') return error
  return (await app.rates.fail(request.address)) ?? error
}

/** 429 (LIM-1). Calls in process are the program's own, and are not counted. */
export const countRequest: Gate = (context) => {
  const { app, caller, found, givenCaller, request } = context
  if (app.rates === undefined || givenCaller !== undefined) return undefined
  const decided = app.rates.admit(caller.id, found, request.method)
  return decided instanceof Promise ? decided.then((made) => obey(context, made)) : obey(context, decided)
}

/** @throws Fault RATE_LIMITED */
function obey(context: RequestContext, decision: RateDecision): undefined {
  context.rate = decision
  if (decision.refusal !== undefined) throw decision.refusal
}

/** 429 and 503 while the caller has too many responses to read (LIM-6). */
export const requireReadResponses: Gate = ({ request, caller }) => {
  const refusal = request.reserve?.(caller.id, 0, true)
  if (refusal !== undefined) throw refusal
  return undefined
}

/** 503 (OPS-2). */
export const refuseWhileStopping: Gate = ({ app, timing, givenCaller }) => {
  // A server that stops lets running functions finish.
  if (givenCaller === undefined || !isFunction(givenCaller)) requireRunning(app)
  timing?.mark('auth')
  return undefined
}

/** `OPTIONS *`: every method that some address supports (OPT-2). */
export const answerServerOptions: Gate = ({ request }) => {
  if (request.target !== '*') return undefined
  return { status: 200, headers: { Allow: everyMethod.join(', '), 'Cache-Control': 'no-store' }, body: undefined }
}

/** 400 for versions that contradict each other (VER-1); 410, or 308, for a retired one (VER-4). */
export const requireVersion: Gate = ({ app, choice, found, instance, versionMoment }) => {
  const { refusal, version, query, byHeader } = choice
  if (refusal !== undefined) throw refusal
  if (!isRetired(version, versionMoment)) return undefined
  const movable = found.kind === 'found' && !byHeader
  return retiredResponse(app.versions, version, { path: instance, query, movable }, versionMoment)
}

/** 400, 404, 405. */
export const requireAddress: Gate = (context) => {
  const { app, found } = context
  if (found.kind === 'found' && found.target.kind === 'metrics' && app.readMetrics === undefined) {
    throw fault('NOT_FOUND', { detail: 'This server collects no metrics.' })
  }
  context.target = requireTarget(context.found, context.request.method, context.basePath)
  return undefined
}

/** OPTIONS on an address; 403 for callers without any permission there. */
export const answerOptions: Gate = ({ app, caller, choice, request, target }) =>
  request.method === 'OPTIONS' ? addressOptions(app.catalog, caller, target, choice.version.vendorType) : undefined

/**
 * Answers OPTIONS on an address. The response is the same for every caller with some permission there.
 *
 * @param vendorType a media type of bodies that means `application/json` too
 * @throws Fault FORBIDDEN if the caller may do nothing with the resource
 */
function addressOptions(
  catalog: Catalog,
  caller: CallerView | undefined,
  target: Target,
  vendorType?: string,
): HttpResponse {
  if (
    caller !== undefined &&
    'resource' in target &&
    !mayDoAnything(catalog, caller, storedResource(target.resource))
  ) {
    throw fault('FORBIDDEN', {
      detail: `Your credential does not allow anything on ${storedResource(target.resource).name}.`,
    })
  }
  const methods = methodsOf(target)
  const headers: ResponseHeaders = { Allow: methods.join(', '), 'Cache-Control': 'no-store' }
  // A restoration has no body.
  if (methods.includes('POST') && target.kind !== 'restore')
    headers['Accept-Post'] = acceptedTypes('POST', vendorType).join(', ')
  if (methods.includes('PATCH')) headers['Accept-Patch'] = acceptedTypes('PATCH', vendorType).join(', ')
  if (methods.includes('QUERY')) headers['Accept-Query'] = acceptedTypes('QUERY', vendorType).join(', ')
  return { status: 204, headers, body: undefined }
}

function mayDoAnything(catalog: Catalog, caller: CallerView, resource: Resource): boolean {
  return actions.some((action) => permit(catalog, caller, action, resource).kind !== 'never')
}

/** 403 and 502 of the function `authorize` (AUT-12). */
export const authorize: Gate = (context) =>
  context.catalog.authorize === undefined ? undefined : authorizeByFunction(context, context.catalog.authorize)

/** 406. The media type of an export's file is known only from its job. */
export const requireAcceptable: Gate = (context) => {
  const { choice, request, target } = context
  const mayStream = isEventList(target) && (request.method === 'GET' || request.method === 'HEAD')
  if (mayStream && prefers(request.headers['accept'], streamType, choice.mediaType ?? 'application/json')) {
    context.isStream = true
    return undefined
  }
  const isMetrics = target.kind === 'metrics'
  const mediaType = isMetrics ? 'text/plain' : choice.mediaType
  if (target.kind === 'export-content' || accepts(request.headers['accept'], mediaType)) return undefined
  const own = isMetrics ? mediaType : (choice.version.vendorType ?? 'application/json')
  const detail = `The representations here are ${own}${mayStream ? ` and ${streamType}` : ''}.`
  throw fault('NOT_ACCEPTABLE', { detail })
}
