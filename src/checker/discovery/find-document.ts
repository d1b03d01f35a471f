/** Finds the OpenAPI document of a server: where one was said to be, or at the usual places. */

import { readFile } from 'node:fs/promises'
import { type Answer, fieldOf } from '../client/exchange.ts'
import { CannotCheck } from '../profile/profile.ts'
import { type Asker, ask, isGood } from './asker.ts'
import { type Document, readDocument } from './document.ts'

/** Where frameworks put it, from the base of an interface or from its root; the most common first. */
const places = [
  ...['openapi.json', 'openapi.yaml', 'openapi.yml', 'swagger.json', 'docs/openapi.json', 'api/openapi.json'],
  ...['v3/api-docs', 'documentation/json', 'api-json', 'api-docs', 'api-docs.json', 'docs/json', 'docs/api.json'],
  ...['openapi/v1.json', 'swagger/v1/swagger.json', 'schema', 'api/schema', 'openapi', 'docs/swagger.json'],
  '.well-known/openapi.json',
]

/** Where interfaces begin, below an address that was given without it: the newest first. */
const prefixes = ['v5', 'v4', 'v3', 'v2', 'v1', 'api', 'api/v3', 'api/v2', 'api/v1']
const under = prefixes.flatMap((prefix) => [`${prefix}/openapi.json`, `${prefix}/swagger.json`])

/**
 * Reads the document that was named.
 *
 * @param where a file, or an address
 * @throws CannotCheck where it is not there, or is none
 */
export async function namedDocument(asker: Asker, where: string): Promise<Document> {
  const isAddress = /^https?:\/\//.test(where)
  const text = isAddress ? await fetched(asker, where) : await readFile(where, 'utf8').catch(() => undefined)
  if (text === undefined) throw new CannotCheck(`There is no OpenAPI document at ${where} (--openapi).`)
  const root = readDocument(text, where)
  if (root === undefined) throw new CannotCheck(`${where} is no OpenAPI document of version 3.0 or 3.1 (--openapi).`)
  return { root, url: isAddress ? where : undefined }
}

async function fetched(asker: Asker, url: string): Promise<string | undefined> {
  for (const asNobody of asker.credential.length > 0 ? [false, true] : [true]) {
    const { answer } = await ask(asker, 'GET', url, { asNobody, fields: accepts })
    if (isGood(answer)) return answer.body
  }
  return undefined
}

const accepts = [['Accept', 'application/json, application/yaml;q=0.9, */*;q=0.5']] as const

/** Looks at the usual places, under an address and at the root of its server; with the credential, then without. */
export async function findDocument(asker: Asker, base: string): Promise<Document | undefined> {
  const bases = [...new Set([base, new URL(base).origin])]
  for (const asNobody of asker.credential.length > 0 ? [false, true] : [true]) {
    for (const each of bases) {
      const { answer } = await ask(asker, 'GET', each, { asNobody })
      const linked = answer === undefined ? [] : linkedIn(answer, each)
      const urls = [...new Set([...linked, ...[...places, ...under].map((place) => `${each}/${place}`)])]
      const found = await firstOf(asker, urls, asNobody)
      if (found !== undefined) return found
    }
  }
  return undefined
}

const atOnce = 4

/** The first document; where the first addresses are all 401, the others would be, and servers count such failures. */
async function firstOf(asker: Asker, urls: readonly string[], asNobody: boolean): Promise<Document | undefined> {
  for (const some of [urls.slice(0, atOnce), urls.slice(atOnce)]) {
    const all = await Promise.all(some.map((url) => documentAt(asker, url, asNobody)))
    const found = all.find((each) => typeof each === 'object')
    if (typeof found === 'object') return found
    if (all.every((each) => each === 401)) return undefined
  }
  return undefined
}

/** The document at an address; the status of the answer where there is none. */
async function documentAt(asker: Asker, url: string, asNobody: boolean): Promise<Document | number> {
  const { answer } = await ask(asker, 'GET', url, { asNobody, fields: accepts })
  if (!isGood(answer)) return answer?.status ?? 0
  const root = readDocument(answer.body, url)
  return root === undefined ? answer.status : { root, url }
}

/** What `Link` calls a description of the service (RFC 8631), on the same server. */
function linkedIn(answer: Answer, url: string): string[] {
  const all = (fieldOf(answer, 'Link') ?? '').matchAll(/<([^<>]*)>[^<]*?\brel="?[^";,]*service-desc/gi)
  return [...all].flatMap(([, target = '']) => {
    const found = URL.canParse(target, url) ? new URL(target, url) : undefined
    return found?.origin === new URL(url).origin ? [found.href] : []
  })
}
