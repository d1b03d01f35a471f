/**
 * Discovers a server from its address, with safe requests only: finds its OpenAPI document or guesses, excludes what
 * must not be touched, describes its collections, and completes them with the entries of a profile file.
 */
import { type Requester, request, requestFollowing } from '../client/client.ts'
import { type Answer, fieldOf, isSuccess, jsonOf } from '../client/exchange.ts'
import {
  addressForm,
  CannotCheck,
  type CollectionProfile,
  mergeProfile,
  type Names,
  type Operation,
  type Profile,
} from '../profile/profile.ts'
import { countOfNeeds, narrowMembers } from '../run/choose-collections.ts'
import { type Schema, schemaOf } from '../values/generate.ts'
import { type JsonObject, mapMembers, objectOf, pick } from '../values/json.ts'
import { serverPaths } from '../values/openapi.ts'
import { randomText } from '../values/random.ts'
import { describeCollection, setByServer } from './describe.ts'
import { requestRecords } from './media-type.ts'
import { type DiscoveryOptions, openServer } from './open-server.ts'
import {
  bareCandidate,
  type Candidate,
  type Document,
  expandSchema,
  isCalled,
  type Parameter,
  pathsOf,
} from './openapi.ts'
import { identifierIn } from './record-names.ts'
import { namesOf, readList } from './response-names.ts'
import { exclusionNotices, Selection } from './selection.ts'

export interface Discovered {
  readonly profile: Profile
  /** Sentences for people about what is missing or excluded. */
  readonly notices: readonly string[]
  /** Names of the collections that no document describes. The trial finds out what clients can do with them. */
  readonly guessed: ReadonlySet<string>
  /** The documented query parameters of lists, by collection. */
  readonly parameters: ReadonlyMap<string, readonly Parameter[]>
}

/**
 * Discovers a server.
 *
 * @throws CannotCheck if the server does not answer, refuses the credential, or has no collection that can be found
 */
export async function discover(requester: Requester, options: DiscoveryOptions): Promise<Discovered> {
  const { only = [], given = {} } = options
  // A media type that the user names on the command line counts more.
  requester.client.mediaType ??= given.mediaType
  requester.client.patchType ??= given.patchType
  // 1. The document, the collections that it describes, and where on the server its paths begin.
  const { address, document, rootStatus, described } = await openServer(requester, options)
  const base = given.base ?? described.base

  // 2. The collections to check: those of the document, and those that the user or links of the root name.
  const selection = new Selection(only, given.collections, described.candidates)
  const documented = described.candidates.map((each) => selection.rename(each))
  const included = documented.filter((each) => selection.includes(each))
  const unknown = selection.named.filter(({ path }) => !documented.some((each) => isCalled(each, path)))
  if (documented.length === 0 && unknown.length === 0) {
    unknown.push(...(await linkedCandidates(requester, base)).filter((each) => selection.includes(each)))
  }

  // 3. What their lists show.
  const { listed, guesses } = await readLists(requester, base, included, unknown)
  checkAccess(requester, [...listed, ...guesses], rootStatus)
  const guessed = await Promise.all(
    guesses.flatMap((each) => (each.listed?.names === undefined ? [] : [guessCandidate(requester, base, each)])),
  )
  const candidates = [...listed, ...guessed]

  // Frameworks answer for unknown paths themselves, often with less than the application says in its errors.
  const readable = candidates.find(({ operations }) => operations.includes('read'))
  const nowhere = [
    `${base}/no-such-collection-${randomText()}`,
    ...(readable === undefined ? [] : [addressOf(base, readable, `no-such-${randomText()}`)]),
  ]
  const failures = await Promise.all(nowhere.map(async (each) => (await request(requester, 'GET', each)).answer))

  // 4. The profile: descriptions of the collections, names in responses, and the entries of the user.
  const names = namesOf(candidates, document, failures)
  const used = selection
    .withReferences(candidates)
    .filter((each) => selection.includes(each))
    .map((each) => withOwnNames(each, names))
  const collections = used.map((each) => describeCollection(each, used))
  const found: Profile = {
    base,
    collections: collections.map(({ collection }) => collection),
    names,
    document: document?.url,
    ...(requester.client.mediaType !== undefined && { mediaType: requester.client.mediaType }),
    open: document === undefined ? [] : await openPaths(requester, document, base),
    ...(document === undefined ? {} : featuresOf(document)),
  }
  const profile = sortCollections(mergeProfile(found, given))
  requester.client.form = addressForm(profile)
  if (profile.collections.length === 0)
    throw new CannotCheck(nothingFound(address, document, only, exclusionNotices(selection.excluded)))
  const notices = [
    ...exclusionNotices(selection.excluded.filter(({ name }) => selection.isWanted({ name, path: `/${name}` }))),
    ...collections.flatMap((each) => each.notices),
  ]
  return {
    ...{ profile, notices, guessed: new Set(guessed.map(({ name }) => name)) },
    parameters: new Map(used.map(({ name, query }) => [name, query])),
  }
}

