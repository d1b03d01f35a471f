/** Whether requests are traced (OPS-1): where an OpenTelemetry SDK is registered, and nothing is loaded where none is. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { HttpRequest } from '../../http/message.ts'
import type { RequestSpan } from './request-span.ts'

/** What an SDK registers, as far as it is used here. */
interface Provider {
  forceFlush?(): Promise<unknown>
  /** What the API keeps is a stand-in for the provider that was registered. */
  getDelegate?(): Provider
}

// Where every copy of @opentelemetry/api, of whichever package, finds the SDK.
const registry = Symbol.for('opentelemetry.js.api.1')

let loading: Promise<typeof import('./request-span.ts')> | undefined

/**
 * Begins the span of a request; `undefined` where no SDK is registered.
 *
 * @param started when the request came, by `performance.now()`
 */
export function beginTrace(request: HttpRequest, requestId: string, started: number): Promise<RequestSpan> | undefined {
  if (registered() === undefined) return undefined
  loading ??= import('./request-span.ts')
  return loading.then(({ beginSpan }) => beginSpan(request, requestId, started))
}

/**
 * Has the SDK send the spans that it has gathered, where one is registered: whoever ends the process would lose those of the
 * last seconds.
 *
 * @param patience milliseconds to wait for it at most
 */
export async function flushTraces(patience: number): Promise<void> {
  const provider = registered()
  const sdk = provider?.getDelegate?.() ?? provider
  try {
    await Promise.race([sdk?.forceFlush?.(), sleep(patience)])
  } catch {
    // They are lost then; whoever receives them is not our concern.
  }
}

function registered(): Provider | undefined {
  return (globalThis as { [registry]?: { readonly trace?: Provider } })[registry]?.trace
}
