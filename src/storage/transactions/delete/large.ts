/** Changes of so many records that nobody but who asked should wait while they are looked at. */
import type { Resource } from '../../../model/resource.ts'
import type { SqlContext } from '../../sql/predicate.ts'
import { reachOf } from '../rows/dependents.ts'

/** A change that is too much for where requests are answered: it is to be asked for elsewhere, whole. */
export interface Large {
  readonly kind: 'large'
}

/** The one value of it. */
export const large: Large = { kind: 'large' }

/** As many records as this are looked at on the spot, whatever becomes of them. */
export const lookedAtOnce = 1_000

/** Whether large changes of a resource are asked for elsewhere; rules that are functions can be asked only here. */
export function isForElsewhere({ catalog, largeElsewhere = false }: SqlContext, resource: Resource): boolean {
  return largeElsewhere && !reachOf(catalog, resource).some(({ rules }) => rules.some((rule) => 'check' in rule))
}
