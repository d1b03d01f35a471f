/** Members of a collection that cases ask for by what can be done with them, and good values of them. */
import type { CollectionProfile } from '../profile/profile.ts'
import type { JsonObject } from '../values/json.ts'

/** By what can be done with it, a case asks for a member: `members.ranked`. */
export type MemberKind = keyof typeof finders

const finders = {
  owner: ({ owner }) => owner,
  object: (it) => objectMemberOf(it)?.member,
  required: ({ required }) => required[0],
  unique: ({ unique }) => unique[0],
  filter: ({ filters }) => filters[0],
  sort: ({ sorts }) => sorts[0],
  search: ({ search }) => search,
  marker: ({ marker }) => marker,
  /** Sorts lists, and differs from record to record. */
  distinct: ({ sorts, unique }) => sorts.find((each) => unique.includes(each)),
  change: ({ change }) => Object.keys(change)[0],
  optional: ({ optional }) => Object.keys(optional)[0],
  invalid: ({ invalid }) => Object.keys(invalid)[0],
  reference: ({ references }) => Object.keys(references)[0],
  child: ({ children }) => Object.keys(children)[0],
  /** Sorts lists, and two values of it are known; numbers first, their order is beyond doubt. */
  ranked: (it) => withTwoValues(it, it.sorts, 'number') ?? withTwoValues(it, it.sorts),
  /** Filters lists, and is a number of which two values are known. */
  measured: (it) => withTwoValues(it, it.filters, 'number'),
  /** Filters lists, and may be left out of the example. */
  emptied: ({ filters, optional, example = {}, marker }) =>
    filters.find((name) => name !== marker && Object.hasOwn(optional, name) && Object.hasOwn(example, name)),
  /** A text that lists are said to be neither filtered nor sorted by, where it is known by what they are. */
  undeclared: ({ filters, sorts, search, example = {}, references }) =>
    filters.length === 0 || sorts.length === 0
      ? undefined
      : Object.keys(example).find(
          (name) =>
            typeof example[name] === 'string' &&
            ![...filters, ...sorts, ...Object.keys(references), search].includes(name),
        ),
} satisfies Record<string, (collection: CollectionProfile) => string | undefined>

export const memberKinds = Object.keys(finders) as readonly MemberKind[]

/** The first member of a kind; `undefined` if there is none. */
export function memberOf(collection: CollectionProfile, kind: MemberKind): string | undefined {
  return finders[kind](collection)
}

/** A value that sorts before another of the same member, if they can be compared at all. */
export interface TwoValues {
  readonly less: unknown
  readonly more: unknown
}

/** Two good values of a member; `undefined` where not so many are known, or each record must have another. */
export function twoValuesOf(collection: CollectionProfile, member: string): TwoValues | undefined {
  const { example = {}, change, optional, unique, references, marker } = collection
  if (unique.includes(member) || Object.hasOwn(references, member) || member === marker) return undefined
  const given = [example[member], change[member], optional[member]].filter((value) => value !== undefined)
  const one = given[0]
  const other = given.find((value) => value !== one) ?? (typeof one === 'number' ? one + 1 : undefined)
  if (typeof one !== typeof other || !['number', 'string', 'boolean'].includes(typeof one)) return undefined
  const isLess = (one as string) < (other as string)
  return isLess ? { less: one, more: other } : { less: other, more: one }
}

function withTwoValues(collection: CollectionProfile, members: readonly string[], type?: 'number'): string | undefined {
  return members.find((name) => {
    const values = twoValuesOf(collection, name)
    return values !== undefined && (type === undefined || typeof values.less === type)
  })
}

/** A member that is an object, and a part of it: its first member alone. */
export interface ObjectMember {
  readonly member: string
  readonly part: JsonObject
}

/** The first member of a collection's bodies that is an object with two members or more. */
export function objectMemberOf({ example, optional }: CollectionProfile): ObjectMember | undefined {
  for (const [member, value] of Object.entries({ ...optional, ...example })) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue
    const [first, second] = Object.entries(value)
    if (first !== undefined && second !== undefined) return { member, part: Object.fromEntries([first]) }
  }
  return undefined
}
