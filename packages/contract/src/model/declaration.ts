/**
 * The types of a declaration: an interface as plain data, in TypeScript, JavaScript, JSON or YAML. Fields are JSON
 * Schema 2020-12 with a few more words.
 */
import type {
  Authorization,
  AuthorizationRequest,
  CallerView,
  EventFunction,
  PrepareContext,
} from './declared-functions.ts'
import type { EventKind } from './event.ts'
import type { SummaryDeclaration } from './kept-summary.ts'
import type { LimitsDeclaration } from './limits.ts'
import type { Comparisons } from './operators.ts'

/** The actions that access rules are declared for (AUT-3). */
export const actions = ['read', 'create', 'update', 'delete', 'restore', 'readDeleted', 'readHistory'] as const
export type Action = (typeof actions)[number]

/** The actions that rates can be declared for. Reading deleted records counts as a read. */
export const countedActions = ['read', 'create', 'update', 'delete', 'restore'] as const satisfies readonly Action[]
export type CountedAction = (typeof countedActions)[number]

/** What happens to a record when the record that it refers to is deleted (DEL-4, DEL-5). */
export type OnDelete = 'restrict' | 'cascade' | 'clear'

/** What a caller needs to refer to a record: permission to read it, or nothing (AUT-5). */
export type ReferenceNeed = 'read' | 'none'

/** A type of values. The last one lets declarations be read from files, which have plain texts. */
type FieldTypeWord =
  | 'string'
  | 'integer'
  | 'number'
  | 'decimal'
  | 'boolean'
  | 'array'
  | 'object'
  | 'null'
  | (string & Record<never, never>)

