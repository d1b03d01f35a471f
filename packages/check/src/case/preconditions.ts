/** Preconditions of cases: what must hold before a case goes on or is judged. */

import type { Operation } from '../profile/profile.ts'
import { type Expectation, NotApplicable, NotSetUp, type Observations, type Step } from './case.ts'
import { parentOf } from './members.ts'
import { absentId, collection, Reference } from './references.ts'

/** Continues only if the collection has what the case is about; otherwise the case is not applicable. */
export function applicableIf(test: (seen: Observations) => boolean, otherwise: string): Step {
  return { kind: 'require', test, otherwise: 'not applicable', why: otherwise }
}

/** Continues only if the preparation succeeded; otherwise the case could not be set up. */
export function readyIf(test: (seen: Observations) => boolean, otherwise: string): Step {
  return { kind: 'require', test, otherwise: 'not set up', why: otherwise }
}

const unused = new Reference('nobody')

/** Continues only if no record is at `absentId`, so that a request there cannot change a foreign record. */
export const nobodyThere: readonly Step[] = [
  unused.get(`${collection}/${absentId}`),
  readyIf((seen) => {
    const { status = 0 } = seen.of(unused).answer ?? {}
    return status >= 400 && status < 500
  }, 'there may be a record of somebody where none was thought to be'),
]

/** Whether records that the case's records refer to take a request. */
export function parentHas(operation: Operation): (seen: Observations) => boolean {
  return ({ collection, profile }) => parentOf(collection, profile)?.operations.includes(operation) === true
}

/** Why a case cannot be judged. */
type Reason = string | ((seen: Observations) => string)

/** Precedes other expectations: unless the test holds, the case is not applicable to this server. */
export function applicableWhere(test: (seen: Observations) => boolean, otherwise: Reason): Expectation {
  return (seen) => {
    if (!test(seen)) throw new NotApplicable(typeof otherwise === 'string' ? otherwise : otherwise(seen))
    return undefined
  }
}

/** Precedes other expectations: unless the test holds, the case could not be set up. */
export function readyWhere(test: (seen: Observations) => boolean, otherwise: Reason): Expectation {
  return (seen) => {
    if (!test(seen)) throw new NotSetUp(typeof otherwise === 'string' ? otherwise : otherwise(seen))
    return undefined
  }
}

/** The status of the last response of a step; why there is none if no response came. */
export function outcomeOf(step: Reference, seen: Observations): string {
  const { answer, failure } = seen.of(step)
  return String(answer?.status ?? failure)
}

/** Whether the last response of a step has one of these statuses. */
export function answered(step: Reference, ...statuses: readonly number[]): (seen: Observations) => boolean {
  return (seen) => statuses.includes(seen.of(step).answer?.status ?? 0)
}

export function succeeded(step: Reference): (seen: Observations) => boolean {
  return (seen) => (seen.of(step).answer?.status ?? 500) < 300
}
