/** The thread that writes to a SQLite file (`resourced serve`). */
import { parentPort, workerData } from 'node:worker_threads'
import { operatorsOf } from 'resourced-contract/model/tenants'
import { UsageError } from 'resourced-contract/spec/configuration-error'
import { openServed, type ServedDatabase } from '../server/open-served-database.ts'
import type { ServedTenants } from '../server/open-tenants.ts'
import { beat, type WriterCalls, type WriterMainCalls } from '../server/threads/thread-link.ts'
import { openChannel, type Peer } from '../storage/threads/channel.ts'
import { type OpenDatabase, serveWriter, type ToldThread } from '../storage/threads/remote-writer.ts'
import { explain } from './explain.ts'
import { loadVersions } from './load-declaration.ts'
import type { CommandThread } from './serve.ts'

const { file, options, committing, pulse } = workerData as CommandThread & { readonly committing: SharedArrayBuffer }

/** The threads that may ask, as they are told of commits and failures. */
const threads = new Set<ToldThread>()

const loading = loadVersions(file, options.basePath)
let opening: Promise<ServedDatabase> | undefined

const open = async (): Promise<ServedDatabase> => {
  const { stored: catalog } = await loading
  return openServed(options, catalog, {
    ...{ migrate: options.migrate, committing },
    onCommit: (commit) => threads.values().next().value?.committed(commit),
    failed: (error) => threads.values().next().value?.failed(error),
  })
}

const openOnce = () => {
  if (opening === undefined) {
    opening = open()
    opening.then(begin, fail)
  }
  return opening
}

/** The only database or that of the operators, or that of a tenant, in use until the asking thread has its answer. */
const openFor = async (tenant?: string): Promise<OpenDatabase> => {
  const { stored: catalog } = await loading
  const { storage, tenants } = await openOnce()
  if (tenant === undefined) return { catalog: operatorsOf(catalog) ?? catalog, storage }
  const own = await (tenants as ServedTenants).open(tenant)
  return { catalog, storage: own, leave: () => void own.close() }
}

const begin = ({ tenants }: ServedDatabase) => {
  tenants?.migrate?.()
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
    const tell = serveWriter(port, openFor)
    threads.add(tell)
    port.once('close', () => threads.delete(tell))
  },
  async drain() {
    const { storage, tenants } = await openOnce()
    await tenants?.close()
    await storage.close()
    process.exit(0)
  },
}
const main = openChannel<WriterMainCalls>(parentPort as Peer, calls)
// The threads that answer requests say what is wrong with the declaration.
loading.catch(() => {})
