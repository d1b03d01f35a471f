/**
 * CORS (OPT-3 to OPT-6): the origins whose web pages may read responses, by the CORS protocol of the Fetch standard.
 */
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { exposedHeaders } from 'resourced-contract/spec/response-headers'
import type { HttpRequest, ResponseHeaders } from './message.ts'

/**
 * The configured origins. `origins`: exactly as browsers send them, or `*` for all. `credentials`: whether browsers may
 * send cookies and certificates, which is never allowed for all origins (OPT-5).
 */
export type Cors =
  | { readonly origins: '*'; readonly credentials: false }
  | { readonly origins: ReadonlySet<string>; readonly credentials: boolean }

/**
 * Reads the origins whose pages may read responses (`--cors-origin`, `--cors-credentials`).
 *
 * @param settings each an origin, several with commas, or `*`
 * @returns `undefined`: no CORS
 * @throws ConfigurationError if an origin is malformed, or `*` is combined with credentials (OPT-5)
 */
export function readCors(settings: readonly string[] = [], credentials = false): Cors | undefined {
  const origins = settings.flatMap((setting) => setting.split(',')).map((origin) => origin.trim())
  if (origins.length === 0) {
    if (!credentials) return undefined
    throw new ConfigurationError('--cors-credentials needs --cors-origin: say which pages may send them.')
  }
  if (origins.includes('*')) {
    if (credentials)
      throw new ConfigurationError('--cors-credentials does not go with --cors-origin *: list the origins instead.')
    if (origins.some((origin) => origin !== '*'))
      throw new ConfigurationError('--cors-origin takes * or origins, not both.')
    return { origins: '*', credentials: false }
  }
  for (const origin of origins) {
    const problem = originProblem(origin)
    if (problem !== undefined) throw new ConfigurationError(problem)
  }
  return { origins: new Set(origins), credentials }
}

/** What is wrong with an origin. Valid origins are ASCII without line breaks, so that a response can repeat them. */
function originProblem(text: string): string | undefined {
  if (text === '')
    return '--cors-origin has an empty value: write an origin such as https://app.example, or leave it out.'
  if (text === 'null') {
    return '--cors-origin does not take null, which any sandboxed page sends: write one such as https://app.example.'
  }
  if (text.includes('*')) return `--cors-origin takes no patterns: list each origin in place of ${quoted(text)}.`
  const origin = serialize(text) ?? (text.includes('://') ? undefined : serialize(`https://${text}`))
  if (origin === undefined) return `--cors-origin takes origins such as https://app.example, not ${quoted(text)}.`
  if (origin === text) return undefined
  const form = 'as browsers send them, without path, default port or capital letters'
  return `--cors-origin takes origins ${form}: write ${origin} for ${quoted(text)}.`
}

/** The origin of a URL (URL standard, "Origin"). Capacitor, Tauri and browser extensions have schemes of their own. */
function serialize(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null || url.host === '') return undefined
  return url.origin === 'null' ? `${url.protocol}//${url.host}` : url.origin
}

/** The text in quotes, without a password (SEC-3). */
function quoted(text: string): string {
  return JSON.stringify(text.replace(/.*@/s, '…@'))
}

/** Whether a request is a preflight, which browsers send without credentials (OPT-3). */
export function isPreflight(method: string, headers: HttpRequest['headers']): boolean {
  return (
    method === 'OPTIONS' && headers['origin'] !== undefined && headers['access-control-request-method'] !== undefined
  )
}

// Constant: a response never repeats the header names that a page asks for.
const requestHeaders = [
  'Accept', 'Accept-Language', 'API-Version', 'Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match',
  'If-Modified-Since', 'If-None-Match', 'If-Range', 'If-Unmodified-Since', 'Prefer', 'Range', 'traceparent',
  'tracestate', 'X-Request-Id',
].join(', ') // biome-ignore format: a list

const responseHeaders = exposedHeaders.join(', ')

// How long a browser may cache a preflight, in seconds. Chromium uses at most two hours. Firefox would use a day, and
// send requests that a new configuration refuses.
const maxAge = '7200'

/**
 * The header fields of the response to a preflight, a 204. Other origins get no `Access-Control-*`.
 *
 * @param origin the value of `Origin`
 * @param methods the methods that the address supports
 */
export function preflightHeaders(cors: Cors, origin: string | undefined, methods: readonly string[]): ResponseHeaders {
  const headers: ResponseHeaders = {
    'Cache-Control': 'no-store',
    Vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
  }
  if (!allow(headers, cors, origin)) return headers
  headers['Access-Control-Allow-Methods'] = methods.join(', ')
  headers['Access-Control-Allow-Headers'] = requestHeaders
  headers['Access-Control-Max-Age'] = maxAge
  return headers
}

/**
 * Adds the CORS header fields to any other response, errors included. If origins are listed, all responses vary by
 * `Origin`, so that caches do not share them between origins ("CORS protocol and HTTP caches").
 *
 * @param cors `undefined`: the header fields come back as they are
 * @param origin the value of `Origin`
 */
export function withCors(
  headers: ResponseHeaders,
  cors: Cors | undefined,
  origin: string | undefined,
): ResponseHeaders {
  if (cors === undefined) return headers
  const all = { ...headers }
  if (cors.origins !== '*') all.Vary = varyByOrigin(headers.Vary)
  if (allow(all, cors, origin)) all['Access-Control-Expose-Headers'] = responseHeaders
  return all
}

/** Allows a configured origin. `*` is sent to all, because caches share it. */
function allow(headers: ResponseHeaders, { origins, credentials }: Cors, origin: string | undefined): boolean {
  if (origins === '*') headers['Access-Control-Allow-Origin'] = '*'
  else if (origin !== undefined && origins.has(origin)) headers['Access-Control-Allow-Origin'] = origin
  else return false
  if (credentials) headers['Access-Control-Allow-Credentials'] = 'true'
  return true
}

function varyByOrigin(vary: string | undefined): string {
  if (vary === undefined || vary === '') return 'Origin'
  const named = vary.split(',').some((name) => /^(?:origin|\*)$/i.test(name.trim()))
  return named ? vary : `${vary}, Origin`
}
