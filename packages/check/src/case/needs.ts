/** What a case may need: of the callers of a run, of a server, and of one of its collections. */
import {
  type CollectionProfile,
  canCreate,
  mistakesOf,
  type Operation,
  type Permission,
  type Profile,
  versionsIn,
} from '../profile/profile.ts'
import { finderOf, type MemberKind, markedMember, memberOf, nestingOf, objectMemberOf, parentOf } from './members.ts'

export interface Callers {
  readonly hasKey: boolean
  /** Whether the credential is sent in another scheme than Bearer. */
  readonly hasOtherScheme?: boolean
  /** Whether there is a second credential, of a caller without permissions. */
  readonly hasOther: boolean
}

type ServerNeed = keyof typeof serverNeeds
type CollectionNeed = keyof typeof collectionNeeds

export type Need = ServerNeed | CollectionNeed

type ServerTest = readonly [test: (profile: Profile, callers: Callers) => boolean, why: string]
type CollectionTest = readonly [
  test: (collection: CollectionProfile, profile: Pick<Profile, 'collections' | 'events'>) => boolean,
  /** What a collection has or does that passes the test: "no collection …". */
  says: string,
]

export const serverNeeds = {
  key: [(_, { hasKey }) => hasKey, 'no credential was given (--key)'],
  bearer: [(_, { hasOtherScheme }) => hasOtherScheme !== true, 'the credential that was given is of another scheme'],
  other: [(_, { hasOther }) => hasOther, 'no credential of a caller without permissions was given (--other-key)'],
  origin: [({ origin }) => origin !== undefined, 'the profile names no origin whose pages may read responses'],
  document: [({ document }) => /^https?:/.test(document ?? ''), 'no OpenAPI document was found at an address'],
  deprecated: [({ deprecated }) => deprecated !== undefined, 'the profile names no deprecated version'],
  retired: [({ retired }) => retired !== undefined, 'the profile names no version past its sunset'],
  open: [({ open }) => open.length > 0, 'the profile names no path that answers without a credential'],
  exports: [({ exports = [] }) => exports.length > 0, 'the profile names no format in which collections are exported'],
  webhooks: [({ webhooks }) => webhooks === true, 'the server offers no webhooks (POST /webhooks with url and events)'],
  disposable: [
    ({ disposable }) => disposable === true,
    'a careless server could take the request as "delete everything", and the profile does not say that its ' +
      'data may be lost (disposable)',
  ],
  repairable: [
    ({ disposable }) => disposable === true,
    'a server that loses the race could keep records that no request can delete, and the profile does not say that ' +
      'its data may be lost (disposable)',
  ],
  tls: [({ base }) => base.startsWith('https:'), 'the address of the server is not HTTPS'],
  version: [({ base }) => versionsIn(new URL(base).pathname).length > 0, 'the address of the interface has no version'],
  'version-field': [({ versionField }) => versionField !== undefined, 'no header field names the version'],
  attempts: [
    ({ attempts }) => attempts !== undefined,
    'the profile does not allow to try how many failed authentications are too many (attempts)',
  ],
} as const satisfies Readonly<Record<string, ServerTest>>

const isSome = (value: object) => Object.keys(value).length > 0

/** The longest grace period for which a case waits, in seconds. */
const longestGrace = 5

