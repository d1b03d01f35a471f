/** The values of earlier results that an operation of a transaction refers to (BLK-4), as its caller sees them. */
import { deepestNesting } from 'resourced-contract/model/json/read-json'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import { type Reference, replaceReferences } from '../request/references.ts'
import type { Outcome } from './outcome.ts'
import { outcomeFromStored } from './outcome.ts'
import type { Operation, OperationPlan, TransactionPlan } from './plan.ts'

type Result = Readonly<Record<string, unknown>>

type Filled = OperationPlan | Extract<Outcome, { readonly kind: 'invalid' }>

interface Known {
  readonly plan: OperationPlan
  /** `undefined`: the operation has not been carried out yet. */
  readonly result: (() => Result) | undefined
}

/** The results of the earlier operations, by their names. */
export class EarlierResults {
  readonly #known = new Map<string, Known>()
  /** How many bytes may still be repeated. */
  #room: number
  readonly #most: number

  constructor({ mostReferred }: Pick<TransactionPlan, 'mostReferred'>) {
    this.#room = mostReferred
    this.#most = mostReferred
  }

  /** Adds an operation that will be carried out before others that refer to it: its id is known. */
  expect({ plan, as }: Operation): void {
    if (as !== undefined) this.#known.set(as, { plan, result: undefined })
  }

  add({ plan, as }: Operation, outcome: Outcome): void {
    if (as === undefined) return
    let made: Result | undefined
    const result = () => {
      made ??= resultOf(plan, outcome)
      return made
    }
    this.#known.set(as, { plan, result })
  }

  /**
   * The plan with values in place of its references, or what is wrong with them; `undefined`: an operation that it
   * refers to has not been carried out yet.
   */
  fill(plan: OperationPlan): Filled | undefined {
    const given = bodyOf(plan)
    if (given === undefined) return plan
    const issues: Issue[] = []
    const room = this.#room
    let isEarly = false
    const body = replaceReferences(given, (reference) => {
      const known = this.#known.get(reference.name)
      if (known === undefined) return undefined
      if (reference.member === 'id' && 'id' in known.plan) return known.plan.id
      if (known.result === undefined) isEarly = true
      const value = known.result === undefined ? null : this.#valueOf(known.result(), reference)
      if (!isIssue(value)) return value
      issues.push(value)
      return null
    })
    if (isEarly) this.#room = room
    if (isEarly) return undefined
    if (issues.length > 0) return { kind: 'invalid', issues }
    return 'bodies' in plan ? { ...plan, bodies: body as readonly unknown[] } : ({ ...plan, body } as OperationPlan)
  }

  #valueOf(result: Result, { member, text, pointer, depth }: Reference): unknown {
    if (!Object.hasOwn(result, member)) return issue('hiddenResult', { pointer, name: text })
    const value = result[member]
    this.#room -= Buffer.byteLength(JSON.stringify(value))
    if (this.#room < 0) return issue('tooMuchReferred', { pointer, most: this.#most })
    return depth + depthOf(value) > deepestNesting ? issue('deepResult', { pointer }) : value
  }
}

/** What may hold references; `undefined`: nothing. */
function bodyOf(plan: OperationPlan): unknown {
  return 'bodies' in plan ? plan.bodies : 'body' in plan ? plan.body : undefined
}

function isIssue(value: unknown): value is Issue {
  return typeof value === 'object' && value !== null && 'reason' in value && 'params' in value
}

/** What the caller sees of a result: nothing but its id, if they may not read the record. */
function resultOf({ versionResource }: OperationPlan, stored: Outcome): Result {
  const outcome = outcomeFromStored(versionResource, stored)
  const json = outcome.kind === 'created' || outcome.kind === 'updated' ? outcome.json : undefined
  return json === undefined ? {} : JSON.parse(json)
}

/** How deep arrays and objects are nested in a value. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Object.values(value).reduce((most: number, each) => Math.max(most, depthOf(each)), 0)
}
