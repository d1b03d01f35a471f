/**
 * One request, from top to bottom: start reading here.
 *
 * request -> version and address -> caller -> input -> plan -> outcome -> reply, each a plain value. A refusal is a
 * thrown Fault, and the order of the gates is the order of refusals (CON-6).
 */

import { randomUUID } from 'node:crypto'
import type { Coding } from 'resourced-contract/fields/accept-encoding'
import { type Catalog, hasRecording } from 'resourced-contract/model/resource'
import { pathWithoutCredentials } from 'resourced-contract/model/text'
import { Fault, fault, issue } from 'resourced-contract/spec/faults'
import { metricsType } from 'resourced-contract/spec/media-types'
import { type FileBody, type HttpRequest, type HttpResponse, isFile, isStream, splitTarget } from '../http/message.ts'
import { applyRange } from '../http/preconditions.ts'
import type { Outcome } from '../plan/outcome.ts'
import { outcomeFromStored } from '../plan/outcome.ts'
import type { CreateWebhook, Plan } from '../plan/plan.ts'
import { planRequest } from '../plan/plan-request.ts'
import { redactError, writeOnlyTexts } from '../plan/redact-error.ts'
import type { Caller } from '../policy/caller.ts'
import { describeCaller } from '../policy/permissions.ts'
import { isAdministrator } from '../policy/permit.ts'
import { represent } from '../reply/represent.ts'
import { changesIn, preferencesOf, readWithBody, readWithoutBody } from '../request/input.ts'
import type { Storage } from '../storage/storage.ts'
import { issuesFromStored } from '../versions/translate-record.ts'
import { askAboutOperations, askAboutRelated, askAuthorize } from './authorize.ts'
import { compressedMethods } from './compressor.ts'
import { finish, problemOf } from './finish-request.ts'
import { accept, authenticate, countChanges, countRequest, enter, locate, requireAddress } from './gates.ts'
import { Timing } from './observe/observe.ts'
import { beginTrace, isTraced } from './observe/tracing.ts'
import type { Accepted, Answered, AppServices, Arrived, Reached } from './stages.ts'
import { streamResponse } from './stream-response.ts'

/**
 * Answers a request. It never throws: every failure becomes a problem (ERR-4).
 *
 * @param givenCaller the caller of a call in process, whom the program vouches for; `undefined`: the request says it
 */
export async function respond(
  app: AppServices,
  request: HttpRequest,
  givenCaller?: Caller | undefined,
): Promise<HttpResponse> {
  app.running.began()
  // An observer may throw: closing must not wait for that request forever.
  try {
    const started = performance.now()
    // A counter would show each caller how many requests others send.
    const requestId = randomUUID()
    app.observe({ kind: 'arrival' })
    const span = isTraced() ? await beginTrace(request, requestId, started) : undefined
    const arrived = arrive({ app, request, givenCaller, requestId, started, span })
    return finish(await (span === undefined ? answer(arrived) : span.run(() => answer(arrived))))
  } finally {
    app.running.ended()
  }
}

function arrive(received: Omit<Arrived, 'path' | 'query' | 'instance' | 'timing'>): Arrived {
  const { app, request, started, span } = received
  const { path, query } = splitTarget(request.target)
  const timing = app.development || span !== undefined ? new Timing(started) : undefined
  return { ...received, path, query, instance: pathWithoutCredentials(path), timing }
}

/** Makes the response to a request. A refused one ends at the stage that it has reached. */
async function answer(arrived: Arrived): Promise<Answered> {
  const progress: Progress = { reached: arrived }
  try {
    const made = await pass(arrived, progress)
    const { reached } = progress
    const response = applyRange(arrived.request, made, arrived.app.now)
    const reserved = reserveBytes(reached, response)
    const coding = codingFor(reached, response)
    return { reached, response: coding === undefined ? response : await compress(reached, response, coding, reserved) }
  } catch (error) {
    return { reached: progress.reached, response: problemOf(progress.reached, error) }
  } finally {
    progress.reached.endRevocation?.()
    progress.reached.leave?.()
  }
}

/** How far a request has come: what a problem says of it, and what observers see. */
interface Progress {
  reached: Reached
}

/** Takes a request through the gates, in the order of CON-6, and carries it out. */
async function pass(arrived: Arrived, progress: Progress): Promise<HttpResponse> {
  const located = locate(arrived)
  progress.reached = located
  const authenticated = await authenticate(located)
  if ('status' in authenticated) return authenticated
  progress.reached = authenticated
  const rated = await countRequest(authenticated)
  progress.reached = rated
  const entering = enter(rated)
  // Without tenants nothing is awaited.
  const entered = entering instanceof Promise ? await entering : entering
  progress.reached = entered
  const addressed = requireAddress(entered)
  if ('status' in addressed) return addressed
  progress.reached = addressed
  const authorized = accept(addressed)
  if ('status' in authorized) return authorized
  progress.reached = authorized
  const { authorize } = entered.app.catalog
  if (authorize !== undefined) await askAuthorize(authorized, authorize)
  return await carryOut(authorized, progress)
}