/** The keywords of JSON Schema 2020-12. */
export interface SchemaKeywords {
  readonly type?: FieldTypeWord | readonly FieldTypeWord[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly title?: string
  readonly description?: string
  /** The value of a field that a request leaves out: a value of the field, or a `ServerValue` (RES-14). */
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly deprecated?: boolean
  /** Only the server sets the value. */
  readonly readOnly?: boolean
  /** Callers may send the value, and no response contains it. */
  readonly writeOnly?: boolean
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minimum?: number | string
  readonly maximum?: number | string
  readonly exclusiveMinimum?: number | string
  readonly exclusiveMaximum?: number | string
  readonly multipleOf?: number | string
  readonly items?: unknown
  readonly prefixItems?: readonly unknown[]
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly contains?: unknown
  readonly minContains?: number
  readonly maxContains?: number
  readonly unevaluatedItems?: unknown
  readonly properties?: object
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
  readonly patternProperties?: object
  readonly propertyNames?: unknown
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly dependentRequired?: object
  readonly dependentSchemas?: object
  readonly unevaluatedProperties?: unknown
  readonly allOf?: readonly unknown[]
  readonly anyOf?: readonly unknown[]
  readonly oneOf?: readonly unknown[]
  readonly not?: unknown
  readonly if?: unknown
  readonly then?: unknown
  readonly else?: unknown
  readonly contentMediaType?: string
  readonly contentEncoding?: string
  readonly contentSchema?: unknown
  readonly $id?: string
  readonly $schema?: string
  readonly $ref?: string
  readonly $anchor?: string
  readonly $dynamicRef?: string
  readonly $dynamicAnchor?: string
  readonly $defs?: object
  readonly definitions?: object
  readonly $comment?: string
}

/** A value that the server finds when it writes a record: an attribute of the caller, or the time of the change. */
export type ServerValue = { readonly caller: string } | { readonly now: true }

/** When the server sets a field, and to what. */
export interface SetDeclaration {
  readonly onCreate?: ServerValue
  readonly onUpdate?: ServerValue
}

/** Numbers 1, 2, 3 and so on without gaps, which the server assigns on creation. */
export interface SequenceDeclaration {
  /** The field whose values are numbered separately, such as a reference; left out: the collection is numbered. */
  readonly per?: string
}

/** The words of a field: the keywords of JSON Schema, and those below. */
export interface FieldWords extends SchemaKeywords {
  /** Callers may filter by the field, or by these members of an object: `["/size", "/color/name"]` (WHR-4). */
  readonly filter?: boolean | readonly string[]
  /** Callers may sort by the field, and it gets an index. */
  readonly sort?: boolean
  /** The parameter `q` searches the field (QRY-5), with a weight for the order by relevance (WHR-6). */
  readonly search?: boolean | { readonly weight: number }
  /** No two live records have the same value (DEL-11). */
  readonly unique?: boolean
  /** The value is set on creation and never changes. */
  readonly immutable?: boolean
  /** The server sets the field on every creation or update, and clients never do (RES-15). */
  readonly set?: SetDeclaration
  /** The server numbers the records on creation, without gaps (RES-16). In TypeScript: `Type.Sequence(…)`. */
  readonly sequence?: SequenceDeclaration
  /**
   * The sum of a field of the live records that refer to this one, by their relation: `lines.amount` (RES-17). Without
   * a type it has that of the field; then its type in TypeScript is `number | string`.
   */
  readonly sumOf?: string
  /** The value may be missing or `null`. In TypeScript: `Type.Optional(…)`. */
  readonly optional?: boolean
  /** The values that may follow each value; other changes get 409 `INVALID_TRANSITION`. */
  readonly transitions?: Readonly<Record<string, readonly string[]>>
  /** The collection that the field refers to, by the id of a record. */
  readonly reference?: string
  readonly onDelete?: OnDelete
  /** What a caller needs to refer to a record; default: permission to read it (AUT-5). */
  readonly requires?: ReferenceNeed
  /** The name of the relation to the record; default: the field's name without `_id` (REL-1). */
  readonly as?: string
  /** The name of the relation from that record to these; default: this collection's name with `_` (REL-1). */
  readonly inverse?: string
  /** The most digits of a decimal, 1 to 38. */
  readonly precision?: number
  /** The number of digits of a decimal after the decimal point. */
  readonly scale?: number
}

/** A field as data. Other words than those of `FieldWords` are mistakes. */
export interface FieldDeclaration extends FieldWords {
  readonly [keyword: string]: unknown
}

/** A field made by TypeBox's `Type`, whose types do not fit an index signature. */
export interface TypedField {
  readonly '~kind': string
}

/**
 * A value in a condition: a constant, an attribute of the caller, or a field of a record: in a business rule of the
 * changed one, in a lookup of the one that the rule is about.
 */
export type ConditionValue =
  | string
  | number
  | boolean
  | null
  | { readonly caller: string }
  | { readonly record: string }

/** Comparisons of one field. All of them must be true. `not`: the field has another value, or is `null`. */
export type FieldCondition = Comparisons<'string', ConditionValue>

/**
 * A condition on a record, as data: fields (all must match), or `and`, `or`, `not`. A comparison with a missing value
 * (`null`, an absent claim) is unknown, as in SQL. A record matches if the whole condition is true. `{ null: true }`
 * tests for `null`.
 */
export type Condition = { readonly [field: string]: ConditionValue | FieldCondition | readonly Condition[] | Condition }

/**
 * Who may perform an action. Of an array, one matching rule is enough. A change must be allowed before and after it
 * (AUT-8).
 */
export type AccessRule =
  | 'anyone'
  | 'nobody'
  | 'owner'
  | `role:${string}`
  | { readonly where: Condition }
  | { readonly through: string; readonly action: Action }
  | LookupRule
  /** Each of these rules must permit the action. */
  | { readonly all: readonly AccessRule[] }
  | ((caller: CallerView) => boolean | Condition)

/**
 * The action is permitted if some (or no) live record of a collection matches, whether or not the caller may read it.
 * `{ record: FIELD }` is a field of the record that the rule is about.
 */
export type LookupRule =
  | { readonly some: string; readonly where: Condition }
  | { readonly none: string; readonly where: Condition }

/** Who may read and write one field. What is left out follows the permission for the record. */
export interface FieldAccessDeclaration {
  /** In which records a caller sees the value; in others the field is `null` for them (AUT-13). */
  readonly read?: AccessRule | readonly AccessRule[]
  /** In which records a caller may set or change the value (AUT-14). */
  readonly write?: AccessRule | readonly AccessRule[]
}

/** Who may use the records of a resource, and their fields. */
export interface AccessDeclaration extends Readonly<Partial<Record<Action, AccessRule | readonly AccessRule[]>>> {
  readonly fields?: Readonly<Record<string, FieldAccessDeclaration>>
}

/** The changes that a business rule applies to. */
export type RuleTrigger = 'create' | 'update' | 'delete' | 'restore'

/** The argument of a business rule's function. The function must not await: it runs inside the transaction. */
export interface RuleContext<StoredRecord = Readonly<Record<string, unknown>>> {
  /** The record before the change; `undefined` on creation. */
  readonly current: StoredRecord | undefined
  /** The record after the change; `undefined` on deletion. */
  readonly next: StoredRecord | undefined
  readonly caller: CallerView
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Why a business rule refuses a change. */
export interface RuleObjection {
  readonly code: string
  readonly message: string
  readonly pointer?: string
}

/** A business rule: it refuses changes with 409 and its code, inside the transaction. */
export type BusinessRule =
  | {
      readonly on: RuleTrigger | readonly RuleTrigger[]
      /** UPPER_CASE_WITH_UNDERSCORES. */
      readonly code: string
      readonly message: string
      /** The rule applies to records that match, as the change leaves them; left out: to all. */
      readonly when?: Condition
      /**
       * The change is allowed if no (`none`) or some (`some`) live record of a collection matches `where`; without
       * either, if the record itself matches.
       */
      readonly unless: { readonly none?: string; readonly some?: string; readonly where: Condition }
    }
  | {
      readonly on: RuleTrigger | readonly RuleTrigger[]
      readonly check: (context: RuleContext) => RuleObjection | undefined
    }

/** The form of the error codes of business rules. */
export const ruleCodeForm = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/

/** How records are deleted. Every key has a default. */
export interface DeletionDeclaration {
  readonly variant?: 'soft' | 'hard'
  /** An ISO 8601 duration of weeks, days, hours, minutes and seconds: `P30D`. */
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
  /** The reference whose target also nests the collection. */
  readonly within?: string
  /** Fields that are unique together among live records. */
  readonly unique?: readonly (readonly string[])[]
  readonly deletion?: DeletionDeclaration
  /** Changes by filter (BLK-3); those of more records than `above` are background jobs. */
  readonly updates?: { readonly byFilter?: boolean; readonly above?: number }
  readonly access?: AccessDeclaration
  /**
   * Completes the record that a request creates or changes, inside the transaction (RES-13). It returns the values to
   * write: `{ ...next, total: 3 }`. Fields that it leaves out keep their value in `next`. It must not await, and may be
   * called more than once for a request.
   */
  readonly prepare?: (context: PrepareContext) => Readonly<Record<string, unknown>>
  /**
   * Functions that run after a change was committed, by its kind, at least once and in order for each record (EVT-12).
   * They may await. The resource needs `events: true`.
   */
  readonly on?: { readonly [Kind in EventKind]?: EventFunction<never> }
  readonly rules?: readonly BusinessRule[]
  readonly preconditions?: 'optional' | 'required'
  /** How long a private cache may use a response, in seconds; default 0: it always revalidates. */
  readonly maxAge?: number
  /** Each change of each record is an event, which callers who may read the record read at `/events` (EVT-1). */
  readonly events?: boolean
  /** Summaries whose figures are kept, by name: they cost the same however many records there are (SUM-3). */
  readonly summaries?: Readonly<Record<string, SummaryDeclaration>>
  /** Each state of each record is kept (HIS-1): for good, or for a time after its successor came. */
  readonly history?: boolean | HistoryDeclaration
}

/** How long former states of records are kept. */
export interface HistoryDeclaration {
  /** An ISO 8601 duration of weeks, days, hours, minutes and seconds: `P90D`. */
  readonly keep: string
}

/** A version of the interface. Dates are `YYYY-MM-DD` (midnight, UTC) or date-times. */
export interface VersionDeclaration {
  /** When it becomes deprecated: it still works, and its responses say so (VER-3). */
  readonly deprecated?: string
  /** When it is retired (VER-4). */
  readonly sunset?: string
  /** The response of a retired version: 410 (`gone`, the default), or 308 to its successor (`redirect`). */
  readonly afterSunset?: 'gone' | 'redirect'
  /** The URL of a migration guide. */
  readonly guide?: string
}

/** A field that only older versions have. Values that clients send are validated and dropped. */
export interface RemovedField {
  /** The declaration of the field in the older versions. */
  readonly schema: FieldDeclaration | TypedField
  /** The value that older versions return. */
  readonly value: unknown
  /** The next field in the order of the older versions; default: it is the last field. */
  readonly before?: string
}

/** A field whose values differ in older versions. The functions must not await, and undo each other. */
export interface ConvertedField {
  /** The declaration of the field in the older versions. */
  readonly schema: FieldDeclaration | TypedField
  readonly older: (value: never) => unknown
  readonly newer: (value: never) => unknown
}

/** What a version changed, so that older versions can still be served (VER-2). */
export interface ChangeDeclaration {
  /** The version that made the change. */
  readonly version: string
  /** The collection's name in that version. */
  readonly resource: string
  /** The collection's name before the change. */
  readonly was?: string
  /** `added`: older versions do not have the collection. `removed`: only older versions have it. */
  readonly collection?: 'added' | 'removed'
  /** The new names of fields by their old names: `{ name: 'title' }`. */
  readonly rename?: Readonly<Record<string, string>>
  /** Fields that older versions do not have. */
  readonly add?: readonly string[]
  readonly remove?: Readonly<Record<string, RemovedField>>
  /** By the field's name in this version. */
  readonly convert?: Readonly<Record<string, ConvertedField>>
}

/** How requests find their tenant (TEN-1). */
export interface TenantsDeclaration {
  /** The claim of the caller that names the tenant: `claims.team`. */
  readonly caller: string
  /** Who creates tenants: operators, or the first request that changes something; default `operator`. */
  readonly create?: 'operator' | 'first-use'
  /** How long a deleted tenant is kept: an ISO 8601 duration of weeks, days, hours and so on; default `P30D`. */
  readonly gracePeriod?: string
}

/** The places where a request can name its version. */
export const carriers = ['path', 'header', 'media-type', 'query'] as const
export type Carrier = (typeof carriers)[number]

/** A whole interface. */
export interface InterfaceDeclaration {
  /** The JSON Schema of declarations, for editors; ignored. */
  readonly $schema?: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly resources: Readonly<Record<string, ResourceDeclaration>>
  /** By name (`v1`, `v2`, …), the oldest first; the last one is the current version. */
  readonly versions?: Readonly<Record<string, VersionDeclaration>>
  /** Where requests name their version; default `["path"]`. */
  readonly versionCarriers?: readonly Carrier[]
  readonly changes?: readonly ChangeDeclaration[]
  /**
   * Decides about each request of an authenticated caller, before its body is read and before any transaction (AUT-12).
   * It may await. Access rules apply to the requests that it lets pass.
   */
  readonly authorize?: (request: AuthorizationRequest) => Authorization | Promise<Authorization>
  /** Each tenant has a database of its own; undeclared: there is one database (TEN-1, TEN-2). */
  readonly tenants?: TenantsDeclaration
  readonly limits?: LimitsDeclaration
}
