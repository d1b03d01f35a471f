/**
 * `Forwarded` (RFC 7239), `X-Forwarded-Proto` and `X-Forwarded-For` of a trusted proxy: the client behind it.
 */
import { isIP } from 'node:net'

/** The client of the proxy. */
export interface ForwardedClient {
  /** Whether the client used HTTPS; `false` if the proxy does not say so. */
  readonly secure: boolean
  /** The client's address; `undefined`: the proxy does not send it, hides it, or contradicts itself. */
  readonly address: string | undefined
}

type Headers = Readonly<Record<string, string | undefined>>

/**
 * Reads the element that the nearest proxy added at the end: clients can invent the elements before it. A proxy that
 * writes one of the two families forwards the other as the client sent it. If both are present, `secure` needs both,
 * and different addresses count as none.
 */
export function readForwarded(headers: Headers): ForwardedClient {
  const standard = headers.forwarded === undefined ? undefined : readStandard(headers.forwarded)
  const older =
    headers['x-forwarded-proto'] === undefined && headers['x-forwarded-for'] === undefined
      ? undefined
      : {
          secure: lastOf(headers['x-forwarded-proto'] ?? '').toLowerCase() === 'https',
          address: nodeAddress(lastOf(headers['x-forwarded-for'] ?? '')),
        }
  if (standard === undefined || older === undefined) return standard ?? older ?? { secure: false, address: undefined }
  return {
    secure: standard.secure && older.secure,
    address: standard.address === older.address ? standard.address : undefined,
  }
}

function lastOf(list: string): string {
  return list.slice(list.lastIndexOf(',') + 1).trim()
}

const pair =
  /[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z:[\]-]+)|"((?:[^"\\]|\\.)*)")[ \t]*([;,]|$)/y

function readStandard(text: string): ForwardedClient {
  const nothing = { secure: false, address: undefined }
  let element = new Map<string, string>()
  let index = 0
  while (index < text.length) {
    pair.lastIndex = index
    const found = pair.exec(text)
    if (found === null) return nothing
    element.set(found[1]!.toLowerCase(), found[2] ?? found[3]!.replace(/\\(.)/g, '$1'))
    index = pair.lastIndex
    if (found[4] === ',') element = new Map()
  }
  return { secure: element.get('proto')?.toLowerCase() === 'https', address: nodeAddress(element.get('for') ?? '') }
}

const withPort = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::[0-9]+)?$/i

/**
 * The address of a node (RFC 7239 section 6): with or without brackets and port, and not `unknown` or a made-up name.
 */
function nodeAddress(text: string): string | undefined {
  if (isIP(text) !== 0) return text.toLowerCase()
  const found = withPort.exec(text)
  const address = found?.[1] ?? found?.[2]
  return address !== undefined && isIP(address) !== 0 ? address.toLowerCase() : undefined
}
