/**
 * One request, from top to bottom: start reading here.
 *
 * request -> version and address -> caller -> input -> plan -> outcome -> reply, each a plain value. A refusal is a
 * thrown Fault, and the order of the gates is the order of refusals (CON-6).
 */

import { fault } from 'resourced-contract/spec/faults'
import { metricsType } from 'resourced-contract/spec/media-types'
import { type FileBody, type HttpRequest, type HttpResponse, isFile, isStream } from '../http/message.ts'
import { applyRange } from '../http/ranges.ts'
import type { Outcome } from '../plan/outcome.ts'
import type { CreateWebhook, Plan } from '../plan/plan.ts'
import { outcomeFromStored, planRequest } from '../plan/plan-request.ts'
import { redactError, writeOnlyTexts } from '../plan/redact-error.ts'
import type { Caller } from '../policy/caller.ts'
import { describeCaller } from '../policy/permissions.ts'
import { isAdministrator } from '../policy/permit.ts'
import { conflictCode } from '../reply/problem.ts'
import { represent } from '../reply/represent.ts'
import { type Input, preferencesOf, readInput } from '../request/input.ts'
import { compressedMethods } from './compressor.ts'
import * as gate from './gates.ts'
import { Timing } from './observe/observe.ts'
import { beginTrace } from './observe/tracing.ts'
import { type AppServices, RequestContext } from './request-context.ts'
import { streamResponse } from './stream-response.ts'

/** The gates of a request before its body is read, in the order of CON-6. */
const gates: readonly gate.Gate[] = [
  gate.limitTarget,
  gate.locate,
  gate.answerHealth,
  gate.requireHttps,
  gate.answerPage,
  gate.refuseInMaintenance,
  gate.refuseSecretsInQuery,
  gate.answerPreflight,
  gate.noteRevocation,
  gate.authenticate,
  gate.countRequest,
  gate.requireReadResponses,
  gate.refuseWhileStopping,
  gate.answerServerOptions,
  gate.requireVersion,
  gate.requireAddress,
  gate.answerOptions,
  gate.requireAcceptable,
  gate.authorize,
]

/**
 * Answers a request. It never throws: every failure becomes a problem (ERR-4).
 *
 * @param caller the caller of a call in process, whom the program vouches for; `undefined`: the request says it
 */
export async function respond(app: AppServices, request: HttpRequest, caller?: Caller): Promise<HttpResponse> {
  app.running.began()
  // An observer may throw: closing must not wait for that request forever.
  try {
    const context = new RequestContext(app, request)
    context.givenCaller = caller
    app.observe(arrival)
    const tracing = beginTrace(request, context.requestId, context.started)
    const span = tracing === undefined ? undefined : await tracing
    if (span !== undefined) context.timing ??= new Timing(context.started)
    let response: HttpResponse
    try {
      response = await (span === undefined ? answer(context) : span.run(() => answer(context)))
      const encoded = encode(context, applyRange(request, response, app.now))
      response = encoded instanceof Promise ? await encoded : encoded
    } catch (error) {
      response = context.problemOf(error)
    } finally {
      context.endRevocation?.()
    }
    return context.finish(response, span)
  } finally {
    app.running.ended()
  }
}

const arrival = { kind: 'arrival' } as const

/** The gates, then input, plan, outcome and reply. */
async function answer(context: RequestContext): Promise<HttpResponse> {
  for (const check of gates) {
    const checked = check(context)
    if (checked === undefined) continue
    const response = checked instanceof Promise ? await checked : checked
    if (response !== undefined) return response
  }
  const { app, request, target, timing } = context
  const { version, query } = context.choice
  const { preferred, applied } = preferencesOf(request, target)
  const { isStream } = context
  const reading = readInput({ request, target, version, query, knownQueries: app.knownQueries, isStream })
  const input = reading instanceof Promise ? await reading : reading
  timing?.mark('read')
  if (target.kind === 'openapi' && input.kind === 'document') {
    return app.documents.openapi(version, input.conditions)
  }
  if (target.kind === 'caller') return callerResponse(context)
  if (target.kind === 'metrics') return metricsResponse(context)

  if (input.kind === 'event-stream') return openStream(context, input)

  context.applied = applied
  context.preferred = preferred
  context.now = app.now()
  const plan = planRequest(context, target, input)
  timing?.mark('plan')
  const { versionResource } = plan
  const stored = await run(context, plan.kind === 'create-webhook' ? await fromNow(app, plan) : plan)
  const outcome = versionResource === undefined ? stored : outcomeFromStored(versionResource, stored)
  timing?.mark('db')

  const cleanup = followUp(context, plan, outcome)
  if (cleanup !== undefined) await cleanup
  const response = represent(plan, outcome, context)
  if (isFile(response.body)) await requireFile(context, plan, response.body)
  if (response.status === 409 && 'issues' in outcome && outcome.issues) context.code = conflictCode(outcome.issues)
  timing?.mark('reply')
  return response
}

