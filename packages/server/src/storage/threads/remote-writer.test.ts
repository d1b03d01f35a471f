import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import type { Storage } from '../storage.ts'
import { remoteWriter, serveWriter } from './remote-writer.ts'

/** A writer that says its name, and the way to it. */
function writer(name: string) {
  const { port1, port2 } = new MessageChannel()
  const maintenance = { end: async () => ({ since: '', message: name, retryAfter: 0 }) }
  serveWriter(port1, async () => ({ catalog: {} as never, storage: { maintenance } as unknown as Storage }))
  port1.ref()
  return { way: { port: port2, committing: new SharedArrayBuffer(4) }, port: port1 }
}

test('changes wait for the next writer, also if it is known before the end of the former one', async () => {
  const [first, second, third] = [writer('first'), writer('second'), writer('third')]
  const remote = remoteWriter(first.way)
  const name = async () => (await remote.maintenance.end())?.message
  assert.equal(await name(), 'first')
  first.port.close()
  await once(first.way.port, 'close')
  const waiting = name()
  remote.use(second.way)
  assert.equal(await waiting, 'second')
  remote.use(third.way)
  second.port.close()
  await once(second.way.port, 'close')
  assert.equal(await name(), 'third')
  third.port.close()
})

test('what cannot be sent is refused alone, and a call that a writer can no longer answer says whether it may have happened', async () => {
  const { way, port } = writer('only')
  const remote = remoteWriter(way)
  const asked = [remote.maintenance.begin((() => {}) as never), remote.maintenance.end()]
  await assert.rejects(asked[0]!, /could not be cloned/)
  assert.ok(await asked[1])
  const [lost] = [remote.maintenance.end()]
  port.close()
  await assert.rejects(lost, { kind: 'busy' })
})

test('a thread that starts waits for the next writer, and a change only for some time', async () => {
  const [first, second] = [writer('first'), writer('second')]
  const remote = remoteWriter(first.way, 20)
  first.port.close()
  const opened = remote.opened()
  await once(first.way.port, 'close')
  remote.use(second.way)
  await opened
  second.port.close()
  await once(second.way.port, 'close')
  await assert.rejects(remote.maintenance.end(), { kind: 'busy' })
  await assert.rejects(remote.maintenance.end(), { kind: 'busy' })
})

test('OPS-5: readiness does not wait for a writer that hangs', async () => {
  const { port1, port2 } = new MessageChannel()
  port1.on('message', () => {})
  const remote = remoteWriter({ port: port2, committing: new SharedArrayBuffer(4) }, 20)
  await assert.rejects(remote.ping(), { kind: 'busy' })
  port1.close()
})

test('TEN-4: a failure that the writer tells of before anybody listens is not lost', async () => {
  const { port1, port2 } = new MessageChannel()
  const storage = { maintenance: { end: async () => undefined } } as unknown as Storage
  const told = serveWriter(port1, async () => ({ catalog: {} as never, storage }))
  const remote = remoteWriter({ port: port2, committing: new SharedArrayBuffer(4) })
  told.failed(new Error('The tenant could not be migrated.'))
  // Answers come in their order.
  await remote.maintenance.end()
  const heard: unknown[] = []
  remote.watch((error) => heard.push((error as Error).message))
  assert.deepEqual(heard, ['The tenant could not be migrated.'])
  port1.close()
})
