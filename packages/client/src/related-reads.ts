/**
 * Reads with related records (`include`): a response has them beside its records, by collection and id, and they are
 * joined here. Which field a relation belongs to is in the OpenAPI document (`x-collection`), and in no response.
 */
import { exchange } from './exchange.ts'
import type { JsonObject } from './interface-types.ts'
import type { RelatedList } from './relation-types.ts'
import type { CallOptions, Send } from './send.ts'

/** A relation of a collection, as the document describes it. */
interface Relation {
  readonly to: 'one' | 'many'
  readonly collection: string
  /** The reference: of this collection (`one`) or of the other one (`many`). */
  readonly field: string
}

/** The relations of all collections: by collection, then by name. */
type Relations = Readonly<Record<string, Readonly<Record<string, Relation>>>>

/** Reads the relations of an interface, once. */
export function relationsOf(send: Send): (options?: CallOptions) => Promise<Relations> {
  let known: Promise<Relations> | undefined
  return (options) => {
    known ??= readRelations(send, options).catch((error) => {
      known = undefined
      throw error
    })
    return known
  }
}

async function readRelations(send: Send, options?: CallOptions): Promise<Relations> {
  const { body } = await exchange(send, 'GET', '/openapi.json', options)
  const { tags = [] } = body as { readonly tags?: readonly JsonObject[] }
  return Object.fromEntries(tags.map((tag) => [tag['name'], Object(tag['x-collection']).relations ?? {}]))
}

/** The names of relations, each with those that go on from it. */
interface Paths extends ReadonlyMap<string, Paths> {}

type Query = Readonly<Record<string, unknown>>

/** A response with related records. */
interface Envelope {
  readonly data: JsonObject | readonly JsonObject[]
  readonly included?: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>
  readonly related?: Readonly<Record<string, Readonly<Record<string, RelatedIds>>>>
}

interface RelatedIds {
  readonly ids: readonly string[]
  readonly total_count: number
  readonly next: string | null
}

/** A query, and what to do with the response. */
interface RelatedRead {
  readonly query: Query
  /** The records with their related records. */
  readonly join: (body: object) => unknown
}

/** What joining depends on. */
export interface RelatedReads {
  readonly relations: Relations
  /** Reads all records of a path. */
  readonly readAll: (path: string, query: Query) => AsyncIterable<unknown>
}

const originals = new WeakMap<object, object>()

/** The record as the server sent it, of one that related records were joined into. */
export function originalOf(record: object): object {
  return originals.get(record) ?? record
}

/** The values of a list parameter, which may be one text with commas. */
function listOf(value: unknown): string[] {
  return [value ?? []].flat().flatMap((each) => String(each).split(','))
}

/** Whether a query asks for related records. */
export function includesRelated({ include }: Query): boolean {
  return listOf(include).length > 0
}

/**
 * Prepares a read of a collection with related records. Where fields are selected, the references that join the records
 * are read too, and taken out again.
 */
export function relatedRead({ relations, readAll }: RelatedReads, collection: string, asked: Query): RelatedRead {
  const query: Record<string, unknown> = { ...asked }
  const added = new Map<string, readonly string[]>()
  const relationAt = (source: string, name: string) => relations[source]?.[name]
  const select = (source: string, paths: Paths, place: string) => {
    const parameter = place === '' ? 'fields' : `fields[${place}]`
    const references = [...paths.keys()].map((name) => relationAt(source, name)).filter((each) => each?.to === 'one')
    const selected = listOf(query[parameter])
    const missing = references.map((each) => each?.field ?? '').filter((field) => !selected.includes(field))
    if (query[parameter] !== undefined && missing.length > 0) {
      query[parameter] = [...selected, ...missing]
      added.set(place, missing)
    }
    for (const [name, next] of paths) select(relationAt(source, name)?.collection ?? '', next, below(place, name))
  }
  const paths = pathsOf(listOf(asked['include']))
  select(collection, paths, '')
  return { query, join: (body) => joined(body as Envelope) }

  function joined({ data, included = {}, related = {} }: Envelope): unknown {
    const made = new Map<string, unknown>()
    const join = (record: JsonObject, source: string, names: Paths, place: string): unknown => {
      const result: Record<string, unknown> = { ...record }
      for (const field of added.get(place) ?? []) delete result[field]
      for (const [name, next] of names) {
        const { to, field = '', collection: target = '' } = relationAt(source, name) ?? {}
        const path = below(place, name)
        // A record is one object wherever a path leads to it.
        const find = (id: unknown) => {
          const found = included[target]?.[String(id)]
          const key = `${path} ${id}`
          if (found !== undefined && !made.has(key)) made.set(key, join(found, target, next, path))
          return made.get(key)
        }
        if (to === 'one') result[name] = find(record[field]) ?? null
        else {
          const id = String(record['id'])
          result[name] = list(related[path]?.[id], find, { nested: `/${source}/${id}/${target}`, target, path, next })
        }
      }
      originals.set(result, record)
      return result
    }
    return Array.isArray(data)
      ? data.map((record) => join(record, collection, paths, ''))
      : join(data as JsonObject, collection, paths, '')
  }

  function list(
    { ids, total_count: total, next }: RelatedIds = { ids: [], total_count: 0, next: null },
    find: (id: string) => unknown,
    { nested, target, path, next: names }: { nested: string; target: string; path: string; next: Paths },
  ): RelatedList {
    const records = ids.map(find).filter((record) => record !== undefined)
    async function* all() {
      yield* records
      if (next === null) return
      const { pathname, searchParams } = new URL(next, 'http://localhost')
      // The address has the path of the interface before it, which a proxy may have changed.
      const address = pathname.endsWith(nested) ? nested : `/${target}`
      const rest = Object.entries(asked).flatMap(([name, value]): [string, unknown][] =>
        name.includes(`[${path}.`) ? [[name.replace(`[${path}.`, '['), value]] : [],
      )
      const include = [...names.keys()]
      yield* readAll(address, { ...parametersOf(searchParams), ...Object.fromEntries(rest), include })
    }
    return Object.defineProperty(Object.assign(records, { total, next }), 'all', { value: all }) as never
  }
}

function below(place: string, name: string): string {
  return place === '' ? name : `${place}.${name}`
}

function pathsOf(include: readonly string[]): Paths {
  const first = new Map<string, string[]>()
  for (const path of include) {
    const [name = '', ...rest] = path.split('.')
    first.set(name, [...(first.get(name) ?? []), ...(rest.length > 0 ? [rest.join('.')] : [])])
  }
  return new Map([...first].map(([name, rest]) => [name, pathsOf(rest)]))
}

function parametersOf(search: URLSearchParams): Query {
  return Object.fromEntries([...new Set(search.keys())].map((name) => [name, search.getAll(name)]))
}
