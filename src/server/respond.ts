/**
 * One request, top to bottom: start reading here.
 *
 * request -> target -> caller -> input -> plan -> outcome -> reply, each a plain value. A refusal is a thrown Fault, and
 * the order of the lines is the order of refusals (CON-6).
 */
import { type Cors, isPreflight } from '../http/cors.ts'
import { accepts } from '../http/fields/accept.ts'
import { type HttpRequest, type HttpResponse, isFile, type ResponseHeaders } from '../http/message.ts'
import { applyRange } from '../http/ranges.ts'
import type { ExportFiles } from '../jobs/export-files.ts'
import type { Runner } from '../jobs/runner.ts'
import { pathWithoutCredentials } from '../model/credentials.ts'
import type { Position } from '../model/predicate.ts'
import type { Catalog } from '../model/resource.ts'
import { conceal, writeOnlyTexts } from '../plan/conceal.ts'
import { outcomeForClient } from '../plan/older-version.ts'
import type { Outcome, Plan } from '../plan/plan.ts'
import { type AskedExport, mayHaveExport, planJob } from '../plan/plan-export.ts'
import { bindingOf } from '../plan/plan-for.ts'
import { planRequest } from '../plan/plan-request.ts'
import type { Authenticate } from '../policy/authenticate.ts'
import type { Caller } from '../policy/caller.ts'
import { refusalIn } from '../policy/refusal.ts'
import type { ReplyContext } from '../reply/context.ts'
import { exportContent } from '../reply/export-content.ts'
import { conflictCode, problem } from '../reply/problem.ts'
import { represent } from '../reply/represent.ts'
import { sealCursor } from '../request/cursor.ts'
import { readInput } from '../request/input.ts'
import { refuseSecrets } from '../request/parameters.ts'
import { type Found, findTarget, requireTarget, routeOf } from '../request/target.ts'
import { fault } from '../spec/faults.ts'
import { headLimits } from '../spec/limits.ts'
import type { Storage } from '../storage/storage.ts'
import { type Choice, chooseVersion } from '../versions/choose-version.ts'
import { addNotice, noticeOf, retired, type VersionNotice } from '../versions/lifecycle.ts'
import { isLeaving, isRetired, type Version, type Versions } from '../versions/versions.ts'
import { asFault, isAbandoned } from './as-fault.ts'
import { splitTarget, withCommonHeaders } from './common-headers.ts'
import type { Documents } from './documents.ts'
import { health } from './health.ts'
import { type MaintenanceWatch, maintenanceFault } from './maintenance.ts'
import type { Observe } from './observe/observe.ts'
import { Timing } from './observe/timing.ts'
import { beginTrace } from './observe/tracing.ts'
import { addressOptions, preflight, serverOptions } from './options.ts'
import { preferencesOf, preferredOf } from './preferences.ts'
import type { RateLimiter } from './rates/rate-limiter.ts'
import type { Revocations } from './revocations.ts'

/** Everything that answering needs. */
export interface App {
  /** That of the current version, which the storage goes by. */
  readonly catalog: Catalog
  readonly versions: Versions
  readonly storage: Storage
  /** Does long work. */
  readonly runner: Pick<Runner, 'wake'>
  readonly files: Pick<ExportFiles, 'pathOf' | 'has' | 'drop'>
  readonly authenticate: Authenticate
  /** `undefined`: everybody may ask as often as they like. */
  readonly rates: RateLimiter | undefined
  readonly revocations: Revocations
  readonly maintenance: Pick<MaintenanceWatch, 'current'>
  readonly documents: Documents
  readonly observe: Observe
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly newRequestId: () => string
  /** Whose pages may read answers (OPT-3); `undefined`: none. */
  readonly cors: Cors | undefined
  /** Refuses what did not come by HTTPS (SEC-1). */
  readonly requireHttps: boolean
  /** Says in `Server-Timing` where the time went (OPS-1). */
  readonly development: boolean
  readonly state: { stopping: boolean }
}

/** Answers a request. It never throws: whatever fails becomes a problem (ERR-4). */
export async function respond(app: App, request: HttpRequest): Promise<HttpResponse> {
  const started = performance.now()
  const requestId = app.newRequestId()
  const { path, query } = splitTarget(request.target)
  // Whoever takes a key for its id shall not find it in the log.
  const instance = pathWithoutCredentials(path)
  const seen: Seen = { caller: undefined, route: undefined, version: undefined }
  app.observe(arrival)
  const tracing = beginTrace(request, requestId, started)
  const trace = tracing === undefined ? undefined : await tracing
  const timing = app.development || trace !== undefined ? new Timing(started) : undefined
  let response: HttpResponse
  try {
    const answering = () => answer(app, request, { path, instance, query, requestId }, seen, timing)
    response = await (trace === undefined ? answering() : trace.run(answering))
    if (response.status === 200) response = ranged(request, response, app.now())
    reserveFor(request, response, seen.caller)
  } catch (error) {
    const refusal = asFault(error)
    // What is turned away on purpose is no failure.
    const isMeant = (refusal === error && refusal.status === 503) || isAbandoned(error)
    if (refusal.status >= 500 && !isMeant) app.observe({ kind: 'failure', requestId, error })
    response = problem(refusal, { instance, requestId })
    seen.code = refusal.code
  }
  if (seen.notice !== undefined) addNotice(response, seen.notice)
  response = withCommonHeaders(app, request, requestId, response)
  Object.assign(response.headers, seen.rate)
  if (timing !== undefined && app.development) response.headers['Server-Timing'] = timing.format()
  const { method } = request
  const { status } = response
  const { route, code, caller, version } = seen
  trace?.end({ route, status, code, stages: timing?.stages ?? [] })
  const duration = performance.now() - started
  app.observe({ kind: 'request', requestId, method, path: instance, version, route, status, code, caller, duration })
  return response
}

