/** Serves the pages and their files as the build has made them (DOC-4). */
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { type Encoding, encodingHeaders, encodingsFor } from 'resourced-contract/fields/accept-encoding'
import { timestamp } from 'resourced-contract/model/time'
import { fault } from 'resourced-contract/spec/faults'
import type { HttpRequest, HttpResponse } from '../../http/message.ts'
import { decidePreconditions, formatEntityTag, readConditions } from '../../http/preconditions.ts'
import type { PageTarget } from '../../request/target.ts'
import { BoundedMap } from '../../storage/sql/bounded-map.ts'
import { isRetired, type Version, type Versions } from '../../versions/versions.ts'
import type { ConsoleSettings } from './console-settings.ts'
import { type OpenIdProvider, providerOf } from './openid-provider.ts'

/** How a page or its file can be encoded. */
type PageEncoding = Exclude<Encoding, 'zstd'>

/** A file of a page. The copies beside it end in `.br` and `.gz`. */
export interface PageFile {
  /** Its media type. */
  readonly type: string
  /** A part of the SHA-256 of its bytes. */
  readonly hash: string
  /** The size in each encoding. */
  readonly bytes: Readonly<Record<PageEncoding, number>>
}

/** What the build writes into `pages/manifest.json`: every page by the name of its address, such as `console`. */
export type PagesManifest = Readonly<Record<string, { readonly files: Readonly<Record<string, PageFile>> }>>

/** A request for a page or one of its files. */
interface PageRequest {
  readonly target: PageTarget
  /** The version that the page shows first. */
  readonly version: Version
  readonly headers: HttpRequest['headers']
}

/**
 * Answers GET and HEAD of a page or one of its files.
 *
 * @throws Fault NOT_FOUND, PRECONDITION_FAILED, MALFORMED_CONDITION
 */
export type AnswerPage = (request: PageRequest) => Promise<HttpResponse>

