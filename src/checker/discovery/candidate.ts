/** Candidates: collections as far as discovery knows them, and those that an OpenAPI document describes. */
import type { Exchange } from '../client/exchange.ts'
import type { Names, Operation } from '../profile/profile.ts'
import { isObject, type JsonObject, objectOf } from '../values/json.ts'
import { type Endpoint, expandSchema, type Parameter, type Path, pathsOf, successSchema } from './openapi.ts'

/** A collection that may be checked. Each step of discovery adds what it finds out. */
export interface Candidate {
  readonly name: string
  /** Path from the base, after the base is known. */
  readonly path: string
  readonly operations: readonly Operation[]
  /** Schemas without references: a body that creates, a body that changes, a record, and a list in its envelope. */
  readonly creation?: JsonObject | undefined
  readonly changing?: JsonObject | undefined
  readonly record?: JsonObject | undefined
  readonly list?: JsonObject | undefined
  /** Body that the document shows, or record that a list showed. */
  readonly example?: JsonObject | undefined
  /** Query parameters of the list. */
  readonly query: readonly Parameter[]
  /** Query parameters that restrict a deletion by filter. */
  readonly deletionFilters?: readonly string[] | undefined
  /** Name of the identifier in the path of a record, or in records that a list showed. */
  readonly idName?: string | undefined
  /** Last segments of the paths of lists below its records. */
  readonly children: readonly string[]
  /** Statuses of successful deletions. */
  readonly deletionAnswers: readonly number[]
  /** Whether changes need a condition. */
  readonly isConditional: boolean
  /** Whether the document writes its path with a slash at the end. */
  readonly hasSlash: boolean
  /** Response to a request for its list. */
  readonly listed?: ListResponse | undefined
}

/** What a list answered. */
export interface ListResponse {
  readonly exchange: Exchange
  /** Where the response holds records, total and cursors; `undefined` if it is no list. */
  readonly names?: Partial<Names> | undefined
  /** The first record. */
  readonly first?: JsonObject | undefined
}

/** A candidate of which only its path is known. */
export function bareCandidate(path: string): Candidate {
  return {
    ...{ name: path.split('/').at(-1) ?? '', path, operations: [], query: [], children: [], deletionAnswers: [] },
    ...{ isConditional: false, hasSlash: false },
  }
}

