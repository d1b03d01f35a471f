/**
 * A proxy that loses requests and responses at random, as bad networks and restarting servers do. The same seed gives
 * the same sequence of faults.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

const faults = ['request lost', 'response lost', 'response cut', '502 before', '502 after', '503', '429'] as const
type Fault = (typeof faults)[number]

export interface LossyProxy {
  /** The address of the server behind it, by way of the proxy. */
  readonly url: string
  /** How often each fault happened. */
  readonly counts: Readonly<Record<Fault, number>>
}

/**
 * Starts a proxy.
 *
 * @param target the address of a server with plain HTTP
 * @param rate the share of requests that meet a fault
 */
export async function lossyProxy(
  context: TestContext,
  target: string,
  seed: number,
  rate: number,
): Promise<LossyProxy> {
  const random = generator(seed)
  const counts = Object.fromEntries(faults.map((fault) => [fault, 0])) as Record<Fault, number>
  const server = createServer(async (incoming, outgoing) => {
    const fault = random() < rate ? faults[Math.floor(random() * faults.length)] : undefined
    if (fault !== undefined) counts[fault] += 1
    const body = Buffer.concat(await Array.fromAsync(incoming as AsyncIterable<Buffer>))
    if (fault === 'request lost') return void incoming.socket.destroy()
    if (fault === '502 before')
      return void outgoing.writeHead(502, { 'Content-Type': 'text/html' }).end('<h1>Bad Gateway')
    if (fault === '503' || fault === '429') {
      const fields = { 'Retry-After': '0', 'Content-Type': 'application/problem+json' }
      return void outgoing.writeHead(Number(fault), fields).end('{"code":"OVERLOADED"}')
    }
    const { status, headers, content } = await forward(target, incoming, body)
    if (fault === 'response lost') return void incoming.socket.destroy()
    if (fault === '502 after') return void outgoing.writeHead(502).end()
    if (fault !== 'response cut') return void outgoing.writeHead(status, headers).end(content)
    outgoing.writeHead(status, headers)
    outgoing.write(content.subarray(0, content.length / 2), () => incoming.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counts }
}

interface Received {
  readonly status: number
  readonly headers: ServerResponse['getHeaders'] extends () => infer Headers ? Headers : never
  readonly content: Buffer
}

function forward(target: string, { method, url, headers }: IncomingMessage, body: Buffer): Promise<Received> {
  return new Promise((resolve, reject) => {
    const sent = request(`${target}${url}`, { method, headers }, async (response) => {
      const content = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>))
      resolve({ status: response.statusCode ?? 0, headers: response.headers, content })
    })
    sent.on('error', reject).end(body)
  })
}

/** Numbers from 0 to 1 (mulberry32). */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
