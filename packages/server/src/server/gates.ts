/**
 * The gates that a request passes before its body is read, in the order of refusals (CON-6). A gate takes the stage of
 * a request. It returns the next stage or the response that ends the request, or throws the Fault that refuses it.
 * `respond.ts` has the order of the gates; within a gate, it is that of its lines.
 */

import { actions } from 'resourced-contract/model/declaration'
import type { CallerView } from 'resourced-contract/model/declared-functions'
import { type Catalog, type Resource, storedResource } from 'resourced-contract/model/resource'
import { fault } from 'resourced-contract/spec/faults'
import { headLimits } from 'resourced-contract/spec/limits'
import { linkType, streamType } from 'resourced-contract/spec/media-types'
import { isPreflight, preflightHeaders } from '../http/cors.ts'
import { type HttpResponse, pathWithin, type ResponseHeaders } from '../http/message.ts'
import { accepts, prefers } from '../http/preferences.ts'
import { type Caller, refusalIn } from '../policy/caller.ts'
import { permit } from '../policy/permit.ts'
import { acceptedTypes } from '../request/input.ts'
import { refuseSecrets } from '../request/parameters.ts'
import {
  everyMethod,
  type Found,
  findTarget,
  isEventList,
  isHistoryOf,
  methodsOf,
  type PageTarget,
  requireMethod,
  requireTarget,
  routeOf,
  type Target,
} from '../request/target.ts'
import { StorageFault } from '../storage/storage.ts'
import { chooseVersion, isLeaving, isRetired, noticeOf, retiredResponse } from '../versions/versions.ts'
import { isFunction } from './client-as.ts'
import { enterTenant } from './enter-tenant.ts'
import { toFault } from './finish-request.ts'
import { maintenanceFault } from './maintenance.ts'
import type { Changes } from './rates/rate-limiter.ts'
import type { Accepted, Addressed, AppServices, Arrived, Authenticated, Entered, Located, Rated } from './stages.ts'

/** 414. Finds the version and the address: callers without a credential learn nothing of them. */
export function locate(arrived: Arrived): Located {
  const { app, path, query, request } = arrived
  if (request.target.length > headLimits.target) {
    throw fault('URL_TOO_LONG', { detail: `An address has at most ${headLimits.target.toLocaleString('en')} bytes.` })
  }
  const { versions } = app
  // An address outside the base path is one that does not exist.
  const within = pathWithin(versions.basePath, path) ?? ''
  const choice = chooseVersion(versions, { path: within, query, headers: request.headers })
  const { basePath, catalog: versionCatalog } = choice.version
  const found = findTarget(versionCatalog, within, versions.carriers.includes('path'))
  const target = targetOf(found)
  return {
    ...arrived,
    choice,
    found,
    versionCatalog,
    basePath,
    route: target && routeOf(target, basePath, versions.basePath),
    version: choice.known && target?.kind !== 'health' ? choice.version : undefined,
    // Noted before anything is awaited: a request that comes later, before a revocation is answered, must not be
    // authenticated by that key.
    earlierRevocations: app.revocations.running(),
    endRevocation: beginRevocation(app, request.method, target),
  }
}

function targetOf(found: Found): Target | undefined {
  return found.kind === 'found' ? found.target : undefined
}

function beginRevocation({ revocations }: AppServices, method: string, target: Target | undefined) {
  if (method !== 'DELETE' || target?.kind !== 'record' || target.resource.name !== 'api-keys') return undefined
  return revocations.begin(target.id)
}

/**
 * Answers what needs no credential; 403 (SEC-1), 503 (ERR-6), 400 (QRY-9). Then verifies the credential: 401, or 429 if
 * the address has failed too often. A valid credential passes even then.
 */
