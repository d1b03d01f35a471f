/** The values of earlier results that an operation of a transaction refers to (BLK-4), as its caller sees them. */
import { deepestNesting } from 'resourced-contract/model/json/read-json'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import { type Reference, replaceReferences } from '../request/references.ts'
import type { Outcome } from './outcome.ts'
import { outcomeFromStored } from './outcome-from-stored.ts'
import type { Operation, OperationPlan, TransactionPlan } from './plan.ts'

type Result = Readonly<Record<string, unknown>>

/** The results of the operations that were carried out, by their names. */
export class EarlierResults {
  readonly #results = new Map<string, () => Result>()
  /** How many bytes may still be repeated. */
  #room: number
  readonly #most: number

  constructor({ mostReferred }: Pick<TransactionPlan, 'mostReferred'>) {
    this.#room = mostReferred
    this.#most = mostReferred
  }

  add({ plan, as }: Operation, outcome: Outcome): void {
    if (as === undefined) return
    let known: Result | undefined
    this.#results.set(as, () => {
      known ??= resultOf(plan, outcome)
      return known
    })
  }

  /** The plan with values in place of its references, or what is wrong with them. */
  fill(plan: OperationPlan): OperationPlan | Extract<Outcome, { readonly kind: 'invalid' }> {
    if (!('body' in plan)) return plan
    const issues: Issue[] = []
    const body = replaceReferences(plan.body, (reference) => {
      const value = this.#valueOf(reference)
      if (!isIssue(value)) return value
      issues.push(value)
      return null
    })
    return issues.length > 0 ? { kind: 'invalid', issues } : { ...plan, body }
  }

  #valueOf({ name, member, text, pointer, depth }: Reference): unknown {
    const result = this.#results.get(name)?.()
    if (result === undefined) return undefined
    if (!Object.hasOwn(result, member)) return issue('hiddenResult', { pointer, name: text })
    const value = result[member]
    this.#room -= Buffer.byteLength(JSON.stringify(value))
    if (this.#room < 0) return issue('tooMuchReferred', { pointer, most: this.#most })
    return depth + depthOf(value) > deepestNesting ? issue('deepResult', { pointer }) : value
  }
}

function isIssue(value: unknown): value is Issue {
  return typeof value === 'object' && value !== null && 'reason' in value && 'params' in value
}

/** What the caller sees of a result: the id alone, if they may not read the record. */
function resultOf({ id, versionResource }: OperationPlan, stored: Outcome): Result {
  const outcome = versionResource === undefined ? stored : outcomeFromStored(versionResource, stored)
  const json = outcome.kind === 'created' || outcome.kind === 'updated' ? outcome.json : undefined
  return json === undefined ? { id } : JSON.parse(json)
}

/** How deep arrays and objects are nested in a value. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Object.values(value).reduce((most: number, each) => Math.max(most, depthOf(each)), 0)
}