/** Whether a user means this candidate by a name or a path. */
export function isCalled({ name, path }: Pick<Candidate, 'name' | 'path'>, called: string): boolean {
  const bare = called.replace(/^\//, '')
  return name === bare || path === `/${bare}`
}

/** The collections of a document: paths with a path of single records below, and paths of lists. */
export function candidatesIn(root: JsonObject): Candidate[] {
  const paths = pathsOf(root).filter(({ path }) => path !== '')
  return paths.flatMap((each) => {
    if (each.path.includes('{') || /\/bulk-delete$/.test(each.path)) return []
    const item = paths.find(({ path }) => /^\/\{[^/]*\}$/.test(rest(path, each.path)))
    return candidateAt(root, each, item, paths) ?? []
  })
}

function rest(path: string, start: string): string {
  return path.startsWith(start) ? path.slice(start.length) : ''
}

function candidateAt(
  root: JsonObject,
  { path, endpoints, hasSlash }: Path,
  item: Path | undefined,
  paths: readonly Path[],
): Candidate | undefined {
  const [get, post] = [endpoints.get('GET'), endpoints.get('POST')]
  const [read, patch, remove] = ['GET', 'PATCH', 'DELETE'].map((method) => item?.endpoints.get(method))
  const items = get && itemsIn(expandSchema(root, successSchema(get)))
  if (item === undefined ? items === undefined : get === undefined && post === undefined) return undefined
  const creation = post?.body && expandSchema(root, post.body['schema'])
  const change = patch ?? item?.endpoints.get('PUT')
  const recordSchema = (read && successSchema(read)) ?? items?.schema ?? (post && successSchema(post))
  const deletionFilters = (endpoints.get('DELETE')?.parameters ?? []).flatMap(({ in: place, name }) =>
    place === 'query' && !listParameter.test(name) ? [name] : [],
  )
  const offers = (at: string, method: string) => paths.find((each) => each.path === at)?.endpoints.has(method) === true
  const offered: readonly (readonly [Operation, boolean])[] = [
    ['list', get !== undefined],
    ['create', post !== undefined],
    ['read', read !== undefined],
    ['replace', item?.endpoints.has('PUT') === true],
    ['update', patch !== undefined],
    ['delete', remove !== undefined],
    ['restore', item !== undefined && offers(`${item.path}/restore`, 'POST')],
    ['bulk-delete', offers(`${path}/bulk-delete`, 'POST')],
    ['delete-by-filter', deletionFilters.length > 0],
  ]
  return {
    ...bareCandidate(path),
    operations: offered.flatMap(([operation, isOffered]) => (isOffered ? [operation] : [])),
    ...{ creation, example: post?.body && exampleIn(post.body, creation ?? {}) },
    changing: change?.body && expandSchema(root, change.body['schema']),
    record: recordSchema === undefined ? undefined : withoutEnvelope(expandSchema(root, recordSchema)),
    list: get && expandSchema(root, successSchema(get), 'all'),
    query: (get?.parameters ?? []).filter((each) => each.in === 'query'),
    ...{ deletionFilters, hasSlash, idName: item && /\{([^/]*)\}$/.exec(item.path)?.[1] },
    children: item === undefined ? [] : childrenOf(item.path, paths),
    deletionAnswers: Object.keys(remove?.responses ?? {}).flatMap((status) =>
      /^2\d\d$/.test(status) ? [Number(status)] : [],
    ),
    isConditional: [patch, remove].some((each) => each !== undefined && needsCondition(each)),
  }
}

/** A record, if it stands alone as an object in an envelope. */
function withoutEnvelope(schema: JsonObject): JsonObject {
  const properties = objectOf(schema['properties'])
  const objects = Object.values(properties).filter((each) => objectOf(each)['properties'])
  return objects.length === 1 && 'data' in properties ? objectOf(objects[0]) : schema
}

function needsCondition({ parameters, responses }: Endpoint): boolean {
  return '428' in responses || parameters.some(({ name, required }) => required && name.toLowerCase() === 'if-match')
}

/** Query parameters of lists that are no filters. */
export const listParameter = /^(?:page|per_page|limit|offset|cursor|sort|fields|q|include_deleted)$/

function childrenOf(path: string, paths: readonly Path[]): string[] {
  return paths.flatMap((each) => {
    const found = /^\/([^/{}]+)$/.exec(rest(each.path, path))
    return found !== null && each.endpoints.has('GET') ? [found[1] as string] : []
  })
}

/** Where the schema of a list holds records, and the schema of a record. */
export function itemsIn(list: JsonObject): { readonly pointer: string; readonly schema: JsonObject } | undefined {
  if (isObject(list['items'])) return { pointer: '', schema: list['items'] }
  for (const [name, value] of Object.entries(objectOf(list['properties']))) {
    const { items, properties } = objectOf(value)
    if (isObject(items) && (items['properties'] !== undefined || items['type'] === 'object')) {
      return { pointer: `/${name}`, schema: items }
    }
    const inner = name === '_embedded' && properties !== undefined ? itemsIn(objectOf(value)) : undefined
    if (inner !== undefined) return { pointer: `/${name}${inner.pointer}`, schema: inner.schema }
  }
  return undefined
}

function exampleIn(media: JsonObject, schema: JsonObject): JsonObject | undefined {
  const all = [
    media['example'],
    ...Object.values(objectOf(media['examples'])).map((each) => objectOf(each)['value']),
    ...(Array.isArray(schema['examples']) ? schema['examples'] : []),
    schema['example'],
  ]
  return all.find((each): each is JsonObject => isObject(each) && Object.keys(each).length > 0)
}