export async function authenticate(located: Located): Promise<Authenticated | HttpResponse> {
  const { app, choice, found, instance, query, request } = located
  const { method, headers } = request
  const target = targetOf(found)
  // Health checks need no HTTPS, and are answered during maintenance.
  if (target?.kind === 'health') return health(located, target.probe)
  if (app.requireHttps && !request.secure) throw fault('HTTPS_REQUIRED', { detail: 'Ask again by https://.' })
  const preflight = app.cors && isPreflight(method, headers) ? app.cors : undefined
  // Pages need no credential (AUT-1). They are served during maintenance, so that they can show it.
  if (target?.kind === 'page' && preflight === undefined) return page(located, target)
  // Browsers must get their preflight response, or their pages could not read the 503.
  if (preflight === undefined) refuseInMaintenance(app)
  refuseSecrets(query)
  // A preflight comes without credentials, so the response says what any address of this kind supports (OPT-3).
  if (preflight !== undefined) {
    const methods = target === undefined ? everyMethod : methodsOf(target)
    return { status: 204, headers: preflightHeaders(preflight, headers['origin'], methods), body: undefined }
  }
  const { givenCaller, earlierRevocations } = located
  const credential = headers['authorization']
  let caller: Caller
  try {
    const own = givenCaller ?? (app.authenticateOwn && (await app.authenticateOwn(request)))
    caller = own ?? (await app.authenticate(credential))
    const isRevoked = earlierRevocations !== undefined && (await earlierRevocations(caller.credential))
    if (isRevoked) caller = await app.authenticate(credential)
  } catch (error) {
    throw await countFailure(located, error)
  }
  const versionMoment = isLeaving(choice.version) ? app.now() : 0
  const versionNotice = choice.known ? noticeOf(app.versions, choice, instance, versionMoment) : undefined
  const tenant = app.tenants?.nameOf(caller)
  // The name of a tenant has no control characters.
  const account = app.tenants === undefined ? caller.id : `${tenant ?? ''}\n${caller.id}`
  return { ...located, caller, tenant, account, versionMoment, versionNotice }
}

/**
 * Answers a health check: whether the server runs, or whether a load balancer should send it requests (OPS-1).
 *
 * @throws Fault METHOD_NOT_ALLOWED, SHUTTING_DOWN, NOT_READY
 * @throws StorageFault if the database is only busy
 */
async function health(located: Located, probe: 'live' | 'ready'): Promise<HttpResponse> {
  const { app, request } = located
  const target = { kind: 'health', probe } as const
  requireMethod(target, request.method)
  if (request.method === 'OPTIONS') return addressOptions(app.catalog, undefined, target)
  const status = probe === 'ready' ? await readiness(located) : 'live'
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
  return { status: 200, headers, body: `${JSON.stringify({ status })}\n` }
}

