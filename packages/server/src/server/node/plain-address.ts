/** An address without the prefix of a socket for both families, which shows an IPv4 client as `::ffff:192.0.2.1`. */
export function plainAddress(address = ''): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address
}
