/**
 * Checks the head of a request before anything uses it: its size (LIM-3), its target, and fields that may occur once.
 */
import { type Fault, fault } from 'resourced-contract/spec/faults'
import { headLimits } from 'resourced-contract/spec/limits'

/** A head as received. */
export interface RawHead {
  readonly method: string
  /** As received: origin form, absolute form, or `*`. */
  readonly url: string
  /** Names and values in turn, as received, repeated ones too. */
  readonly rawHeaders: readonly string[]
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** The parts of a head that the check determines. */
export interface CheckedHead {
  /** In origin form, or `*`. */
  readonly target: string
  /** The authority of a target in absolute form, which replaces `Host` (RFC 9112 section 3.2.2). */
  readonly host: string | undefined
}

/**
 * Checks the head of a request.
 *
 * @throws Fault URL_TOO_LONG, HEADERS_TOO_LARGE or MALFORMED_REQUEST, in this order
 */
export function checkHead(head: RawHead): CheckedHead {
  if (head.url.length > headLimits.target) throw urlTooLong()
  checkFields(head.rawHeaders, head.headers)
  const host = head.headers.host
  if (host !== undefined && !authority.test(host)) throw malformedRequest('The Host header is not a host and a port.')
  return readTarget(head.method, head.url)
}

const authority = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._~!$&'()*+;=%-]*)(?::[0-9]*)?$/i
const visible = /^[!-~]+$/

function readTarget(method: string, url: string): CheckedHead {
  if (!visible.test(url) || url.includes('#'))
    throw malformedRequest('The address holds characters that must be escaped.')
  if (url.startsWith('/')) return { target: url, host: undefined }
  if (url === '*' && method === 'OPTIONS') return { target: url, host: undefined }
  const absolute = /^https?:\/\/([^/?]*)([/?].*)?$/i.exec(url)
  if (absolute === null || absolute[1] === '' || !authority.test(absolute[1]!)) {
    throw malformedRequest('The address is neither a path nor an http or https URL.')
  }
  const rest = absolute[2] ?? (method === 'OPTIONS' ? '*' : '/')
  return { target: rest.startsWith('?') ? `/${rest}` : rest, host: absolute[1] }
}

// Fields that must not occur twice: which one counts must not depend on the reader.
const single = new Set([
  'host', 'authorization', 'content-type', 'content-length', 'if-modified-since', 'if-unmodified-since', 'if-range',
  'range', 'origin', 'idempotency-key', 'access-control-request-method', 'expect',
]) // biome-ignore format: a list

function checkFields(rawHeaders: readonly string[], headers: RawHead['headers']): void {
  let size = 0
  for (let index = 0; index < rawHeaders.length; index++) size += rawHeaders[index]!.length + 2
  if (size > headLimits.headers) throw headersTooLarge()
  let names = 0
  for (const _ in headers) names++
  if (names * 2 === rawHeaders.length) return
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase()
    if (seen.has(name) && single.has(name)) throw malformedRequest(`The header ${name} was sent more than once.`)
    seen.add(name)
  }
}

/** The fault for a message that violates HTTP. */
export function malformedRequest(detail: string): Fault {
  return fault('MALFORMED_REQUEST', { detail })
}

/** The fault for an address beyond LIM-3. */
export function urlTooLong(): Fault {
  return fault('URL_TOO_LONG', { detail: `The address may have ${headLimits.target} bytes.` })
}

/** The fault for a header section beyond LIM-3. */
export function headersTooLarge(): Fault {
  return fault('HEADERS_TOO_LARGE', { detail: `All headers together may have ${headLimits.headers} bytes.` })
}

/** The fault for a body beyond a limit in bytes. */
export function bodyTooLarge(limit: number): Fault {
  return fault('BODY_TOO_LARGE', { detail: `The body may have ${limit} bytes.` })
}
