/** The OpenAPI documents of the interface, made once (DOC-1). */
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Credentials, openApiDocument, openApiText } from '../documents/openapi.ts'
import { encodedTag, encodingFor, encodingHeaders } from '../http/fields/accept-encoding.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { type Conditions, decidePreconditions, formatEntityTag } from '../http/preconditions.ts'
import { fault } from '../spec/faults.ts'
import { isDeprecated, type Version, type Versions } from '../versions/versions.ts'

/** Serves documents. */
export interface Documents {
  /** The document of a version, compressed if the client can read that. */
  openapi(version: Version, conditions: Conditions, headers: HttpRequest['headers']): Promise<HttpResponse>
}

interface Made {
  readonly text: string
  readonly opaque: string
  /** Compressed when it is first asked for; a document of many collections takes a while. */
  compressed?: Promise<Uint8Array>
}

const compress = promisify(gzip)

/**
 * Makes the document of each version when it is first requested, and again when the version becomes deprecated.
 *
 * @param now milliseconds since 1970
 * @param credentials what the server accepts besides API keys
 */
export function documentsOf(versions: Versions, now: () => number, credentials: Credentials): Documents {
  const made = new Map<string, Made>()
  const documentOf = (version: Version): Made => {
    const key = `${version.name}${isDeprecated(version, now()) ? ' deprecated' : ''}`
    const before = made.get(key)
    if (before !== undefined) return before
    const described = openApiDocument(version.catalog, { versions, credentials, now: now() })
    const text = openApiText(described)
    const document: Made = { text, opaque: hash('sha256', text, 'base64url').slice(0, 16) }
    made.set(key, document)
    return document
  }
  return {
    async openapi(version, conditions, asked) {
      const document = documentOf(version)
      const encoding = encodingFor(asked, ['gzip', 'identity'])
      const tag = { opaque: encodedTag(document.opaque, encoding), weak: false }
      const headers = {
        ...{ 'Cache-Control': 'private, no-cache', ETag: formatEntityTag(tag) },
        ...encodingHeaders(encoding),
        Vary: 'Accept, Accept-Encoding',
      }
      const verdict = decidePreconditions({ method: 'GET', conditions, current: { tag } })
      if (verdict === 'not-modified') return { status: 304, headers, body: undefined }
      if (verdict !== 'proceed') throw fault('PRECONDITION_FAILED')
      if (encoding === 'gzip') document.compressed ??= compress(document.text)
      const body = encoding === 'gzip' ? await document.compressed : document.text
      return { status: 200, headers: { 'Content-Type': 'application/json', ...headers }, body }
    },
  }
}
