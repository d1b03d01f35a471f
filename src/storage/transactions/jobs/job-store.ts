/** Long work as the port has it. */

import type { SqlContext } from '../../sql/predicate.ts'
import type { JobStore } from '../../storage.ts'
import type { Runner, Transaction } from '../../transaction.ts'
import { forgetExpired, mostForgotten } from '../idempotency.ts'
import { admitRemoval } from '../purge-clock.ts'
import { forgetJobs, hasExpired, mostForgotten as mostJobsForgotten } from './forget.ts'
import { openJobs } from './job-rows.ts'
import type { Asked, Given, LongWork } from './long-work.ts'
import { forgetPieces, mostForgotten as mostPiecesForgotten } from './pieces.ts'

/** Does long work. */
export interface Background {
  /** @throws StorageFault where the database fails; nothing is changed then */
  run<Name extends keyof LongWork>(name: Name, asked: Asked<Name>): Promise<Given<Name>>
  /** Finishes what is being done. */
  close(): Promise<void>
}

/** What it works with. */
export interface JobStoreParts {
  readonly context: SqlContext
  readonly runner: Runner
  readonly background: Pick<Background, 'run'>
  readonly isClosing: () => boolean
}

/** The long work of a database: what is short of it where requests are answered, the rest in the background. */
export function jobStore({ context, runner, background, isClosing }: JobStoreParts): JobStore {
  return {
    open: () => runner.read(openJobs),
    async measure(job, now) {
      const total = job.task === 'purge' ? undefined : await background.run('count', { job })
      if (total !== undefined) await background.run('keepTotal', { job, total, now })
    },
    step: (job, now) => background.run('step', { job, now }),
    claimExport: (job, server, now) => background.run('claimExport', { job, server, now }),
    readExport: (job) => background.run('readExport', { job }),
    keepExport: (job, server, progress, now, content) =>
      background.run('keepExport', { job, server, progress, now, content }),
    finishExport: (job, server, result, now, content) =>
      background.run('finishExport', { job, server, result, now, content }),
    giveUp: (job, error, now) => background.run('giveUp', { job, error, now }),
    admitRemoval: (now) =>
      runner.write(
        () => admitRemoval(context, now),
        (doubt) => doubt === undefined,
      ),
    async beginPurge(job, now) {
      const expired = await runner.read(() => hasExpired(context.catalog.resources.values(), now))
      return expired ? background.run('beginPurge', { ...job, now }) : false
    },
    async forget(now, goesOn = () => true) {
      const isChange = (count: number) => count > 0
      const untilNone = async (most: number, batch: () => Transaction<number>) => {
        for (let total = 0; ; ) {
          const count = isClosing() || !goesOn() ? 0 : await runner.write(batch, isChange)
          total += count
          if (count < most) return total
        }
      }
      const keys = await untilNone(mostForgotten, () => forgetExpired(now))
      const jobs = await untilNone(mostJobsForgotten, () => forgetJobs(context, now))
      const pieces = context.keepsPieces ? await untilNone(mostPiecesForgotten, () => forgetPieces(now)) : 0
      return keys + jobs + pieces
    },
  }
}
