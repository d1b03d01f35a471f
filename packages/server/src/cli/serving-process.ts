/** The log and the end of a process that serves until a signal stops it. */
import { type LogBlocks, type LogLevel, logTo, outputWritten } from '../server/observe/log.ts'
import type { Observe } from '../server/observe/observe.ts'
import { readableLog } from '../server/observe/readable-log.ts'

/** The log of a server on standard output: readable on a terminal, one JSON object in each line elsewhere. */
export function commandLog(level: LogLevel, output?: LogBlocks): Observe {
  if (process.stdout.isTTY !== true) return logTo(level, output)
  // A server outlives the terminal that shows its log.
  process.stdout.on('error', () => {})
  return readableLog(level)
}

/**
 * Stops on SIGTERM or SIGINT (OPS-2); a second signal ends the process at once.
 *
 * @param stop ends what runs, and gives the exit code
 */
export function stopOnSignal(observe: Observe, stop: () => Promise<number>): void {
  let isStopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, async () => {
      if (isStopping) process.exit(1)
      isStopping = true
      observe({ kind: 'stopping', reason: signal })
      await endProcess(await stop())
    })
  }
}

/** How long the end waits for the log to be read, in milliseconds. */
const mostForLog = 1_000

/** Ends the process, or this thread, after its log is written. */
export async function endProcess(code: number): Promise<never> {
  await outputWritten(mostForLog)
  process.exit(code)
}
