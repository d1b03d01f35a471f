/**
 * Opens a server from the user's options: finds its OpenAPI document, at a given place or at the usual ones, and where
 * on the server the paths of the document begin.
 */
import { readFile } from 'node:fs/promises'
import { type Requester, request, requestFollowing } from '../client/client.ts'
import { isSuccess } from '../client/exchange.ts'
import { CannotCheck, type PartialProfile } from '../profile/profile.ts'
import { serverPaths } from '../values/openapi.ts'
import { documentIn, documentLinks } from './document-links.ts'
import { type Candidate, candidatesIn, type Document, readDocument } from './openapi.ts'

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

/**
 * Checks that the server answers, and finds its document, the collections that the document describes, and where on the
 * server its paths begin.
 *
 * @throws CannotCheck if the server does not answer, or if a given document cannot be used
 */
export async function openServer(requester: Requester, { url, openapi, given = {} }: DiscoveryOptions) {
  const isDocument = /\.(?:json|ya?ml)$/.test(new URL(url).pathname)
  const address = given.base ?? (isDocument ? new URL(url).origin : bareAddress(url))
  const { answer, failure } = await request(requester, 'GET', isDocument ? url : address)
  if (answer === undefined) throw new CannotCheck(connectionAdvice(new URL(url), String(failure)))
  const place = openapi ?? (isDocument ? url : given.document)
  const document = place === undefined ? await findDocument(requester, address) : await readDocumentAt(requester, place)
  const described: Located =
    document === undefined ? { base: address, candidates: [] } : await locate(requester, document, address)
  return { address, document, rootStatus: answer.status, described }
}

/** Paths that frameworks use, from the base of an interface or from its root; the most common first. */
const usualPaths = [
  ...['openapi.json', 'openapi.yaml', 'openapi.yml', 'swagger.json', 'docs/openapi.json', 'api/openapi.json'],
  ...['v3/api-docs', 'documentation/json', 'api-json', 'api-docs', 'api-docs.json', 'docs/json', 'docs/api.json'],
  ...['openapi/v1.json', 'swagger/v1/swagger.json', 'schema', 'api/schema', 'openapi', 'docs/swagger.json'],
  ...['docs-json', 'swagger-json', 'api/docs-json', 'swagger/json', 'swagger/doc.json', 'v2/api-docs', 'q/openapi'],
  ...['server/specs/oas', 'docs.jsonopenapi', 'explorer/openapi.json', 'apispec_1.json', 'spec.json'],
  ...['doc', 'schema/openapi.json', 'api-docs/openapi.json', 'api-docs/swagger.json', 'swagger.yaml', 'api/docs.json'],
  ...['api/openapi.yaml', 'docs/openapi.yaml', 'api/docs/openapi.json', 'openapi3.json', 'api/doc', 'spec'],
  '.well-known/openapi.json',
  // Pages for people, which name the document.
  ...['docs', 'api/docs', 'swagger', 'swagger-ui', 'swagger-ui/', 'swagger-ui/index.html', 'swagger-ui.html'],
  ...['q/swagger-ui', 'api/swagger', 'documentation', 'redoc', 'explorer', 'reference', 'rapidoc', 'scalar'],
]

/** Usual bases of interfaces below an address that was given without them; the newest version first. */
const usualBases = ['v5', 'v4', 'v3', 'v2', 'v1', 'api', 'api/v3', 'api/v2', 'api/v1']
const searchedPaths = [...usualPaths, ...usualBases.flatMap((each) => [`${each}/openapi.json`, `${each}/swagger.json`])]

const accept = [['Accept', 'application/json, application/yaml;q=0.9, */*;q=0.5']] as const

/**
 * Reads the document at a given place.
 *
 * @param where a file or an address
 * @throws CannotCheck if there is no document, or one that cannot be used
 */
async function readDocumentAt(requester: Requester, where: string): Promise<Document> {
  const isAddress = /^https?:\/\//.test(where)
  const text = isAddress ? await download(requester, where) : await readFile(where, 'utf8').catch(() => undefined)
  if (text === undefined) throw new CannotCheck(`There is no OpenAPI document at ${where} (--openapi).`)
  const root = readDocument(text)
  if (root === undefined) {
    throw new CannotCheck(`${where} is no OpenAPI document: 3.0, 3.1 or Swagger 2.0 (--openapi).`)
  }
  return { root, url: isAddress ? where : undefined }
}

async function download(requester: Requester, url: string): Promise<string | undefined> {
  for (const anonymous of attemptsOf(requester)) {
    const { answer } = await requestFollowing(requester, url, { anonymous, fields: accept })
    if (isSuccess(answer)) return answer.body
  }
  return undefined
}

/** With the credential first, then without: some servers refuse a credential that they do not need. */
function attemptsOf({ credential }: Requester): boolean[] {
  return credential.length > 0 ? [false, true] : [true]
}

/** Searches the usual paths under an address and under the root of its server. */
async function findDocument(requester: Requester, base: string): Promise<Document | undefined> {
  for (const anonymous of attemptsOf(requester)) {
    const search = new DocumentSearch(requester, anonymous)
    for (const each of new Set([base, new URL(base).origin])) {
      const urls = [each, ...searchedPaths.map((path) => `${each}/${path}`)]
      const found = await search.first(urls)
      if (found !== undefined) return found
    }
    // Another credential makes no difference where none was refused.
    if (!search.isRefused) return undefined
  }
  return undefined
}

