/** Finds the OpenAPI document of a server, at a given place or at the usual ones. */
import { readFile } from 'node:fs/promises'
import { type Requester, request } from '../client/client.ts'
import { type Answer, fieldOf, isSuccess } from '../client/exchange.ts'
import { CannotCheck } from '../profile/profile.ts'
import { type Document, readDocument } from './openapi.ts'

/** Paths that frameworks use, from the base of an interface or from its root; the most common first. */
const usualPaths = [
  ...['openapi.json', 'openapi.yaml', 'openapi.yml', 'swagger.json', 'docs/openapi.json', 'api/openapi.json'],
  ...['v3/api-docs', 'documentation/json', 'api-json', 'api-docs', 'api-docs.json', 'docs/json', 'docs/api.json'],
  ...['openapi/v1.json', 'swagger/v1/swagger.json', 'schema', 'api/schema', 'openapi', 'docs/swagger.json'],
  '.well-known/openapi.json',
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
export async function readDocumentAt(requester: Requester, where: string): Promise<Document> {
  const isAddress = /^https?:\/\//.test(where)
  const text = isAddress ? await download(requester, where) : await readFile(where, 'utf8').catch(() => undefined)
  if (text === undefined) throw new CannotCheck(`There is no OpenAPI document at ${where} (--openapi).`)
  const root = readDocument(text, where)
  if (root === undefined) {
    throw new CannotCheck(`${where} is not an OpenAPI document of version 3.0 or 3.1 (--openapi).`)
  }
  return { root, url: isAddress ? where : undefined }
}

async function download(requester: Requester, url: string): Promise<string | undefined> {
  for (const anonymous of attemptsOf(requester)) {
    const { answer } = await request(requester, 'GET', url, { anonymous, fields: accept })
    if (isSuccess(answer)) return answer.body
  }
  return undefined
}

/** With the credential first, then without: some servers refuse a credential that they do not need. */
function attemptsOf({ credential }: Requester): boolean[] {
  return credential.length > 0 ? [false, true] : [true]
}

/** Searches the usual paths under an address and under the root of its server. */
export async function findDocument(requester: Requester, base: string): Promise<Document | undefined> {
  for (const anonymous of attemptsOf(requester)) {
    for (const each of new Set([base, new URL(base).origin])) {
      const { answer } = await request(requester, 'GET', each, { anonymous })
      const linked = answer === undefined ? [] : linkedDocuments(answer, each)
      const urls = [...new Set([...linked, ...searchedPaths.map((path) => `${each}/${path}`)])]
      const found = await firstDocument(requester, urls, anonymous)
      if (found !== undefined) return found
    }
  }
  return undefined
}

const parallel = 4

/**
 * The first document. If the first responses are all 401, no other is requested: servers count failed authentications.
 */
async function firstDocument(
  requester: Requester,
  urls: readonly string[],
  anonymous: boolean,
): Promise<Document | undefined> {
  const documentAt = async (url: string): Promise<Document | number> => {
    const { answer } = await request(requester, 'GET', url, { anonymous, fields: accept })
    const root = isSuccess(answer) ? readDocument(answer.body, url) : undefined
    return root === undefined ? (answer?.status ?? 0) : { root, url }
  }
  for (const some of [urls.slice(0, parallel), urls.slice(parallel)]) {
    const all = await Promise.all(some.map(documentAt))
    const found = all.find((each) => typeof each === 'object')
    if (found !== undefined) return found
    if (all.every((each) => each === 401)) return undefined
  }
  return undefined
}

/** Addresses of service descriptions in `Link` (RFC 8631), on the same server only. */
function linkedDocuments(answer: Answer, url: string): string[] {
  const all = (fieldOf(answer, 'Link') ?? '').matchAll(/<([^<>]*)>[^<]*?\brel="?[^";,]*service-desc/gi)
  return [...all].flatMap(([, target = '']) => {
    const found = URL.parse(target, url)
    return found?.origin === new URL(url).origin ? [found.href] : []
  })
}