/** Input, plan, outcome and reply of a request that has passed the gates. */
async function carryOut(authorized: Accepted, progress: Progress): Promise<HttpResponse> {
  const { app, request, target, timing, choice, form } = authorized
  const { version, query } = choice
  const { preferred, applied } = preferencesOf(request, target)
  const reading = { request, target, version, query, knownQueries: app.knownQueries, isStream: form === 'stream' }
  const read = readWithoutBody(reading) ?? (await readWithBody(reading))
  timing?.mark('read')
  const records = app.rates?.change === undefined ? 0 : changesIn(read)
  if (records > 0) {
    const changes = read.kind === 'transaction' ? { records, operations: read.operations } : { records }
    const counted = await countChanges(authorized, changes)
    progress.reached = counted
    if (counted.rate?.refusal !== undefined) throw counted.rate.refusal
  }
  const { authorize } = app.catalog
  const input =
    authorize !== undefined && read.kind === 'transaction'
      ? await askAboutOperations(authorized, authorize, read)
      : read
  if (target.kind === 'openapi' && input.kind === 'document') return app.documents.openapi(version, input.conditions)
  if (target.kind === 'caller') return callerResponse(authorized)
  if (target.kind === 'metrics') return metricsResponse(authorized)
  if (input.kind === 'event-stream') return streamResponse(authorized, input)
  if (authorize !== undefined) await askAboutRelated(authorized, authorize, input)

  const { catalog, files, webhookNetworks } = app
  const { cursorSecret } = app.storage
  const { caller, versionCatalog, basePath, path, instance, requestId } = authorized
  const now = app.now()
  // A literal, because the copy of a stage is much to collect for every request.
  // biome-ignore format: a row for planning, and one for the reply
  const context = {
    caller, catalog, versionCatalog, basePath, preferred, applied, cursorSecret, now, webhookNetworks,
    request, path, query: authorized.query, instance, requestId, files, prefersLinks: form === 'links',
  }
  const planned = planRequest(context, target, input)
  // Events and revisions name the request of each change.
  const isNamed = 'caller' in planned && hasRecording(catalog)
  if (planned.kind === 'create-key') await app.tenant?.addKey(planned.hash)
  const plan = isNamed ? { ...planned, request: { id: requestId, version: versionCatalog.version } } : planned
  timing?.mark('plan')
  const stored = await run(authorized, plan.kind === 'create-webhook' ? await fromNow(app.storage, plan) : plan)
  // It was refused, or is the repeated answer of another one.
  if (planned.kind === 'create-key' && stored.kind !== 'created') await app.tenant?.dropKey(planned.hash)
  const { versionResource } = plan
  const outcome = versionResource === undefined ? stored : outcomeFromStored(versionResource, stored)
  timing?.mark('db')
  if (!changesNothing.has(plan.kind)) await followUp(authorized, plan, outcome)
  // How many records match a filter is known afterwards. One of them is counted already.
  const isByFilter = plan.kind === 'delete-matching' || plan.kind === 'update-matching'
  if (isByFilter && 'count' in outcome) {
    await countChanges(authorized, { records: (outcome.count ?? 1) - 1, hasHappened: true })
  }
  const response = represent(plan, outcome, context)
  if (isFile(response.body)) await requireFile(app, plan, response.body)
  timing?.mark('reply')
  return response
}

/** The plans that have no effects on other parts of the server. */
const changesNothing: ReadonlySet<Plan['kind']> = new Set(['read-record', 'read-page', 'read-summary'] as const)

/** The caller and what the caller may do (AUT-11). */
function callerResponse({ app, caller, versionCatalog }: Accepted): HttpResponse {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'private, no-cache', Vary: 'Accept' }
  return { status: 200, headers, body: `${JSON.stringify(describeCaller(app.catalog, versionCatalog, caller))}\n` }
}

/**
 * The metrics of the server (OPS-7).
 *
 * @throws Fault FORBIDDEN unless the caller is an administrator
 */
async function metricsResponse({ app, caller }: Accepted): Promise<HttpResponse> {
  // With tenants, administrators are of a tenant, and only operators get here.
  if (app.tenants === undefined && !isAdministrator(caller))
    throw fault('FORBIDDEN', { detail: 'Only administrators may read the metrics.' })
  const headers = { 'Content-Type': metricsType, 'Cache-Control': 'no-store' }
  return { status: 200, headers, body: (await app.readMetrics?.()) ?? '' }
}

