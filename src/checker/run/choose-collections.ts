/** Which collection a case is tried on, and why none is there. */

import type { Case, Need } from '../case/case.ts'
import { nesting, parentOf } from '../case/family.ts'
import { type MemberKind, memberOf, objectOf } from '../case/members.ts'
import { type CollectionProfile, mistakesOf, type Permission, type Profile, versionsIn } from '../profile/profile.ts'
import { isNarrow } from '../values/distinct.ts'

/** What a run has beside the profile. */
export interface Means {
  readonly hasKey: boolean
  /** Whether there is a second credential, of somebody who may do nothing. */
  readonly hasOther: boolean
}

type OfCollection = Exclude<Need, OfServer>
type OfServer =
  | 'key'
  | 'other'
  | 'origin'
  | 'document'
  | 'deprecated'
  | 'retired'
  | 'open'
  | 'tls'
  | 'exports'
  | 'disposable'
  | 'version'
  | 'version-field'
  | 'attempts'

const ofServer: Readonly<Record<OfServer, readonly [test: (profile: Profile, means: Means) => boolean, why: string]>> =
  {
    key: [(_, { hasKey }) => hasKey, 'no credential was given (--key)'],
    other: [(_, { hasOther }) => hasOther, 'no credential was given of somebody who may do nothing (--other-key)'],
    origin: [({ origin }) => origin !== undefined, 'the profile names no origin whose pages may read answers'],
    document: [({ document }) => /^https?:/.test(document ?? ''), 'no OpenAPI document was found at an address'],
    deprecated: [({ deprecated }) => deprecated !== undefined, 'the profile names no deprecated version'],
    retired: [({ retired }) => retired !== undefined, 'the profile names no version past its sunset'],
    open: [({ open }) => open.length > 0, 'the profile names no path that is open to all'],
    exports: [
      ({ exports = [] }) => exports.length > 0,
      'the profile names no format in which collections are exported',
    ],
    disposable: [
      ({ disposable }) => disposable === true,
      'a careless server could take it as "delete everything", and the profile does not say that its data may be lost (disposable)',
    ],
    tls: [({ base }) => base.startsWith('https:'), 'the server is asked by plain HTTP'],
    version: [
      ({ base }) => versionsIn(new URL(base).pathname).length > 0,
      'the address of the interface has no version',
    ],
    'version-field': [({ versionField }) => versionField !== undefined, 'no header field names the version'],
    attempts: [
      ({ attempts }) => attempts !== undefined,
      'the profile does not say that it may be tried out how many requests are too many (attempts)',
    ],
  }

const isSome = (value: object) => Object.keys(value).length > 0

/** Nobody waits longer for a case. */
const longestGrace = 5

type OfOne = readonly [test: (it: CollectionProfile, profile: Pick<Profile, 'collections'>) => boolean, why: string]

