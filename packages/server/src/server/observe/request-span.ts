/**
 * One request as a span of OpenTelemetry, by its semantic conventions for HTTP. As in metrics, it contains nothing that
 * clients send (SEC-3): `request_id` leads to the line of the log, which has the path.
 */
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { HttpRequest } from '../../http/message.ts'
import { everyMethod } from '../../request/target.ts'
import type { Stage } from './observe.ts'
import { packageVersion } from './package-version.ts'

/** The outcome of a request. */
export interface Answered {
  readonly route: string | undefined
  readonly status: number
  readonly code: string | undefined
  readonly stages: readonly Stage[]
}

/** A span that has started. */
export interface RequestSpan {
  /** Runs work within the span: spans that it starts become children. */
  run<Result>(work: () => Result): Result
  end(answered: Answered): void
}

const methods = new Set(everyMethod)
const release = packageVersion()

/**
 * Starts the span of a request. Its parent is the active span, or else the caller's (`traceparent`).
 *
 * @param started when the request arrived, by `performance.now()`
 */
export function beginSpan({ method, headers, secure }: HttpRequest, requestId: string, started: number): RequestSpan {
  const tracer = trace.getTracer('resourced', release)
  const active = context.active()
  // A framework around the application may already have a server span for the request.
  const nested = trace.getSpan(active) !== undefined
  const parent = nested ? active : propagation.extract(ROOT_CONTEXT, headers)
  const known = methods.has(method)
  // One monotonic clock, so that stages lie within the span.
  const epoch = Date.now() - performance.now()
  const span = tracer.startSpan(
    known ? method : 'HTTP',
    {
      kind: nested ? SpanKind.INTERNAL : SpanKind.SERVER,
      startTime: epoch + started,
      attributes: {
        'http.request.method': known ? method : '_OTHER',
        'url.scheme': secure ? 'https' : 'http',
        request_id: requestId,
      },
    },
    parent,
  )
  const within = trace.setSpan(parent, span)
  return {
    run: (work) => context.with(within, work),
    end({ route, status, code, stages }) {
      if (span.isRecording()) {
        if (route !== undefined)
          span.updateName(`${known ? method : 'HTTP'} ${route}`).setAttribute('http.route', route)
        span.setAttribute('http.response.status_code', status)
        if (status >= 500)
          span.setAttribute('error.type', code ?? `${status}`).setStatus({ code: SpanStatusCode.ERROR })
        for (const { name, from, to } of stages) {
          tracer.startSpan(name, { startTime: epoch + from }, within).end(epoch + to)
        }
      }
      span.end(epoch + performance.now())
    },
  }
}
