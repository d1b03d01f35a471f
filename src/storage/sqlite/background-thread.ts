/** The thread of background jobs: it runs one transaction after the other. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Catalog } from '../../model/resource.ts'
import { readEpochs, sqlContext } from '../sql/context.ts'
import { type ExportPiece, StorageFault } from '../storage.ts'
import type { Transaction } from '../transaction.ts'
import { isWriting, longWork } from '../transactions/long-work.ts'
import type { Reply, Request } from './background.ts'
import { Connection, toStorageFault } from './connection.ts'
import { sqlite } from './engine.ts'

const { path, catalog } = workerData as { readonly path: string; readonly catalog: Catalog }
const connection = new Connection(path)
const context = sqlContext({ catalog, engine: sqlite, epochs: connection.run(readEpochs()) })

parentPort?.on('message', (request: Request | 'close') => {
  if (request !== 'close') {
    const reply = answer(request)
    parentPort?.postMessage(reply, buffersOf(reply))
    return
  }
  connection.close()
  // Ends the thread, not the process. Modules that users preload run here too, and their timers would keep the thread
  // alive.
  process.exit()
})

function answer({ number, name, asked }: Request): Reply {
  try {
    connection.execute(isWriting(name) ? 'begin immediate' : 'begin')
    const given = connection.run(longWork[name](context, asked as never) as Transaction<unknown>)
    connection.execute('commit')
    return { number, given }
  } catch (error) {
    if (connection.database.isTransaction) connection.execute('rollback')
    const known = toStorageFault(error)
    const kind = known instanceof StorageFault ? known.kind : 'failed'
    return { number, fault: { kind, message: String(error), stack: error instanceof Error ? error.stack : undefined } }
  }
}

/** The buffer that is transferred instead of copied: the bytes of a piece of an export. */
function buffersOf(reply: Reply): ArrayBuffer[] {
  const given = 'given' in reply ? (reply.given as Partial<ExportPiece> | undefined) : undefined
  return given?.text === undefined ? [] : [given.text.buffer as ArrayBuffer]
}
