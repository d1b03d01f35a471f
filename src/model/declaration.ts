/**
 * What users write: an interface as plain data. JSON Schema 2020-12 with a few words more; every type here is the
 * shape of a declaration file, whether it is TypeScript, JavaScript, JSON or YAML.
 */

/** What callers can do with a record (AUT-3). */
export const actions = ['read', 'create', 'update', 'delete', 'restore', 'readDeleted'] as const
export type Action = (typeof actions)[number]

/** What happens to a record when the one it refers to is deleted (DEL-4, DEL-5). */
export type OnDelete = 'restrict' | 'cascade' | 'clear'

/** A field: its JSON Schema, and the words below beside JSON Schema's own. */
export interface FieldDeclaration {
  /** Callers may filter by it: an index is kept. References, enums and booleans are filters unless `false`. */
  readonly filter?: boolean
  /** Callers may sort by it: an index is kept. */
  readonly sort?: boolean
  /** `q` searches it (QRY-5). */
  readonly search?: boolean
  /** No two live records have the same value (DEL-11). */
  readonly unique?: boolean
  /** Set on creation, then fixed. */
  readonly immutable?: boolean
  /** Set by the server, never by a caller. */
  readonly readOnly?: boolean
  /** Accepted, and never answered. */
  readonly writeOnly?: boolean
  /** It may be left out or `null`. In TypeScript: `Type.Optional(…)`. */
  readonly optional?: boolean
  /** The value that stands in where none is given. */
  readonly default?: unknown
  /** From which value it may change to which (409 `INVALID_TRANSITION`). */
  readonly transitions?: Readonly<Record<string, readonly string[]>>
  /** The collection whose records it refers to, by id. */
  readonly reference?: string
  readonly onDelete?: OnDelete
  /** JSON Schema 2020-12. */
  readonly [keyword: string]: unknown
}

/** A field made by TypeBox's `Type`: an interface of its own, to which an index signature would never fit. */
interface TypedField {
  readonly '~kind': string
}

/** A value in a condition: itself, something of the caller, or (in a business rule) a field of the record at hand. */
export type ConditionValue =
  | string
  | number
  | boolean
  | null
  | { readonly caller: string }
  | { readonly record: string }

/** Comparisons of one field; several in one object must all hold. */
export interface FieldCondition {
  readonly gt?: ConditionValue
  readonly gte?: ConditionValue
  readonly lt?: ConditionValue
  readonly lte?: ConditionValue
  readonly in?: readonly ConditionValue[]
  /** It is another value, or `null`. */
  readonly not?: ConditionValue
  readonly contains?: ConditionValue
  readonly startsWith?: ConditionValue
  readonly null?: boolean
}

/**
 * A condition on a record, as data: fields (all must hold), or `and`, `or`, `not`. A comparison with something missing (`null`, an
 * absent claim) is unknown, as in SQL, and what is unknown at the end does not hold. `{ null: true }` tests for `null`.
 */
export type Condition = { readonly [field: string]: ConditionValue | FieldCondition | readonly Condition[] | Condition }

/** Who is calling, as rules see it. */
export interface CallerView {
  readonly id: string
  readonly roles: readonly string[]
  readonly claims: Readonly<Record<string, unknown>>
}

/** Who may do an action. An array of these means any of them. A change must be allowed on the record before and after it (AUT-8). */
export type AccessRule =
  | 'anyone'
  | 'nobody'
  | 'owner'
  | `role:${string}`
  | { readonly where: Condition }
  | { readonly through: string; readonly action: Action }
  | ((caller: CallerView) => boolean | Condition)

/** When a business rule is decided. */
export type RuleTrigger = 'create' | 'update' | 'delete' | 'restore'

/** What a business rule's function is given. It must not await: it runs inside the transaction. */
export interface RuleContext {
  /** The record as it is, `undefined` on creation. */
  readonly current: Readonly<Record<string, unknown>> | undefined
  /** The record as it would be, `undefined` on deletion. */
  readonly next: Readonly<Record<string, unknown>> | undefined
  readonly caller: CallerView
  /** Milliseconds since 1970. */
  readonly now: number
}

/** What a business rule's function says against a change. */
export interface RuleObjection {
  readonly code: string
  readonly message: string
  readonly pointer?: string
}

/** A business rule: 409 with its code, decided inside the transaction. */
export type BusinessRule =
  | {
      readonly on: RuleTrigger | readonly RuleTrigger[]
      /** UPPER_CASE_WITH_UNDERSCORES. */
      readonly code: string
      readonly message: string
      /** The change is allowed where this holds: no (`none`) or some (`some`) live record of a collection matches `where`,
       * or, without either, the record itself does. */
      readonly unless: { readonly none?: string; readonly some?: string; readonly where: Condition }
    }
  | {
      readonly on: RuleTrigger | readonly RuleTrigger[]
      readonly check: (context: RuleContext) => RuleObjection | undefined
    }

/** How records are deleted. Every key left out has its default. */
export interface DeletionDeclaration {
  readonly variant?: 'soft' | 'hard'
  /** ISO 8601 duration, down to seconds: `P30D`. */
  readonly gracePeriod?: string
  readonly restorable?: boolean
  readonly asynchronous?: 'never' | 'always' | { readonly above: number }
  readonly answer?: 'empty' | 'summary'
  readonly repeated?: 'not-found' | 'no-content'
  readonly bulk?: false | { readonly max: number }
  readonly byFilter?: boolean
}

