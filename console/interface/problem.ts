/** A refused or failed request, as RFC 9457 and the interface's rule ERR-2 describe it. */

import type { ProblemEntry } from '../../src/client/problem-error.ts'

export type { ProblemEntry }

export class Problem extends Error {
  override readonly name = 'Problem'
  /** The status; 0: no response arrived. */
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly errors: readonly ProblemEntry[]
  readonly requestId: string | undefined
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    const { title, detail, code, errors, request_id: requestId } = body
    super(textOf(detail) ?? textOf(title) ?? `The server answered with status ${status}.`)
    this.status = status
    this.code = textOf(code) ?? `STATUS_${status}`
    this.detail = this.message
    this.errors = Array.isArray(errors) ? (errors as ProblemEntry[]) : []
    this.requestId = textOf(requestId)
    this.body = body
  }
}

/**
 * The problem of a request that got no response.
 *
 * @param isChange whether the server may have made a change that nobody was told of
 */
export function unreachable(isChange = false): Problem {
  const rest = isChange ? ', so nobody knows whether it made the change. Look before you try again.' : '.'
  return new Problem(0, { code: 'NO_RESPONSE', detail: `The server does not answer${rest}` })
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
