/** Which collections hang on others: what the references of the catalog say of deletions (DEL-4, DEL-5). */
import type { Catalog, Resource } from '../../../model/resource.ts'
import type { SqlContext } from '../../sql/context.ts'

/** The references by which records of a collection take others along: none where the declaration has lost it since. */
export function cascadesOf({ resources }: Catalog, collection: string): Resource['dependents'] {
  const dependents = resources.get(collection)?.dependents ?? []
  return dependents.filter(({ onDelete }) => onDelete === 'cascade')
}

/** The collections of which records can go when one of these does, itself first. */
export function reachOf(catalog: Catalog, resource: Resource): readonly Resource[] {
  const found = new Set([resource.name])
  // A set hands out what is added to it while it is walked.
  for (const name of found) for (const { collection } of cascadesOf(catalog, name)) found.add(collection)
  return [...found].map((name) => resourceOf(catalog, name))
}

/** A resource that the catalog is known to have. */
export function resourceOf({ resources }: Catalog, collection: string): Resource {
  return resources.get(collection) as Resource
}

/** A change that is too much for where requests are answered: it is to be asked for elsewhere, whole. */
export interface Large {
  readonly kind: 'large'
}

/** The one value of it. */
export const large: Large = { kind: 'large' }

/** As many records as this are looked at on the spot, whatever becomes of them. */
export const lookedAtOnce = 1_000

/** Whether large changes of a resource are asked for elsewhere; rules that are functions can be asked only here. */
export function isForElsewhere({ catalog, offloadsLargeWork = false }: SqlContext, resource: Resource): boolean {
  return offloadsLargeWork && !reachOf(catalog, resource).some(({ rules }) => rules.some((rule) => 'check' in rule))
}
