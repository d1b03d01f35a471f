/** The thread that writes to a SQLite file (`resourced serve`). */
import { parentPort, workerData } from 'node:worker_threads'
import { UsageError } from 'resourced-contract/spec/configuration-error'
import { openStorage } from '../server/open-database.ts'
import { beat, type WriterCalls, type WriterMainCalls } from '../server/threads/thread-link.ts'
import type { OnCommit } from '../storage/storage.ts'
import { openChannel, type Peer } from '../storage/threads/channel.ts'
import { type OpenDatabase, serveWriter } from '../storage/threads/remote-writer.ts'
import { explain } from './explain.ts'
import { loadVersions } from './load-declaration.ts'
import type { CommandThread } from './serve.ts'

const { file, options, committing, pulse } = workerData as CommandThread & { readonly committing: SharedArrayBuffer }

/** The threads that may ask, as they are told of commits. */
const threads = new Set<OnCommit>()

const loading = loadVersions(file, options.basePath)
let opening: Promise<OpenDatabase> | undefined

const open = async (): Promise<OpenDatabase> => {
  const { stored: catalog } = await loading
  const onCommit: OnCommit = (commit) => threads.values().next().value?.(commit)
  return { catalog, storage: await openStorage(options, catalog, { migrate: options.migrate, onCommit, committing }) }
}

const openOnce = () => {
  if (opening === undefined) {
    opening = open()
    opening.then(begin, fail)
  }
  return opening
}

const begin = () => {
  main.tell('ready')
  beat(pulse)
}

const fail = (error: unknown) => {
  main.tell('failed', { text: explain(error, options.terminal?.colors), code: error instanceof UsageError ? 2 : 1 })
  setImmediate(() => process.exit(1))
}

const calls: WriterCalls = {
  open: () => void openOnce(),
  connect({ port }) {
    const tell = serveWriter(port, openOnce)
    threads.add(tell)
    port.once('close', () => threads.delete(tell))
  },
  async drain() {
    await (await openOnce()).storage.close()
    process.exit(0)
  },
}
const main = openChannel<WriterMainCalls>(parentPort as Peer, calls)
// The threads that answer requests say what is wrong with the declaration.
loading.catch(() => {})