/** The caller and what the caller may do (AUT-11). */
function callerResponse({ app, caller, versionCatalog }: RequestContext): HttpResponse {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'private, no-cache', Vary: 'Accept' }
  return { status: 200, headers, body: `${JSON.stringify(describeCaller(app.catalog, versionCatalog, caller))}\n` }
}

/**
 * The metrics of the server (OPS-7).
 *
 * @throws Fault FORBIDDEN unless the caller is an administrator
 */
async function metricsResponse({ app, caller }: RequestContext): Promise<HttpResponse> {
  if (!isAdministrator(caller)) throw fault('FORBIDDEN', { detail: 'Only administrators may read the metrics.' })
  const headers = { 'Content-Type': metricsType, 'Cache-Control': 'no-store' }
  return { status: 200, headers, body: (await app.readMetrics?.()) ?? '' }
}

/** A webhook gets the events that follow: its position is read before its transaction begins. */
async function fromNow({ storage }: AppServices, plan: CreateWebhook): Promise<CreateWebhook> {
  return { ...plan, position: await storage.events?.horizon() }
}

/** Opens a stream of events. */
async function openStream(
  context: RequestContext,
  input: Extract<Input, { readonly kind: 'event-stream' }>,
): Promise<HttpResponse> {
  const { streams } = context.app
  if (streams === undefined) throw fault('INTERNAL_ERROR')
  return streamResponse(context, streams, input)
}

/** Runs a plan. Errors are logged, so values of `writeOnly` fields are taken out of them (SEC-3). */
function run(context: RequestContext, plan: Plan): Promise<Outcome> {
  const running = context.app.storage.run(plan, context)
  if (!('body' in plan)) return running
  return running.catch((error: unknown) => {
    throw redactError(error, writeOnlyTexts(plan.versionResource ?? plan.resource, plan.body))
  })
}

/** The effects of an outcome on other parts of the server. */
function followUp({ app, requestId }: RequestContext, plan: Plan, { kind }: Outcome): Promise<void> | undefined {
  if (plan.kind !== 'read-record' && plan.kind !== 'read-page') app.streams?.wake()
  if (kind === 'accepted') app.runner.wake()
  if (kind !== 'deleted') return undefined
  if (plan.kind === 'revoke-key') {
    app.authenticate.forget()
    app.streams?.recheck()
    return app.onRevoked?.()
  }
  if (plan.kind !== 'delete-job') return undefined
  // A file that cannot be deleted now is deleted when its retention ends.
  return app.files.drop(plan.id).catch((error: unknown) => app.observe({ kind: 'failure', requestId, error }))
}

/** @throws Fault NOT_FOUND if the file of an export was removed */
async function requireFile({ app, now }: RequestContext, plan: Plan, { length }: FileBody): Promise<void> {
  if ('id' in plan && (await app.files.has(plan.id, length, now))) return
  throw fault('NOT_FOUND', { detail: 'The file is not here any more. Ask for a new export.' })
}

/** Compresses a response if the client takes that. The file of an export has one form only. */
function encode(context: RequestContext, response: HttpResponse): HttpResponse | Promise<HttpResponse> {
  const { app, request, callerId = request.address, found } = context
  // The body is in memory while it waits to be compressed.
  const isCounted = reserveBytes(context, response)
  if (!compressedMethods.has(request.method)) return response
  if (found?.kind === 'found' && found.target.kind === 'export-content') return response
  const encoded = app.compressor.encode(request, response, callerId)
  if (!isCounted) return encoded
  const countAgain = (made: HttpResponse) => {
    if (made !== response) request.reserve?.(callerId, (made.body as Uint8Array).length, false)
    return made
  }
  return encoded instanceof Promise ? encoded.then(countAgain) : countAgain(encoded)
}

/** Smaller responses are not counted: the operating system buffers far more for each connection. */
const countedFrom = 16_384

/**
 * Counts the bytes of a response until its client has read them (LIM-6). The response to a change is sent even beyond
 * the limit. A file is not held in memory.
 *
 * @returns whether they are counted
 * @throws Fault ANSWERS_UNREAD, OVERLOADED
 */
function reserveBytes({ request, callerId }: RequestContext, { body }: HttpResponse): boolean {
  const { method, reserve } = request
  if (reserve === undefined || callerId === undefined) return false
  if (body === undefined || isFile(body) || isStream(body) || body.length < countedFrom) return false
  const mayRefuse = method === 'GET' || method === 'HEAD' || method === 'QUERY'
  const refusal = reserve(callerId, Buffer.byteLength(body), mayRefuse)
  if (refusal !== undefined) throw refusal
  return true
}
