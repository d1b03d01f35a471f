/**
 * The thread that copies the logs of files into the files (`checkpoints.ts`). JavaScript and nothing of ours, because a
 * thread that runs TypeScript takes 16 MB more memory.
 */
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

const { enough, mostPasses } = workerData

parentPort?.on('message', (path) => {
  parentPort?.postMessage(copyLog(path))
})

/**
 * Copies the log until few pages are left, while others read and write. Returns the message of an error.
 *
 * @param {string} path
 */
function copyLog(path) {
  try {
    const database = new DatabaseSync(path, { timeout: 0 })
    try {
      const [copy, look] = ['passive', 'noop'].map((mode) => database.prepare(`pragma wal_checkpoint(${mode})`))
      for (let pass = 0; pass < mostPasses; pass++) {
        copy?.get()
        // A checkpoint leaves what was added meanwhile.
        const { log, checkpointed } = look?.get() ?? {}
        if (Number(log) - Number(checkpointed) <= enough) return undefined
      }
    } finally {
      database.close()
    }
  } catch (error) {
    return String(error)
  }
}
