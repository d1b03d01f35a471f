/** Addresses with several hosts, and the choice among their servers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAddress } from './address.ts'
import { UnfitServer } from './errors.ts'
import { Hosts } from './hosts.ts'

const serversOf = (text: string) => readAddress(text)?.servers

test('hosts are read as libpq reads them', () => {
  const of = (...servers: string[]) => servers.map((each) => `postgres://ann:p%40x@${each}/shop`)
  const account = 'postgres://ann:p%40x@'
  assert.deepEqual(serversOf(`${account}h1:1,h2:2,h3/shop?target_session_attrs=any`), of('h1:1', 'h2:2', 'h3'))
  assert.deepEqual(serversOf(`${account}[::1]:5,[::2]/shop`), of('[::1]:5', '[::2]'))
  assert.deepEqual(serversOf(`${account}h1,h2/shop?port=7`), of('h1:7', 'h2:7'))
  assert.deepEqual(serversOf('postgres:///shop?host=h1,h2&port=1,2'), ['postgres://h1:1/shop', 'postgres://h2:2/shop'])
  assert.deepEqual(serversOf('postgres:///shop?host=/run/a,/run/b'), [
    'postgres:///shop?host=%2Frun%2Fa',
    'postgres:///shop?host=%2Frun%2Fb',
  ])
  // One host stays as it was said.
  assert.deepEqual(serversOf('postgres:///shop?host=/run/a&sslmode=disable'), [
    'postgres:///shop?host=/run/a&sslmode=disable',
  ])
})

test('what is no address of several hosts is not understood', () => {
  for (const hosts of ['h1,', ',h1', 'h1,h 2', 'h1:1,h2:x', 'h1,h2:70000', '[::1]:5,[::2'])
    assert.equal(readAddress(`postgres://${hosts}/shop`), undefined, hosts)
  assert.equal(readAddress('postgres://h1,h2/shop?port=1,2,3'), undefined)
  assert.throws(() => new Hosts('postgres://h1,/shop'), /not understood/)
  assert.throws(
    () => new Hosts('postgres://h1/shop?target_session_attrs=readwrite'),
    /target_session_attrs=readwrite\. It can be any, read-write, read-only, primary, standby, prefer-standby\./,
  )
  assert.throws(() => new Hosts('postgres://h1/shop?connect_timeout=soon'), /It is a number of seconds/)
  assert.throws(() => new Hosts('postgres://h1/shop?load_balance_hosts=yes'), /It can be disable, random/)
})

test('the time limit of a connection is that of the address', () => {
  const timeout = (text: string) => new Hosts(text).connectTimeout
  assert.equal(timeout('postgres://h1/shop'), undefined)
  assert.equal(timeout('postgres://h1,h2/shop'), 2_000)
  assert.equal(timeout('postgres://h1,h2/shop?connect_timeout=7'), 7_000)
  assert.equal(timeout('postgres://h1/shop?connect_timeout=1'), 2_000)
  assert.equal(timeout('postgres://h1/shop?connect_timeout=0'), undefined)
})

const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })

/** Connects to servers of which some answer, and returns the ones that were tried. */
async function tried(hosts: Hosts, answers: (server: number) => Error | undefined): Promise<number[]> {
  const seen: number[] = []
  const open = async () => {
    const server = hosts.choose()
    seen.push(server)
    const error = answers(server)
    if (error === undefined) return hosts.succeeded(server)
    hosts.failed(server)
    throw error
  }
  await hosts.connected(open).catch((error) => assert.equal(error, answers(seen.at(-1) as number)))
  return seen
}

test('a connection goes to the next server where one fails, and later ones go there at once', async () => {
  const hosts = new Hosts('postgres://h1,h2,h3/shop')
  assert.deepEqual(await tried(hosts, (server) => (server < 2 ? refused : undefined)), [0, 1, 2])
  assert.deepEqual(await tried(hosts, () => undefined), [2])
  assert.deepEqual(await tried(hosts, () => refused), [2, 0, 1])
})

test('a connection goes to the next server where the name of one cannot be looked up', async () => {
  const unknown = Object.assign(new Error('getaddrinfo EAI_AGAIN h1'), { code: 'EAI_AGAIN' })
  assert.deepEqual(
    await tried(new Hosts('postgres://h1,h2/shop'), (server) => (server === 0 ? unknown : undefined)),
    [0, 1],
  )
})

test('a wrong password is not tried elsewhere', async () => {
  const denied = Object.assign(new Error('denied'), { code: '28P01' })
  assert.deepEqual(await tried(new Hosts('postgres://h1,h2/shop'), () => denied), [0])
})

test('the session decides which servers are fit', () => {
  const states = [
    { isStandby: false, isReadOnly: false },
    { isStandby: false, isReadOnly: true },
    { isStandby: true, isReadOnly: false },
  ]
  const fit = (target: string) =>
    states.map((state) => new Hosts(`postgres://h/s?target_session_attrs=${target}`).isFit(state))
  assert.deepEqual(fit('any'), [true, true, true])
  assert.deepEqual(fit('read-write'), [true, false, false])
  assert.deepEqual(fit('read-only'), [false, true, true])
  assert.deepEqual(fit('primary'), [true, true, false])
  assert.deepEqual(fit('standby'), [false, false, true])
  assert.deepEqual(fit('prefer-standby'), [false, false, true])
})

test('where no standby is to be had, a primary is, if a standby was only preferred', async () => {
  const hosts = new Hosts('postgres://h1,h2/shop?target_session_attrs=prefer-standby')
  const primary = { isStandby: false, isReadOnly: false }
  const answers = () => (hosts.isFit(primary) ? undefined : new UnfitServer(hosts.wanted))
  assert.deepEqual(await tried(hosts, answers), [0, 1, 0])
})

test('balanced connections go to all servers', async () => {
  const hosts = new Hosts('postgres://h1,h2,h3/shop?load_balance_hosts=random')
  const seen = new Set<number>()
  for (let connection = 0; connection < 3; connection++) seen.add((await tried(hosts, () => undefined))[0] as number)
  assert.equal(seen.size, 3)
})
