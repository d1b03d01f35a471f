import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressPolicy, isRefusedLiterally } from './address-policy.ts'

const refused = [
  ['unspecified', '0.0.0.0', '::', '0.1.2.3'],
  ['loopback', '127.0.0.1', '127.255.0.1', '::1'],
  ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12::1', 'fec0::1'],
  ['link-local, and metadata of clouds', '169.254.169.254', 'fe80::1', 'fd00:ec2::254', '168.63.129.16'],
  ['CGNAT', '100.64.0.1', '100.127.255.255', '100.100.100.200'],
  ['multicast and broadcast', '224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1'],
  ['documentation, tests and reserved', '192.0.2.1', '198.18.0.1', '203.0.113.9', '240.0.0.1', '2001:db8::1'],
  ['IPv4 mapped into IPv6', '::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:10.1.1.1', '::ffff:a9fe:a9fe'],
  ['IPv4-compatible', '::127.0.0.1', '::7f00:1'],
  ['NAT64 of refused addresses', '64:ff9b::127.0.0.1', '64:ff9b::a00:1', '64:ff9b:1::1'],
  ['6to4 and Teredo', '2002:7f00:1::', '2002:808:808::1', '2001:0:808:808::1'],
  ['no address at all', '', 'localhost', 'fe80::1%eth0', '2606:4700::1%1', '010.0.0.1', '1.1.1', '0x7f.1'],
] as const

for (const [what, ...addresses] of refused) {
  test(`${what}: refused (EVT-10)`, () => {
    const { permits } = addressPolicy()
    assert.deepEqual(addresses.filter(permits), [])
  })
}

test('public addresses are permitted, also by NAT64 and as mapped ones (EVT-10)', () => {
  const { permits } = addressPolicy()
  const all = ['1.1.1.1', '100.63.255.255', '172.32.0.1', '2606:4700:4700::1111', '::ffff:1.1.1.1', '64:ff9b::101:101']
  assert.deepEqual(
    all.filter((each) => !permits(each)),
    [],
  )
})

test('an allowed network is permitted, and nothing beside it (EVT-10)', () => {
  const policy = addressPolicy(['10.1.0.0/16', 'fd00::/8', '127.0.0.1/32'])
  assert.deepEqual(['10.1.2.3', '::ffff:10.1.2.3', 'fd12::1', '127.0.0.1'].map(policy.permits), new Array(4).fill(true))
  assert.deepEqual(['10.2.0.1', '127.0.0.2', 'fc00::1', '::1'].map(policy.permits), new Array(4).fill(false))
})

test('URLs whose host is a refused address, or the machine itself, are known without DNS (EVT-10)', () => {
  const refused = (urls: readonly string[], networks?: readonly string[]) =>
    urls.filter((url) => isRefusedLiterally(new URL(url), addressPolicy(networks)))
  const inside = [
    ...['https://127.0.0.1/', 'https://127.0.0.1./', 'https://2130706433/', 'https://0177.0.0.1/', 'https://0x7f.1/'],
    ...[
      'https://10.0.0.1:8443/',
      'https://169.254.169.254/',
      'https://[::1]/',
      'https://[fe80::1]/',
      'https://[fd00::1]/',
    ],
    ...['https://[::ffff:127.0.0.1]/', 'https://[::ffff:a9fe:a9fe]/', 'https://[64:ff9b::10.0.0.1]/'],
    ...['https://localhost/', 'https://LocalHost.:8443/', 'https://api.localhost/'],
    ...['https://1.1.1.1:22/', 'http://1.1.1.1/', 'http://[2606:4700::1111]/'],
  ]
  assert.deepEqual(refused(inside), inside)
  const names = ['https://example.com/', 'https://10.0.0.1.example.com/', 'https://localhost.example/']
  assert.deepEqual(refused([...names, 'https://1.1.1.1/', 'https://[2606:4700::1111]:8443/']), [])
  const ports = ['https://example.com:22/', 'https://example.com:0/', 'https://example.com:80/', 'http://example.com/']
  assert.deepEqual(refused([...ports, 'https://example.com:443/', 'https://example.com:8443/']), ports)
  assert.deepEqual(refused(ports, ['10.0.0.0/8']), [])
  const allowed = ['http://localhost:22/', 'http://127.0.0.1/', 'https://[::ffff:127.0.0.1]/']
  assert.deepEqual(refused([...allowed, 'http://1.1.1.1/', 'https://[::1]/'], ['127.0.0.0/8']), [
    ...['http://1.1.1.1/', 'https://[::1]/'],
  ])
})

test('what is no network is refused at the start', () => {
  for (const network of ['10.0.0.0', '10.0.0.0/33', 'localhost/8', '10.0.0.0/8/1', '::/129', '10.0.0.0/', '/8']) {
    assert.throws(() => addressPolicy([network]), /is not a network/, network)
  }
})
