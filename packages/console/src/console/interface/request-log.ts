/** The requests that the console has made, newest first, so that each view can show them. */
import { makeStore } from './store.ts'

export interface LoggedRequest {
  readonly number: number
  readonly method: string
  /** The whole address. */
  readonly url: string
  /** Header fields without the credential. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** Milliseconds since 1970. */
  readonly at: number
  /** `undefined`: still running. 0: no response arrived. */
  readonly status: number | undefined
  /** How long the response took, in milliseconds. */
  readonly took: number | undefined
}

const kept = 100
let count = 0

/** For `useSyncExternalStore`. */
export const requestLog = makeStore<readonly LoggedRequest[]>([])

/** Adds a request, and gives the function that notes its response. */
export function logRequest(
  request: Pick<LoggedRequest, 'method' | 'url' | 'headers' | 'body'>,
): (status: number) => void {
  count += 1
  const entry: LoggedRequest = { ...request, number: count, at: Date.now(), status: undefined, took: undefined }
  requestLog.set([entry, ...requestLog.current()].slice(0, kept))
  return (status) => {
    const ended = { ...entry, status, took: Date.now() - entry.at }
    requestLog.set(requestLog.current().map((other) => (other.number === entry.number ? ended : other)))
  }
}

export function clearRequestLog(): void {
  requestLog.set([])
}

/**
 * The request as a command for a POSIX shell. The key is the variable `KEY`, so that the line can be shared.
 *
 * @example
 * asCurl(request) // curl -g 'https://…/v1/tasks' -H "Authorization: Bearer $KEY"
 */
export function asCurl({ method, url, headers, body }: LoggedRequest): string {
  const parts = [`curl -g ${quote(url)}`, '-H "Authorization: Bearer $KEY"']
  if (method !== 'GET') parts.splice(0, 1, `curl -g -X ${method} ${quote(url)}`)
  for (const [name, value] of Object.entries(headers)) parts.push(`-H ${quote(`${name}: ${value}`)}`)
  if (body !== undefined) parts.push(`--data-binary ${quote(escapeInvisible(body))}`)
  return parts.join(' \\\n  ')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** JSON in which nothing can disguise what a pasted command does: such characters stand in its texts only. */
function escapeInvisible(json: string): string {
  return json.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (found) =>
    found
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