const mostLists = 60

/** Requests the lists of candidates and of collections that no document describes. */
async function readLists(
  requester: Requester,
  base: string,
  candidates: readonly Candidate[],
  unknown: readonly Candidate[],
): Promise<{ readonly listed: readonly Candidate[]; readonly guesses: readonly Candidate[] }> {
  let left = mostLists
  const read = (candidate: Candidate) => (left-- > 0 ? readCandidate(requester, base, candidate) : candidate)
  const [listed, guesses] = await Promise.all([
    Promise.all(candidates.map((each) => (each.operations.includes('list') ? read(each) : each))),
    Promise.all(unknown.filter((each) => unknown.find(({ path }) => path === each.path) === each).map(read)),
  ])
  return { listed, guesses }
}

/** Requests the list of a candidate. If the server redirects the request, the list is where it leads. */
async function readCandidate(requester: Requester, base: string, candidate: Candidate): Promise<Candidate> {
  const url = addressOf(base, candidate)
  const listed = await readList(requester, url)
  const { url: target } = listed.exchange.asked
  const isMoved = target !== url && listed.names !== undefined && target.startsWith(`${base}/`)
  if (!isMoved) return { ...candidate, listed }
  const path = target.slice(base.length).replace(/[?#].*$/, '')
  const others = candidate.slashes.filter((each) => each !== 'collection')
  const slashes = path.endsWith('/') ? (['collection', ...others] as const) : others
  return { ...candidate, path: path.replace(/\/+$/, ''), slashes, listed }
}

/** The address of a candidate, or of one of its records. */
function addressOf(base: string, { path, slashes }: Candidate, id?: string): string {
  const record = id === undefined ? '' : `/${encodeURIComponent(id)}`
  return base + path + record + (slashes.includes(id === undefined ? 'collection' : 'record') ? '/' : '')
}

/** A candidate whose list holds records elsewhere than most: `{"orders": […]}`. */
function withOwnNames(candidate: Candidate, { items: usual }: Names): Candidate {
  const items = candidate.listed?.names?.items
  return items === undefined || items === usual ? candidate : { ...candidate, names: { items } }
}

function checkAccess({ credential }: Requester, candidates: readonly Candidate[], rootStatus: number): void {
  const answers = candidates.flatMap(({ listed }) => (listed === undefined ? [] : [listed.exchange.answer]))
  const statuses = answers.length > 0 ? answers.map((answer: Answer | undefined) => answer?.status ?? 0) : [rootStatus]
  if (!statuses.every((status) => status === 401 || status === 403)) return
  throw new CannotCheck(
    credential.length === 0
      ? `The server answers ${statuses[0]} to every request: it needs a credential. Give one with --key KEY ` +
          `(Authorization: Bearer), RESOURCED_CHECK_KEY, or --header 'Name: value'.`
      : `The server answers ${statuses[0]} to every request, also with the given credential. Give one that may ` +
          'read and change records, with --key or --header.',
  )
}

/** Collections on which most can be tried first, and of those the ones that need the fewest others. */
function sortCollections(profile: Profile): Profile {
  const worth = (collection: CollectionProfile) =>
    countOfNeeds(collection, profile) +
    (collection.operations.includes('create') && collection.example !== undefined ? 20 : 0) -
    3 * Object.keys(collection.references).length -
    4 * narrowMembers(collection).length
  return { ...profile, collections: profile.collections.toSorted((left, right) => worth(right) - worth(left)) }
}

/** What a document says about the server as a whole. */
function featuresOf({ root }: Document): Partial<Profile> {
  const paths = pathsOf(root)
  const parameters = paths.flatMap(({ endpoints }) => [...endpoints.values()].flatMap((each) => each.parameters))
  const versionField = parameters.find(
    (each) => each.in === 'header' && /^(?:x-)?(?:api|accept)-version$/i.test(each.name),
  )?.name
  const endpoint = (method: string, path: RegExp) => paths.find((each) => path.test(each.path))?.endpoints.get(method)
  const bodyOf = (path: RegExp) => {
    const body = endpoint('POST', path)?.body
    return objectOf(body && expandSchema(root, body['schema'])['properties'])
  }
  const properties = bodyOf(/\/exports$/)
  const formats = objectOf(properties['format'])['enum']
  // Many interfaces have events of another kind, such as concerts.
  const filters = new Map(endpoint('GET', /\/events$/)?.parameters.map(({ name, schema }) => [name, schema]))
  const { items, enum: single } = filters.get('collection') ?? {}
  const collections = filters.has('record') && filters.has('kind') ? (single ?? objectOf(items)['enum']) : []
  const webhook = bodyOf(/\/webhooks$/)
  return {
    ...(versionField !== undefined && { versionField }),
    ...(Array.isArray(formats) && 'collection' in properties && { exports: formats.map(String) }),
    ...(Array.isArray(collections) && collections.length > 0 && { events: collections.map(String) }),
    ...(['url', 'events', 'active'].every((name) => name in webhook) && { webhooks: true }),
  }
}

/** Paths of health checks that answer without a credential, as the document says. */
async function openPaths(requester: Requester, { root, url }: Document, base: string): Promise<string[]> {
  const here = url ?? `${base}/`
  const open = pathsOf(root).filter(
    ({ path, endpoints }) =>
      /health|alive|live|ready|status|ping/i.test(path) && !path.includes('{') && endpoints.get('GET')?.isOpen,
  )
  const paths = open.slice(0, 10).map(({ path, item }) => {
    const [prefix = ''] = [...serverPaths(item, here), ...serverPaths(root, here)]
    return prefix + path
  })
  const exchanges = await Promise.all(
    paths.map((path) => request(requester, 'GET', new URL(base).origin + path, { anonymous: true })),
  )
  return paths.filter((_, index) => isSuccess(exchanges[index]?.answer))
}

function nothingFound(
  address: string,
  document: Document | undefined,
  only: readonly string[],
  exclusions: readonly string[],
): string {
  if (only.length > 0) {
    return (
      `There is no collection ${only.join(' or ')} at ${address}: GET returns no list. Give its name as it is in ` +
      'the path.'
    )
  }
  if (exclusions.length > 0) return ['All collections are excluded.', ...exclusions].join('\n')
  return document === undefined
    ? `No OpenAPI document was found at ${address}, and no collection. Give the document with --openapi FILE or ` +
        'URL, or name a collection: --collection cities.'
    : `The OpenAPI document ${document.url ?? ''} describes no collection: no path /x with a path /x/{id}. Name ` +
        'one with --collection cities.'
}

const mostLinks = 30

/** Candidates below the base to which the response at the base links. */
async function linkedCandidates(requester: Requester, base: string): Promise<Candidate[]> {
  const { answer } = await requestRecords(requester, `${base}/`)
  if (answer === undefined || answer.status >= 400) return []
  const found = [...targetsIn(answer)].flatMap((target) => {
    const url = URL.parse(target, `${base}/`)
    if (url === null || !url.href.startsWith(`${base}/`)) return []
    const path = url.pathname.slice(new URL(base).pathname.replace(/\/$/, '').length)
    return /^(?:\/[\w-]+)+\/?$/.test(path) ? [path] : []
  })
  return [...new Set(found)].slice(0, mostLinks).map((path) => ({
    ...bareCandidate(path.replace(/\/$/, '')),
    slashes: path.endsWith('/') ? ['collection'] : [],
  }))
}

function* targetsIn(answer: Answer): Generator<string> {
  for (const [, target = ''] of (fieldOf(answer, 'Link') ?? '').matchAll(/<([^<>]*)>/g)) yield target
  const body = jsonOf(answer)
  if (body === undefined) {
    for (const [, target = ''] of answer.body.matchAll(/\bhref\s*=\s*["']([^"'#?{}]+)["']/gi)) yield target
    return
  }
  yield* addressesIn(body, 0)
  // Some servers answer with all of their collections by name.
  for (const [name, value] of Object.entries(objectOf(body))) if (Array.isArray(value)) yield name
}

function* addressesIn(value: unknown, depth: number): Generator<string> {
  if (typeof value === 'string' && /^(?:https?:|\/)/.test(value)) yield value.replace(/\{.*$/, '')
  if (typeof value !== 'object' || value === null || depth > 4) return
  for (const each of Object.values(value)) yield* addressesIn(each, depth + 1)
}

/** Without a document, names tell more. */
const oftenSetByServer = /^(?:created|updated|modified|deleted|inserted|changed)/

/** Members that servers give a value that is the record's own: a body that has one may overwrite a record. */
const ownIdentifier = /^(?:_?id|uu?id|guid|documentId|object_?id)$/i

/** A candidate from the response of its list: clients can create what the first record shows. */
async function guessCandidate(requester: Requester, base: string, candidate: Candidate): Promise<Candidate> {
  const first = firstWithValues(candidate)
  const idName = first && (await addressMember(requester, base, candidate, first))
  const isSent = (name: string, value: unknown) =>
    name !== idName &&
    ![setByServer, oftenSetByServer, ownIdentifier].some((each) => each.test(name)) &&
    // Records of others: a body that named them might move them to the new record.
    !(Array.isArray(value) && value.some(populatedId)) &&
    collectionAt(value, base) !== candidate.name
  const sent = first && pick(first, (name) => isSent(name, first[name]))
  const example = sent && mapMembers(sent, (value) => populatedId(value) ?? value)
  const id = first && idName ? String(first[idName]) : undefined
  const record =
    id === undefined ? undefined : (await requestFollowing(requester, addressOf(base, candidate, id))).asked
  const related = requester.client.types.relatedTypes(addressOf(base, candidate))
  const slashes = record?.url.endsWith('/') ? [...candidate.slashes, 'record' as const] : candidate.slashes
  const located = { ...candidate, slashes }
  return {
    ...{ ...located, idName, example, record: first && schemaOf(first) },
    operations: await offeredOperations(requester, addressOf(base, located), id && addressOf(base, located, id)),
    creation: example ? withReferences(schemaOf(example), related, first, base) : { type: 'object', properties: {} },
  }
}

/** The first listed record, with the values of others for members in which it has none. */
function firstWithValues({ listed }: Candidate): JsonObject | undefined {
  const others = listed?.items ?? []
  const shown = (name: string) => others.find((each) => (each[name] ?? null) !== null)?.[name] ?? null
  return listed?.first && mapMembers(listed.first, (value, name) => value ?? shown(name))
}

/** The member that the address of a record has: the usual one, unless the record is only found by another one. */
async function addressMember(requester: Requester, base: string, candidate: Candidate, first: JsonObject) {
  const usual = identifierIn(first, candidate.name)
  const items = candidate.listed?.items ?? []
  const isOwn = (name: string) =>
    ['string', 'number'].includes(typeof first[name]) &&
    /^[\w-]{1,64}$/.test(String(first[name])) &&
    new Set(items.map((each) => each[name])).size === items.length
  for (const name of [...(usual === undefined ? [] : [usual]), ...Object.keys(first).filter(isOwn)]) {
    const { answer } = await requestFollowing(requester, addressOf(base, candidate, String(first[name])))
    if (name === usual && answer?.status !== 404) return usual
    if (isSuccess(answer)) return name
  }
  return usual
}

/** The collection to whose record a path leads: `gardens` for `/api/v1/gardens/3/`. */
function collectionAt(value: unknown, base: string): string | undefined {
  const start = `${new URL(base).pathname.replace(/\/$/, '')}/`
  const rest = typeof value === 'string' && value.startsWith(start) ? value.slice(start.length) : ''
  return /^([\w-]+)\/[\w-]+\/?$/.exec(rest)?.[1]
}

/** The identifier of a record that stands where other servers only have its identifier. */
function populatedId(value: unknown): unknown {
  const record = objectOf(value)
  const id = 'documentId' in record ? 'documentId' : identifierIn(record, '')
  return id === undefined || Object.keys(record).length < 2 ? undefined : record[id]
}

/** A schema that says to which records members refer. */
function withReferences(schema: Schema, related: ReadonlyMap<string, string>, shown: JsonObject = {}, base = '') {
  const properties = mapMembers(objectOf(schema['properties']), (value, name) => {
    const isPopulated = populatedId(shown[name]) !== undefined
    const led = collectionAt(shown[name], base)
    const type = led ?? related.get(name) ?? (isPopulated ? name : undefined)
    const told = {
      ...objectOf(value),
      ...(isPopulated && { 'x-populated': true }),
      ...(led !== undefined && { 'x-path': true }),
    }
    return type === undefined ? value : { ...told, description: `id of a ${type}` }
  })
  return { ...schema, properties }
}

const listMethods = [['POST', 'create']] as const
const recordMethods = [
  ['GET', 'read'],
  ['PUT', 'replace'],
  ['PATCH', 'update'],
  ['DELETE', 'delete'],
] as const

/** Operations that `Allow` names. If the server sends no `Allow`, all usual ones. */
async function offeredOperations(
  requester: Requester,
  url: string,
  onRecord: string | undefined,
): Promise<Operation[]> {
  const offered = async (methods: readonly (readonly [string, Operation])[], at: string | undefined) => {
    const answer = at === undefined ? undefined : (await request(requester, 'OPTIONS', at)).answer
    const field = answer && answer.status < 400 ? fieldOf(answer, 'Allow') : undefined
    const allow = field?.toUpperCase().split(/[\s,]+/)
    return methods.flatMap(([method, operation]) => ((allow?.includes(method) ?? true) ? [operation] : []))
  }
  return ['list', ...(await offered(listMethods, url)), ...(await offered(recordMethods, onRecord))]
}
