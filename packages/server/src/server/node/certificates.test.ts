import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect as connectSession } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { generate } from 'selfsigned'
import type { Observation } from '../observe/observe.ts'
import { type CertificatePair, readCertificate, watchCertificate } from './certificates.ts'
import { createNodeServer } from './listener.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-certificate-'))
after(() => rmSync(folder, { recursive: true }))

async function makePair(name: string, keyType: 'ec' | 'rsa' = 'ec'): Promise<CertificatePair> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: name }], { keyType, algorithm: 'sha256' })
  return { cert, key }
}
const [first, second, rsa] = await Promise.all([makePair('first'), makePair('second'), makePair('rsa', 'rsa')])

const files = { cert: join(folder, 'live', 'cert.pem'), key: join(folder, 'live', 'key.pem') }
mkdirSync(join(folder, 'live'))

/** Puts a pair as certbot does: new files in an archive, and links to them replaced one by one. */
function put(number: number, { cert, key }: Partial<CertificatePair>): void {
  for (const [name, text] of Object.entries({ cert, key })) {
    if (text === undefined) continue
    const file = join(folder, `${name}${number}.pem`)
    const link = join(folder, 'live', `${name}.new`)
    writeFileSync(file, text)
    symlinkSync(file, link)
    renameSync(link, join(folder, 'live', `${name}.pem`))
  }
}

const answer = { status: 200, headers: {}, body: 'done' }
async function listening(pair: CertificatePair) {
  const server = createNodeServer({ respond: async () => answer, problem: () => answer, tls: pair })
  const { port } = new URL(await server.listen('127.0.0.1', 0))
  after(() => server.close(1_000))
  return { server, port: Number(port) }
}

async function handshake(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options })
  await once(socket, 'secureConnect')
  after(() => socket.destroy())
  return socket
}
const nameOf = (socket: TLSSocket) => String(socket.getPeerCertificate().subject.CN)

test('SEC-1: new connections get a renewed certificate; a half-written pair changes nothing and is reported once', async () => {
  put(1, first)
  const pair = readCertificate(files)
  const { server, port } = await listening(pair)
  const seen: Observation[] = []
  const observe = (each: Observation) => void seen.push(each)
  const unwatch = watchCertificate(files, pair, server.renewCertificate, { observe, every: 5 })
  after(unwatch)
  const until = async (count: number) => {
    while (seen.length < count) await sleep(5)
  }
  const session = connectSession(`https://127.0.0.1:${port}`, { rejectUnauthorized: false }).on('error', () => {})
  after(() => session.destroy())
  await once(session, 'connect')
  assert.equal(nameOf(await handshake(port)), 'first')

  put(2, { cert: second.cert })
  await until(1)
  await sleep(50)
  assert.equal(nameOf(await handshake(port)), 'first')
  put(2, { key: second.key })
  await until(2)
  for (const ALPNProtocols of [['http/1.1'], ['h2']]) {
    const socket = await handshake(port, { ALPNProtocols })
    assert.deepEqual([nameOf(socket), socket.alpnProtocol], ['second', ALPNProtocols[0]])
  }
  // Connections of before go on.
  const stream = session.request({ ':path': '/' })
  assert.equal((await once(stream, 'response'))[0][':status'], 200)

  for (const name of ['cert', 'key']) rmSync(join(folder, 'live', `${name}.pem`))
  await until(3)
  await sleep(50)
  put(3, { cert: 'half of a certif', key: second.key })
  await until(4)
  await sleep(50)
  assert.equal(nameOf(await handshake(port)), 'second')
  const states = seen.map((each) => each.kind === 'certificate' && each.state)
  assert.deepEqual(states, ['refused', 'renewed', 'refused', 'refused'])
  put(4, rsa)
  // The files may be read while the links are replaced: then one more pair is refused before the renewal.
  const lastState = () => seen.map((each) => each.kind === 'certificate' && each.state).at(-1)
  while (lastState() !== 'renewed') await sleep(5)
  const renewed = await handshake(port)
  assert.equal(nameOf(renewed), 'rsa')
  await assert.rejects(handshake(port, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-SHA256' }))
  await assert.rejects(handshake(port, { maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' }))
  const [, told] = seen
  const end = new X509Certificate(second.cert).validToDate.toISOString()
  assert.deepEqual(told, { kind: 'certificate', state: 'renewed', until: end })
  assert.doesNotMatch(JSON.stringify(seen), /BEGIN|half of/)
})

test('SEC-1: TLS accepts only authenticated encryption with forward secrecy', async () => {
  for (const [kind, pair] of [
    ['ECDSA', first],
    ['RSA', rsa],
  ] as const) {
    const { port } = await listening(pair)
    for (const suite of ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305']) {
      const ciphers = `ECDHE-${kind}-${suite}`
      const socket = await handshake(port, { maxVersion: 'TLSv1.2', ciphers })
      assert.equal(socket.getCipher().name, ciphers)
    }
    assert.equal((await handshake(port)).getProtocol(), 'TLSv1.3')
    const refused = [`ECDHE-${kind}-AES128-SHA256`, `ECDHE-${kind}-AES256-SHA384`, `ECDHE-${kind}-AES128-SHA`]
    if (kind === 'RSA') refused.push('AES128-GCM-SHA256', 'AES256-SHA256', 'DHE-RSA-AES128-GCM-SHA256')
    for (const ciphers of refused) {
      await assert.rejects(
        handshake(port, { maxVersion: 'TLSv1.2', ciphers }),
        { code: /HANDSHAKE_FAILURE|ECONNRESET/ },
        ciphers,
      )
    }
  }
})

test('files that do not match are reported at start', () => {
  put(5, { cert: first.cert, key: second.key })
  assert.throws(
    () => readCertificate(files),
    (error: Error) => {
      assert.ok(error instanceof ConfigurationError)
      assert.match(error.message, /cannot be used: .*key values mismatch.* Give a certificate and its own key/)
      return true
    },
  )
  assert.throws(() => readCertificate({ ...files, key: join(folder, 'nowhere') }), ConfigurationError)
})
