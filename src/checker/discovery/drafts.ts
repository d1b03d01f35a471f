/** Collections as an OpenAPI document describes them: which there are, and what can be done with them. */

import type { Operation, PageStyle } from '../profile/profile.ts'
import { typeOf } from '../values/generate.ts'
import { isObject, type JsonObject, objectOf } from '../values/json.ts'
import { type Document, expanded } from './document.ts'
import { type Address, addressesOf, type Endpoint, jsonMedia, type Parameter, successSchema } from './endpoints.ts'

/** A collection as far as it is described. */
export interface Draft {
  readonly name: string
  /** As written in the document, or found by looking. */
  readonly path: string
  readonly operations: readonly Operation[]
  /** Schemas without references: a body that creates, one that changes, and a record. */
  readonly creation?: JsonObject | undefined
  readonly changing?: JsonObject | undefined
  readonly record?: JsonObject | undefined
  /** A list, in its envelope. */
  readonly list?: JsonObject | undefined
  /** A body that the document shows. */
  readonly shown?: JsonObject | undefined
  readonly query: readonly Parameter[]
  /** Parameters that narrow a deletion from the collection. */
  readonly removedBy?: readonly string[] | undefined
  /** How the path of a record calls its identifier. */
  readonly idParameter?: string | undefined
  /** Last parts of the paths below its records that can be listed. */
  readonly below: readonly string[]
  /** Statuses with which deletions are answered. */
  readonly deletionAnswers: readonly number[]
  readonly isConditional: boolean
  readonly isSlashed: boolean
}

/** Whether a document says that the identifiers of a collection are numbers; `undefined` where it does not say. */
export function isNumbered({ record }: Pick<Draft, 'record'>, id: string): boolean | undefined {
  const schema = objectOf(objectOf(record?.['properties'])[id])
  if (schema['format'] === 'uuid') return false
  return ['integer', 'number'].includes(typeOf(schema) ?? '') ? true : undefined
}

/** The collections of a document. */
export function draftsOf({ root }: Document): Draft[] {
  const addresses = addressesOf(root).filter(({ path }) => path !== '')
  const byPath = new Map(addresses.map((each) => [each.path, each]))
  return addresses.flatMap((address) => {
    if (address.path.includes('{') || /\/bulk-delete$/.test(address.path)) return []
    const item = addresses.find((each) => /^\/\{[^/]*\}$/.test(rest(each.path, address.path)))
    const draft = draftOf(root, address, item, byPath)
    return draft === undefined ? [] : [draft]
  })
}

function rest(path: string, start: string): string {
  return path.startsWith(start) ? path.slice(start.length) : ''
}

function draftOf(
  root: JsonObject,
  address: Address,
  item: Address | undefined,
  byPath: ReadonlyMap<string, Address>,
): Draft | undefined {
  const [get, post] = [address.endpoints.get('GET'), address.endpoints.get('POST')]
  const list = get && expanded(root, successSchema(get), 'all')
  const items = get && itemsIn(expanded(root, successSchema(get)))
  // What has records has them at addresses of their own, or is a list at least.
  if (item === undefined ? items === undefined : get === undefined && post === undefined) return undefined
  const read = item?.endpoints.get('GET')
  const change = item?.endpoints.get('PATCH') ?? item?.endpoints.get('PUT')
  const query = (get?.parameters ?? []).filter((each) => each.in === 'query')
  const name = address.path.split('/').at(-1) as string
  const creation = post?.body && expanded(root, post.body['schema'])
  return {
    ...{ name, path: address.path, operations: operationsOf(address, item, byPath) },
    ...{ creation, shown: post?.body && shownIn(post.body, creation ?? {}) },
    changing: change?.body && expanded(root, change.body['schema']),
    record: recordOf(root, read, items?.schema, post),
    ...{ list, query },
    removedBy: removalParametersOf(address),
    idParameter: item && /\{([^/]*)\}$/.exec(item.path)?.[1],
    below: item === undefined ? [] : belowOf(item.path, byPath),
    deletionAnswers: Object.keys(item?.endpoints.get('DELETE')?.responses ?? {}).flatMap((status) =>
      /^2\d\d$/.test(status) ? [Number(status)] : [],
    ),
    isConditional: [item?.endpoints.get('PATCH'), item?.endpoints.get('DELETE')].some(
      (each) => each !== undefined && demands(each),
    ),
    isSlashed: address.isSlashed,
  }
}

function recordOf(
  root: JsonObject,
  read: Endpoint | undefined,
  item: JsonObject | undefined,
  post: Endpoint | undefined,
) {
  const schema = (read && successSchema(read)) ?? item ?? (post && successSchema(post))
  if (schema === undefined) return undefined
  const whole = expanded(root, schema)
  const [only, ...others] = Object.entries(objectOf(whole['properties'])).filter(
    ([, each]) => objectOf(each)['properties'],
  )
  const names = Object.keys(objectOf(whole['properties']))
  // A record alone in an envelope.
  return only !== undefined && others.length === 0 && names.includes('data') ? objectOf(only[1]) : whole
}

