/** An error as the log has it: its words and its stack, no other property, and no credential (ERR-4, SEC-3). */
import { inspect } from 'node:util'
import { pino } from 'pino'
import { withoutCredentials } from '../../model/credentials.ts'

/** What of an error is logged. */
export interface LoggedError {
  readonly type: string
  readonly message: string
  readonly stack?: string
  readonly code?: unknown
  readonly errors?: readonly LoggedError[]
}

/** Never throws, whatever was thrown. Other properties of errors are left out: they may hold requests, records and passwords. */
export function loggedError(thrown: unknown): LoggedError {
  try {
    if (!(thrown instanceof Error)) {
      const words = typeof thrown === 'object' ? Reflect.get(thrown ?? {}, 'message') : thrown
      return { type: typeof thrown, message: withoutCredentials(inspect(words)) }
    }
    const { type, message, stack } = pino.stdSerializers.err(thrown)
    const code: unknown = Reflect.get(thrown, 'code')
    return {
      type,
      message: withoutCredentials(message),
      stack: withoutCredentials(stack),
      ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
      ...(thrown instanceof AggregateError ? { errors: thrown.errors.map(loggedError) } : {}),
    }
  } catch {
    return { type: 'unknown', message: 'What was thrown cannot be read.' }
  }
}
