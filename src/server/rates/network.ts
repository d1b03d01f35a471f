/** Whose an address is, as far as one can tell. */
import { isIPv6 } from 'node:net'

/**
 * The network that an address counts for. Of IPv6 it is the first half: whoever has one address there has 2⁶⁴ of them.
 * IPv4 counts alone, however it is written.
 *
 * @example
 * networkOf('2001:db8::1') // 2001:db8:0:0::/64
 * networkOf('::ffff:192.0.2.1') // 192.0.2.1
 */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%')
  if (!isIPv6(plain)) return address
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain) ?? []
  if (mapped !== undefined) return mapped
  const [before = '', after] = plain.split('::')
  const first = before === '' ? [] : before.split(':')
  const last = after === undefined || after === '' ? [] : after.split(':')
  // An IPv4 address at the end stands for two groups.
  const length = first.length + last.length + (plain.includes('.') ? 1 : 0)
  const groups = [...first, ...Array<string>(after === undefined ? 0 : 8 - length).fill('0'), ...last]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
