/** Errors as `application/problem+json` (RFC 9457, ERR-2). */

import type { Catalog } from 'resourced-contract/model/resource'
import { withoutCredentials } from 'resourced-contract/model/text'
import type { FaultEntry } from 'resourced-contract/spec/failure-entries'
import { faults } from 'resourced-contract/spec/fault-entries'
import {
  countErrors,
  type Fault,
  type FaultCode,
  type Issue,
  mostErrors,
  problemType,
  sentenceOf,
} from 'resourced-contract/spec/faults'
import type { HttpResponse } from '../http/message.ts'

/** Where an error happened. */
export interface Occurrence {
  /** The path of the request, without its query: queries hold what people search for. */
  readonly instance?: string
  readonly requestId?: string
  /** Has the limit of entries in `errors`; left out: as many as any declaration may allow. */
  readonly catalog?: Pick<Catalog, 'limits'>
}

/** Makes the response to a fault. */
export function problem(error: Fault, occurrence: Occurrence = {}): HttpResponse {
  const { detail, errors, headers, listsAll } = error.details
  const { status, title, retryAfter }: FaultEntry = faults[error.code]
  const described = { code: error.code, status, title, detail, errors, most: mostOf(occurrence, listsAll) }
  const retry = retryAfter === undefined ? headers : { 'Retry-After': String(retryAfter), ...headers }
  return problemResponse(described, occurrence, retry)
}

/**
 * Makes the 409 of a change with conflicts.
 *
 * @param listsAll see `FaultDetails`
 */
export function conflict(issues: readonly Issue[], occurrence: Occurrence, listsAll = false): HttpResponse {
  const code = conflictCode(issues)
  // A business rule may use any code; its status is 409 all the same.
  const entry = Object.hasOwn(faults, code) ? faults[code as FaultCode] : faults.CONFLICT
  const { status } = faults.CONFLICT
  const title = entry.status === status ? entry.title : faults.CONFLICT.title
  return problemResponse({ code, status, title, errors: issues, most: mostOf(occurrence, listsAll) }, occurrence)
}

function mostOf({ catalog }: Occurrence, listsAll = false): number {
  return listsAll ? mostReasons : (catalog?.limits.errors ?? mostErrors)
}

/** The code of conflicts: theirs if all have the same, otherwise `CONFLICT`. */
export function conflictCode(issues: readonly Issue[]): string {
  const codes = new Set(issues.map((issue) => issue.code))
  return codes.size === 1 ? String(issues[0]?.code) : 'CONFLICT'
}

// A bulk deletion and its preview have one reason for each id (DEL-9).
const mostReasons = 1_002

// Sentences and pointers repeat parts of the request, which may have a mebibyte; the response must stay small.
const longestText = 2_000

/** Issues as a response shows them: the first, as many as it may list, in sentences. */
export function shownIssues(issues: readonly Issue[], most = mostReasons) {
  return issues
    .filter(({ params }) => params.more === undefined)
    .slice(0, most)
    .map(shown)
}

function shown(issue: Issue) {
  const { code, parameter, header, params, within = '' } = issue
  const pointer = issue.pointer === undefined && within === '' ? undefined : `${within}${issue.pointer ?? ''}`
  const { collection, count, ids } = params
  return {
    code,
    message: shortened(sentenceOf(issue)),
    pointer: pointer && shortened(pointer),
    parameter: parameter && shortened(parameter),
    ...{ header, collection, count, ids },
  }
}

function shortened(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText).toWellFormed()}…`
}

function summary(issues: readonly Issue[], count: number, listed: number): string | undefined {
  if (count <= 1) return issues[0] && sentenceOf(issues[0])
  return `${count} things are wrong; errors lists ${count > listed ? `the first ${listed}` : 'them all'}.`
}

/** The members of a problem. Without `detail`, it is made of the errors. */
interface Problem {
  readonly code: string
  readonly status: number
  readonly title: string
  readonly detail?: string | undefined
  readonly errors?: readonly Issue[] | undefined
  /** The most entries of `errors`. */
  readonly most: number
}

function problemResponse(
  { code, status, title, errors = [], most, detail }: Problem,
  { instance, requestId }: Occurrence,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const shown = shownIssues(errors, most)
  const count = countErrors(errors)
  const body = {
    type: problemType(code),
    title,
    status,
    detail: shortened(detail ?? summary(errors, count, shown.length) ?? `${title}.`),
    instance,
    code,
    request_id: requestId,
    ...(count > 0 && { errors: shown, error_count: count }),
  }
  return {
    status,
    code,
    headers: { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store', ...headers },
    // A message may repeat a part of the request, in which a caller may have sent a key by mistake.
    body: `${withoutCredentials(JSON.stringify(body))}\n`,
  }
}
