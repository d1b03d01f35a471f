/** The response to a transaction (BLK-4): its results, or the refusal of the first operation that failed. */
import type { Catalog } from 'resourced-contract/model/resource'
import { Fault } from 'resourced-contract/spec/faults'
import type { HttpResponse } from '../http/message.ts'
import type { Outcome } from '../plan/outcome.ts'
import { outcomeFromStored } from '../plan/outcome.ts'
import type { OperationPlan, TransactionPlan } from '../plan/plan.ts'
import { atOperation, issuesAt } from '../plan/plan-transaction.ts'
import { issuesFromStored } from '../versions/translate-record.ts'
import { conflict, type Occurrence } from './problem.ts'

type Transacted = Extract<Outcome, { readonly kind: 'transacted' | 'operation-refused' }>

/**
 * Makes the response to a transaction.
 *
 * @param respond makes the response to an operation as to a request of its own
 * @throws Fault if an operation was refused
 */
export function transactionResponse(
  plan: TransactionPlan,
  outcome: Transacted,
  context: Occurrence & { readonly versionCatalog: Catalog },
  respond: (operation: OperationPlan, outcome: Outcome) => HttpResponse,
): HttpResponse {
  if (outcome.kind === 'transacted') {
    const results = outcome.results.map((made, index) => {
      const operation = planAt(plan, index)
      return resultText(respond(operation, outcomeFromStored(operation.versionResource, made)))
    })
    const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
    return { status: 200, headers, body: `{"results":[${results.join(',\n')}]}\n` }
  }
  const { index, outcome: refused } = outcome
  if (refused === undefined) throw atOperation(index, plan.refusal as Fault)
  const operation = planAt(plan, index)
  if (refused.kind === 'conflict') {
    const issues = issuesFromStored(context.versionCatalog, operation.resource, refused.issues)
    return conflict(issuesAt(index, issues), context)
  }
  try {
    respond(operation, refused)
  } catch (error) {
    throw error instanceof Fault ? atOperation(index, error) : error
  }
  throw new Error(`${refused.kind} is no refusal of an operation.`)
}

function planAt({ operations }: TransactionPlan, index: number): OperationPlan {
  return operations[index]?.plan as OperationPlan
}

/** A response as a member of `results`. The representation of a record is passed on as text. */
function resultText({ status, headers, body }: HttpResponse): string {
  const { Location: location, ETag: etag } = headers
  const text = JSON.stringify({ status, location, etag })
  return typeof body === 'string' ? `${text.slice(0, -1)},"body":${body.trimEnd()}}` : text
}
