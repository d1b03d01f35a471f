/** OPS-1: traces with an OpenTelemetry SDK. The tests use a minimal SDK. */
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { afterEach, beforeEach, it } from 'node:test'
import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { flushTraces } from '../../../packages/server/src/server/observe/tracing.ts'
import { StorageFault } from '../../../packages/server/src/storage/storage.ts'
import { studio } from '../../declarations.ts'
import { type Sent, trialFor } from '../../harness.ts'
import { ask, failing, nowhere } from '../../steps.ts'

/** A span as an exporter would see it. */
interface Kept {
  name: string
  readonly kind: SpanKind | undefined
  readonly id: string
  readonly trace: string
  readonly parent: string | undefined
  readonly attributes: Record<string, unknown>
  status?: SpanStatusCode
  readonly from: number
  to?: number
}

let kept: Kept[] = []
const caller = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', traceFlags: 1 }

function startSpan(name: string, options: SpanOptions = {}, from: Context = ROOT_CONTEXT): Span {
  const parent = trace.getSpanContext(from)
  const id = String(kept.length + 1).padStart(16, '0')
  const mine: Kept = {
    name,
    kind: options.kind,
    id,
    trace: parent?.traceId ?? id.repeat(2),
    parent: parent?.spanId,
    attributes: { ...options.attributes },
    from: Number(options.startTime),
  }
  kept.push(mine)
  const span = {
    spanContext: (): SpanContext => ({ traceId: mine.trace, spanId: id, traceFlags: 1 }),
    isRecording: () => true,
    updateName: (next: string) => {
      mine.name = next
      return span
    },
    setAttribute: (key: string, value: unknown) => {
      mine.attributes[key] = value
      return span
    },
    setStatus: ({ code }: { code: SpanStatusCode }) => {
      mine.status = code
      return span
    },
    end: (time: number) => {
      mine.to = time
    },
  } as unknown as Span
  return span
}

