/**
 * The types of an interface, as the client uses them. A declaration carries them in the property `~types`, which exists
 * for the compiler only; `resourced types` writes them for an interface whose declaration is not at hand.
 */

/** The types of one collection: what its requests and responses contain. */
export interface CollectionTypes {
  /** A record as a read returns it: `id`, `created_at`, and the fields. An optional field may be missing. */
  readonly record: object
  /** The body of POST. */
  readonly create: object
  /** The body of PUT. */
  readonly replace: object
  /** The body of PATCH (JSON Merge Patch): `null` removes a value. */
  readonly patch: object
  /** The query parameters that filter, such as `{ status?: 'open' | 'done', 'due_on[lt]'?: string, q?: string }`. */
  readonly filter: object
  /** The terms of `sort`, such as `'due_on' | '-due_on'`. */
  readonly sort: string
  /** The names that `fields` may select. */
  readonly field: string
  /** The collections that are within this one, such as `'tasks'`; `never` for none. */
  readonly nested: string
  /** `SummaryTypes`; left out: unknown. As an object, so that the compiler looks into it only where it is used. */
  readonly summary?: object
  /** The fields whose values identify a record, such as `'sku'`; left out: unknown. */
  readonly unique?: string
  /** The field that refers to the record that contains this one: within that record, a creation may leave it out. */
  readonly within?: string
}

/** The relations of a collection. The compiler looks for them only where a call names one, because it takes long. */
export interface Relations {
  /** By name: `{ author: { to: 'one', collection: 'authors' } }`. */
  readonly relations: object
}

/** The groups and figures of a collection. */
export interface SummaryTypes {
  /** The values of groups, such as `{ status: 'open' | 'done', 'created_at:month': string }`. */
  readonly group: object
  /** The fields that `sum` and `avg` take. */
  readonly sum: string
  /** The values of the fields that `min` and `max` take. */
  readonly min: object
}

/** The types of an interface, by the names of its collections. */
export type InterfaceTypes = { readonly [collection: string]: CollectionTypes }

/**
 * The types that a declaration carries. `InterfaceTypes` stay as they are.
 *
 * @example
 * type Task = TypesOf<typeof api>['tasks']['record']
 */
export type TypesOf<T> = string extends keyof T
  ? T
  : T extends { readonly '~types'?: infer Types }
    ? NonNullable<Types>
    : T

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>

/** The query parameters that choose a page, and the zone of its days. The three styles of pages do not mix. */
export interface PageParameters {
  /**
   * The zone of days in filters, and of groups of date-times, such as `Europe/Berlin`; without it UTC. Only beside
   * these.
   */
  readonly timezone?: string
  readonly limit?: number
  readonly cursor?: string
  readonly page?: number
  readonly per_page?: number
  readonly offset?: number
}

/** Where a page is. Cursors and numbers are there as the request asked for pages. */
export interface Pagination {
  readonly total_count: number
  readonly limit?: number
  readonly next_cursor?: string | null
  readonly previous_cursor?: string | null
  readonly offset?: number
  readonly page?: number
  readonly per_page?: number
  readonly total_pages?: number
}

/** A page of a collection. */
export interface Page<Data = JsonObject> {
  readonly data: readonly Data[]
  readonly pagination: Pagination
}

type Parameter = string | number | boolean | undefined

/** Query parameters: `{ status: 'open', 'due_on[lt]': '2027-01-01', sort: '-due_on' }`. A condition is an object. */
export type Query = Readonly<Record<string, Parameter | readonly Parameter[] | object>>

/** A collection whose types are unknown. */
export interface UntypedCollection extends CollectionTypes {
  readonly record: { readonly id: string } & JsonObject
  readonly filter: Query
}

/** An interface whose types are unknown. */
export type UntypedInterface = { readonly [collection: string]: UntypedCollection }
