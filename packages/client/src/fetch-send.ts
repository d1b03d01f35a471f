/**
 * Sends requests by `fetch`. It uses web standards only, and no option of `fetch` that an edge runtime lacks: not
 * `cache`, `credentials` or `mode`.
 */
import { ProblemError } from './problem-error.ts'
import type { ClientResponse, Send } from './send.ts'

/** Where requests go. */
export interface FetchOptions {
  /** The address of the interface, with the version if paths name it: `https://api.example.com/v1`. */
  readonly url: string | URL
  /** The version to add to the path of `url`, such as `v1`. */
  readonly version?: string | undefined
  /** Header fields of every request, such as `{ 'API-Version': 'v2' }`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The function that sends; by default the `fetch` of the platform. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
  /** How long one attempt may take, in milliseconds; 30,000 by default. Downloads may take longer. */
  readonly timeout?: number | undefined
}

// In browsers, `url` may be relative to the page.
const page: { readonly location?: { readonly href: string }; readonly fetch: unknown } = globalThis

/** Makes a way to send by `fetch`. */
export function fetchSend({ url, version, headers, timeout = 30_000, ...options }: FetchOptions): Send {
  const { origin, pathname, search } = new URL(url, page.location?.href)
  const base = `${origin}${pathname.replace(/\/+$/, '')}${version === undefined ? '' : `/${version}`}`
  return async (request) => {
    const { method, body = null, stream, signal } = request
    const [path = '', query] = request.path.split('?')
    const parameters = [search.slice(1), query].filter(Boolean).join('&')
    const limits = [signal, stream ? undefined : AbortSignal.timeout(timeout)].filter((each) => each !== undefined)
    const init = { method, body, headers: { ...headers, ...request.headers }, signal: AbortSignal.any(limits) }
    const send = options.fetch ?? globalThis.fetch
    const response = await send(`${base}${path}${parameters && `?${parameters}`}`, init)
    return stream && response.ok ? unread(response) : read(response)
  }
}

function unread(response: Response): ClientResponse {
  const { status, headers } = response
  return { status, headers, text: '', body: response }
}

/** @throws ProblemError if this is no response of the interface */
async function read(response: Response): Promise<ClientResponse> {
  const { status, headers } = response
  const text = await response.text()
  const isJson = /[/+]json/.test(headers.get('content-type') ?? '')
  if (response.ok && text !== '' && !isJson) {
    const detail = `${response.url} sent ${headers.get('content-type')}: check the option url of the client.`
    throw new ProblemError(status, { detail })
  }
  return { status, headers, text, body: isJson && text !== '' ? JSON.parse(text) : undefined }
}