/** Makes a context the active one, also of what is awaited in it. */
function contexts() {
  const storage = new AsyncLocalStorage<Context>()
  const manager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: <Rest extends unknown[], Result>(
      to: Context,
      work: (...rest: Rest) => Result,
      self?: unknown,
      ...rest: Rest
    ) => storage.run(to, () => work.apply(self, rest)),
    bind: <Target>(_: Context, target: Target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  return manager
}

beforeEach(() => {
  kept = []
  const tracer = { startSpan, startActiveSpan: () => assert.fail('is not used') }
  trace.setGlobalTracerProvider({ getTracer: () => tracer } as never)
  context.setGlobalContextManager(contexts())
  propagation.setGlobalPropagator({
    inject: () => {},
    extract(from, carrier: Record<string, string | undefined>) {
      const [, traceId, spanId] = /^00-(\w{32})-(\w{16})-01$/.exec(carrier['traceparent'] ?? '') ?? []
      if (traceId === undefined || spanId === undefined) return from
      return trace.setSpanContext(from, { traceId, spanId, traceFlags: 1, isRemote: true })
    },
    fields: () => ['traceparent'],
  })
})
afterEach(() => {
  trace.disable()
  context.disable()
  propagation.disable()
})

it('OPS-1: each request is a span, named by its method and its route', async (context) => {
  const { send } = await trialFor(context, studio)
  const table: readonly (readonly [Sent, name: string, attributes: Record<string, unknown>])[] = [
    [{ path: '/v1/projects?q=secret' }, 'GET /v1/projects', { 'http.route': '/v1/projects' }],
    [{ path: `/v1/projects/${nowhere}` }, 'GET /v1/projects/{id}', { 'http.response.status_code': 404 }],
    [{ path: '/v1/nothing' }, 'GET', { 'http.route': undefined, 'http.response.status_code': 404 }],
    [{ path: '/v1/projects', method: 'BREW' }, 'HTTP /v1/projects', { 'http.request.method': '_OTHER' }],
    [{ path: '/health/live', secure: false }, 'GET /health/live', { 'url.scheme': 'http' }],
  ]
  for (const [sent, name, attributes] of table) {
    kept = []
    const answer = await send(sent)
    const [span] = kept
    assert.ok(span)
    assert.deepEqual([span.name, span.kind, span.parent, span.status], [name, SpanKind.SERVER, undefined, undefined])
    const usual = { 'http.request.method': 'GET', 'url.scheme': 'https', 'http.response.status_code': answer.status }
    const expected = { ...usual, 'error.type': undefined, request_id: answer.headers['x-request-id'], ...attributes }
    for (const [key, value] of Object.entries(expected)) assert.equal(span.attributes[key], value, key)
  }
})

it('OPS-1: the parent of a span comes from traceparent', async (context) => {
  const { send } = await trialFor(context, studio)
  const traceparent = `00-${caller.traceId}-${caller.spanId}-01`
  await send({ path: '/v1/projects', headers: { traceparent } })
  assert.deepEqual([kept[0]?.trace, kept[0]?.parent], [caller.traceId, caller.spanId])
  await send({ path: '/v1/projects', headers: { traceparent: 'nonsense' } })
  assert.equal(kept.findLast(({ kind }) => kind === SpanKind.SERVER)?.parent, undefined)
})

it('OPS-1: within an active span, the span of a request is its child', async (test) => {
  const { send } = await trialFor(test, studio)
  const around = trace.setSpan(ROOT_CONTEXT, startSpan('of a framework'))
  const traceparent = `00-${caller.traceId}-${caller.spanId}-01`
  await context.with(around, () => send({ path: '/v1/projects', headers: { traceparent } }))
  const [outer, inner] = kept
  assert.deepEqual([inner?.kind, inner?.parent], [SpanKind.INTERNAL, outer?.id])
})

it('OPS-1: the stages of a request are consecutive spans within its span', async (context) => {
  const { send } = await trialFor(context, studio)
  const answer = await send({ path: '/v1/projects', body: { name: 'A' } })
  assert.equal(answer.headers['server-timing'], undefined)
  const [whole, ...stages] = kept
  assert.deepEqual(
    stages.map(({ name }) => name),
    ['auth', 'read', 'plan', 'db', 'reply'],
  )
  assert.ok(Math.abs(Number(whole?.from) - Date.now()) < 10_000)
  let last = Number(whole?.from)
  for (const { parent, from, to = 0 } of stages) {
    assert.equal(parent, whole?.id)
    assert.ok(from >= last && to >= from)
    last = to
  }
  assert.ok(last <= Number(whole?.to))
})

it('OPS-1: a request is handled within its span', async (test) => {
  const { app, send } = await trialFor(test, studio)
  const { run } = app.storage
  let active: Span | undefined
  Object.assign(app.storage, {
    run: (...given: Parameters<typeof run>) => {
      active = trace.getSpan(context.active())
      return run(...given)
    },
  })
  await send({ path: '/v1/projects' })
  assert.equal(active?.spanContext().spanId, kept[0]?.id)
})

it('OPS-1: the span of an internal failure is an error with its code', async (context) => {
  const { app, keys } = await trialFor(context, studio)
  const broken = failing(app, () => new StorageFault('failed', 'gone'), [])
  await ask(broken, { path: '/v1/projects' }, keys.get('root'))
  assert.equal(kept[0]?.status, SpanStatusCode.ERROR)
  assert.equal(kept[0]?.attributes['error.type'], 'STORAGE_FAILED')
})

it('SEC-3: no span contains data that a client sent', async (context) => {
  const { send } = await trialFor(context, studio)
  for (const sent of [
    { path: '/canary' },
    { path: '/v1/projects/canary?canary=canary' },
    { path: '/v1/projects', method: 'CANARY' },
    { path: '/v1/projects', body: { canary: 'canary' } },
    { path: '/v1/projects', as: 'canary', headers: { 'user-agent': 'canary', traceparent: 'canary' } },
  ]) {
    await send(sent)
  }
  assert.doesNotMatch(JSON.stringify(kept), /canary/i)
})

it('OPS-2: spans are sent on request; an SDK that cannot, fails or lacks the function delays nothing', async () => {
  await flushTraces(1_000)
  const sent: string[] = []
  const provider = (forceFlush: () => Promise<void>) => {
    trace.disable()
    trace.setGlobalTracerProvider({ getTracer: () => assert.fail(), forceFlush } as never)
  }
  provider(async () => void sent.push('spans'))
  await flushTraces(1_000)
  assert.deepEqual(sent, ['spans'])
  provider(() => Promise.reject([new Error('refused')]))
  await flushTraces(1_000)
  provider(() => new Promise(() => {}))
  const begun = performance.now()
  await flushTraces(30)
  assert.ok(performance.now() - begun < 10_000)
  trace.disable()
  await flushTraces(1_000)
})

it('OPS-1: without an SDK there is no span', async (context) => {
  const { send } = await trialFor(context, studio)
  trace.disable()
  assert.equal((await send({ path: '/v1/projects' })).status, 200)
  assert.deepEqual(kept, [])
})
