/**
 * Which network addresses and URLs webhooks may be sent to (EVT-10): public ones, and those of networks that the
 * operator allows. What is not known to be public is refused.
 */
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import { ConfigurationError } from '../spec/configuration-error.ts'

// RFC 6890 and its registry: addresses that are not globally reachable, or that lead to something else than a host.
const refusedIpv4 = subnets('ipv4', [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // The service of Azure that configures virtual machines has a public address.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
])

/** Global unicast addresses. All others are loopback, local, multicast, mapped or reserved. */
const globalIpv6 = subnets('ipv6', [['2000::', 3]])
// Special blocks among them: protocol assignments with Teredo, 6to4, documentation. Teredo and 6to4 contain an IPv4
// address, and no longer have relays.
const refusedIpv6 = subnets('ipv6', [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
])

function subnets(family: 'ipv4' | 'ipv6', entries: readonly (readonly [address: string, prefix: number])[]): BlockList {
  const list = new BlockList()
  for (const [address, prefix] of entries) list.addSubnet(address, prefix, family)
  return list
}

/** Decides about addresses, and about URLs whose host has these addresses. */
export interface AddressPolicy {
  /** Whether the operator allows any network. */
  readonly allowsNetworks: boolean
  /** Whether a webhook may be sent to the address. */
  permits(address: string): boolean
  /**
   * Whether a webhook may be sent to a URL whose host has these addresses. All of them must be permitted. HTTP, and all
   * ports, are permitted only in networks that the operator allows.
   */
  permitsUrl(url: URL, addresses: readonly string[]): boolean
}

/**
 * Makes the policy.
 *
 * @param networks the networks that the operator allows, such as `10.1.0.0/16` and `fd00::/8`
 * @throws ConfigurationError if one is not a network
 */
export function addressPolicy(networks: readonly string[] = []): AddressPolicy {
  const allowed = new BlockList()
  for (const network of networks) {
    const [address = '', prefix = '', ...rest] = network.split('/')
    const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined
    const isPrefix = /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 'ipv4' ? 32 : 128)
    if (family === undefined || !isPrefix || rest.length > 0 || address.includes('%')) {
      throw new ConfigurationError(
        `${JSON.stringify(network)} is not a network. Write an address and the length of its prefix: 10.1.0.0/16.`,
      )
    }
    allowed.addSubnet(address, Number(prefix), family)
  }
  const isAllowedNetwork = (given: string) => {
    const address = plainAddress(given)
    return address !== undefined && allowed.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
  }
  const permits = (address: string) => isAllowedNetwork(address) || isPublic(address)
  return {
    allowsNetworks: networks.length > 0,
    permits,
    permitsUrl(url, addresses) {
      if (url.username !== '' || url.password !== '') return false
      if (addresses.length === 0 || !addresses.every(permits)) return false
      if (addresses.every(isAllowedNetwork)) return /^https?:$/.test(url.protocol)
      return isPublicService(url)
    },
  }
}

/** Whether a URL is one of a public web server. Ports below 1024 belong to other services. */
function isPublicService({ protocol, port }: URL): boolean {
  return protocol === 'https:' && (port === '' || Number(port) >= 1024)
}

/** Names of the machine itself, whatever DNS says (RFC 6761). */
const localName = /(?:^|\.)localhost\.?$/

/**
 * Whether a URL can be refused without DNS: its host is an address that is not permitted, or a name of the machine
 * itself, or no address of its name would be permitted. `URL` has already read IPv4 addresses in all forms, such as
 * `0x7f.1` and `2130706433`.
 */
export function isRefusedLiterally(url: URL, { permitsUrl, allowsNetworks }: AddressPolicy): boolean {
  const { hostname } = url
  if (localName.test(hostname)) return !['127.0.0.1', '::1'].some((address) => permitsUrl(url, [address]))
  const address = literalAddress(hostname)
  if (address !== undefined) return !permitsUrl(url, [address])
  // A name can only lead to public addresses, unless the operator allows networks.
  return !allowsNetworks && !isPublicService(url)
}

/**
 * The address that a host is; `undefined`: it is a name.
 *
 * @param hostname as `URL` has it: IPv6 in brackets
 */
export function literalAddress(hostname: string): string | undefined {
  const address = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(address) > 0 ? address : undefined
}

/** Whether an address is known to be public. */
function isPublic(given: string): boolean {
  const address = plainAddress(given)
  if (address === undefined) return false
  if (isIPv4(address)) return !refusedIpv4.check(address, 'ipv4')
  const embedded = translatedIpv4(address)
  if (embedded !== undefined) return !refusedIpv4.check(embedded, 'ipv4')
  return globalIpv6.check(address, 'ipv6') && !refusedIpv6.check(address, 'ipv6')
}

/** An address in one spelling: IPv4 where it is mapped into IPv6. `undefined`: no address, or one with a zone. */
export function plainAddress(given: string): string | undefined {
  if (isIPv4(given)) return given
  if (!isIPv6(given) || given.includes('%')) return undefined
  const groups = groupsOf(given)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  return isMapped ? ipv4Of(groups) : given
}

/** The IPv4 address that the prefix of NAT64 (RFC 6052) translates to. */
function translatedIpv4(address: string): string | undefined {
  const groups = groupsOf(address)
  const isTranslated = groups[0] === 0x64 && groups[1] === 0xff9b && groups.slice(2, 6).every((group) => group === 0)
  return isTranslated ? ipv4Of(groups) : undefined
}

/** The eight groups of an IPv6 address. The parser of URLs writes them in one form, without dots. */
export function groupsOf(address: string): number[] {
  const text = new URL(`http://[${address}]/`).hostname.slice(1, -1)
  const [head = '', tail] = text.split('::')
  const numbers = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const [first, last] = [numbers(head), numbers(tail ?? '')]
  return [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last]
}

function ipv4Of(groups: readonly number[]): string {
  const [high, low] = groups.slice(6) as [number, number]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