const ofCollection: Readonly<Record<OfCollection, OfOne>> = {
  list: [can('list'), 'can be listed'],
  create: [(it) => can('create')(it) && it.example !== undefined, 'can be created in, with a body that is known'],
  read: [can('read'), 'has records that can be read'],
  replace: [can('replace'), 'takes PUT'],
  update: [can('update'), 'takes PATCH'],
  delete: [can('delete'), 'takes DELETE'],
  restore: [can('restore'), 'has restore'],
  'bulk-delete': [can('bulk-delete'), 'has bulk-delete'],
  'delete-by-filter': [can('delete-by-filter'), 'is deleted from by filter'],
  page: [({ pages }) => pages.includes('page'), 'has pages by number'],
  offset: [({ pages }) => pages.includes('offset'), 'has pages by offset'],
  cursor: [({ pages }) => pages.includes('cursor'), 'has pages by cursor'],
  marker: [
    ({ marker, unique }) => marker !== undefined && !unique.includes(marker),
    'has a text that may be the same in several records and filters lists',
  ],
  search: [({ search }) => search !== undefined, 'can be searched'],
  sort: [({ sorts }) => sorts.length > 0, 'can be sorted'],
  filter: [({ filters }) => filters.length > 0, 'can be filtered'],
  ranked: [has('ranked'), 'can be sorted by a member of which two values are known'],
  measured: [has('measured'), 'can be filtered by a number of which two values are known'],
  emptied: [has('emptied'), 'can be filtered by a member that may be left out'],
  undeclared: [has('undeclared'), 'has a text that it is said to be neither filtered nor sorted by'],
  'marker-sort': [
    ({ marker, sorts, unique }) => marker !== undefined && !unique.includes(marker) && sorts.includes(marker),
    'can be sorted by the text by which its records are told from others',
  ],
  paged: [({ pages }) => pages.length > 0, 'has pages'],
  unique: [({ unique }) => unique.length > 0, 'has a unique member'],
  required: [({ required }) => required.length > 0, 'has a required member'],
  invalid: [({ invalid }) => isSome(invalid), 'has members of which bad values are known'],
  mistakes: [(it) => mistakesOf(it).length > 1, 'is known to have two members or more that can be wrong'],
  change: [({ change }) => isSome(change), 'has members that a client may change'],
  optional: [({ optional }) => isSome(optional), 'has members that may be left out'],
  reference: [({ references }) => isSome(references), 'refers to another'],
  parent: [
    (it, profile) => {
      const parent = parentOf(it, profile)
      return (
        parent !== undefined &&
        !parent.conditional &&
        ['create', 'read', 'delete'].every((each) => can(each as 'read')(parent))
      )
    },
    'refers to another whose records can be made and deleted',
  ],
  children: [({ children }) => isSome(children), 'has collections below its records'],
  nested: [(it, profile) => nesting(it, profile) !== undefined, 'is shown below the records that it refers to'],
  object: [(it) => objectOf(it) !== undefined, 'has a member that is an object, with two members or more'],
  soft: [({ deletion }) => deletion === 'soft', 'keeps what is deleted'],
  hard: [({ deletion }) => deletion === 'hard', 'deletes for good'],
  conditional: [({ conditional }) => conditional, 'demands a condition for changes'],
  unconditional: [({ conditional }) => !conditional, 'takes changes without a condition'],
  grace: [({ grace }) => grace !== undefined && grace <= longestGrace, 'is said to purge soon'],
  summary: [answers(200), 'is said to answer deletions with 200'],
  deferred: [answers(202), 'is said to answer deletions with 202'],
  'no create': [
    (it) => it.owner === undefined && keepsFrom('create')(it),
    'is closed to the second credential for POST',
  ],
  'no read': [keepsFrom('read'), 'is closed to the second credential for GET'],
  'no update': [keepsFrom('update'), 'is closed to the second credential for PATCH and PUT'],
  'no delete': [keepsFrom('delete'), 'is closed to the second credential for DELETE'],
  owner: [({ owner }) => owner !== undefined, 'is said to keep the records of one caller from the other'],
}

function can(operation: CollectionProfile['operations'][number]): (it: CollectionProfile) => boolean {
  return ({ operations }) => operations.includes(operation)
}

function answers(status: number): (it: CollectionProfile) => boolean {
  return ({ deletionAnswers = [] }) => deletionAnswers.includes(status)
}

function keepsFrom(permission: Permission): (it: CollectionProfile) => boolean {
  return ({ otherMay = [] }) => !otherMay.includes(permission)
}

function has(kind: MemberKind): (it: CollectionProfile) => boolean {
  return (it) => memberOf(it, kind) !== undefined
}

function isOfServer(need: Need): need is OfServer {
  return need in ofServer
}

/** On so many collections a case is tried that turns out to be about nothing that they have. */
const mostCollections = 8

/**
 * The collections for a case: the first that has all it needs, and where only trying shows whether it is about something there,
 * some more to go on with. Otherwise, why there is none.
 */
export function choose(
  { needs, steps }: Pick<Case, 'needs' | 'steps'>,
  profile: Profile,
  means: Means,
): { readonly collections: readonly CollectionProfile[] } | { readonly why: string } {
  const lacking = needs.filter(isOfServer).find((need) => !ofServer[need][0](profile, means))
  if (lacking !== undefined) return { why: ofServer[lacking][1] }
  const wanted = needs.filter((need): need is OfCollection => !isOfServer(need))
  const collections = profile.collections.filter((each) => wanted.every((need) => ofCollection[need][0](each, profile)))
  // Where two records may well want one value, a case could fail by bad luck.
  collections.sort((left, right) => Number(hasFewValues(left)) - Number(hasFewValues(right)))
  const isTried = steps.some((step) => step.kind === 'only' && step.otherwise === 'not applicable')
  if (collections.length > 0) return { collections: collections.slice(0, isTried ? mostCollections : 1) }
  const alone = wanted.find((need) => !profile.collections.some((each) => ofCollection[need][0](each, profile)))
  const all = alone === undefined ? wanted : [alone]
  return { why: `no collection ${all.map((need) => ofCollection[need][1]).join(' and ')}` }
}

/** How much there is to be tried on a collection: of how many things that cases need it has something. */
export function countOfMeans(collection: CollectionProfile, profile: Pick<Profile, 'collections'>): number {
  return Object.values(ofCollection).filter(([test]) => test(collection, profile)).length
}

/** Whether two records of a collection may well be given one value of a member that must be unique: there are few. */
export function hasFewValues({ unique, schemas = {} }: Pick<CollectionProfile, 'unique' | 'schemas'>): boolean {
  return unique.some((member) => isNarrow(schemas[member] ?? {}))
}
