/** Response Objects and request bodies; the responses that several operations share are components. */
import { exportTypes, linkType, metricsType } from 'resourced-contract/spec/media-types'
import { type Components, type HeaderName, headers, type Json, refTo } from './components.ts'
import { clientError, methodNotAllowed, serverError } from './problems.ts'

/** The header fields of the file of an export. */
export const fileHeaders: readonly HeaderName[] = ['Content-Disposition']

const fileTypes = Object.values(exportTypes).map((type) => (type === 'text/csv' ? `${type}; charset=utf-8` : type))
const bytes: Json = { type: 'string', format: 'binary' }

/** The content of an export file: bytes of one of its media types. */
export const fileContent = contentOf(fileTypes, bytes)

/** The response components that every document has. Their names begin like no schema of a collection. */
export const sharedResponses: Json = {
  Api4XX: clientError,
  Api5XX: serverError,
  ApiMethodNotAllowed: methodNotAllowed,
  ApiAccepted: answer(
    'A job runs the request. The requested records of a deletion are deleted already; their dependents follow.',
    ['Location', 'Retry-After'],
    refTo('schemas', 'ApiAccepted'),
  ),
  ApiChanged: answer('The record is changed; the caller may not read it, or prefers `return=minimal`.', []),
  ApiDeleted: answer('It is deleted, or did not exist where that is declared to be enough.', []),
  ApiDeletion: answer(
    'The id of the deleted record, and the time of its deletion.',
    [],
    refTo('schemas', 'ApiDeletion'),
  ),
  ApiFilePart: part(fileHeaders, fileTypes),
  ApiMetricsPart: part([], [metricsType]),
  ApiNotModified: answer('The representation is as the condition says.', []),
  ApiPart: part(['Retry-After'], ['application/json']),
}

/** `ApiPart` where records have a history: also a part of a former state, or of a time map. */
export const partOfHistory = part(['Memento-Datetime', 'Retry-After'], ['application/json', linkType])

/** Adds a response to the components; returns the reference to it. */
export function sharedResponse({ responses }: Components, name: string, response: Json): Json {
  responses[name] = response
  return refTo('responses', name)
}

/** A Response Object; without a schema it has no body. */
export function answer(description: string, names: readonly HeaderName[], schema?: Json): Json {
  const content = schema === undefined ? {} : { content: contentOf(['application/json'], schema) }
  return { description, ...(names.length > 0 && { headers: headers(...names) }), ...content }
}

/** The 206 of a range: bytes of a representation, which are no JSON value by themselves. */
function part(names: readonly HeaderName[], types: readonly string[]): Json {
  return {
    description: 'The bytes requested with `Range`.',
    headers: headers(...names, 'Content-Range'),
    content: contentOf(types, bytes),
  }
}

/** A required body. */
export function body(types: readonly string[], schema: Json): Json {
  return { required: true, content: contentOf(types, schema) }
}

/** The media types of a merge patch. */
export const mergeTypes: readonly string[] = ['application/json', 'application/merge-patch+json']

/** The body of a change of one record: a merge patch of a schema, or a JSON Patch. */
export function patchBody(schema: Json): Json {
  // Generators make a union of both bodies, which openapi-python-client cannot tell apart.
  const jsonPatch = contentOf(['application/json-patch+json'], refTo('schemas', 'ApiJsonPatch'))
  return { ...body(mergeTypes, schema), 'x-content': jsonPatch }
}

/** The same schema for several media types. */
function contentOf(types: readonly string[], schema: Json): Json {
  return Object.fromEntries(types.map((type) => [type, { schema }]))
}
