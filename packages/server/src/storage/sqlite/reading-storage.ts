/** A SQLite file as a storage on a thread that only reads: another thread makes its changes. */
import type { Catalog } from 'resourced-contract/model/resource'
import { sqlContext } from '../sql/context.ts'
import type { OnCommit, Storage } from '../storage.ts'
import type { RemoteWriter } from '../threads/remote-writer.ts'
import { keyStore } from '../transactions/keys.ts'
import { readShared } from '../transactions/meta.ts'
import { isIncluding } from '../transactions/read-including.ts'
import { readRecord } from '../transactions/read-record.ts'
import { Connection, Reader, withStorageFaults } from './connection.ts'
import { sqlite } from './dialect.ts'
import { exportsFolderOf, fileWatch } from './file.ts'
import { eventsOf, pagesOfFile, replacedFile } from './storage.ts'

/** How such a file is opened. */
interface ReadingOptions {
  readonly writer: RemoteWriter
  readonly onCommit?: OnCommit | undefined
}

/** Opens a file that its writer has brought up to date. */
export function openReading(catalog: Catalog, path: string, { writer, onCommit = () => {} }: ReadingOptions): Storage {
  writer.observe(onCommit)
  const reading = new Connection(path, { readOnly: true })
  // In KiB: most requests read, and what they read is spread over the file.
  reading.execute('pragma cache_size = -32000')
  const { cursorSecret, epochs, maintenanceFound } = reading.run(readShared())
  const reader = new Reader(reading, false)
  const context = sqlContext({ catalog, dialect: sqlite, epochs, tagSecret: cursorSecret })
  const isInPlace = fileWatch(path)
  const requireFile = () => {
    if (!isInPlace()) throw replacedFile()
  }
  const pages = pagesOfFile(context, reader, { path, requireFile })
  const onlyReads = (): never => {
    throw new Error('This thread only reads.')
  }
  const { find, list } = keyStore(context, {
    read: (start) => withStorageFaults(() => reader.run(start())),
    write: onlyReads,
  })
  return {
    cursorSecret,
    exportsFolder: exportsFolderOf(path),
    pieces: undefined,
    run(plan, requester) {
      if (plan.kind === 'read-record' && isIncluding(plan)) return pages.record(plan, requester)
      if (plan.kind === 'read-record')
        return withStorageFaults(() => reader.run(readRecord(context, reader.memory, plan)))
      if (plan.kind === 'read-page') return pages.read(plan, requester)
      if (plan.kind === 'read-summary') return pages.summary(plan, requester)
      if (plan.kind === 'preview-deletion') return pages.preview(plan, requester)
      return writer.run(plan)
    },
    load: onlyReads,
    loadAll: onlyReads,
    events: eventsOf(context, reader),
    deliveries: catalog.system.has('deliveries') ? writer.deliveries : undefined,
    jobs: writer.jobs,
    keys: { find, list, add: writer.keys.add, revoke: writer.keys.revoke, keepUses: writer.keys.keepUses },
    maintenance: writer.maintenance,
    purgeClock: writer.purgeClock,
    maintenanceFound,
    async ping() {
      requireFile()
      await writer.ping()
    },
    async close() {
      await pages.close()
      reader.close()
    },
  }
}
