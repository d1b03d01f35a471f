/** The main thread of `resourced serve`: its log and its signals. */
import { isElsewhere, isInMemory } from '../server/database-address.ts'
import { logTo, outputWritten, standardOutput } from '../server/observe/log.ts'
import type { Observe } from '../server/observe/observe.ts'
import { readableLog } from '../server/observe/readable-log.ts'
import { StartFailed, type Supervisor, supervise } from '../server/threads/supervisor.ts'
import { hasColours, printError } from './explain.ts'
import type { ServeCommandOptions } from './serve.ts'

/** Serves on threads until a signal stops them. */
export async function serveOnThreads(
  count: number,
  file: string | undefined,
  { reusePort, ...options }: ServeCommandOptions & { readonly reusePort: boolean },
): Promise<void> {
  const { logLevel, database, host, port, metricsPort, metricsHost } = options
  const isTerminal = process.stdout.isTTY === true
  // A server outlives the terminal that shows its log.
  if (isTerminal) process.stdout.on('error', () => {})
  const output = isTerminal ? undefined : standardOutput()
  const observe = output === undefined ? readableLog(logLevel) : logTo(logLevel, output)
  const terminal = isTerminal ? { colors: hasColours(process.stdout) } : undefined
  const isFile = !isElsewhere(database) && !isInMemory(database)
  const starting = supervise({
    ...{ count, host, port, reusePort, metricsPort, metricsHost, observe, output },
    entry: new URL(import.meta.resolve('#request-thread')),
    writerEntry: isFile ? new URL(import.meta.resolve('#writer-thread')) : undefined,
    data: { file, options: { ...options, terminal } },
  })
  const renew = async () => (await starting).renew()
  // Before the start has ended: until somebody waits for the signal, it ends the process.
  if (!isTerminal) process.on('SIGHUP', () => void renew().catch(tell))
  const supervisor = await starting.catch(async (error: unknown) => {
    if (!(error instanceof StartFailed)) throw error
    return end(error.failure)
  })
  stopOnSignal(supervisor, observe)
  void supervisor.ended.then(end)
}

/** Says why the threads were not replaced. */
function tell(error: unknown): void {
  if (error instanceof StartFailed) process.stderr.write(`${error.message}\n`)
  else printError(error)
}

/** Ends the process because its threads have. */
async function end({ text, code }: { readonly text: string; readonly code: number }): Promise<never> {
  process.stderr.write(`${text}\n`)
  await outputWritten(mostForLog)
  process.exit(code)
}

/** How long a stop waits for the log to be read, in milliseconds. */
const mostForLog = 1_000

function stopOnSignal(supervisor: Supervisor, observe: Observe): void {
  let isStopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, async () => {
      if (isStopping) process.exit(1)
      isStopping = true
      observe({ kind: 'stopping', reason: signal })
      const isClean = await supervisor.close()
      observe({ kind: 'stopped' })
      await outputWritten(mostForLog)
      process.exit(isClean ? 0 : 1)
    })
  }
}
