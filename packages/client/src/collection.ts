/** The calls of one collection, with the types of its requests and responses. */
import {
  type ChangeOptions,
  type ConditionOptions,
  changeRecord,
  conditionFor,
  mergePatchType,
  type OnConflict,
  strongTag,
} from './conflicts.ts'
import { etagOf, exchange, queryOf, readQuery, segment, setEtag } from './exchange.ts'
import type {
  CollectionTypes,
  JsonObject,
  Page,
  PageParameters,
  Query,
  UntypedCollection,
  UntypedInterface,
} from './interface-types.ts'
import { Job } from './jobs.ts'
import { includesRelated, relatedRead, type relationsOf } from './related-reads.ts'
import type { Include, IncludePath, Including, RelatedFilters, RelatedSort, Where } from './relation-types.ts'
import type { CallOptions, Send } from './send.ts'
import { type ReadSummary, readSummary } from './summary.ts'

/** Options of a creation. */
export interface CreateOptions extends CallOptions {
  /** A repetition with the same key gets the first response, and creates nothing. By default each call has its own. */
  readonly idempotencyKey?: string
}

/** Options of a replacement by a unique value. */
export interface UpsertOptions extends CallOptions {
  /** The entity tag that the record must have, or `*`: it only replaces. Otherwise 412. */
  readonly ifMatch?: string | undefined
  /** `*`: it only creates; 412 if there is a record with the value. */
  readonly ifNoneMatch?: '*' | undefined
}

/** Options of a deletion. */
export interface DeleteOptions extends ConditionOptions {
  /** Whether a job deletes, however small the work is. */
  readonly respondAsync?: boolean
}

/** Options of a change by filter. */
export interface MatchingOptions extends CallOptions {
  /** If more records match than this, none is changed. */
  readonly maxAffected?: number
  /** Whether a job changes them, however few match. */
  readonly respondAsync?: boolean
}

/** The records that a change by filter is about: filters and a condition, and at least one of them. */
export type Matching<Types extends CollectionTypes, All = UntypedInterface> = Types['filter'] &
  RelatedFilters<Types, All> &
  Pick<ListQuery<Types, never, All>, 'where' | 'timezone'>

/** Options of a read. */
export interface GetOptions<Name extends string> extends CallOptions {
  /** The fields to return; `id` is always included. */
  readonly fields?: Name | readonly Name[]
}

/** The parameters of a list besides its filters. */
export interface ListParameters<Sort extends string, Name extends string> extends PageParameters {
  /** The order, such as `-due_on`, or several terms. */
  readonly sort?: Sort | readonly Sort[]
  /** The fields to return; `id` is always included. */
  readonly fields?: Name | readonly Name[]
  readonly include_deleted?: boolean | 'only'
}

/** The query parameters of a list. */
export type ListQuery<
  Types extends CollectionTypes,
  Name extends string = Types['field'],
  All = UntypedInterface,
> = Types['filter'] &
  RelatedFilters<Types, All> &
  ListParameters<Types['sort'] | RelatedSort<Types>, Name> & {
    /** A condition, which is combined with the filters by `and`. */
    readonly where?: Where<Types, All>
    readonly include?: IncludePath<Types, All> | readonly IncludePath<Types, All>[]
  }

/** A record, or the selected fields of it. */
export type Selected<Data, Name extends string> = [Name] extends [never]
  ? Data
  : string extends Name
    ? Data
    : Pick<Data, keyof Data & (Name | 'id')>

/** The record that a call is about: the id, or a record that a call returned. */
export type Target<Types extends CollectionTypes> = string | { readonly id: string } | Types['record']

/** A state of a record, and the change that led to it. */
export interface Revision<Data> {
  readonly id: string
  readonly kind: 'created' | 'updated' | 'deleted' | 'restored'
  readonly created_at: string
  /** Who made the change; `null`: unknown, or the server. */
  readonly caller: string | null
  readonly request_id: string | null
  readonly version: string | null
  /** `null` where the record was deleted. */
  readonly record: Data | null
}

/** The parameters of a list of revisions. */
export type RevisionQuery = Omit<ListParameters<'created_at' | '-created_at', never>, 'fields' | 'include_deleted'> & {
  readonly include_deleted?: boolean
}

/** A deleted record. */
export interface Deletion {
  readonly id: string
  readonly deleted_at: string
}

