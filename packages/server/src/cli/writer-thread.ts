/** The thread that writes to a SQLite file (`resourced serve`). */
import { parentPort, workerData } from 'node:worker_threads'
import { UsageError } from 'resourced-contract/spec/configuration-error'
import { openStorage } from '../server/open-database.ts'
import { beat, type WriterCalls, type WriterMainCalls } from '../server/threads/thread-link.ts'
import type { OnCommit } from '../storage/storage.ts'
import { openChannel, type Peer } from '../storage/threads/channel.ts'
import { serveWriter } from '../storage/threads/remote-writer.ts'
import { explain } from './explain.ts'
import { loadVersions } from './load-declaration.ts'
import type { CommandThread } from './serve.ts'

const { file, options, committing, pulse } = workerData as CommandThread & { readonly committing: SharedArrayBuffer }

/** The threads that may ask, as they are told of commits. */
const threads = new Set<OnCommit>()

const open = async () => {
  const { stored: catalog } = await loadVersions(file, options.basePath)
  const onCommit: OnCommit = (commit) => threads.values().next().value?.(commit)
  return { catalog, storage: await openStorage(options, catalog, { migrate: options.migrate, onCommit, committing }) }
}

const opening = open()
const calls: WriterCalls = {
  async connect({ port }) {
    const { catalog, storage } = await opening
    const tell = serveWriter(port, catalog, storage)
    threads.add(tell)
    port.once('close', () => threads.delete(tell))
  },
  async drain() {
    await (await opening).storage.close()
    process.exit(0)
  },
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
