/** Traces requests if an OpenTelemetry SDK is registered (OPS-1). Without one, nothing is loaded. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { HttpRequest } from '../../http/message.ts'
import type { RequestSpan } from './request-span.ts'

/** The part of a registered SDK that is used here. */
interface Provider {
  forceFlush?(): Promise<unknown>
  /** The API keeps a proxy for the registered provider. */
  getDelegate?(): Provider
}

// Every copy of @opentelemetry/api finds the SDK here.
const registry = Symbol.for('opentelemetry.js.api.1')

let loading: Promise<typeof import('./request-span.ts')> | undefined

/** Loads the module that traces, if an SDK is registered. */
export async function loadTracing(): Promise<void> {
  if (isTraced()) await load()
}

function load(): Promise<typeof import('./request-span.ts')> {
  loading ??= import('./request-span.ts').catch((error: unknown) => {
    // The next request tries again.
    loading = undefined
    throw error
  })
  return loading
}

/** Whether an SDK is registered. */
export function isTraced(): boolean {
  return registered() !== undefined
}

/**
 * Starts the span of a request.
 *
 * @param started when the request arrived, by `performance.now()`
 */
export async function beginTrace(request: HttpRequest, requestId: string, started: number): Promise<RequestSpan> {
  const { beginSpan } = await load()
  return beginSpan(request, requestId, started)
}

/**
 * Has a registered SDK send its spans: otherwise those of the last seconds are lost when the process ends.
 *
 * @param timeout in milliseconds
 */
export async function flushTraces(timeout: number): Promise<void> {
  const provider = registered()
  const sdk = provider?.getDelegate?.() ?? provider
  try {
    await Promise.race([sdk?.forceFlush?.(), sleep(timeout)])
  } catch {
    // The spans are lost; failures of their receiver must not prevent the end of the process.
  }
}

function registered(): Provider | undefined {
  return (globalThis as { [registry]?: { readonly trace?: Provider } })[registry]?.trace
}
