import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bunAddress, denoAddress, forwardedAddress, honoAddress } from './addresses.ts'

const request = (headers = {}) => new Request('https://a.test/', { headers })
const bun = (address?: string) => ({ requestIP: () => (address === undefined ? null : { address }) })

test('each platform gives the address in its own place', () => {
  assert.equal(bunAddress(request(), bun('192.0.2.1')), '192.0.2.1')
  assert.equal(bunAddress(request(), bun()), undefined)
  assert.equal(denoAddress(request(), { remoteAddr: { hostname: '2001:db8::1' } }), '2001:db8::1')
  assert.equal(denoAddress(request(), { remoteAddr: { transport: 'unix' } }), undefined)
  for (const env of [
    { incoming: { socket: { remoteAddress: '192.0.2.1' } } },
    { remoteAddr: { hostname: '192.0.2.1' } },
    bun('192.0.2.1'),
    { server: bun('192.0.2.1') },
  ]) {
    assert.equal(honoAddress(request(), { env }), '192.0.2.1')
  }
  for (const env of [undefined, {}, { incoming: { socket: {} } }, { server: bun() }])
    assert.equal(honoAddress(request(), { env }), undefined)
})

test('an IPv4 address is one, whatever the socket calls it', () => {
  assert.equal(bunAddress(request(), bun('::ffff:192.0.2.1')), '192.0.2.1')
})

test('behind a proxy, the last address counts, which the proxy has written', () => {
  assert.equal(forwardedAddress(request({ 'x-forwarded-for': '198.51.100.9, 192.0.2.1' })), '192.0.2.1')
  assert.equal(forwardedAddress(request({ forwarded: 'for=192.0.2.1;proto=https' })), '192.0.2.1')
  assert.equal(forwardedAddress(request({ forwarded: 'for=192.0.2.1', 'x-forwarded-for': '192.0.2.2' })), undefined)
  assert.equal(forwardedAddress(request()), undefined)
})
