/** The option `log` of an application: where its log goes. */
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { type Logger, logTo, logWith } from './log.ts'
import type { Observe } from './observe.ts'

export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  /** Such as `request_id`, `status`, `err`. No entry contains credentials or the query of a request. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** Where the log goes: a logger such as one of pino, a function that receives each entry, or nowhere (`false`). */
export type LogOption = Logger | ((entry: LogEntry) => void) | false

const levels = ['debug', 'info', 'warn', 'error'] as const

/**
 * Reads the option. By default, warnings and errors go to standard error, one JSON object in each line.
 *
 * @returns `undefined`: no log
 * @throws ConfigurationError
 */
export function readLog(option: LogOption | undefined): Observe | undefined {
  if (option === false) return undefined
  if (option === undefined) return logTo('warn', { write: (line: string) => void process.stderr.write(line) })
  if (typeof option === 'function')
    return logWith(loggerOf((level, fields, message) => option({ level, message, fields })))
  if (typeof option === 'object' && option !== null && levels.every((level) => typeof option[level] === 'function'))
    return logWith(loggerOf((level, fields, message) => option[level](fields, message)))
  throw new ConfigurationError(
    'log takes a logger with the methods debug, info, warn and error, a function that receives each entry, or false.',
  )
}

type Write = (level: LogEntry['level'], fields: LogEntry['fields'], message: string) => unknown

/** A logger whose failures, thrown or rejected, disturb no request. */
function loggerOf(write: Write): Logger {
  const at = (level: LogEntry['level']) => (fields: object, message: string) => {
    try {
      Promise.resolve(write(level, fields as LogEntry['fields'], message)).catch(() => {})
    } catch {
      // There is nowhere to report it.
    }
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