const arrival = { kind: 'arrival' } as const

/** What is known of a request however it ends. */
interface Seen {
  caller: string | undefined
  /** The template that its path fits, where it is an address. */
  route: string | undefined
  version: Version | undefined
  /** What the answer says of the version: nothing to those who are not known. */
  notice?: VersionNotice
  code?: string
  /** What the answer says of the caller's rate, whatever it is. */
  rate?: ResponseHeaders
}

interface Place {
  readonly path: string
  /** The path as logs and problems show it. */
  readonly instance: string
  readonly query: string
  readonly requestId: string
}

/** Throws at once what needs no waiting: to be async too would cost a promise more for each request. */
function answer(
  app: App,
  request: HttpRequest,
  place: Place,
  seen: Seen,
  timing: Timing | undefined,
): HttpResponse | Promise<HttpResponse> {
  if (request.target.length > headLimits.target)
    throw fault('URL_TOO_LONG', { detail: 'An address has at most 8,000 bytes.' })
  const choice = chooseVersion(app.versions, { path: place.path, query: place.query, headers: request.headers })
  const { basePath } = choice.version
  const found = findTarget(choice.version.catalog, place.path, basePath !== '')
  if (found.kind === 'found') seen.route = routeOf(basePath, found.target)
  if (found.kind === 'found' && found.target.kind === 'health') {
    return health(app, { probe: found.target.probe, method: request.method, requestId: place.requestId })
  }
  if (choice.known) seen.version = choice.version
  if (app.requireHttps && !request.secure) throw fault('HTTPS_REQUIRED', { detail: 'Ask again by https://.' })
  const { cors, maintenance } = app
  const asksAhead = cors !== undefined && isPreflight(request.method, request.headers)
  if (maintenance.current !== undefined && !asksAhead) throw maintenanceFault(maintenance.current)
  refuseSecrets(place.query)
  if (asksAhead) return preflight(cors, found, request)
  const ahead = app.revocations.ahead()
  const proceed = () => answerCaller(app, request, place, { choice, found, ahead }, seen, timing)
  const revoked = revokedBy(found, request.method)
  return revoked === undefined ? proceed() : app.revocations.during(revoked, proceed)
}

/** The key that a request is to revoke, whoever sends it. */
function revokedBy(found: Found, method: string): string | undefined {
  if (method !== 'DELETE' || found.kind !== 'found' || found.target.kind !== 'record') return undefined
  return found.target.resource.name === 'api-keys' ? found.target.id : undefined
}

interface Asked {
  readonly choice: Choice
  readonly found: Found
  /** The revocations that came before this request. */
  readonly ahead: ReturnType<Revocations['ahead']>
}

