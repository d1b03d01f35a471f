/** Chooses the collections on which a case runs, or says why there are none. */

import type { Case } from '../case/case.ts'
import { referredCollections } from '../case/members.ts'
import { type Callers, collectionNeeds, isServerNeed, serverNeeds } from '../case/needs.ts'
import { type CollectionProfile, canCreate, type Profile } from '../profile/profile.ts'
import { isNarrow } from '../values/generate.ts'

/** The cases of a run, and what it knows before they run. */
export interface PlannedRun extends Callers {
  readonly profile: Profile
  readonly cases: readonly Case[]
}

/** The most collections on which a case is tried until it turns out to be about one of them. */
const mostCollections = 8

/**
 * The collections for a case: the first that has everything the case needs. If only the responses show whether the
 * case is about a collection, some more follow. If there is none, the reason.
 */
export function chooseCollections(
  { needs, steps }: Pick<Case, 'needs' | 'steps'>,
  profile: Profile,
  callers: Callers,
): { readonly collections: readonly CollectionProfile[] } | { readonly why: string } {
  const lacking = needs.filter(isServerNeed).find((need) => !serverNeeds[need][0](profile, callers))
  if (lacking !== undefined) return { why: serverNeeds[lacking][1] }
  const wanted = needs.filter((need) => !isServerNeed(need))
  const fits = (collection: CollectionProfile, need: (typeof wanted)[number]) =>
    collectionNeeds[need][0](collection, profile)
  const collections = profile.collections
    .filter((each) => wanted.every((need) => fits(each, need)))
    // If two records may get the same unique value, a case can fail by chance.
    .toSorted((left, right) => Number(narrowMembers(left).length > 0) - Number(narrowMembers(right).length > 0))
  const isTried = steps.some((step) => step.kind === 'require' && step.otherwise === 'not applicable')
  if (collections.length > 0) return { collections: collections.slice(0, isTried ? mostCollections : 1) }
  const impossible = wanted.find((need) => !profile.collections.some((each) => fits(each, need)))
  const unmet = impossible === undefined ? wanted : [impossible]
  return { why: `no collection ${unmet.map((need) => collectionNeeds[need][1]).join(' and ')}` }
}

/** How many of the needs of cases a collection meets. */
export function countOfNeeds(collection: CollectionProfile, profile: Pick<Profile, 'collections'>): number {
  return Object.values(collectionNeeds).filter(([test]) => test(collection, profile)).length
}

/** The collections in which cases will create records, and those to which they refer. */
export function creatableCollections({ profile, cases, ...callers }: PlannedRun): string[] {
  const used = new Set<string>()
  const add = (name: string) => {
    const found = profile.collections.find((each) => each.name === name)
    if (found === undefined || used.has(name)) return
    for (const other of referredCollections(found)) if (other !== name) add(other)
    if (canCreate(found)) used.add(name)
  }
  for (const one of cases) {
    const chosen = one.kind === 'changing' ? chooseCollections(one, profile, callers) : undefined
    if (chosen !== undefined && 'collections' in chosen) for (const { name } of chosen.collections) add(name)
  }
  return [...used]
}

/** The unique members that have so few values that two records may well get the same one. */
export function narrowMembers({ unique, schemas = {} }: CollectionProfile): string[] {
  return unique.filter((member) => isNarrow(schemas[member] ?? {}))
}