async function readiness({ app, requestId }: Located): Promise<'ready' | 'maintenance'> {
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
function requireRunning({ state }: AppServices): void {
  if (state.stopping) throw fault('SHUTTING_DOWN', { headers: { 'Retry-After': '5' } })
}

/** Answers a request for a page: 400 (QRY-9), 405. */
async function page({ app, choice, query, request }: Located, target: PageTarget): Promise<HttpResponse> {
  const { method, headers } = request
  refuseSecrets(query)
  requireMethod(target, method)
  if (method === 'OPTIONS') return addressOptions(app.catalog, undefined, target)
  return app.pages({ target, version: choice.version, headers })
}

/** @throws Fault MAINTENANCE */
function refuseInMaintenance({ maintenance: { current } }: AppServices): void {
  if (current !== undefined) throw maintenanceFault(current)
}

/** Reports and counts a failed authentication, and gives what to throw for it. */
async function countFailure({ app, request, requestId }: Located, error: unknown): Promise<unknown> {
  const refusal = refusalIn(error)
  if (refusal !== undefined) app.observe({ kind: 'credential-refused', requestId, ...refusal })
  if (app.rates === undefined || toFault(error).code !== 'UNAUTHENTICATED') return error
  return (await app.rates.fail(request.address)) ?? error
}

/** Counts the request (LIM-1). Calls in process are the program's own, and are not counted. */
export async function countRequest(authenticated: Authenticated): Promise<Rated> {
  const { app, account, found, givenCaller, request, tenant } = authenticated
  const rates = givenCaller === undefined ? app.rates : undefined
  return { ...authenticated, rate: rates && (await rates.admit(account, found, request.method, tenant ?? undefined)) }
}

/** Counts what a request changes, after its body is read (LIM-1): 429, or 413 if it would never pass. */
export async function countChanges<T extends Rated>(rated: T, changes: Changes): Promise<T> {
  const { app, account, rate: before } = rated
  const counted = before && changes.records > 0 ? await app.rates?.change?.(account, changes) : undefined
  if (before === undefined || counted === undefined) return rated
  const { policy, limits, refusal } = counted
  return {
    ...rated,
    rate: { policy: `${before.policy}, ${policy}`, limits: `${before.limits}, ${limits}`, refusal },
  }
}

/**
 * 429 beyond a quota (LIM-1), 429 and 503 while the caller has too many responses to read (LIM-6), 503 (OPS-2). Then
 * 403 without a tenant (TEN-1).
 */
export function enter(rated: Rated): Entered | Promise<Entered> {
  const { app, account, givenCaller, rate, request } = rated
  if (rate?.refusal !== undefined) throw rate.refusal
  const unread = request.reserve?.(account, 0, true)
  if (unread !== undefined) throw unread
  // A server that stops lets running functions finish.
  if (givenCaller === undefined || !isFunction(givenCaller)) requireRunning(app)
  return app.versions.stored.tenants === undefined ? rated : enterTenant(rated)
}

/**
 * The version: 400 for versions that contradict each other (VER-1), 410 or 308 for a retired one (VER-4). Then the
 * address: 400, 404, 405.
 */
export function requireAddress(entered: Entered): Addressed | HttpResponse {
  const { app, choice, found, instance, request, versionMoment } = entered
  entered.timing?.mark('auth')
  // `OPTIONS *`: every method that some address supports (OPT-2).
  if (request.target === '*') {
    return { status: 200, headers: { Allow: everyMethod.join(', '), 'Cache-Control': 'no-store' }, body: undefined }
  }
  if (choice.refusal !== undefined) throw choice.refusal
  if (isRetired(choice.version, versionMoment)) {
    const asked = { path: instance, query: choice.query, movable: found.kind === 'found' && !choice.byHeader }
    return retiredResponse(app.versions, choice.version, asked, versionMoment)
  }
  if (targetOf(found)?.kind === 'metrics' && app.readMetrics === undefined) {
    throw fault('NOT_FOUND', { detail: 'This server collects no metrics.' })
  }
  return { ...entered, target: requireTarget(found, request.method, entered.basePath) }
}

/** Answers OPTIONS on an address: 403. Then 406. */
export function accept(addressed: Addressed): Accepted | HttpResponse {
  const { app, caller, choice, request, target } = addressed
  if (request.method === 'OPTIONS') return addressOptions(app.catalog, caller, target, choice.version.vendorType)
  return { ...addressed, form: requireAcceptable(addressed) }
}

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
    throw fault('FORBIDDEN', { detail: `Your credential does not allow anything on ${target.resource.name}.` })
  }
  const methods = methodsOf(target)
  const headers: ResponseHeaders = { Allow: methods.join(', '), 'Cache-Control': 'no-store' }
  // A restoration has no body.
  if (methods.includes('POST') && target.kind !== 'restore')
    headers['Accept-Post'] = acceptedTypes(target, 'POST', vendorType).join(', ')
  if (methods.includes('PATCH')) headers['Accept-Patch'] = acceptedTypes(target, 'PATCH', vendorType).join(', ')
  if (methods.includes('QUERY')) headers['Accept-Query'] = acceptedTypes(target, 'QUERY', vendorType).join(', ')
  return { status: 204, headers, body: undefined }
}

function mayDoAnything(catalog: Catalog, caller: CallerView, resource: Resource): boolean {
  return actions.some((action) => permit(catalog, caller, action, resource).kind !== 'never')
}

/**
 * Requires that the client accepts the response. The media type of an export's file is known only from its job.
 *
 * @returns the form of the response
 * @throws Fault NOT_ACCEPTABLE
 */
function requireAcceptable({ choice, request, target }: Addressed): Accepted['form'] {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  // The history of a record is a time map too (RFC 7089).
  const other = isRead && isEventList(target) ? streamType : isRead && isHistoryOf(target) ? linkType : undefined
  const { accept } = request.headers
  if (other !== undefined && prefers(accept, other, choice.mediaType ?? 'application/json'))
    return other === streamType ? 'stream' : 'links'
  const isMetrics = target.kind === 'metrics'
  const mediaType = isMetrics ? 'text/plain' : choice.mediaType
  if (target.kind === 'export-content' || accepts(accept, mediaType)) return 'usual'
  const own = isMetrics ? mediaType : (choice.version.vendorType ?? 'application/json')
  const detail = `The representations here are ${own}${other === undefined ? '' : ` and ${other}`}.`
  throw fault('NOT_ACCEPTABLE', { detail })
}
