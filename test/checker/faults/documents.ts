/** Faults of documents. */
import { answering } from '../plant/answers.ts'
import { withJson, withMembers } from '../plant/messages.ts'
import { isDocument, isNoRecord } from '../plant/which.ts'
import type { Fault } from '../planted.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document is changed at any depth
type Json = any

const documenting = (change: (document: Json) => void) =>
  answering(
    isDocument,
    withJson((document: Json) => {
      change(document)
      return document
    }),
  )

export const documentsFaults: readonly Fault[] = [
  {
    breaks: 'DOC-1/there',
    says: 'The document is one of Swagger 2.0.',
    plant: documenting((document) => {
      document.swagger = '2.0'
      delete document.openapi
    }),
  },
  {
    breaks: 'DOC-1/there',
    says: 'Where the document should be is a page.',
    plant: answering(isDocument, (answer) => ({ ...answer, body: '<!doctype html><title>API</title>' })),
  },
  {
    breaks: 'DOC-1/collections',
    says: 'A collection is left out.',
    plant: documenting((document) => {
      for (const path of Object.keys(document.paths)) if (path.endsWith('/notes')) delete document.paths[path]
    }),
  },
  {
    breaks: 'DOC-1/references',
    says: 'A schema was renamed, and not everywhere.',
    plant: documenting((document) => {
      document.components.schemas.leftover = { $ref: '#/components/schemas/renamed' }
    }),
  },
  {
    breaks: 'DOC-1/reads',
    says: 'Records are described in XML.',
    plant: documenting((document) => {
      for (const [path, item] of Object.entries<Json>(document.paths)) {
        if (/\/items\/\{[^}]+\}$/.test(path))
          item.get.responses['200'] = { description: '', content: { 'text/xml': {} } }
      }
    }),
  },
  {
    breaks: 'DOC-1/reads',
    says: 'The document has another type for a member.',
    plant: documenting((document) => {
      document.components.schemas.ApiPagination.properties.total_count = { type: 'string' }
    }),
  },
  {
    breaks: 'DOC-1/least',
    says: 'The document says that a member that may be left out is a number.',
    plant: documenting((document) => {
      for (const { properties } of Object.values<Json>(document.components.schemas)) {
        if (properties?.long_label && properties.price) properties.price = { type: 'integer' }
      }
    }),
  },
  {
    breaks: 'DOC-1/writes',
    says: 'A creation is answered 200 with more than is described.',
    plant: documenting((document) => {
      for (const [path, item] of Object.entries<Json>(document.paths)) {
        if (path.endsWith('/items')) delete item.post?.responses['201']
      }
    }),
  },
  {
    breaks: 'DOC-1/errors',
    says: 'It says nothing of errors.',
    plant: documenting((document) => {
      for (const [path, item] of Object.entries<Json>(document.paths)) {
        if (/\/items\/\{[^}]+\}$/.test(path)) delete item.get?.responses['4XX']
      }
    }),
  },
  {
    breaks: 'DOC-1/errors',
    says: 'An error is of another type than is described.',
    plant: answering(isNoRecord, withMembers({ request_id: 5 })),
  },
]
