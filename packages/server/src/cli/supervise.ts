/** The supervisor of `resourced serve` with several workers: its log and its signals. */
import { url } from 'node:inspector'
import { say } from 'resourced-check/terminal'
import { type LogLevel, logTo, outputWritten, standardOutput } from '../server/observe/log.ts'
import type { Observe } from '../server/observe/observe.ts'
import { readableLog } from '../server/observe/readable-log.ts'
import { noWorkerStarts, type Supervisor, supervise } from '../server/workers/supervisor.ts'
import { printError } from './explain.ts'

/** What a supervisor needs of the command line. */
export interface SupervisedOptions {
  readonly host: string
  readonly port: number
  readonly metricsPort?: number | undefined
  readonly metricsHost?: string | undefined
  readonly logLevel: LogLevel
}

/** Serves with several workers until a signal stops them. */
export async function serveWithWorkers(
  count: number,
  { logLevel, ...options }: SupervisedOptions,
  execArgv: readonly string[],
): Promise<void> {
  const isTerminal = process.stdout.isTTY === true
  // A server outlives the terminal that shows its log.
  if (isTerminal) process.stdout.on('error', () => {})
  const output = isTerminal ? undefined : standardOutput()
  const observe = output === undefined ? readableLog(logLevel) : logTo(logLevel, output)
  const debugPort = portOfDebugger()
  const supervisor = await supervise({ ...options, count, execArgv, debugPort, observe, output })
  stopOnSignal(supervisor, observe)
  if (!isTerminal) process.on('SIGHUP', () => void supervisor.renew())
  void supervisor.ended.then(async ({ code, isFirst }) => {
    if (!isFirst) printError(noWorkerStarts())
    supervisor.kill()
    await outputWritten(mostForLog)
    process.exit(code)
  })
}

/** The port on which a debugger reaches this process, if it does, and where it reaches the workers. */
function portOfDebugger(): number | undefined {
  const address = url()
  if (address === undefined) return undefined
  const port = Number(new URL(address).port)
  say(
    `A debugger reaches the supervisor on port ${port}, and each worker on a port of its own, from ${port + 1} on. ` +
      'To debug one process, use --workers 1.',
  )
  return port
}

/** How long a stop waits for the log to be read, in milliseconds. */
const mostForLog = 1_000

function stopOnSignal(supervisor: Supervisor, observe: Observe): void {
  let isStopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, async () => {
      if (isStopping) {
        supervisor.kill()
        process.exit(1)
      }
      isStopping = true
      observe({ kind: 'stopping', reason: signal })
      const isClean = await supervisor.close()
      observe({ kind: 'stopped' })
      await outputWritten(mostForLog)
      process.exit(isClean ? 0 : 1)
    })
  }
}