/** What all pages of an interface share. */
interface PageServices {
  readonly versions: Versions
  readonly console: ConsoleSettings
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Makes the function that answers requests for pages. */
export function pageServer({ versions, console, now }: PageServices): AnswerPage {
  const findProvider = console.openid && providerOf(console.openid, now)
  // By encoding and text, which changes only when a version is retired.
  const encoded = new BoundedMap<Uint8Array>(100)

  async function page({ target, version, headers }: PageRequest): Promise<HttpResponse> {
    const template = await readText(`${target.page}/index.html`)
    const provider = await findProvider?.()
    const html = fillPage({ template, versions, version, provider, isVersioned: target.isVersioned, now: now() })
    const encoding = encodingOf(headers)
    const origins = provider === undefined ? '' : ` ${provider.origins.join(' ')}`
    return conditional(headers, `${hash('sha256', html, 'base64url').slice(0, 16)}-${encoding}`, {
      status: 200,
      headers: {
        'Content-Type': 'text/html; charset=utf-8',
        'Cache-Control': 'no-cache',
        'Content-Security-Policy': contentSecurityPolicy(origins),
        'Referrer-Policy': 'no-referrer',
        'Cross-Origin-Opener-Policy': 'same-origin',
        ...encodingHeaders(encoding),
      },
      body: encoded.of(`${encoding} ${html}`, () => encoders[encoding](html)),
    })
  }

  return async (request) => {
    const { target, headers } = request
    if (target.page === 'console' && !console.isServed) {
      throw fault('NOT_FOUND', { detail: 'The console is turned off on this server.' })
    }
    if (target.file === undefined) return page(request)
    const file = (await readManifest()).get(target.page)?.get(target.file)
    if (file === undefined) {
      throw fault('NOT_FOUND', { detail: 'The page has no such file. Load the page again: it may be newer.' })
    }
    return pageFile(`${target.page}/assets/${target.file}`, file, headers)
  }
}

/** The file is never in memory as a whole: a client without a credential could ask for it a thousand times. */
function pageFile(name: string, { type, hash, bytes }: PageFile, headers: HttpRequest['headers']): HttpResponse {
  const encoding = encodingOf(headers)
  return conditional(headers, `${hash}-${encoding}`, {
    status: 200,
    headers: {
      'Content-Type': type,
      'Cache-Control': 'public, max-age=31536000, immutable',
      ...encodingHeaders(encoding),
    },
    body: { kind: 'file', path: builtFile(`${name}${endings[encoding]}`), start: 0, length: bytes[encoding] },
  })
}

const encoders = { identity: Buffer.from, br: brotliCompressSync, gzip: gzipSync } as const
const endings: Readonly<Record<PageEncoding, string>> = { identity: '', br: '.br', gzip: '.gz' }
// The smallest first.
const encodings: readonly PageEncoding[] = ['br', 'gzip', 'identity']

/** The encoding that a client likes best. */
function encodingOf(headers: HttpRequest['headers']): PageEncoding {
  return encodingsFor(headers['accept-encoding'], encodings)[0] ?? 'identity'
}

/** @throws Fault PRECONDITION_FAILED, MALFORMED_CONDITION */
function conditional(headers: HttpRequest['headers'], opaque: string, response: HttpResponse): HttpResponse {
  const tag = { opaque, weak: false }
  response.headers['ETag'] = formatEntityTag(tag)
  const verdict = decidePreconditions({ method: 'GET', conditions: readConditions(headers), current: { tag } })
  if (verdict === 'proceed') return response
  if (verdict !== 'not-modified') throw fault('PRECONDITION_FAILED')
  return { ...response, status: 304, body: undefined }
}

/** Allows the files and addresses of this server only. */
function contentSecurityPolicy(origins: string): string {
  return (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
    `connect-src 'self'${origins}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
  )
}

type Files = ReadonlyMap<string, PageFile>

let manifest: Promise<ReadonlyMap<string, Files>> | undefined
const texts = new Map<string, Promise<string>>()

async function readManifest(): Promise<ReadonlyMap<string, Files>> {
  manifest ??= readText('manifest.json').then((text) => {
    const pages = Object.entries(JSON.parse(text) as PagesManifest)
    return new Map(pages.map(([name, { files }]) => [name, new Map(Object.entries(files))]))
  })
  return manifest.catch((error: unknown) => {
    manifest = undefined
    throw error
  })
}

/** @throws Fault NOT_FOUND if the pages are not built */
async function readText(name: string): Promise<string> {
  const read = texts.get(name) ?? readFile(builtFile(name), 'utf8')
  texts.set(name, read)
  try {
    return await read
  } catch (error) {
    texts.delete(name)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw fault('NOT_FOUND', { detail: 'The pages are not built here. Run: npm run build:pages' }, error)
  }
}

function builtFile(name: string): string {
  return fileURLToPath(import.meta.resolve(`#pages/${name}`))
}

// What a page learns before anybody signs in: the versions, and where people sign in.

/** A page for one address. */
interface PageContent {
  /** The page as it was built. */
  readonly template: string
  readonly versions: Versions
  /** The version that the page shows first. */
  readonly version: Version
  /** Where people sign in besides API keys; `undefined`: nowhere. */
  readonly provider: OpenIdProvider | undefined
  /** Whether the address begins with the version. */
  readonly isVersioned: boolean
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The element that the server fills in. */
export const emptyMeta = '<meta name="resourced" content="">'

function fillPage({ template, version, provider, ...rest }: PageContent): string {
  const { versions, now } = rest
  const live = [...versions.all.values()].filter((each) => !isRetired(each, now))
  const content = {
    name: versions.stored.name,
    title: versions.stored.title,
    versions: live.map((each) => describe(each, rest)),
    version: (live.includes(version) ? version : versions.current).name,
    carrier: versions.carriers.includes('path') ? 'path' : versions.carriers[0],
    openid: provider?.described ?? null,
  }
  const json = JSON.stringify(content)
  return template.replace(emptyMeta, () => emptyMeta.replace('""', () => `"${escapeAttribute(json)}"`))
}

/**
 * A version as the page knows it. `base` is relative to the page, so that it is right behind every proxy. When the
 * version ends is known to the page, so that nobody has to use the version to find out.
 */
function describe(
  { name, deprecatedAt, sunsetAt, guide }: Version,
  { versions, isVersioned }: Pick<PageContent, 'versions' | 'isVersioned'>,
): object {
  const root = isVersioned ? '../' : ''
  return {
    name,
    base: versions.carriers.includes('path') ? `${root}${name}` : '',
    current: name === versions.current.name,
    ...(deprecatedAt !== undefined && { deprecated_at: timestamp(deprecatedAt) }),
    ...(sunsetAt !== undefined && { sunset: timestamp(sunsetAt) }),
    ...(guide !== undefined && { guide }),
  }
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' }

function escapeAttribute(text: string): string {
  return text.replace(/[&"<>]/g, (character) => entities[character] ?? '')
}
