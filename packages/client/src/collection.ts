/** The calls of one collection, with the types of its requests and responses. */
import { type ChangeOptions, type ConditionOptions, changeRecord, conditionFor, type OnConflict } from './conflicts.ts'
import { exchange, longestPath, queryOf, segment } from './exchange.ts'
import type { CollectionTypes, JsonObject, Page } from './interface-types.ts'
import { Job } from './jobs.ts'
import type { CallOptions, Send } from './send.ts'
import { type ReadSummary, readSummary } from './summary.ts'

/** Options of a creation. */
export interface CreateOptions extends CallOptions {
  /** A repetition with the same key gets the first response, and creates nothing. By default each call has its own. */
  readonly idempotencyKey?: string
}

/** Options of a deletion. */
export interface DeleteOptions extends ConditionOptions {
  /** Whether a job deletes, however small the work is. */
  readonly respondAsync?: boolean
}

/** Options of a read. */
export interface GetOptions<Name extends string> extends CallOptions {
  /** The fields to return; `id` is always included. */
  readonly fields?: Name | readonly Name[]
}

/** The parameters of a list besides its filters. */
export interface ListParameters<Sort extends string, Name extends string> {
  /** The order, such as `-due_on`, or several terms. */
  readonly sort?: Sort | readonly Sort[]
  /** The fields to return; `id` is always included. */
  readonly fields?: Name | readonly Name[]
  readonly include_deleted?: boolean | 'only'
  /** The zone of a day in a filter of a date-time, such as `Europe/Berlin`; without it UTC. Only beside a day. */
  readonly timezone?: string
  readonly limit?: number
  readonly cursor?: string
  readonly page?: number
  readonly per_page?: number
  readonly offset?: number
}

/** The query parameters of a list. */
export type ListQuery<Types extends CollectionTypes, Name extends string = Types['field']> = Types['filter'] &
  ListParameters<Types['sort'], Name>

/** A record, or the selected fields of it. */
export type Selected<Data, Name extends string> = [Name] extends [never]
  ? Data
  : string extends Name
    ? Data
    : Pick<Data, keyof Data & (Name | 'id')>

/** The record that a call is about: the id, or a record that a call returned. */
export type Target<Types extends CollectionTypes> = string | { readonly id: string } | Types['record']

/** A deleted record. */
export interface Deletion {
  readonly id: string
  readonly deleted_at: string
}

/** The calls of a collection within a record of another one. Single records are called at the top level. */
export interface NestedCollection<Types extends CollectionTypes> {
  /** Reads a page. */
  list<Name extends Types['field'] = never>(
    query?: ListQuery<Types, Name>,
    options?: CallOptions,
  ): Promise<Page<Selected<Types['record'], Name>>>
  /** Reads all records, page by page, in the style of cursors. `limit` is the size of a page. */
  all<Name extends Types['field'] = never>(
    query?: ListQuery<Types, Name>,
    options?: CallOptions,
  ): AsyncGenerator<Selected<Types['record'], Name>, void, void>
  create(record: NestedBody<Types>, options?: CreateOptions): Promise<Types['record']>
}

/** The body of a creation whose address has the value of the field `within`. */
type NestedBody<Types extends CollectionTypes> = Types extends { readonly within: infer Field extends PropertyKey }
  ? Omit<Types['create'], Field> & Partial<Pick<Types['create'], Field & keyof Types['create']>>
  : Types['create']

/** The calls of a collection. Each rejects with `ProblemError` if it is refused or fails. */
export interface Collection<Types extends CollectionTypes = UntypedCollection, All = UntypedInterface>
  extends Omit<NestedCollection<Types>, 'create'> {
  /**
   * Reads groups of the records, with the figures of each group.
   *
   * @example
   * const { data } = await client.tasks.summary({ group: 'status', sum: 'estimate', 'due_on[lt]': '2027-01-01' })
   */
  readonly summary: ReadSummary<Types>
  create(record: Types['create'], options?: CreateOptions): Promise<Types['record']>
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
  /** Replaces the whole record. */
  replace(
    target: Target<Types>,
    record: Types['replace'],
    options?: ChangeOptions<Types['replace'], Types['record']>,
  ): Promise<Types['record']>
  /** @returns what the response says: nothing, when the record was deleted, or the job that deletes */
  delete(target: Target<Types>, options?: DeleteOptions): Promise<Deletion | Job | undefined>
  /** Restores a record, and waits for the job where one restores it. */
  restore(target: Target<Types>, options?: CallOptions): Promise<Types['record']>
  /** Deletes all of the records, or none. */
  bulkDelete(
    targets: readonly Target<Types>[],
    options?: Pick<DeleteOptions, 'signal' | 'respondAsync'>,
  ): Promise<readonly Deletion[] | Job>
  /**
   * The collections within a record.
   *
   * @example
   * const { data } = await client.projects.within(id).tasks.list({ status: 'open' })
   */
  within(target: Target<Types>): {
    readonly [Name in Types['nested']]: NestedCollection<
      All[Name & keyof All] extends CollectionTypes ? All[Name & keyof All] : UntypedCollection
    >
  }
}

type Parameter = string | number | boolean | undefined

/** Query parameters, such as `{ status: 'open', 'due_on[lt]': '2027-01-01', sort: '-due_on' }`. */
export type Query = Readonly<Record<string, Parameter | readonly Parameter[]>>

/** A collection whose types are unknown. */
export interface UntypedCollection extends CollectionTypes {
  readonly record: { readonly id: string } & JsonObject
  readonly filter: Query
}

/** An interface whose types are unknown. */
export type UntypedInterface = { readonly [collection: string]: UntypedCollection }

/** What the collections of a client have in common. */
export interface ClientParts {
  readonly send: Send
  readonly onConflict?: OnConflict | undefined
}

/** The calls of the collection at a path. */
export function collectionAt({ send, onConflict }: ClientParts, collection: string): Collection {
  const call = async (...given: Parameters<typeof exchange> extends [Send, ...infer Rest] ? Rest : never) =>
    // What a response contains is known from its declaration only.
    (await exchange(send, ...given)).body as never
  const pathOf = (target: string | object) => collection + segment(idOf(target))
  const list: Collection['list'] = (query, options) => {
    const path = collection + queryOf(query)
    if (path.length <= longestPath) return call('GET', path, options)
    return call('QUERY', collection, { ...options, body: withoutUnset(query) })
  }
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
    async *all(query, options) {
      let cursor: string | null | undefined = query?.cursor
      do {
        const page = (await list({ ...query, cursor } as Query, options)) as Page<never>
        yield* page.data
        cursor = page.pagination.next_cursor
      } while (cursor != null)
    },
    summary: (query?: object, options?: CallOptions) => readSummary(send, collection, query, options),
    get: (id, { fields, ...options } = {}) => call('GET', pathOf(id) + queryOf({ fields }), options),
    create: (body, { idempotencyKey: key, ...options } = {}) =>
      call('POST', collection, { ...options, body, headers: { 'idempotency-key': key } }),
    update: (target, mine, options) => change('PATCH', target, mine, options),
    replace: (target, mine, options) => change('PUT', target, mine, options),
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
    within: (target) => byName((name) => collectionAt({ send }, pathOf(target) + segment(name))) as never,
  }
}

/** A query without the parameters, and without the values of parameters, that are `undefined`. */
function withoutUnset(query: object = {}): object {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined)
  const isSet = (value: unknown) => value !== undefined
  return Object.fromEntries(entries.map(([name, value]) => [name, Array.isArray(value) ? value.filter(isSet) : value]))
}

function idOf(target: string | object): string {
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
