/** Relations of a collection: the collection to which its records refer, and the lists below those records. */
import type { CollectionProfile, Profile } from '../profile/profile.ts'
import type { CaseState } from './case-state.ts'

type Collections = Pick<Profile, 'collections'>

/** The collection to which the first reference of a collection leads. */
export function parentOf(
  { references }: CollectionProfile,
  { collections }: Collections,
): CollectionProfile | undefined {
  const [first] = Object.values(references)
  return collections.find(({ name }) => name === first)
}

/** A list of a collection below the records of another. */
export interface Nesting {
  /** Name of the other collection. */
  readonly parent: string
  /** Last segment of the path of the list. */
  readonly child: string
}

/** The list of a collection below records to which its own refer; `undefined` if there is none. */
export function nestingOf({ name, references }: CollectionProfile, { collections }: Collections): Nesting | undefined {
  for (const parent of Object.values(references)) {
    const children = collections.find((each) => each.name === parent)?.children ?? {}
    const child = Object.keys(children).find((each) => children[each] === name)
    if (child !== undefined) return { parent, child }
  }
  return undefined
}

/** The path of the list below the record to which the records of a case refer; `undefined` before that exists. */
export function nestedPath({ profile, collection, made }: CaseState): string | undefined {
  const found = nestingOf(collection, profile)
  const parent = found && made.get(`parent ${found.parent}`)
  return parent && `${parent.path}/${found?.child}`
}