const parallel = 4
const mostPages = 2

/** A search for a document, which requests no address twice. */
class DocumentSearch {
  /** Whether the server refused the credential, or the lack of one, anywhere. */
  isRefused = false
  readonly #requester: Requester
  readonly #anonymous: boolean
  readonly #seen = new Set<string>()

  constructor(requester: Requester, anonymous: boolean) {
    this.#requester = requester
    this.#anonymous = anonymous
  }

  /**
   * The first document. If the first responses are all 401, no other is requested: servers count failed
   * authentications.
   */
  async first(urls: readonly string[]): Promise<Document | undefined> {
    for (const some of [urls.slice(0, parallel), urls.slice(parallel)]) {
      const all = await Promise.all(some.map((url) => this.#documentAt(url)))
      const found = all.find((each) => typeof each === 'object')
      if (found !== undefined) return found
      if (all.length > 0 && all.every((each) => each === 401)) return undefined
    }
    return undefined
  }

  /** The document at an address, or the one that a page there names; otherwise the status. */
  async #documentAt(url: string, depth = 0): Promise<Document | number> {
    if (this.#seen.has(url)) return 0
    this.#seen.add(url)
    const { answer, asked } = await requestFollowing(this.#requester, url, {
      anonymous: this.#anonymous,
      fields: accept,
    })
    if (answer === undefined) return 0
    if (answer.status === 401 || answer.status === 403) this.isRefused = true
    if (!isSuccess(answer)) return answer.status
    const root = readDocument(answer.body) ?? documentIn(answer.body)
    if (root !== undefined) return { root, url: asked.url }
    if (depth === mostPages) return answer.status
    for (const link of documentLinks(answer, asked.url)) {
      const found = await this.#documentAt(link, depth + 1)
      if (typeof found === 'object') return found
    }
    return answer.status
  }
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

/** An address without a slash at its end, a query and a fragment. */
function bareAddress(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/\/+$/, '')
}

/** The path of an address; empty for the root. */
function pathAt(url: string): string {
  return new URL(url).pathname.replace(/\/+$/, '')
}

/** The collections that a document describes, with their paths from the base of the interface. */
interface Located {
  readonly base: string
  readonly candidates: readonly Candidate[]
}

/** Tries the prefixes of a document's paths until one of its collections answers. */
async function locate(requester: Requester, document: Document, given: string): Promise<Located> {
  const candidates = candidatesIn(document.root)
  const probe = candidates.find(({ operations }) => operations.includes('list')) ?? candidates[0]
  if (probe === undefined) return { base: given, candidates }
  const prefixes = pathPrefixes(document, given)
  for (const prefix of prefixes) {
    const slash = probe.slashes.includes('collection') ? '/' : ''
    const { answer } = await request(requester, 'GET', new URL(given).origin + prefix + probe.path + slash)
    if (answer !== undefined && answer.status !== 404 && answer.status < 500) return placed(candidates, prefix, given)
  }
  return placed(candidates, prefixes[0] ?? '', given)
}

/** Prefixes that the paths of a document may have on the server, the most likely first. */
export function pathPrefixes({ root, url }: Document, given: string): string[] {
  const asked = pathAt(given)
  const sorted = serverPaths(root, url ?? `${given}/`).toSorted(
    (left, right) => Number(right === asked) - Number(left === asked),
  )
  return [...new Set([...sorted, asked, ''])]
}

/** Candidates with their paths from the base. If some are below the given address, the others are left out. */
export function placed(candidates: readonly Candidate[], prefix: string, given: string): Located {
  const all = candidates.map((each) => ({ ...each, path: prefix + each.path }))
  const asked = pathAt(given)
  const below = all.filter(({ path }) => path.startsWith(`${asked}/`))
  const kept = below.length > 0 ? below : all
  const base = commonBase(
    below.length > 0 ? asked : '',
    kept.map(({ path }) => path),
  )
  return {
    base: new URL(given).origin + base,
    candidates: withUniqueNames(kept.map((each) => ({ ...each, path: each.path.slice(base.length) }))),
  }
}

const usualSegment = /^(?:api|rest|public|v\d[\w.-]*)$/i

/** A base, extended by the usual segments with which all paths go on: `/api/v1`. */
function commonBase(base: string, paths: readonly string[]): string {
  const rests = paths.map((path) => path.slice(base.length).split('/'))
  const first = rests[0]?.[1]
  const isShared =
    first !== undefined && usualSegment.test(first) && rests.every((each) => each.length > 2 && each[1] === first)
  return isShared ? commonBase(`${base}/${first}`, paths) : base
}

/** Collections with the same name are named by their whole paths. */
function withUniqueNames(candidates: readonly Candidate[]): Candidate[] {
  const count = (name: string) => candidates.filter((each) => each.name === name).length
  return candidates.map((each) =>
    count(each.name) === 1 ? each : { ...each, name: each.path.slice(1).replaceAll('/', '-') },
  )
}
