/** The OpenAPI documents of the interface, made once (DOC-1). */
import { hash } from 'node:crypto'
import { fault } from 'resourced-contract/spec/faults'
import { type Credentials, openApiDocument, openApiText } from '../documents/openapi.ts'
import type { HttpResponse } from '../http/message.ts'
import { type Conditions, decidePreconditions, formatEntityTag } from '../http/preconditions.ts'
import { isDeprecated, type Version, type Versions } from '../versions/versions.ts'

/** Serves documents. */
export interface Documents {
  /** The document of a version. */
  openapi(version: Version, conditions: Conditions): HttpResponse
}

interface Made {
  readonly text: string
  readonly opaque: string
}

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
    openapi(version, conditions) {
      const { text, opaque } = documentOf(version)
      const tag = { opaque, weak: false }
      const headers = { 'Cache-Control': 'private, no-cache', ETag: formatEntityTag(tag), Vary: 'Accept' }
      const verdict = decidePreconditions({ method: 'GET', conditions, current: { tag } })
      if (verdict === 'not-modified') return { status: 304, headers, body: undefined }
      if (verdict !== 'proceed') throw fault('PRECONDITION_FAILED')
      return { status: 200, headers: { 'Content-Type': 'application/json', ...headers }, body: text }
    },
  }
}
