/** A refused or failed request: the error of the client, with words for what has no problem document. */
import { type ProblemEntry, ProblemError } from 'resourced-client'

export type { ProblemEntry }

export class Problem extends ProblemError {
  constructor(status: number, body: unknown, ...rest: readonly [response?: ProblemError['response']]) {
    // A proxy in between may answer with a page of its own.
    super(status, { title: `The server answered with status ${status}.`, ...Object(body) }, ...rest)
    // People read it as it is.
    this.message = this.detail
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
