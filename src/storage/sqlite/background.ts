/**
 * Background jobs on a SQLite file: on a thread with its own connection, so that the event loop stays free for
 * requests. A database in memory has one connection only: its jobs run between requests (`backgroundOf`).
 */
import type { Catalog } from '../../model/resource.ts'
import { type Background, isWriting } from '../transactions/long-work.ts'
import { Thread } from './thread.ts'

/** The most megabytes of the thread's objects: it decides about large deletions record by record. */
const heap = 1_024

/**
 * Runs the transactions of background jobs on a thread, which starts with the first of them.
 *
 * @param changed called after a transaction that may have changed something, before its caller gets the result
 */
export function threadedBackground(path: string, catalog: Catalog, changed: () => void): Background {
  let thread: Thread | undefined
  return {
    async run(name, asked) {
      if (thread === undefined || thread.isEnded) thread = new Thread({ path, catalog }, heap)
      try {
        return (await thread.ask(name, asked)) as never
      } finally {
        if (isWriting(name)) changed()
      }
    },
    async close() {
      await thread?.close()
    },
  }
}
