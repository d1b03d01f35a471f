/** A storage whose changes are asked for over messages, as threads that answer requests ask the thread that writes. */
import { MessageChannel } from 'node:worker_threads'
import type { Catalog } from 'resourced-contract/model/resource'
import type { Plan, Read, Write } from '../packages/server/src/plan/plan.ts'
import type { Storage } from '../packages/server/src/storage/storage.ts'
import { remoteWriter, serveWriter } from '../packages/server/src/storage/threads/remote-writer.ts'

const reading: ReadonlySet<Plan['kind']> = new Set<Read['kind']>(['read-record', 'read-page', 'preview-deletion'])

/** The same storage; what is asked of its writer is sent as plain data, and so are the results. */
export function overMessages(catalog: Catalog, storage: Storage): Storage {
  const { port1, port2 } = new MessageChannel()
  serveWriter(port1, async () => ({ catalog, storage }))
  const { jobs, keys, maintenance, purgeClock, ...writer } = remoteWriter({
    port: port2,
    committing: new SharedArrayBuffer(4),
  })
  // Where nothing else is waited for, a message keeps the process alive.
  port1.ref()
  return {
    ...storage,
    ...{ jobs, keys, maintenance, purgeClock, deliveries: storage.deliveries && writer.deliveries },
    run: (plan, requester) => (reading.has(plan.kind) ? storage.run(plan, requester) : writer.run(plan as Write)),
    async close() {
      await storage.close()
      port1.close()
    },
  }
}
