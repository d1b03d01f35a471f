/**
 * The parts of a collection that cases need: its members by the features that they support, valid values, and the
 * collections to which it refers.
 */
import type { CollectionProfile, Profile } from '../profile/profile.ts'
import { filterBy } from '../profile/query-style.ts'
import { brokenValue, takesMark, typeOf } from '../values/generate.ts'
import type { JsonObject } from '../values/json.ts'

/** A case selects a member by what it supports: `members.ranked`. */
export type MemberKind = keyof typeof finders

const finders = {
  owner: ({ owner }) => owner,
  object: (it) => objectMemberOf(it)?.member,
  required: ({ required }) => required[0],
  /** Rather a required member that takes any text: others are refused before their values do any harm. */
  free: ({ required, schemas = {} }) =>
    required.find((name) => typeOf(schemas[name] ?? {}) === 'string' && takesMark(schemas[name] ?? {})) ?? required[0],
  unique: ({ unique }) => unique[0],
  filter: ({ filters }) => filters[0],
  /** Rather a member that differs from record to record: lists with equal values have the same order both ways. */
  sort: ({ sorts, unique, id }) => sorts.find((each) => each === id || unique.includes(each)) ?? sorts[0],
  search: ({ search }) => search,
  /** The time of creation. */
  created: createdMember,
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
  /** Filters lists, and is a text of which two values are known: one of a few words, such as a status. */
  worded: (it) => withTwoValues(it, it.filters, 'string'),
  /** Filters lists, and may be left out of the example. */
  emptied: ({ filters, optional, example = {}, marker }) =>
    Object.keys(optional).find((name) => name !== marker && filters.includes(name) && Object.hasOwn(example, name)),
  /** A text that lists can neither filter nor sort by, if the filters and sorts of the collection are known. */
  undeclared: ({ filters, sorts, search, example = {}, references }) =>
    filters.length === 0 || sorts.length === 0
      ? undefined
      : Object.keys(example).find(
          (name) =>
            typeof example[name] === 'string' &&
            ![...filters, ...sorts, ...Object.keys(references), search].includes(name),
        ),
} satisfies Record<string, (collection: CollectionProfile) => string | undefined>

/**
 * The query that finds the records of a case, with `{mark}` or a collection's name in braces: by the marker, or as the
 * collection's query style says. `undefined` if there is none.
 */
export function finderOf({ marker, unique, query = {} }: CollectionProfile): string | undefined {
  if (marker === undefined || unique.includes(marker)) return query.finder
  return filterBy(query.filter ?? '{}', encodeURIComponent(marker), '{mark}')
}

/** The member into which the checker writes its mark. If lists are filtered by it, it must not change. */
export function markedMember({ marker, label }: CollectionProfile): string | undefined {
  return marker ?? label
}

export const memberKinds = Object.keys(finders) as readonly MemberKind[]

/** The first member of a kind; `undefined` if there is none. */
export function memberOf(collection: CollectionProfile, kind: MemberKind): string | undefined {
  return finders[kind](collection)
}

/**
 * Two good values of a member, the one that sorts first as `less`; `undefined` if not so many are known, or if each
 * record must have another.
 */
export function twoValuesOf(collection: CollectionProfile, member: string) {
  const { example = {}, change, optional, unique, references } = collection
  if (unique.includes(member) || Object.hasOwn(references, member)) return undefined
  if (finderOf(collection)?.includes('{mark}') && member === markedMember(collection)) return undefined
  const given = [example[member], change[member], optional[member]].filter((value) => value !== undefined)
  const one = given[0]
  const other = given.find((value) => value !== one) ?? (typeof one === 'number' ? one + 1 : undefined)
  if (typeof one !== typeof other || !['number', 'string', 'boolean'].includes(typeof one)) return undefined
  const isLess = (one as string) < (other as string)
  return isLess ? { less: one, more: other } : { less: other, more: one }
}

function withTwoValues(collection: CollectionProfile, members: readonly string[], type?: 'number' | 'string') {
  return members.find((name) => {
    const values = twoValuesOf(collection, name)
    return values !== undefined && (type === undefined || typeof values.less === type)
  })
}

/** The first member of a collection's bodies that is an object with two members or more, and its first part alone. */
export function objectMemberOf({ example, optional }: CollectionProfile) {
  for (const [member, value] of Object.entries({ ...optional, ...example })) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue
    const [first, second] = Object.entries(value)
    if (first !== undefined && second !== undefined) return { member, part: Object.fromEntries([first]) }
  }
  return undefined
}

/** Values that break the constraints that schemas of members have, beyond their types. */
export function brokenValues({ schemas = {}, references, example = {} }: CollectionProfile): JsonObject {
  const free = Object.keys(example).filter((each) => !Object.hasOwn(references, each))
  const values = free.map((each) => [each, brokenValue(schemas[each] ?? {})] as const)
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

export function referredCollections({
  references,
  nestedReferences = {},
}: Pick<CollectionProfile, 'references' | 'nestedReferences'>): string[] {
  return [...new Set([...Object.values(references), ...Object.values(nestedReferences)])]
}

export function createdMember({ created = 'created_at' }: Pick<CollectionProfile, 'created'>): string {
  return created
}

type Collections = Pick<Profile, 'collections'>

/** The collection to which the first reference of a collection leads. */
export function parentOf({ references }: CollectionProfile, { collections }: Collections) {
  const [first] = Object.values(references)
  return collections.find(({ name }) => name === first)
}

/**
 * The list of a collection below records to which its own refer, as the name of their collection and the last segment
 * of the list's path; `undefined` if there is none.
 */
export function nestingOf({ name, references }: CollectionProfile, { collections }: Collections) {
  for (const parent of Object.values(references)) {
    const children = collections.find((each) => each.name === parent)?.children ?? {}
    const child = Object.keys(children).find((each) => children[each] === name)
    if (child !== undefined) return { parent, child }
  }
  return undefined
}
