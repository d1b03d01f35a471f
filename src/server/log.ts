/** The JSON log: one line for each request, on standard output (OPS-1). */
import { type DestinationStream, destination, pino } from 'pino'
import type { Observe } from './observe.ts'

/** The levels of the log, the most talkative first. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/**
 * Makes the observer that writes the log.
 *
 * @param stream where it goes; standard output by default, in blocks, at the latest after a second
 */
export function logTo(level: LogLevel, stream?: DestinationStream): Observe {
  const sink = stream ?? destination({ fd: 1, sync: false, minLength: 8_192, periodicFlush: 1_000 })
  const log = pino({ level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` }, sink)
  return (seen) => {
    switch (seen.kind) {
      case 'request': {
        const { requestId: request_id, method, path, status, code, caller, duration } = seen
        const line = { request_id, method, path, status, code, caller, duration: Math.round(duration * 1000) / 1000 }
        if (status >= 500) log.error(line, 'request')
        else log.info(line, 'request')
        return
      }
      case 'failure':
        log.error({ request_id: seen.requestId, err: seen.error }, 'failure')
        return
      case 'listening':
        log.info({ url: seen.url }, 'listening')
        break
      case 'stopping':
        log.info({ reason: seen.reason }, 'stopping')
        break
      case 'stopped':
        log.info('stopped')
    }
    // Whoever started the process waits for these.
    if ('flushSync' in sink) (sink as { flushSync(): void }).flushSync()
  }
}
