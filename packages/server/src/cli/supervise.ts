/** The main thread of `resourced serve`: its log and its signals. */
import { isElsewhere, isInMemory } from '../server/database-address.ts'
import { standardOutput } from '../server/observe/log.ts'
import type { StartFailure } from '../server/threads/member.ts'
import { StartFailed, supervise } from '../server/threads/supervisor.ts'
import { hasColours, printError } from './explain.ts'
import type { ServeCommandOptions } from './serve.ts'
import { commandLog, endProcess, stopOnSignal } from './serving-process.ts'

/** Serves on threads until a signal stops them. */
export async function serveOnThreads(
  count: number,
  file: string | undefined,
  { reusePort, ...options }: ServeCommandOptions & { readonly reusePort: boolean },
): Promise<void> {
  const { logLevel, database, host, port, metricsPort, metricsHost } = options
  const isTerminal = process.stdout.isTTY === true
  const output = isTerminal ? undefined : standardOutput()
  const observe = commandLog(logLevel, output)
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
  stopOnSignal(observe, async () => {
    const isClean = await supervisor.close()
    observe({ kind: 'stopped' })
    return isClean ? 0 : 1
  })
  void supervisor.ended.then(end)
}

/** Says why the threads were not replaced. */
function tell(error: unknown): void {
  if (error instanceof StartFailed) process.stderr.write(`${error.message}\n`)
  else printError(error)
}

/** Ends the process because its threads have. */
async function end({ text, code }: StartFailure): Promise<never> {
  process.stderr.write(`${text}\n`)
  return endProcess(code)
}
