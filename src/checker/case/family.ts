/** What records of a collection refer to, and where they are shown below it. */

import type { CollectionProfile, Profile } from '../profile/profile.ts'
import type { CaseState } from './case-state.ts'

type Collections = Pick<Profile, 'collections'>

/** The collection that records of another refer to first. */
export function parentOf(
  { references }: CollectionProfile,
  { collections }: Collections,
): CollectionProfile | undefined {
  const [first] = Object.values(references)
  return collections.find(({ name }) => name === first)
}

/** How a collection is shown below the records of another. */
export interface Nesting {
  /** The other, by its name. */
  readonly parent: string
  /** The last part of the path. */
  readonly child: string
}

/** How a collection is shown below records that its own refer to; `undefined` where it is not. */
export function nesting({ name, references }: CollectionProfile, { collections }: Collections): Nesting | undefined {
  for (const parent of Object.values(references)) {
    const children = collections.find((each) => each.name === parent)?.children ?? {}
    const child = Object.keys(children).find((each) => children[each] === name)
    if (child !== undefined) return { parent, child }
  }
  return undefined
}

/** The path of the list below the record that a case's records refer to; `undefined` before there is one. */
export function nestedPath({ profile, collection, made }: CaseState): string | undefined {
  const found = nesting(collection, profile)
  const parent = found && made.get(`parent ${found.parent}`)
  return parent && `${parent.path}/${found?.child}`
}
