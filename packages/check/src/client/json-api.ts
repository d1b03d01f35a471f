/**
 * Translates between records as the checker reads and sends them, and documents of JSON:API: cases are written for
 * records whose members stand beside their identifier.
 */
import { isObject, type JsonObject, objectOf, parseJson } from '../values/json.ts'

/** A document with records in place of resource objects: attributes and identifiers of relationships are members. */
export function plainDocument(document: unknown): unknown {
  if (!isObject(document) || !('data' in document)) return document
  const { data } = document
  return { ...document, data: Array.isArray(data) ? data.map(plainRecord) : plainRecord(data) }
}

function plainRecord(resource: unknown): unknown {
  if (!isResource(resource)) return resource
  const related = Object.entries(objectOf(resource['relationships'])).flatMap(([name, value]) => {
    const { data } = objectOf(value)
    return isObject(data) || data === null ? [[name, data?.['id'] ?? null] as const] : []
  })
  return { id: resource['id'], ...objectOf(resource['attributes']), ...Object.fromEntries(related) }
}

/** The schema of a document, or of a resource object, as the schema of the record in it; other schemas unchanged. */
export function plainSchema(schema: JsonObject): JsonObject {
  const { data = schema } = objectOf(schema['properties'])
  const { id, attributes, relationships } = objectOf(objectOf(data)['properties'])
  const { properties, required } = objectOf(attributes)
  if (!isObject(properties)) return schema
  const related = Object.entries(objectOf(objectOf(relationships)['properties'])).flatMap(([name, value]) => {
    const linkage = objectOf(objectOf(objectOf(value)['properties'])['data'])
    const type = objectOf(objectOf(linkage['properties'])['type'])
    const [only = type['const'] ?? name] = Array.isArray(type['enum']) ? type['enum'] : []
    const isOne = isObject(linkage['properties'])
    return isOne ? [[name, { type: 'string', description: `id of a ${only}` }] as const] : []
  })
  return {
    type: 'object',
    properties: { ...(isObject(id) && { id }), ...properties, ...Object.fromEntries(related) },
    ...(Array.isArray(required) && { required }),
  }
}

function isResource(value: unknown): value is JsonObject {
  return isObject(value) && typeof value['type'] === 'string'
}

/** The parts of a request that its document depends on. */
interface RecordRequest {
  readonly method: string
  readonly url: string
  readonly body?: string | undefined
}

/** What resource objects of one collection have shown. */
interface Shown {
  type: string
  /** The types of related records, by the names of relationships. */
  readonly related: Map<string, string>
}

/** What responses have shown about types and relationships, and the translation of request bodies by it. */
export class ResourceTypes {
  readonly #shown = new Map<string, Shown>()

  learn(url: string, document: unknown): void {
    const { data } = objectOf(document)
    for (const resource of Array.isArray(data) ? data : [data]) {
      if (!isResource(resource)) continue
      const collection = collectionOf(url, resource['id'])
      const shown = this.#shown.get(collection) ?? { type: '', related: new Map() }
      shown.type = String(resource['type'])
      for (const [name, value] of Object.entries(objectOf(resource['relationships']))) {
        const type = objectOf(objectOf(value)['data'])['type']
        if (typeof type === 'string') shown.related.set(name, type)
      }
      this.#shown.set(collection, shown)
    }
  }

  /** The type of the records in a collection; `undefined` if nothing shows it. */
  typeAt(url: string): string | undefined {
    return this.#shown.get(collectionOf(url, undefined))?.type
  }

  /** The types of records to which members of a collection refer. */
  relatedTypes(url: string): ReadonlyMap<string, string> {
    return this.#shown.get(collectionOf(url, undefined))?.related ?? new Map()
  }

  /** The text of a request body. Bodies that are no records are left as they are. */
  documentText({ method, url, body }: RecordRequest): string | undefined {
    const record = parseJson(body ?? '')
    if (!isObject(record) || !/^(?:POST|PUT|PATCH)$/.test(method)) return body
    const id = method === 'POST' ? undefined : decodeURIComponent(pathOf(url).split('/').at(-1) ?? '')
    const collection = collectionOf(url, id)
    // Cases also send records to the addresses of records.
    const above = collection.slice(0, collection.lastIndexOf('/'))
    const shown = this.#shown.get(collection) ?? this.#shown.get(above)
    const { type = collection.split('/').at(-1), related } = shown ?? {}
    const members = Object.entries(record).filter(([name]) => name !== 'id')
    const isRelated = ([name, value]: readonly [string, unknown]) =>
      related?.has(name) === true && (value === null || typeof value !== 'object')
    const relationships = members.filter(isRelated).map(([name, value]) => {
      return [name, { data: value === null ? null : { type: related?.get(name), id: String(value) } }]
    })
    const own = record['id'] ?? id
    return JSON.stringify({
      data: {
        type,
        ...(own !== undefined && { id: own }),
        attributes: Object.fromEntries(members.filter((each) => !isRelated(each))),
        ...(relationships.length > 0 && { relationships: Object.fromEntries(relationships) }),
      },
    })
  }
}

function pathOf(url: string): string {
  return new URL(url).pathname.replace(/\/+$/, '')
}

/** The path of the collection, from its address or that of one of its records. */
function collectionOf(url: string, id: unknown): string {
  const path = pathOf(url)
  const end = `/${encodeURIComponent(String(id))}`
  return id !== undefined && path.endsWith(end) ? path.slice(0, -end.length) : path
}