export const collectionNeeds = {
  list: [can('list'), 'can be listed'],
  create: [(it) => can('create')(it) && it.example !== undefined, 'can be created in, with a known body'],
  read: [can('read'), 'has records that can be read'],
  replace: [can('replace'), 'takes PUT'],
  update: [can('update'), 'takes PATCH'],
  changing: [(it) => can('update')(it) || can('replace')(it), 'takes PATCH or PUT'],
  delete: [can('delete'), 'takes DELETE'],
  restore: [can('restore'), 'has restore'],
  'bulk-delete': [can('bulk-delete'), 'has bulk-delete'],
  'delete-by-filter': [can('delete-by-filter'), 'takes DELETE with a filter'],
  slashless: [({ slashes = [] }) => slashes.length === 0, 'is at a path without a slash at the end'],
  page: [({ pages }) => pages.includes('page'), 'has pages by number'],
  offset: [({ pages }) => pages.includes('offset'), 'has pages by offset'],
  cursor: [({ pages }) => pages.includes('cursor'), 'has pages by cursor'],
  marker: [
    ({ marker, unique }) => marker !== undefined && !unique.includes(marker),
    'has a text that filters lists and may be the same in several records',
  ],
  finder: [
    (it, { collections }) => {
      const finder = finderOf(it)
      const named = /\{(?!mark\})([\w-]+)\}/.exec(finder ?? '')?.[1]
      const other = collections.find(({ name }) => name === named)
      return finder !== undefined && (named === undefined || (other !== undefined && canCreate(other)))
    },
    'has a filter by which the checker finds its own records',
  ],
  shown: [(it) => can('list')(it) && markedMember(it) !== undefined, 'has a text for the mark of the checker'],
  search: [({ search }) => search !== undefined, 'can be searched'],
  sort: [({ sorts }) => sorts.length > 0, 'can be sorted'],
  filter: [({ filters }) => filters.length > 0, 'can be filtered'],
  sorted: [({ sorts }) => sorts.length > 0, 'can be sorted'],
  fields: [can('list'), 'can be listed'],
  protected: [can('list'), 'can be listed'],
  ranked: [has('ranked'), 'can be sorted by a member with two known values'],
  measured: [has('measured'), 'can be filtered by a number with two known values'],
  worded: [has('worded'), 'can be filtered by a text with two known values, beside that of the checker'],
  emptied: [has('emptied'), 'can be filtered by a member that may be left out'],
  undeclared: [has('undeclared'), 'can be filtered and sorted, and has a text by which it cannot'],
  'marker-sort': [
    ({ marker, sorts, unique }) => marker !== undefined && !unique.includes(marker) && sorts.includes(marker),
    'can be sorted by the text that identifies the records of the checker',
  ],
  paged: [({ pages }) => pages.length > 0, 'has pages'],
  // Its proof also shows that the size of pages can be chosen.
  numbered: [({ pages }) => pages.includes('page'), 'has pages by number'],
  unique: [({ unique }) => unique.length > 0, 'has a unique member'],
  required: [({ required }) => required.length > 0, 'has a required member'],
  invalid: [({ invalid }) => isSome(invalid), 'has members with known invalid values'],
  mistakes: [(it) => mistakesOf(it).length > 1, 'has two members or more that can be invalid'],
  change: [({ change }) => isSome(change), 'has members that clients may change'],
  optional: [({ optional }) => isSome(optional), 'has members that may be left out'],
  reference: [({ references }) => isSome(references), 'refers to another'],
  parent: [
    (it, profile) => {
      const parent = parentOf(it, profile)
      return parent !== undefined && (['create', 'read', 'delete'] as const).every((each) => can(each)(parent))
    },
    'refers to another whose records can be created and deleted',
  ],
  children: [({ children }) => isSome(children), 'has collections below its records'],
  nested: [(it, profile) => nestingOf(it, profile) !== undefined, 'is shown below the records to which it refers'],
  events: [
    ({ name }, { events = [] }) => events.includes(name),
    'has events (GET /events with the parameters collection, record and kind)',
  ],
  object: [(it) => objectMemberOf(it) !== undefined, 'has a member that is an object with two members or more'],
  soft: [({ deletion }) => deletion === 'soft', 'keeps deleted records'],
  hard: [({ deletion }) => deletion === 'hard', 'deletes for good'],
  conditional: [({ conditional }) => conditional, 'needs a condition for changes'],
  unconditional: [({ conditional }) => !conditional, 'takes changes without a condition'],
  grace: [({ grace }) => grace !== undefined && grace <= longestGrace, 'purges soon, as the profile says'],
  summary: [answers(200), 'answers deletions with 200, as its document says'],
  deferred: [answers(202), 'answers deletions with 202, as its document says'],
  'no create': [(it) => it.owner === undefined && forbids('create')(it), 'is closed to the second credential for POST'],
  'no read': [forbids('read'), 'is closed to the second credential for GET'],
  'no update': [forbids('update'), 'is closed to the second credential for PATCH and PUT'],
  'no delete': [forbids('delete'), 'is closed to the second credential for DELETE'],
  owner: [({ owner }) => owner !== undefined, 'keeps the records of one caller from the other'],
} as const satisfies Readonly<Record<string, CollectionTest>>

function can(operation: Operation): (it: CollectionProfile) => boolean {
  return ({ operations }) => operations.includes(operation)
}

function answers(status: number): (it: CollectionProfile) => boolean {
  return ({ deletionAnswers = [] }) => deletionAnswers.includes(status)
}

function forbids(permission: Permission): (it: CollectionProfile) => boolean {
  return ({ otherMay = [] }) => !otherMay.includes(permission)
}

function has(kind: MemberKind): (it: CollectionProfile) => boolean {
  return (it) => memberOf(it, kind) !== undefined
}

export function isServerNeed(need: Need): need is ServerNeed {
  return need in serverNeeds
}
