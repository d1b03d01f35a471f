import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { MessageChannel, Worker } from 'node:worker_threads'
import { openChannel } from './channel.ts'

interface Calls {
  connect(way: { readonly port: object }): void
}

for (const isKnown of [true, false]) {
  test(`a port for a thread that has ended is closed${isKnown ? '' : ', also if that is not known yet'}`, async () => {
    const worker = new Worker('setInterval(() => {}, 1_000)', { eval: true })
    await once(worker, 'online')
    const { tell } = openChannel<Calls>(worker, {})
    const ended = worker.terminate()
    if (isKnown) await ended
    const { port1, port2 } = new MessageChannel()
    const closed = once(port2, 'close')
    tell('connect', { port: port1 })
    await closed
    await ended
  })
}

test('a call to a thread that has ended is refused', async () => {
  const worker = new Worker('', { eval: true })
  const { call } = openChannel<Calls>(worker, {}, () => new Error('gone'))
  await once(worker, 'exit')
  await assert.rejects(call('connect'), /gone/)
})
