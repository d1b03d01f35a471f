/**
 * Discovers a server from its address, with safe requests only: finds its OpenAPI document or guesses, excludes what
 * must not be touched, describes its collections, and completes them with the entries of a profile file.
 */
import { type Requester, request } from '../client/client.ts'
import { type Answer, isSuccess } from '../client/exchange.ts'
import { CannotCheck, type CollectionProfile, type Profile } from '../profile/profile.ts'
import { mergeProfile, type PartialProfile } from '../profile/profile-file.ts'
import { countOfNeeds } from '../run/choose-collections.ts'
import { objectOf } from '../values/json.ts'
import { serverPaths } from '../values/openapi.ts'
import { bareAddress, type Located, locate } from './base.ts'
import { bareCandidate, type Candidate, isCalled } from './candidate.ts'
import { describeCollection, narrowMembers } from './describe.ts'
import { findDocument, readDocumentAt } from './find-document.ts'
import { guessCandidate, linkedPaths, readList } from './guess.ts'
import { type Document, expandSchema, pathsOf } from './openapi.ts'
import { namesOf } from './response-names.ts'
import { type Excluded, exclusionNotices, Selection } from './selection.ts'

/** What a user says about the server. */
export interface DiscoveryOptions {
  /** Address of the interface, of its server, or of its OpenAPI document. */
  readonly url: string
  /** File or address of the OpenAPI document. */
  readonly openapi?: string | undefined
  /** Names or paths of the collections to check; all if empty. */
  readonly only?: readonly string[] | undefined
  /** Entries of a profile file. */
  readonly given?: PartialProfile | undefined
}

/** What discovery found. */
export interface Discovered {
  readonly profile: Profile
  /** Sentences for people about what is missing or excluded. */
  readonly notices: readonly string[]
  /** Names of the collections that no document describes. The trial finds out what clients can do with them. */
  readonly guessed: ReadonlySet<string>
}

/**
 * Discovers a server.
 *
 * @throws CannotCheck if the server does not answer, refuses the credential, or has no collection that can be found
 */
export async function discover(requester: Requester, options: DiscoveryOptions): Promise<Discovered> {
  const { only = [], given = {} } = options
  // 1. The document, and where on the server its paths begin.
  const { address, document, rootStatus } = await openServer(requester, options)
  const described: Located =
    document === undefined ? { base: address, candidates: [] } : await locate(requester, document, address)
  const base = given.base ?? described.base

  // 2. The collections to check: those of the document, and those that the user or links of the root name.
  const selection = new Selection(only, given.collections, described.candidates)
  const included = described.candidates.filter((each) => selection.includes(each))
  const unknown = selection.paths.filter((path) => !described.candidates.some((each) => isCalled(each, path)))
  if (described.candidates.length === 0 && unknown.length === 0) {
    unknown.push(...(await linkedPaths(requester, base)).filter((path) => selection.includes(bareCandidate(path))))
  }

  // 3. What their lists show.
  const { listed, guesses } = await readLists(requester, base, included, unknown)
  checkAccess(requester, [...listed, ...guesses], rootStatus)
  const guessed = await Promise.all(
    guesses.flatMap(({ path, listed: response }) =>
      response?.names === undefined ? [] : [guessCandidate(requester, base, path, response)],
    ),
  )
  const candidates = [...listed, ...guessed]

  // 4. The profile: descriptions of the collections, names in responses, and the entries of the user.
  const used = selection.withReferences(candidates).filter((each) => selection.includes(each))
  const collections = used.map((each) => describeCollection(each, used))
  const unknownPath = `${base}/no-such-collection-${Date.now().toString(36)}`
  const { answer: error } = await request(requester, 'GET', unknownPath)
  const found: Profile = {
    base,
    collections: collections.map(({ collection }) => collection),
    names: namesOf(candidates, document, error),
    document: document?.url,
    open: document === undefined ? [] : await openPaths(requester, document, base),
    ...(document === undefined ? {} : featuresOf(document)),
  }
  const profile = sortCollections(mergeProfile(found, given))
  if (profile.collections.length === 0) throw new CannotCheck(nothingFound(address, document, only, selection.excluded))
  const notices = [
    ...exclusionNotices(selection.excluded.filter(({ name }) => selection.isWanted({ name, path: `/${name}` }))),
    ...(used.some(({ hasSlash }) => hasSlash)
      ? ['The document writes paths with a slash at their end. The checker sends requests without it.']
      : []),
    ...collections.flatMap((each) => each.notices),
  ]
  return { profile, notices, guessed: new Set(guessed.map(({ name }) => name)) }
}