/** The calls of a collection within a record of another one. Single records are called at the top level. */
export interface NestedCollection<Types extends CollectionTypes, All = UntypedInterface> {
  /** Reads a page. */
  list<Path extends IncludePath<Types, All>, Name extends Types['field'] = never>(
    query: ListQuery<Types, Name, All> & Include<Types, Path>,
    options?: CallOptions,
  ): Promise<Page<Including<Selected<Types['record'], Name>, Types, All, Path>>>
  list<Name extends Types['field'] = never>(
    query?: ListQuery<Types, Name, All>,
    options?: CallOptions,
  ): Promise<Page<Selected<Types['record'], Name>>>
  /** Reads all records, page by page, in the style of cursors. `limit` is the size of a page. */
  all<Path extends IncludePath<Types, All>, Name extends Types['field'] = never>(
    query: ListQuery<Types, Name, All> & Include<Types, Path>,
    options?: CallOptions,
  ): AsyncGenerator<Including<Selected<Types['record'], Name>, Types, All, Path>, void, void>
  all<Name extends Types['field'] = never>(
    query?: ListQuery<Types, Name, All>,
    options?: CallOptions,
  ): AsyncGenerator<Selected<Types['record'], Name>, void, void>
  create(record: NestedBody<Types>, options?: CreateOptions): Promise<Types['record']>
  /** Creates all of the records, or none. */
  createMany(records: readonly NestedBody<Types>[], options?: CreateOptions): Promise<readonly Types['record'][]>
}

/** The body of a creation whose address has the value of the field `within`. */
export type NestedBody<Types extends CollectionTypes> = Types extends {
  readonly within: infer Field extends PropertyKey
}
  ? Omit<Types['create'], Field> & Partial<Pick<Types['create'], Field & keyof Types['create']>>
  : Types['create']

/** The names of the fields whose values identify a record. Types that do not say which allow any name. */
type UniqueName<Types> = Types extends { readonly unique: infer Name extends string } ? Name : string

/** A unique value by the name of its field: `{ sku: 'ABC' }`. */
type UniqueValue<Types extends CollectionTypes> = {
  [Name in UniqueName<Types>]: {
    readonly [Key in Name]: Key extends keyof Types['record'] ? NonNullable<Types['record'][Key]> : unknown
  }
}[UniqueName<Types>]

/** A record that may leave out the value that the address has. */
type WithoutValue<Body, Name> = Omit<Body, Name & keyof Body> & { readonly [Key in Name & keyof Body]?: Body[Key] }

/** The changed fields of a record, with its id. */
type IdentifiedPatch<Types extends CollectionTypes> = { readonly id: string } & (string extends Types['field']
  ? JsonObject
  : Types['patch'])

/** The calls of a collection. Each rejects with `ProblemError` if it is refused or fails. */
export interface Collection<Types extends CollectionTypes = UntypedCollection, All = UntypedInterface>
  extends Omit<NestedCollection<Types, All>, 'create' | 'createMany'> {
  /**
   * Reads groups of the records, with the figures of each group.
   *
   * @example
   * const { data } = await client.tasks.summary({ group: 'status', sum: 'estimate', 'due_on[lt]': '2027-01-01' })
   */
  readonly summary: ReadSummary<Types, All>
  create(record: Types['create'], options?: CreateOptions): Promise<Types['record']>
  /** Creates all of the records, or none. The errors of each are at its place: `/3/title`. */
  createMany(records: readonly Types['create'][], options?: CreateOptions): Promise<readonly Types['record'][]>
  get<Path extends IncludePath<Types, All>, Name extends Types['field'] = never>(
    id: string,
    options: GetOptions<Name> & Include<Types, Path>,
  ): Promise<Including<Selected<Types['record'], Name>, Types, All, Path>>
  get<Name extends Types['field'] = never>(
    id: string,
    options?: GetOptions<Name>,
  ): Promise<Selected<Types['record'], Name>>
  /** Changes the given fields (JSON Merge Patch): `null` removes a value. */
  update(
    target: Target<Types>,
    changes: Types['patch'],
    options?: ChangeOptions<Types['patch'], Types['record']>,
  ): Promise<Types['record']>
  /**
   * Changes the given fields of all of the records, whatever they are now, or of none.
   *
   * @example
   * await client.tasks.updateMany(ids.map((id) => ({ id, status: 'done' })))
   */
  updateMany(changes: readonly IdentifiedPatch<Types>[], options?: CallOptions): Promise<readonly Types['record'][]>
  /**
   * Replaces the record that has a unique value, or creates it.
   *
   * @example
   * await client.books.upsert({ isbn: '9780441478125' }, { title: 'The Left Hand of Darkness' })
   */
  upsert<Value extends UniqueValue<Types>>(
    value: Value,
    record: WithoutValue<Types['replace'], keyof Value>,
    options?: UpsertOptions,
  ): Promise<Types['record']>
  /**
   * Replaces each record that has the value of a unique field, and creates the others: all of them, or none.
   *
   * @param field the unique field, which each of the records has
   */
  upsertMany(
    field: UniqueName<Types>,
    records: readonly Types['replace'][],
    options?: CallOptions,
  ): Promise<readonly Types['record'][]>
  /** Replaces the whole record. */
  replace(
    target: Target<Types>,
    record: Types['replace'],
    options?: ChangeOptions<Types['replace'], Types['record']>,
  ): Promise<Types['record']>
  /**
   * Changes the given fields of all records that match, or of none.
   *
   * @returns the number of records that match, or the job that changes them
   * @example
   * await client.tasks.updateMatching({ status: 'done' }, { archived: true }, { maxAffected: 100 })
   */
  updateMatching(
    matching: Matching<Types, All>,
    changes: Types['patch'],
    options?: MatchingOptions,
  ): Promise<number | Job>
  /** @returns what the response says: nothing, when the record was deleted, or the job that deletes */
  delete(target: Target<Types>, options?: DeleteOptions): Promise<Deletion | Job | undefined>
  /** Restores a record, and waits for the job where one restores it. */
  restore(target: Target<Types>, options?: CallOptions): Promise<Types['record']>
  /** Deletes all of the records, or none. */
  bulkDelete(
    targets: readonly Target<Types>[],
    options?: Pick<DeleteOptions, 'signal' | 'respondAsync'>,
  ): Promise<readonly Deletion[] | Job>
  /** Reads a page of the states of a record, the newest first, where the resource has a history. */
  revisions(
    target: Target<Types>,
    query?: RevisionQuery,
    options?: CallOptions,
  ): Promise<Page<Revision<Types['record']>>>
  /**
   * Reads a record as it was at the end of a second, where the resource has a history.
   *
   * @param time a Date, or the text of one, such as `2026-11-28T12:00:00Z`
   */
  at<Name extends Types['field'] = never>(
    target: Target<Types>,
    time: Date | string,
    options?: GetOptions<Name> & Pick<RevisionQuery, 'include_deleted'>,
  ): Promise<Selected<Types['record'], Name>>
  /**
   * Erases the former states of a record for good, where the resource has a history. The present state and the entity
   * tag stay.
   */
  eraseHistory(
    target: Target<Types>,
    options?: Omit<DeleteOptions, 'respondAsync'> & Pick<RevisionQuery, 'include_deleted'>,
  ): Promise<void>
  /**
   * The collections within a record.
   *
   * @example
   * const { data } = await client.projects.within(id).tasks.list({ status: 'open' })
   */
  within(target: Target<Types>): {
    readonly [Name in Types['nested']]: NestedCollection<
      All[Name & keyof All] extends CollectionTypes ? All[Name & keyof All] : UntypedCollection,
      All
    >
  }
}

