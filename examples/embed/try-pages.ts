/** Checks that a framework passes on the console and the API page as they were built: compressed once, and cacheable. */
import assert from 'node:assert/strict'
import { type IncomingHttpHeaders, request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

interface Received {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  /** As it was sent: `fetch` would undo the encoding. */
  readonly body: Buffer
}

const decoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  identity: (body) => body,
}

/** Who compresses bodies: the interface with br or gzip, or Next.js, with gzip and without a length. */
type Compressor = 'interface' | 'framework'

/** Checks the pages of an example whose interface is under /api, and every file that they name. */
export async function checkPages(origin: string, compressor: Compressor = 'interface'): Promise<void> {
  const check = (address: URL, caching: string) => checkFile(address, caching, compressor)
  for (const path of ['/api/console', '/api/docs', '/api/v1/docs']) {
    const page = new URL(path, origin)
    const html = (await check(page, 'no-cache')).toString()
    assert.match(html, /<meta name="resourced" content="\{&quot;name&quot;:&quot;tasks&quot;/)
    const files = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, file = '']) => new URL(file, page))
    assert.ok(files.length >= 2, `${path} has a script and a style sheet`)
    for (const file of files) await check(file, 'public, max-age=31536000, immutable')
  }
}

/** Reads an address in every encoding, with GET, HEAD and a condition. */
async function checkFile(address: URL, caching: string, compressor: Compressor): Promise<Buffer> {
  const plain = await ask(address, 'GET', {})
  assert.deepEqual([plain.status, plain.headers['content-encoding']], [200, undefined], address.href)
  const tags = new Set<string>()
  for (const wanted of ['br', 'gzip', 'identity']) {
    const accepted = { 'accept-encoding': wanted }
    const { status, headers, body } = await ask(address, 'GET', accepted)
    const place = `${wanted} of ${address.href}`
    assert.equal(status, 200, place)
    const { 'content-encoding': encoding = 'identity', etag = '' } = headers
    assert.ok(decoders[encoding]?.(body).equals(plain.body), `${place}: the body is right once it is decoded`)
    assert.equal(headers['cache-control'], caching, place)
    assert.match(headers.vary ?? '', /accept-encoding/i, place)
    assert.match(etag, /^"[^"]+"$/, place)
    tags.add(etag)
    const known = await ask(address, 'GET', { ...accepted, 'if-none-match': etag })
    assert.deepEqual([known.status, known.body.length, known.headers.etag], [304, 0, etag], place)
    const head = await ask(address, 'HEAD', accepted)
    assert.deepEqual([head.status, head.body.length], [200, 0], place)
    assert.deepEqual([head.headers.etag, head.headers['content-type']], [etag, headers['content-type']], place)
    if (compressor === 'framework') continue
    assert.equal(encoding, wanted, place)
    assert.equal(headers['content-length'], String(body.length), place)
    for (const name of ['content-encoding', 'content-length']) assert.equal(head.headers[name], headers[name], place)
  }
  assert.equal(tags.size, compressor === 'interface' ? 3 : 1, `tags of ${address.href}`)
  return plain.body
}

function ask(address: URL, method: string, headers: Readonly<Record<string, string>>): Promise<Received> {
  return new Promise((resolve, reject) => {
    const sent = request(address, { method, headers, agent: false }, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('error', reject)
      response.on('end', () => {
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(pieces) })
      })
    })
    sent.on('error', reject).end()
  })
}
