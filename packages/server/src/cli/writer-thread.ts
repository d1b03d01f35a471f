/** The thread that writes to a SQLite file (`resourced serve`). */
import { parentPort, workerData } from 'node:worker_threads'
import { UsageError } from 'resourced-contract/spec/configuration-error'
import { collectMetrics } from '../server/observe/metrics.ts'
import { openStorage } from '../server/open-database.ts'
import { beat, type WriterCalls, type WriterMainCalls } from '../server/threads/thread-link.ts'
import { openChannel, type Peer } from '../storage/threads/channel.ts'
import { serveWriter } from '../storage/threads/remote-writer.ts'
import { explain } from './explain.ts'
import { loadVersions } from './load-declaration.ts'
import type { CommandThread } from './serve.ts'

const { file, options, committing, pulse } = workerData as CommandThread & { readonly committing: SharedArrayBuffer }

const open = async () => {
  const { stored: catalog } = await loadVersions(file, options.basePath)
  const metrics = await collectMetrics()
  const onCommit = (commit: { readonly changes: number; readonly duration: number }) =>
    metrics.observe({ kind: 'commit', ...commit })
  const storage = await openStorage(options, catalog, { migrate: options.migrate, onCommit, committing })
  return { catalog, metrics, storage }
}

const opening = open()
const calls: WriterCalls = {
  async connect({ port }) {
    const { catalog, storage } = await opening
    serveWriter(port, catalog, storage)
  },
  async drain() {
    const { storage, metrics } = await opening
    await storage.close()
    await main.call('report', await metrics.report())
    process.exit(0)
  },
  metrics: async () => (await opening).metrics.report(),
}
const main = openChannel<WriterMainCalls>(parentPort as Peer, calls)
opening.then(
  () => {
    main.tell('ready')
    beat(pulse)
  },
  (error: unknown) => {
    main.tell('failed', { text: explain(error, options.terminal?.colors), code: error instanceof UsageError ? 2 : 1 })
    setImmediate(() => process.exit(1))
  },
)
