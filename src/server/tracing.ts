/** Whether requests are traced (OPS-1): where an OpenTelemetry SDK is registered, and nothing is loaded where none is. */
import type { HttpRequest } from '../http/message.ts'
import type { RequestSpan } from './request-span.ts'

// Where every copy of @opentelemetry/api, of whichever package, finds the SDK.
const registry = Symbol.for('opentelemetry.js.api.1')

let loading: Promise<typeof import('./request-span.ts')> | undefined

/** Begins the span of a request; `undefined` where no SDK is registered. */
export function beginTrace(request: HttpRequest, requestId: string): Promise<RequestSpan> | undefined {
  const registered = (globalThis as { [registry]?: { readonly trace?: unknown } })[registry]
  if (registered?.trace === undefined) return undefined
  loading ??= import('./request-span.ts')
  return loading.then(({ beginSpan }) => beginSpan(request, requestId))
}
