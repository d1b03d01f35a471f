import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from 'resourced-contract/spec/faults'
import { sendRaw } from '../../../../../test/raw-client.ts'
import type { HttpResponse } from '../../http/message.ts'
import { createNodeServer } from './listener.ts'

const problem = (error: Fault): HttpResponse => ({ status: error.status, headers: {}, body: error.code })

/** Numbers from 0 to below `bound`, the same for the same seed. */
function numbers(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

const seeds = [
  'GET /v1/tasks?a=b HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n',
  'POST /v1/tasks HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Type: application/json\r\n\r\nhello',
  'PUT /v1/tasks/1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'HEAD http://a/v1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n',
  'OPTIONS * HTTP/1.0\r\nExpect: 100-continue\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n',
]
const pieces = [
  '\r\n',
  '\n',
  '\r',
  ' ',
  ':',
  '\0',
  '\xff',
  'Host: b\r\n',
  'Content-Length: 9\r\n',
  'Transfer-Encoding: chunked\r\n',
  '0\r\n\r\n',
  'HTTP/1.1',
  '%',
  '#',
  'x'.repeat(9000),
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'CONNECT ',
]

function mutated(next: (bound: number) => number): string {
  let text = seeds[next(seeds.length)]!
  for (let turn = next(4); turn >= 0; turn--) {
    const at = next(text.length + 1)
    const kind = next(4)
    if (kind === 0) text = text.slice(0, at) + pieces[next(pieces.length)]! + text.slice(at)
    else if (kind === 1) text = text.slice(0, at) + text.slice(at + 1 + next(8))
    else if (kind === 2) text = text.slice(0, at) + String.fromCharCode(next(256)) + text.slice(at + 1)
    else text = text.slice(0, at) + text.slice(next(at + 1))
  }
  return text
}

test('any data gets a response or a closed connection, never a 5xx or a crash', async (context) => {
  const server = createNodeServer({
    problem,
    // A slow machine is no overload here.
    overloadLimits: { wait: 60_000, burst: 60_000 },
    respond: async (request) => {
      try {
        await request.readBody(1000)
        return { status: 200, headers: {}, body: 'fine' }
      } catch (error) {
        assert.ok(error instanceof Fault)
        return problem(error)
      }
    },
  })
  const origin = await server.listen('127.0.0.1', 0)
  context.after(() => server.close(1000))
  const next = numbers(20261121)
  const statuses = new Map<number, number>()
  for (let round = 0; round < 40; round++) {
    const messages = Array.from({ length: 50 }, () => mutated(next))
    await Promise.all(
      messages.map(async (message) => {
        const { answers, closed } = await sendRaw(origin, message, {
          end: true,
          methods: [message.startsWith('HEAD') ? 'HEAD' : 'GET'],
        })
        assert.ok(closed, `no end to ${JSON.stringify(message)}`)
        for (const { status } of answers) {
          assert.ok(status < 500, `${status} for ${JSON.stringify(message)}`)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }
      }),
    )
  }
  for (const status of [200, 400, 414]) assert.ok(statuses.has(status), `${status} was never met`)
})
