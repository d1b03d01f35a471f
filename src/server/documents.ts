/** The documents that describe the interface, made once (DOC-1). */
import { hash } from 'node:crypto'
import { openApiDocument } from '../documents/openapi.ts'
import { formatEntityTag } from '../http/fields/entity-tag.ts'
import type { HttpResponse } from '../http/message.ts'
import { type Conditions, decidePreconditions } from '../http/preconditions.ts'
import type { Catalog } from '../model/resource.ts'
import { fault } from '../spec/faults.ts'

/** Answers with documents. */
export interface Documents {
  openapi(conditions: Conditions): HttpResponse
}

/** Makes the documents of a catalog, at the first use. */
export function documentsOf(catalog: Catalog): Documents {
  let made: { readonly text: string; readonly opaque: string } | undefined
  return {
    openapi(conditions) {
      if (made === undefined) {
        const text = `${JSON.stringify(openApiDocument(catalog), null, 2)}\n`
        made = { text, opaque: hash('sha256', text, 'base64url').slice(0, 16) }
      }
      const tag = { opaque: made.opaque, weak: false }
      const headers = { 'Cache-Control': 'private, no-cache', ETag: formatEntityTag(tag), Vary: 'Accept' }
      const verdict = decidePreconditions({ method: 'GET', conditions, current: { tag } })
      if (verdict === 'not-modified') return { status: 304, headers, body: undefined }
      if (verdict !== 'proceed') throw fault('PRECONDITION_FAILED')
      return { status: 200, headers: { 'Content-Type': 'application/json', ...headers }, body: made.text }
    },
  }
}