/** Checks that the server answers, and finds its document. */
async function openServer(requester: Requester, { url, openapi, given = {} }: DiscoveryOptions) {
  const isDocument = /\.(?:json|ya?ml)$/.test(new URL(url).pathname)
  const address = given.base ?? (isDocument ? new URL(url).origin : bareAddress(url))
  const { answer, failure } = await request(requester, 'GET', isDocument ? url : address)
  if (answer === undefined) throw new CannotCheck(connectionAdvice(new URL(url), String(failure)))
  const place = openapi ?? (isDocument ? url : given.document)
  const document = place === undefined ? await findDocument(requester, address) : await readDocumentAt(requester, place)
  return { address, document, rootStatus: answer.status }
}

const mostLists = 60

/** Requests the lists of candidates and of paths that no document describes. */
async function readLists(
  requester: Requester,
  base: string,
  candidates: readonly Candidate[],
  unknownPaths: readonly string[],
): Promise<{ readonly listed: readonly Candidate[]; readonly guesses: readonly Candidate[] }> {
  let left = mostLists
  const read = (candidate: Candidate) =>
    left-- > 0 ? readList(requester, base + candidate.path).then((listed) => ({ ...candidate, listed })) : candidate
  const [listed, guesses] = await Promise.all([
    Promise.all(candidates.map((each) => (each.operations.includes('list') ? read(each) : each))),
    Promise.all([...new Set(unknownPaths)].map((path) => read(bareCandidate(path)))),
  ])
  return { listed, guesses }
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
    4 * narrowMembers(collection)
  return { ...profile, collections: profile.collections.toSorted((left, right) => worth(right) - worth(left)) }
}

/** What a document says about the server as a whole. */
function featuresOf({ root }: Document): Partial<Profile> {
  const paths = pathsOf(root)
  const parameters = paths.flatMap(({ endpoints }) => [...endpoints.values()].flatMap((each) => each.parameters))
  const versionField = parameters.find(
    (each) => each.in === 'header' && /^(?:x-)?(?:api|accept)-version$/i.test(each.name),
  )?.name
  const body = paths.find(({ path }) => /\/exports$/.test(path))?.endpoints.get('POST')?.body
  const properties = objectOf(body && expandSchema(root, body['schema'])['properties'])
  const formats = objectOf(properties['format'])['enum']
  return {
    ...(versionField !== undefined && { versionField }),
    ...(Array.isArray(formats) && 'collection' in properties && { exports: formats.map(String) }),
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
  excluded: readonly Excluded[],
): string {
  if (only.length > 0) {
    return (
      `There is no collection ${only.join(' or ')} at ${address}: GET returns no list. Give its name as it is in ` +
      'the path.'
    )
  }
  if (excluded.length > 0) return ['All collections are excluded.', ...exclusionNotices(excluded)].join('\n')
  return document === undefined
    ? `No OpenAPI document was found at ${address}, and no collection. Give the document with --openapi FILE or ` +
        'URL, or name a collection: --collection cities.'
    : `The OpenAPI document ${document.url ?? ''} describes no collection: no path /x with a path /x/{id}. Name ` +
        'one with --collection cities.'
}

/** What a user can do about a connection that failed. */
function connectionAdvice({ origin, hostname, protocol, port }: URL, failure: string): string {
  // OpenSSL adds the place in its source code.
  const text = failure.replace(/^.*:SSL routines:[^:]*:([^:]*):.*$/s, '$1').trim()
  const other = (scheme: string) => `${scheme}://${hostname}${port && `:${port}`}`
  const start = `${origin} does not answer`
  if (/ECONNREFUSED/.test(text)) return `${start}: nothing listens there. Start the server, or correct the address.`
  if (/ENOTFOUND|EAI_AGAIN/.test(text)) return `${start}: there is no host ${hostname}. Correct the address.`
  if (/EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|no answer within/.test(text)) {
    return `${start}: it cannot be reached from here (${text}).`
  }
  if (/certificate|self.signed|CERT_|UNABLE_TO_|issuer|altnames/i.test(text)) {
    return (
      `The certificate of ${origin} is not trusted (${text}). Give the one to trust with --cacert FILE, or trust ` +
      'any with --insecure.'
    )
  }
  if (protocol === 'https:' && /EPROTO|wrong version number|packet length/i.test(failure)) {
    return `${start} by HTTPS (${text}). Perhaps it speaks plain HTTP: ${other('http')}`
  }
  if (protocol === 'http:' && /socket hang up|ECONNRESET|Parse Error/i.test(text)) {
    return `${start} by plain HTTP (${text}). Perhaps it speaks HTTPS: ${other('https')}`
  }
  return `${start}: ${text}.`
}