/** A condition without which nothing is changed (428). */
function demands({ parameters, responses }: Endpoint): boolean {
  return '428' in responses || parameters.some(({ name, required }) => required && name.toLowerCase() === 'if-match')
}

const paging = /^(?:page|per_page|limit|offset|cursor|sort|fields|q|include_deleted)$/

function operationsOf(address: Address, item: Address | undefined, byPath: ReadonlyMap<string, Address>): Operation[] {
  const all: readonly (readonly [Operation, unknown])[] = [
    ['list', address.endpoints.has('GET')],
    ['create', address.endpoints.has('POST')],
    ['read', item?.endpoints.has('GET')],
    ['replace', item?.endpoints.has('PUT')],
    ['update', item?.endpoints.has('PATCH')],
    ['delete', item?.endpoints.has('DELETE')],
    ['restore', item && byPath.get(`${item.path}/restore`)?.endpoints.has('POST')],
    ['bulk-delete', byPath.get(`${address.path}/bulk-delete`)?.endpoints.has('POST')],
    ['delete-by-filter', removalParametersOf(address).length > 0],
  ]
  return all.flatMap(([operation, is]) => (is === true ? [operation] : []))
}

function removalParametersOf({ endpoints }: Address): string[] {
  const parameters = endpoints.get('DELETE')?.parameters ?? []
  return parameters.flatMap(({ in: place, name }) => (place === 'query' && !paging.test(name) ? [name] : []))
}

function belowOf(path: string, byPath: ReadonlyMap<string, Address>): string[] {
  return [...byPath.values()].flatMap((each) => {
    const found = /^\/([^/{}]+)$/.exec(rest(each.path, path))
    return found !== null && each.endpoints.has('GET') ? [found[1] as string] : []
  })
}

/** Where a list holds its records: a pointer, and the schema of one. */
export function itemsIn(list: JsonObject): { readonly pointer: string; readonly schema: JsonObject } | undefined {
  if (isObject(list['items'])) return { pointer: '', schema: list['items'] }
  for (const [name, value] of Object.entries(objectOf(list['properties']))) {
    const { items, properties } = objectOf(value)
    if (isObject(items) && (items['properties'] !== undefined || items['type'] === 'object')) {
      return { pointer: `/${name}`, schema: items }
    }
    if (name !== '_embedded' || properties === undefined) continue
    const inner = itemsIn(objectOf(value))
    if (inner !== undefined) return { pointer: `/${name}${inner.pointer}`, schema: inner.schema }
  }
  return undefined
}

function shownIn(media: JsonObject, schema: JsonObject): JsonObject | undefined {
  const named = Object.values(objectOf(media['examples'])).map((each) => objectOf(each)['value'])
  const all = [
    media['example'],
    ...named,
    ...(Array.isArray(schema['examples']) ? schema['examples'] : []),
    schema['example'],
  ]
  return all.find((each): each is JsonObject => isObject(each) && Object.keys(each).length > 0)
}

/** The styles of pages that parameters offer (PAG-2). */
export function pagesOf(query: readonly Parameter[]): PageStyle[] {
  return (['page', 'offset', 'cursor'] as const).filter((style) => query.some(({ name }) => name === style))
}

/** Members that a list may be filtered by: parameters that are called as members of its records are. */
export function filtersOf(query: readonly Parameter[], members: readonly string[]): string[] {
  return query.map(({ name }) => name).filter((name) => members.includes(name) && !paging.test(name))
}

/** Members that a list may be sorted by: the `sort` parameter names them, by values, by a pattern or in words. */
export function sortsOf(query: readonly Parameter[], members: readonly string[]): string[] {
  const sort = query.find(({ name }) => name === 'sort')
  if (sort === undefined) return []
  const { schema, description } = sort
  const values = [schema['enum'], objectOf(schema['items'])['enum']].find(Array.isArray)
  const told = values?.join(' ') ?? `${schema['pattern'] ?? ''} ${description} ${schema['description'] ?? ''}`
  const words = new Set(told.match(/[A-Za-z_][\w]*/g) ?? [])
  return members.filter((each) => words.has(each))
}

/** All errors' schemas that a document shows: of what answers with 4xx. */
export function errorSchemas({ root }: Document): JsonObject[] {
  const found: JsonObject[] = []
  for (const { endpoints } of addressesOf(root)) {
    for (const { responses } of endpoints.values()) {
      for (const status of ['400', '422', '404', '4XX', 'default']) {
        const schema = responses[status] && jsonMedia(responses[status])?.['schema']
        if (schema !== undefined) found.push(expanded(root, schema, 'all'))
      }
      if (found.length > 0) return found
    }
  }
  return found
}
