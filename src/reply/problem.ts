/** Errors as `application/problem+json` (RFC 9457, ERR-2). */
import type { HttpResponse } from '../http/message.ts'
import { withoutCredentials } from '../model/credentials.ts'
import { faults } from '../spec/fault-entries.ts'
import { type Fault, type FaultCode, type Issue, problemType } from '../spec/faults.ts'

/** Where an error happened. */
export interface Occurrence {
  /** The path of the request, without its query: queries hold what people search for. */
  readonly instance?: string
  readonly requestId?: string
}

/** Makes the response to a fault. */
export function problem(error: Fault, occurrence: Occurrence = {}): HttpResponse {
  const { detail, errors, headers } = error.details
  const { status, title } = faults[error.code]
  return problemResponse({ code: error.code, status, title, detail, errors }, occurrence, headers)
}

/** Makes the 409 of a change with conflicts. */
export function conflict(issues: readonly Issue[], occurrence: Occurrence): HttpResponse {
  const code = conflictCode(issues)
  // A business rule may use any code; its status is 409 all the same.
  const entry = Object.hasOwn(faults, code) ? faults[code as FaultCode] : faults.CONFLICT
  const { status } = faults.CONFLICT
  const title = entry.status === status ? entry.title : faults.CONFLICT.title
  return problemResponse({ code, status, title, errors: issues }, occurrence)
}

/** The code of conflicts: theirs if all have the same, otherwise `CONFLICT`. */
export function conflictCode(issues: readonly Issue[]): string {
  const codes = new Set(issues.map((issue) => issue.code))
  return codes.size === 1 ? String(issues[0]?.code) : 'CONFLICT'
}

// A bulk deletion has one error for each id; no other response has more.
const mostErrors = 1_002

// Messages and pointers repeat parts of the request, which may have a mebibyte; the response must stay small.
const longestText = 2_000

/** Issues as a response shows them. */
export function shownIssues(issues: readonly Issue[]): Issue[] {
  return issues.slice(0, mostErrors).map(cut)
}

function cut(issue: Issue): Issue {
  const { message, pointer = '', parameter = '' } = issue
  if (message.length <= longestText && pointer.length <= longestText && parameter.length <= longestText) return issue
  return {
    ...issue,
    message: shortened(message),
    ...(issue.pointer !== undefined && { pointer: shortened(pointer) }),
    ...(issue.parameter !== undefined && { parameter: shortened(parameter) }),
  }
}

function shortened(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText).toWellFormed()}…`
}

function summary(issues: readonly Issue[] | undefined): string | undefined {
  if (issues === undefined || issues.length === 0) return undefined
  if (issues.length === 1) return issues[0]?.message
  return `${issues.length} things are wrong; errors lists them all.`
}

/** The members of a problem. Without `detail`, it is made of the errors. */
interface Problem {
  readonly code: string
  readonly status: number
  readonly title: string
  readonly detail?: string | undefined
  readonly errors?: readonly Issue[] | undefined
}

function problemResponse(
  { code, status, title, errors, detail = summary(errors) }: Problem,
  { instance, requestId }: Occurrence,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const body = {
    type: problemType(code),
    title,
    status,
    detail: shortened(detail ?? `${title}.`),
    instance,
    code,
    request_id: requestId,
    errors: errors && shownIssues(errors),
  }
  return {
    status,
    headers: { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store', ...headers },
    // A message may repeat a part of the request, in which a caller may have sent a key by mistake.
    body: `${withoutCredentials(JSON.stringify(body))}\n`,
  }
}
