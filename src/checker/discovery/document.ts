/** An OpenAPI document (3.0 or 3.1) as a value, and what its references stand for. */

import { parse } from 'yaml'
import { CannotCheck } from '../profile/profile.ts'
import { isObject, type JsonObject, objectOf, valueAt } from '../values/json.ts'

/** A document, and where it was found. */
export interface Document {
  readonly root: JsonObject
  /** Its address, where it has one. */
  readonly url?: string | undefined
}

// The documents of the largest public interfaces have some twelve.
const mostCharacters = 20_000_000

/**
 * Reads a document in JSON or YAML; `undefined` where a text is none.
 *
 * @throws CannotCheck where it is a document, but none that can be used
 */
export function readDocument(text: string, where: string): JsonObject | undefined {
  if (text.length > mostCharacters || !/["']?(?:openapi|swagger)["']?\s*:/.test(text)) return undefined
  const root = parsed(text.replace(/^\uFEFF/, ''))
  if (!isObject(root)) return undefined
  if (typeof root['swagger'] === 'string') {
    throw new CannotCheck(
      `${where} is Swagger ${root['swagger']}. Give a document of OpenAPI 3.0 or 3.1 with --openapi: converters are many.`,
    )
  }
  if (!/^3\./.test(String(root['openapi'] ?? ''))) return undefined
  return isObject(root['paths']) ? root : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    try {
      return parse(text, { maxAliasCount: 100, logLevel: 'silent' })
    } catch {
      return undefined
    }
  }
}

/** What a reference stands for, others as they are. A reference that leads nowhere, or in a circle, is empty. */
export function followed(root: JsonObject, value: unknown): JsonObject {
  let found = value
  for (let count = 0; isObject(found) && typeof found['$ref'] === 'string'; count++) {
    const { $ref, ...beside } = found as { $ref: string }
    const target = $ref.startsWith('#') && count < 30 ? valueAt(root, decoded($ref.slice(1))) : undefined
    if (!isObject(target)) return {}
    found = { ...target, ...beside }
  }
  return objectOf(found)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const deepest = 10
// A document may be small and what it stands for without bounds.
const mostSchemas = 4_000

/**
 * A schema with its references followed and `allOf` joined: a tree, cut off where it is too deep.
 *
 * @param alternatives whether of alternatives the first counts, or all of them together: what may be there
 */
export function expanded(root: JsonObject, schema: unknown, alternatives: 'first' | 'all' = 'first'): JsonObject {
  let left = mostSchemas
  const expand = (value: unknown, depth: number): JsonObject => {
    if (depth > deepest || --left < 0) return {}
    const found = joined(root, followed(root, value), alternatives, 0)
    const properties = isObject(found['properties']) ? Object.entries(found['properties']) : undefined
    return {
      ...found,
      ...(properties && {
        properties: Object.fromEntries(properties.map(([name, each]) => [name, expand(each, depth + 1)])),
      }),
      ...(isObject(found['items']) && { items: expand(found['items'], depth + 1) }),
    }
  }
  return expand(schema, 0)
}

/** One schema in place of those of `allOf` and of alternatives; a mere `null` is none. */
function joined(root: JsonObject, schema: JsonObject, alternatives: 'first' | 'all', depth: number): JsonObject {
  const { allOf, anyOf, oneOf, ...own } = schema
  if (depth > deepest) return own
  const branches = [anyOf, oneOf].flatMap((each) => {
    const some = listOf(root, each).filter(({ type }) => type !== 'null')
    return alternatives === 'all' ? some : some.slice(0, 1)
  })
  return [...listOf(root, allOf), ...branches].reduce<JsonObject>(
    (whole, each) => merged(whole, joined(root, each, alternatives, depth + 1)),
    own,
  )
}

function listOf(root: JsonObject, value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map((each) => followed(root, each)) : []
}

function merged(left: JsonObject, right: JsonObject): JsonObject {
  const own = objectOf(left['properties'])
  const properties = { ...own, ...objectOf(right['properties']), ...own }
  const required = [left['required'], right['required']].flatMap((each) => (Array.isArray(each) ? each : []))
  return {
    ...right,
    ...left,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  }
}
