/**
 * The plan of a transaction (BLK-4). Each operation is planned as a request of its own. The first one that is refused
 * here ends the plan: an earlier one may still be refused in the transaction, and then says why.
 */
import { Fault, type Issue, issue, movedTo } from 'resourced-contract/spec/faults'
import type { Input } from '../request/input.ts'
import { readArray } from '../request/many.ts'
import type { Operation } from '../request/operations.ts'
import type { OperationPlan, Plan, TransactionPlan } from './plan.ts'
import { idempotencyOf, type Planning } from './planning.ts'

type TransactionInput = Extract<Input, { readonly kind: 'transaction' }>
type PlanOne = (planning: Planning, target: Operation['target'], input: OperationInput) => Plan
type OperationInput = Extract<
  Input,
  { readonly kind: 'create' | 'replace' | 'merge' | 'patch' | 'write-many' | 'delete' | 'restore' }
>

/**
 * Plans a transaction.
 *
 * @param planOne plans an operation as a request
 * @throws Fault if the first operation is refused
 */
export function planTransaction(planning: Planning, input: TransactionInput, planOne: PlanOne): TransactionPlan {
  const { caller, catalog, now, preferred } = planning
  const each = { ...planning, preferred: { ...preferred, asynchronously: false, most: undefined } }
  const operations: { readonly plan: OperationPlan; readonly as?: string }[] = []
  let refusal = input.refusal?.fault
  for (const operation of input.operations.slice(0, input.refusal?.index)) {
    const { target, id, as } = operation
    try {
      const plan = planOne(each, target, inputOf(operation, catalog.limits.bulk)) as OperationPlan
      operations.push({ plan: plan.kind === 'create' ? { ...plan, id } : plan, ...(as !== undefined && { as }) })
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      refusal = error
      break
    }
  }
  const [first] = operations
  if (first === undefined) throw atOperation(0, refusal as Fault)
  return {
    kind: 'transaction',
    resource: first.plan.resource,
    operations,
    mostReferred: catalog.limits.bodyBytes,
    ...(refusal && { refusal }),
    idempotency: idempotencyOf(planning, ['transactions'], input),
    caller,
    now,
  }
}

function inputOf({ method, target, body, conditions }: Operation, most: number): OperationInput {
  if (target.kind === 'collection' && Array.isArray(body)) {
    const keyed = { conditions, idempotencyKey: undefined }
    return { kind: 'write-many', method: method as 'POST' | 'PATCH', ...readArray(body, most), ...keyed }
  }
  if (target.kind === 'restore') return { kind: 'restore', conditions, idempotencyKey: undefined }
  if (method === 'DELETE') return { kind: 'delete', conditions, descendants: false }
  if (method === 'POST') return { kind: 'create', body, idempotencyKey: undefined }
  if (method === 'PUT') return { kind: 'replace', body, conditions }
  return { kind: Array.isArray(body) ? 'patch' : 'merge', body, conditions }
}

/** Issues of an operation at their places in the body of the transaction. */
export function issuesAt(index: number, issues: readonly Issue[]): Issue[] {
  const place = `/operations/${index}`
  return issues.map((each) => {
    const { pointer, header, within } = each
    if (header !== undefined) return { ...movedTo({ pointer: `${place}/if_match` }, each), header: undefined }
    const isOfBody = pointer !== undefined || within !== undefined
    return { ...each, parameter: undefined, within: isOfBody ? `${place}/body${within ?? ''}` : place }
  })
}

/** The refusal of an operation as that of its transaction. */
export function atOperation(index: number, { code, details, message, cause }: Fault): Fault {
  const { errors = [], detail = message } = details
  const given = () => issue('given', { code, message: detail })
  return new Fault(code, { ...details, errors: issuesAt(index, errors.length > 0 ? errors : [given()]) }, cause)
}