/** Runs a plan. Errors are logged, so values of `writeOnly` fields are taken out of them (SEC-3). */
function run({ app: { storage }, account, request, versionCatalog }: Accepted, plan: Plan): Promise<Outcome> {
  const running = storage.run(plan, { callerId: account, abandoned: request.abandoned })
  if (changesNothing.has(plan.kind)) return running
  return running.catch((error: unknown) => {
    throw redactError(placed(error, plan, versionCatalog), secretsOf(plan))
  })
}

/** The refusal of a sum that is too large: of many records, no one has made it so, and a deletion has no body. */
function placed(error: unknown, plan: Plan, catalog: Catalog): unknown {
  const errors = (error instanceof Fault && error.details.errors) || []
  if (errors[0]?.reason !== 'totalRange') return error
  const isOne = 'body' in plan
  return fault('CONFLICT', {
    errors: isOne ? issuesFromStored(catalog, plan.resource, errors) : [issue('largeTotal', { pointer: '' })],
  })
}

/** The values of `writeOnly` fields that a plan has. */
function secretsOf(plan: Plan): readonly string[] {
  if (plan.kind === 'transaction') return plan.operations.flatMap((each) => secretsOf(each.plan))
  if (plan.kind === 'update-matching') return secretsOf({ ...plan.update, versionResource: plan.versionResource })
  const bodies = 'bodies' in plan ? plan.bodies : 'body' in plan ? [plan.body] : []
  return bodies.flatMap((body) => writeOnlyTexts(plan.versionResource ?? plan.resource, body))
}

/** A webhook gets the events that follow: its position is read before its transaction begins. */
async function fromNow({ events }: Storage, plan: CreateWebhook): Promise<CreateWebhook> {
  return { ...plan, position: await events?.horizon() }
}

/** The effects of a change on other parts of the server. */
async function followUp({ app, requestId }: Accepted, plan: Plan, { kind }: Outcome): Promise<void> {
  app.streams?.wake()
  if (kind === 'accepted') app.runner.wake()
  if (kind !== 'deleted') return
  if (plan.kind === 'revoke-key') {
    app.authenticate.forget()
    app.streams?.recheck()
    await app.onRevoked?.()
  }
  if (plan.kind !== 'delete-job') return
  // A file that cannot be deleted now is deleted when its retention ends.
  await app.files.drop(plan.id).catch((error: unknown) => app.observe({ kind: 'failure', requestId, error }))
}

/** @throws Fault NOT_FOUND if the file of an export was removed */
async function requireFile({ files }: AppServices, plan: Plan, { length }: FileBody): Promise<void> {
  if ('id' in plan && (await files.has(plan.id, length))) return
  throw fault('NOT_FOUND', { detail: 'The file is not here any more. Ask for a new export.' })
}

/** The encoding that a response gets; `undefined`: it stays as it is. */
function codingFor({ app, request, found }: Reached, response: HttpResponse): Coding | undefined {
  if (!compressedMethods.has(request.method)) return undefined
  // The file of an export has one form only.
  if (found?.kind === 'found' && found.target.kind === 'export-content') return undefined
  return app.compressor.choose(request, response)
}

async function compress(
  { app, request, account }: Reached,
  response: HttpResponse,
  coding: Coding,
  reserved: boolean,
): Promise<HttpResponse> {
  const encoded = await app.compressor.compress(request, response, coding, {
    ...{ tenant: app.tenant?.id, caller: account ?? request.address },
  })
  if (reserved && account !== undefined) request.reserve?.(account, (encoded.body as Uint8Array).length, false)
  return encoded
}

/** Smaller responses are not counted: the operating system buffers far more for each connection. */
const countedFrom = 16_384

/**
 * Counts the bytes of a response until its client has read them (LIM-6). The response to a change is sent even beyond
 * the limit. A file is not held in memory; a body is, while it waits to be compressed.
 *
 * @returns whether they are counted
 * @throws Fault ANSWERS_UNREAD, OVERLOADED
 */
function reserveBytes({ account, request: { method, reserve } }: Reached, { body }: HttpResponse): boolean {
  if (account === undefined || reserve === undefined || body === undefined || isFile(body) || isStream(body))
    return false
  if (body.length < countedFrom) return false
  const mayRefuse = method === 'GET' || method === 'HEAD' || method === 'QUERY'
  const refusal = reserve(account, Buffer.byteLength(body), mayRefuse)
  if (refusal !== undefined) throw refusal
  return true
}