/** What the collections of a client have in common. */
export interface ClientParts {
  readonly send: Send
  readonly onConflict?: OnConflict | undefined
  readonly relations: ReturnType<typeof relationsOf>
}

/** The calls of the collection at a path. */
export function collectionAt(parts: ClientParts, collection: string): Collection {
  const { send, onConflict } = parts
  const call = async (...given: Parameters<typeof exchange> extends [Send, ...infer Rest] ? Rest : never) =>
    // What a response contains is known from its declaration only.
    (await exchange(send, ...given)).body as never
  const pathOf = (target: string | object) => collection + segment(idOf(target))
  const read = async (path: string, query: object | undefined, options: CallOptions | undefined) =>
    (await readQuery(send, path, query, options)).body as never
  const related = async (query: object, options: CallOptions | undefined) => {
    const relations = await parts.relations(options)
    const readAll = (path: string, rest: object) => collectionAt(parts, path).all(rest as Query, options)
    return relatedRead({ relations, readAll }, decodeURIComponent(collection.replace(/^.*\//, '')), query as Query)
  }
  const list = async (query: object = {}, options?: CallOptions): Promise<Page<never>> => {
    if (!includesRelated(query as Query)) return read(collection, { ...query, include: undefined }, options)
    const { query: sent, join } = await related(query, options)
    const page: Page = await read(collection, sent, options)
    return { data: join(page) as never[], pagination: page.pagination }
  }
  const create = (body: object, { idempotencyKey: key, ...options }: CreateOptions = {}) =>
    call('POST', collection, { ...options, body, headers: { 'idempotency-key': key } })
  const change = async (
    method: 'PATCH' | 'PUT',
    target: string | object,
    mine: object,
    options?: ChangeOptions<object, never>,
  ) =>
    (await changeRecord({
      ...({ onConflict, ...options } as ChangeOptions),
      ...{ send, method, mine },
      path: pathOf(target),
      before: typeof target === 'string' ? undefined : target,
    })) as never
  return {
    list,
    async *all(query: Partial<Query> = {}, options?: CallOptions): AsyncGenerator<never, void, void> {
      let cursor = query['cursor'] as string | null | undefined
      do {
        const page = await list({ ...query, cursor }, options)
        yield* page.data
        cursor = page.pagination.next_cursor
      } while (cursor != null)
    },
    summary: (query?: object, options?: CallOptions) => readSummary(send, collection, query, options),
    async get(id: string, { signal, ...query }: GetOptions<string> = {}): Promise<never> {
      if (!includesRelated(query))
        return call('GET', pathOf(id) + queryOf({ ...query, include: undefined }), { signal })
      const { query: sent, join } = await related(query, { signal })
      const body: object = await call('GET', pathOf(id) + queryOf(sent), { signal })
      const record = join(body) as never
      const etag = etagOf(body)
      if (etag !== undefined) setEtag(record, etag)
      return record
    },
    create,
    createMany: (records, options) => dataOf(create(records, options)),
    updateMany: (body, options) =>
      dataOf(call('PATCH', collection, { ...options, body, headers: { 'content-type': mergePatchType } })),
    upsert: (value, body, { ifMatch, ifNoneMatch, ...options } = {}) =>
      call('PUT', collection + queryOf(value), {
        ...{ ...options, body },
        headers: { 'if-match': ifMatch && strongTag(ifMatch), 'if-none-match': ifNoneMatch },
      }),
    upsertMany: (key, body, options) => dataOf(call('PUT', collection + queryOf({ key }), { ...options, body })),
    update: (target, mine, options) => change('PATCH', target, mine, options),
    replace: (target, mine, options) => change('PUT', target, mine, options),
    async updateMatching(
      matching: object,
      body: object,
      { maxAffected, respondAsync, ...options }: MatchingOptions = {},
    ) {
      const wanted = [
        ...(respondAsync ? ['respond-async'] : []),
        ...(maxAffected === undefined ? [] : ['handling=strict', `max-affected=${maxAffected}`]),
      ]
      const headers = wanted.length === 0 ? {} : { prefer: wanted.join(', ') }
      const parts = { ...options, body, headers }
      const { status, body: given } = await exchange(send, 'PATCH', collection + queryOf(matching), parts)
      return status === 202 ? new Job(send, given ?? {}) : Number(given?.['updated_count'])
    },
    async delete(target, options = {}) {
      const path = pathOf(target)
      const before = typeof target === 'string' ? undefined : target
      const headers = { ...preferring(options), 'if-match': await conditionFor(send, path, before, options) }
      const { status, body } = await exchange(send, 'DELETE', path, { ...options, headers })
      return status === 202 ? new Job(send, body ?? {}) : (body as Deletion | undefined)
    },
    async restore(target, options = {}) {
      const { status, body } = await exchange(send, 'POST', `${pathOf(target)}/restore`, options)
      if (status !== 202) return body as never
      await new Job(send, body ?? {}).finished(options)
      return await call('GET', pathOf(target), options)
    },
    async bulkDelete(targets, options = {}) {
      const parts = { ...options, body: { ids: targets.map(idOf) }, headers: preferring(options) }
      const { status, body } = await exchange(send, 'POST', `${collection}/bulk-delete`, parts)
      return status === 202 ? new Job(send, body ?? {}) : (body?.['data'] as readonly Deletion[])
    },
    revisions: (target, query, options) => call('GET', `${pathOf(target)}/revisions${queryOf(query)}`, options),
    at: (target, time, { signal, ...query } = {}) => {
      const headers = { 'accept-datetime': new Date(time).toUTCString() }
      return call('GET', pathOf(target) + queryOf(query), { signal, headers })
    },
    async eraseHistory(target, { include_deleted, ...options } = {}) {
      const before = typeof target === 'string' ? undefined : target
      const headers = { 'if-match': await conditionFor(send, pathOf(target), before, options) }
      await call('DELETE', `${pathOf(target)}/revisions${queryOf({ include_deleted })}`, { ...options, headers })
    },
    within: (target) =>
      byName((name) => collectionAt({ ...parts, onConflict: undefined }, pathOf(target) + segment(name))) as never,
  }
}

async function dataOf(response: Promise<Page<never>>): Promise<readonly never[]> {
  return (await response).data
}

/** The id of what a call is about. */
export function idOf(target: string | object): string {
  return typeof target === 'string' ? target : String(Reflect.get(target, 'id'))
}

function preferring({ respondAsync }: DeleteOptions): Readonly<Record<string, string>> {
  return respondAsync ? { prefer: 'respond-async' } : {}
}

/** An object that makes its members when they are first used. */
export function byName<Member>(make: (name: string) => Member): Readonly<Record<string, Member>> {
  const made = new Map<string, Member>()
  return new Proxy(Object.create(null), {
    get(_, name) {
      // An object with a method `then` would be awaited like a promise.
      if (typeof name !== 'string' || name === 'then') return undefined
      const member = made.get(name) ?? make(name)
      made.set(name, member)
      return member
    },
  })
}
