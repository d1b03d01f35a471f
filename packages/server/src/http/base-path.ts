/** The path under which an application is mounted, such as `/api`: all its addresses begin with it. */
import { ConfigurationError, UsageError } from 'resourced-contract/spec/configuration-error'
import { pathWithin } from './message.ts'

/** Longer paths would leave too little of an address for the rest (LIM-3). */
const longest = 200

const form = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)*$/

/**
 * Reads a base path. `undefined`, `''` and `/` mean that addresses begin at the root.
 *
 * @returns `/api`, or an empty text
 * @throws UsageError if it is no path of plain segments
 */
export function readBasePath(text: string | undefined): string {
  const path = text === undefined || text === '/' ? '' : text
  if (typeof path === 'string' && path.length <= longest && form.test(path)) return path
  throw new UsageError(
    `The base path ${JSON.stringify(text)} cannot be used. Write a path such as /api: each segment begins with a ` +
      `slash and has letters, digits, "-", ".", "_" or "~"; no slash at its end; at most ${longest} characters.`,
  )
}

/** Whether a request target, in origin form or absolute form, is within a base path. */
export function isWithin(basePath: string, target: string): boolean {
  const path = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '')
  return pathWithin(basePath, path.split('?', 1)[0] as string) !== undefined
}

/** @throws ConfigurationError if an application without a base path shall leave requests to others */
export function requireBasePath(basePath: string, option: string): void {
  if (basePath !== '') return
  throw new ConfigurationError(
    `${option} needs a basePath: without one, every address belongs to the application. ` +
      'Write createApp(declaration, { basePath: "/api" }).',
  )
}