/** One resource: a collection and its records. */
export interface ResourceDeclaration {
  readonly title?: string
  readonly description?: string
  readonly fields: Readonly<Record<string, FieldDeclaration | TypedField>>
  /** The field that holds the id of the caller who created the record (AUT-7). */
  readonly owner?: string
  /** The reference under whose target the collection is nested too. */
  readonly within?: string
  /** Fields that are unique together among live records. */
  readonly unique?: readonly (readonly string[])[]
  readonly deletion?: DeletionDeclaration
  readonly access?: Readonly<Partial<Record<Action, AccessRule | readonly AccessRule[]>>>
  readonly rules?: readonly BusinessRule[]
  readonly preconditions?: 'optional' | 'required'
  /** Seconds that a private cache may keep a read without asking again; 0 (the default): always ask. */
  readonly maxAge?: number
}

/** A version of the interface. Dates are `YYYY-MM-DD` (midnight, UTC) or date-times. */
export interface VersionDeclaration {
  /** From when on it is deprecated: it works, and says so (VER-3). */
  readonly deprecated?: string
  /** From when on it is retired (VER-4). */
  readonly sunset?: string
  /** What a retired version answers: 410 (`gone`, unless said), or 308 to its successor. */
  readonly afterSunset?: 'gone' | 'redirect'
  /** The URL of a page that says how to leave it. */
  readonly guide?: string
}

/** A field that only older versions have. It is validated when it is sent, and then dropped. */
export interface RemovedField {
  /** The field as it was declared, with its words. */
  readonly schema: FieldDeclaration | TypedField
  /** What older versions read in it. */
  readonly value: unknown
  /** The field before which it stood; at the end where left out. */
  readonly before?: string
}

/** A field whose values older versions write differently. The functions never await, and undo each other. */
export interface ConvertedField {
  /** The field as it was declared, with its words. */
  readonly schema: FieldDeclaration | TypedField
  readonly older: (value: never) => unknown
  readonly newer: (value: never) => unknown
}

/** What a version changed, so that those before it can still be served (VER-2). */
export interface ChangeDeclaration {
  /** The version that made the change. */
  readonly version: string
  /** The collection, as that version calls it. */
  readonly resource: string
  /** What the collection was called before. */
  readonly was?: string
  /** Whether the whole collection came with this version, or is for older ones alone. */
  readonly collection?: 'added' | 'removed'
  /** Fields with a new name, by their older one: `{ name: 'title' }`. */
  readonly rename?: Readonly<Record<string, string>>
  /** Fields that older versions never show. */
  readonly add?: readonly string[]
  readonly remove?: Readonly<Record<string, RemovedField>>
  /** By the name that the field has in this version. */
  readonly convert?: Readonly<Record<string, ConvertedField>>
}

/** How often anyone may ask (LIM-1), each as `N/second`, `N/minute` or `N/hour`. */
export interface RateDeclaration {
  /** Requests of a caller: `600/minute` where left out. */
  readonly caller?: string
  /** Failed authentications from an address: `60/minute` where left out. */
  readonly address?: string
  /** Requests of a caller for an action: by `collection.action`, with `*` for any collection or any action. */
  readonly actions?: Readonly<Record<string, string>>
}

/** What API keys may be made over HTTP (AUT-10). */
export interface KeyLimitsDeclaration {
  /** The most keys of one subject that are neither revoked nor expired: 100 where left out. */
  readonly perSubject?: number
  /** The roles whose callers may make keys that outlive the credential they come with: none where left out. */
  readonly lastingRoles?: readonly string[]
}

/** How many exports there may be, and how large they may be (LIM-8). */
export interface ExportLimits {
  /** The exports of one caller; 20 unless said. */
  readonly count?: number
  /** The bytes of all files of one caller; 1 GiB unless said. */
  readonly bytes?: number
  /** The bytes of the files of all callers; 10 GiB unless said. */
  readonly total?: number
}

/** Where a request can say which version it is for. */
export const carriers = ['path', 'header', 'media-type', 'query'] as const
export type Carrier = (typeof carriers)[number]

/** A whole interface. */
export interface InterfaceDeclaration {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly resources: Readonly<Record<string, ResourceDeclaration>>
  /** By name, `v1`, `v2` and so on, the oldest first; the last is the current one. */
  readonly versions?: Readonly<Record<string, VersionDeclaration>>
  /** Where requests say which version they are for; `["path"]` unless said. */
  readonly versionCarriers?: readonly Carrier[]
  readonly changes?: readonly ChangeDeclaration[]
  readonly limits?: {
    readonly pageSize?: { readonly default?: number; readonly max?: number }
    readonly rate?: RateDeclaration
    readonly keys?: KeyLimitsDeclaration
    readonly bodyBytes?: number
    /** The most bytes that the records of one page have together, as JSON; 4 MiB unless said. */
    readonly pageBytes?: number
    readonly exports?: ExportLimits
  }
}

/**
 * Declares an interface. It changes nothing: the declaration is checked when it is served, and
 * everything wrong in it is reported at once.
 *
 * @example
 * export default defineInterface({
 *   name: 'notes',
 *   resources: { notes: { fields: { text: Type.String() }, access: { read: 'anyone', create: 'anyone' } } },
 * })
 */
export function defineInterface<const T extends InterfaceDeclaration>(declaration: T): T {
  return declaration
}

/**
 * A field that refers to a record of another collection by its id.
 *
 * @param collection the collection's name
 * @param options what happens on deletion of the target (`restrict` unless said), and other field words
 */
export function reference<const Options extends FieldDeclaration>(
  collection: string,
  options?: Options,
): { type: 'string'; reference: string; onDelete: OnDelete } & Options {
  return { type: 'string', reference: collection, onDelete: 'restrict', ...options } as never
}
