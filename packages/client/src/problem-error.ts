/** The error of every call that is refused or fails. */
import type { FaultCode, IssueCode } from 'resourced-contract/spec/faults'
import type { ClientResponse } from './send.ts'

/** One entry of `errors` in a problem. */
export interface ProblemEntry {
  readonly code: IssueCode
  readonly message: string
  /** The JSON Pointer of the value in the body that is wrong. */
  readonly pointer?: string
  readonly parameter?: string
  readonly header?: string
}

/**
 * A code of the server; `NO_RESPONSE`: no response arrived; `NO_PROBLEM`: the response is no problem document, for
 * instance a page of a proxy; or the code of a declared business rule.
 */
export type ProblemCode = FaultCode | 'NO_RESPONSE' | 'NO_PROBLEM' | (string & {})

/**
 * A request that was refused or failed (RFC 9457).
 *
 * @example
 * try {
 *   await client.tasks.create({ title: '' })
 * } catch (error) {
 *   if (error instanceof ProblemError && error.code === 'VALIDATION_FAILED') show(error.errorsAt('/title'))
 *   else throw error
 * }
 */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  /** The status of the response; 0: no response arrived. */
  readonly status: number
  /** The error code, such as `NOT_FOUND`: see the reference of error codes. */
  readonly code: ProblemCode
  /** One sentence for people. */
  readonly detail: string
  /** Everything that is wrong; of many errors the first ones. */
  readonly errors: readonly ProblemEntry[]
  /** The number of all errors. */
  readonly errorCount: number
  /** Finds the request in the log of the server. */
  readonly requestId: string | undefined
  /** The response; `undefined`: none arrived. Logs do not print it. */
  declare readonly response: ClientResponse | undefined

  constructor(status: number, body: unknown, response?: ClientResponse, cause?: unknown) {
    const { code = 'NO_PROBLEM', title = '', detail = title, errors, error_count, request_id } = Object(body)
    super(`${status} ${code}: ${detail}`, cause === undefined ? {} : { cause })
    this.status = status
    this.code = code
    this.detail = detail
    this.errors = Array.isArray(errors) ? errors : []
    this.errorCount = error_count ?? this.errors.length
    this.requestId = request_id
    Object.defineProperty(this, 'response', { value: response })
  }

  /** What is wrong with one field, by its JSON Pointer, such as `/title`. */
  errorsAt(pointer: string): readonly ProblemEntry[] {
    return this.errors.filter((each) => each.pointer === pointer)
  }
}