async function answerCaller(
  app: App,
  request: HttpRequest,
  { path, instance, query, requestId }: Place,
  { choice, found, ahead }: Asked,
  seen: Seen,
  timing: Timing | undefined,
): Promise<HttpResponse> {
  let caller = await authenticated(app, request, requestId)
  if (ahead !== undefined && (await ahead(caller.credential))) caller = await authenticated(app, request, requestId)
  seen.caller = caller.id
  const { version } = choice
  const { catalog, basePath, vendorType } = version
  // Of a version that stays the clock decides nothing.
  const now = isLeaving(version) ? app.now() : 0
  if (choice.known) seen.notice = noticeOf(app.versions, choice, instance, now)
  if (app.rates !== undefined) {
    const { headers, refusal } = await app.rates.admit(caller.id, found, request.method)
    seen.rate = headers
    if (refusal !== undefined) throw refusal
  }
  const behind = request.reserve?.(caller.id, 0, true)
  if (behind !== undefined) throw behind
  if (app.state.stopping) throw fault('SHUTTING_DOWN', { headers: { 'Retry-After': '5' } })
  timing?.mark('auth')
  if (request.target === '*') return serverOptions()
  if (choice.refusal !== undefined) throw choice.refusal
  if (isRetired(version, now)) {
    const movable = found.kind === 'found' && !choice.byHeader
    return retired(app.versions, version, { path: instance, query: choice.query, movable }, now)
  }
  const target = requireTarget(found, request.method, basePath)
  if (request.method === 'OPTIONS') return addressOptions(app.catalog, caller, target, vendorType)
  if (target.kind !== 'export-content' && !accepts(request.headers['accept'], choice.mediaType)) {
    throw fault('NOT_ACCEPTABLE', { detail: `The representations here are ${vendorType ?? 'application/json'}.` })
  }
  const preferences = preferencesOf(request, target)
  const input = await readInput(catalog, target, request, choice.query, vendorType)
  timing?.mark('read')
  if (target.kind === 'openapi' && input.kind === 'document') return app.documents.openapi(version, input.conditions)
  const { cursorSecret } = app.storage
  const preferred = preferredOf(preferences)
  const planning = { catalog: app.catalog, versionCatalog: catalog, cursorSecret, now: app.now(), preferred, basePath }
  if (target.kind === 'export-content') {
    const outcome = await app.storage.run(planJob(planning, caller, target.id))
    const catalogs = [...app.versions.all.values()].map((each) => each.catalog)
    const mayHave = (of: AskedExport) => mayHaveExport(app.catalog, catalogs, caller, of)
    const response = exportContent(outcome, request, planning.now, app.files.pathOf, mayHave)
    if (!isFile(response.body) || (await app.files.has(target.id, response.body.length, planning.now))) return response
    throw fault('NOT_FOUND', { detail: 'The file is not here any more. Ask for a new export.' })
  }
  const plan = planRequest(planning, caller, target, input)
  timing?.mark('plan')
  const outcome = outcomeForClient(plan, await run(app.storage, plan, request.abandoned))
  timing?.mark('db')
  const context: ReplyContext = {
    instance,
    requestId,
    basePath,
    path,
    query,
    linked: request.method !== 'QUERY',
    preferred: preferences.return,
    asynchronously: preferred.asynchronously,
    applied: preferences.applied,
    sealCursor(position: Position) {
      if (plan.kind !== 'read-page' || input.kind !== 'read-page') return ''
      const binding = bindingOf(catalog, plan.resource, plan.parent, input.query.binding)
      return sealCursor(cursorSecret, binding, position)
    },
  }
  if (outcome.kind === 'accepted') app.runner.wake()
  if (plan.kind === 'revoke-key' && outcome.kind === 'deleted') app.authenticate.forget()
  if (plan.kind === 'delete-job' && outcome.kind === 'deleted') {
    // A file that stays belongs to nobody any more, and goes when its time is over.
    await app.files.drop(plan.id).catch((error: unknown) => app.observe({ kind: 'failure', requestId, error }))
  }
  const response = represent(plan, outcome, context)
  timing?.mark('reply')
  const refused = outcome.kind === 'conflict' || (outcome.kind === 'bulk-refused' && response.status === 409)
  if (refused) seen.code = conflictCode(outcome.issues)
  return response
}

/** Carries a plan out. What is thrown names nothing of it that is writeOnly: the log shall have it. */
async function run(storage: Storage, plan: Plan, abandoned: HttpRequest['abandoned']): Promise<Outcome> {
  try {
    return await storage.run(plan, abandoned)
  } catch (error) {
    throw 'body' in plan && 'resource' in plan
      ? conceal(error, writeOnlyTexts(plan.versionResource ?? plan.resource, plan.body))
      : error
  }
}

/** @throws Fault UNAUTHENTICATED, or RATE_LIMITED where the address has failed too often: a good credential passes even then */
async function authenticated(app: App, request: HttpRequest, requestId: string): Promise<Caller> {
  try {
    return await app.authenticate(request.headers['authorization'])
  } catch (error) {
    const refusal = refusalIn(error)
    if (refusal !== undefined) app.observe({ kind: 'credential-refused', requestId, ...refusal })
    if (app.rates === undefined || asFault(error).code !== 'UNAUTHENTICATED') throw error
    throw (await app.rates.fail(request.address)) ?? error
  }
}

/** @throws Fault RANGE_NOT_SATISFIABLE */
function ranged(request: HttpRequest, response: HttpResponse, now: number): HttpResponse {
  const applied = applyRange(request, response, now)
  if (applied.kind === 'response') return applied.response
  const detail = 'The representation ends before the range begins. Content-Range says how long it is.'
  throw fault('RANGE_NOT_SATISFIABLE', { detail, headers: applied.headers })
}

/** Smaller answers are not counted: the system takes over far more of each connection. */
const countedFrom = 16_384

/**
 * Counts an answer as on its way to its caller. What was changed is told whatever it takes; a file is not in memory.
 *
 * @throws Fault ANSWERS_UNREAD, OVERLOADED
 */
function reserveFor({ method, reserve }: HttpRequest, { body }: HttpResponse, caller: string | undefined): void {
  if (reserve === undefined || caller === undefined || method === 'HEAD') return
  if (body === undefined || isFile(body) || body.length < countedFrom) return
  const refusal = reserve(caller, Buffer.byteLength(body), method === 'GET' || method === 'QUERY')
  if (refusal !== undefined) throw refusal
}
