/** Long work as the port has it, on SQLite. */
import type { Catalog } from '../../model/resource.ts'
import { forgetExpired, mostForgotten } from '../sql/idempotency.ts'
import { forgetJobs, hasExpired, mostForgotten as mostJobsForgotten } from '../sql/jobs/forget.ts'
import { openJobs } from '../sql/jobs/job-rows.ts'
import type { Transaction } from '../sql/transaction.ts'
import type { JobStore } from '../storage.ts'
import type { Background } from './background.ts'
import { type Reader, read } from './reader.ts'
import type { Writer } from './writer.ts'

/** What it works with. */
export interface JobStoreParts {
  readonly catalog: Catalog
  readonly reader: Reader
  readonly writer: Writer
  readonly background: Background
  readonly isClosing: () => boolean
}

/** The long work of a SQLite database: what is short of it on the connections that are there, the rest in the background. */
export function jobStore({ catalog, reader, writer, background, isClosing }: JobStoreParts): JobStore {
  return {
    open: () => read(reader, openJobs()),
    async measure(job, now) {
      const total = job.task === 'purge' ? undefined : await background.run('count', { job })
      if (total !== undefined) await background.run('keepTotal', { job, total, now })
    },
    step: (job, now) => background.run('step', { job, now }),
    claimExport: (job, server, now) => background.run('claimExport', { job, server, now }),
    readExport: (job) => background.run('readExport', { job }),
    keepExport: (job, server, progress, now) => background.run('keepExport', { job, server, progress, now }),
    finishExport: (job, server, result, now) => background.run('finishExport', { job, server, result, now }),
    giveUp: (job, error, now) => background.run('giveUp', { job, error, now }),
    async beginPurge(job, now) {
      const expired = await read(reader, hasExpired(catalog.resources.values(), now))
      return expired ? background.run('beginPurge', { ...job, now }) : false
    },
    async forget(now, goesOn = () => true) {
      const isChange = (count: number) => count > 0
      const untilNone = async (most: number, batch: () => Transaction<number>) => {
        for (let total = 0; ; ) {
          const count = isClosing() || !goesOn() ? 0 : await writer.write(batch, isChange)
          total += count
          if (count < most) return total
        }
      }
      return (
        (await untilNone(mostForgotten, () => forgetExpired(now))) +
        (await untilNone(mostJobsForgotten, () => forgetJobs(now)))
      )
    },
  }
}
