/** The thread of long work: it does what it is asked, one piece after the other. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Catalog } from '../../model/resource.ts'
import { isWriting, longWork } from '../sql/jobs/long-work.ts'
import type { Compiler } from '../sql/predicate.ts'
import type { Transaction } from '../sql/transaction.ts'
import { StorageFault } from '../storage.ts'
import type { Reply, Request } from './background.ts'
import { Connection } from './connection.ts'
import { asStorageFault } from './errors.ts'
import { expressions } from './expressions.ts'

const { path, catalog } = workerData as { readonly path: string; readonly catalog: Catalog }
const compiler: Compiler = { catalog, expressions }
const connection = new Connection(path)

parentPort?.on('message', (request: Request | 'close') => {
  if (request !== 'close') {
    parentPort?.postMessage(answer(request))
    return
  }
  connection.close()
  parentPort?.close()
})

function answer({ number, name, asked }: Request): Reply {
  try {
    connection.execute(isWriting(name) ? 'begin immediate' : 'begin')
    const given = connection.run(longWork[name](compiler, asked as never) as Transaction<unknown>)
    connection.execute('commit')
    return { number, given }
  } catch (error) {
    if (connection.database.isTransaction) connection.execute('rollback')
    const known = asStorageFault(error)
    const kind = known instanceof StorageFault ? known.kind : 'failed'
    return { number, fault: { kind, message: String(error), stack: error instanceof Error ? error.stack : undefined } }
  }
}
