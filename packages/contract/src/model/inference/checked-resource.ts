/** A resource whose owner, parent, unique sets, access rules and business rules fit its fields. */
import type {
  AccessRule,
  Action,
  BusinessRule,
  LookupRule,
  ResourceDeclaration,
  RuleContext,
  RuleObjection,
  RuleTrigger,
} from '../declaration.ts'
import type { CallerView, EventFunction, PrepareContext } from '../declared-functions.ts'
import type { CheckedCondition, LookupCondition, SystemField } from './checked-condition.ts'
import type { FieldNames } from './field-names.ts'
import type { FieldValue, Has, IsOptional } from './field-value.ts'
import type { SummaryTypesOf } from './query-types.ts'

/**
 * Everything of a resource but its fields.
 *
 * @param All the fields of every collection
 * @param Collection the name of this one
 */
export type CheckedResource<All, Collection extends keyof All> = string extends keyof All[Collection]
  ? Omit<ResourceDeclaration, 'fields'>
  : Checked<All, All[Collection]>

interface Checked<All, Fields>
  extends Omit<
    ResourceDeclaration,
    'fields' | 'owner' | 'within' | 'unique' | 'access' | 'rules' | 'prepare' | 'on' | 'summaries'
  > {
  /** The field that holds the id of the caller who created the record (AUT-7). */
  readonly owner?: FieldNames<Fields>['text']
  /** The reference whose target also nests the collection. */
  readonly within?: FieldNames<Fields>['reference']
  /** Fields that are unique together among live records. */
  readonly unique?: readonly (readonly FieldNames<Fields>['comparable'][])[]
  readonly access?: {
    readonly [A in Action]?: CheckedAccess<All, Fields>['rule'] | Listed<CheckedAccess<All, Fields>['rule']>
  } & { readonly fields?: CheckedFieldAccess<All, Fields> }
  /** Completes the record that a request creates or changes, inside the transaction. It must not await. */
  readonly prepare?: (context: PrepareContext<StoredRecord<Fields>>) => Partial<StoredRecord<Fields>>
  /** Functions that run after a change was committed. The resource needs `events: true`. */
  readonly on?: CheckedFunctions<Fields>
  readonly rules?: readonly CheckedRule<All, Fields>[]
  /** Summaries whose figures are kept, by name (SUM-3). */
  readonly summaries?: Readonly<Record<string, CheckedSummary<SummaryTypesOf<Fields>>>>
}

/** A kept summary: its groups, and the fields that it adds up. */
interface CheckedSummary<Types extends { readonly group: object; readonly sum: string }> {
  readonly group: readonly (keyof Types['group'])[]
  readonly sum?: readonly Types['sum'][]
}

/**
 * A list. If it were an array type, the compiler would not look into a single rule for the place of a mistake. Arrays
 * have a method `some`, which is also a word of rules: it says to the compiler that an array is this and no rule.
 */
interface Listed<T> {
  readonly length: number
  readonly some: (...given: never) => unknown
  readonly [position: number]: T
}

/** The access rules of single fields. */
type CheckedFieldAccess<All, Fields> = {
  readonly [Name in keyof Fields]?: {
    readonly read?: CheckedAccess<All, Fields>['rule'] | Listed<CheckedAccess<All, Fields>['rule']>
    readonly write?: CheckedAccess<All, Fields>['rule'] | Listed<CheckedAccess<All, Fields>['rule']>
  }
}

/** Messages show a member of an interface as what it is, and an alias by its name. */
interface CheckedAccess<All, Fields> {
  readonly rule:
    | LookupIn<All>
    | Extract<AccessRule, string>
    | ({ readonly where: CheckedCondition<Fields> } & NoLookup)
    | ({ readonly through: FieldNames<Fields>['reference']; readonly action: Action } & NoLookup)
    | ({ readonly all: Listed<CheckedAccess<All, Fields>['rule']> } & NoLookup)
    | (((caller: CallerView) => boolean | CheckedCondition<Fields>) & NoLookup)
}

interface NoLookup {
  readonly some?: undefined
  readonly none?: undefined
}

/**
 * Rules for which records of a collection decide, once for all collections: the names of fields are those of any of
 * them. With a condition for each collection, every rule of every collection would be compared with each of them.
 */
type LookupIn<All> = string extends keyof All ? LookupRule : Lookup<keyof All, LookupCondition<AnyField<All>>>

type Lookup<Collection, Condition> =
  | { readonly some: Collection; readonly none?: undefined; readonly where: Condition }
  | { readonly none: Collection; readonly some?: undefined; readonly where: Condition }

/** A record as rules see it: a field without a value is `null`. */
type StoredRecord<Fields> = {
  readonly [Name in keyof Fields | SystemField]: Name extends keyof Fields
    ? FieldValue<Fields[Name]> | (IsOptional<Fields[Name]> extends true ? null : never)
    : Name extends 'deleted_at'
      ? string | null
      : string
}

interface CheckedFunctions<Fields> {
  readonly created?: EventFunction<EventRecord<Fields> | null>
  readonly updated?: EventFunction<EventRecord<Fields> | null>
  readonly restored?: EventFunction<EventRecord<Fields> | null>
  readonly deleted?: EventFunction<null>
  readonly purged?: EventFunction<null>
}

/** A record as events have it: without `writeOnly` fields. */
type EventRecord<Fields> = {
  readonly [Name in keyof StoredRecord<Fields> as Name extends 'deleted_at'
    ? never
    : Name extends keyof Fields
      ? Has<Fields[Name], 'writeOnly'> extends true
        ? never
        : Name
      : Name]: StoredRecord<Fields>[Name]
}

/** The changes that a rule applies to. */
interface Triggered {
  readonly on: { [Each in RuleTrigger]: Each }[RuleTrigger] | readonly RuleTrigger[]
}

type CheckedRule<All, Fields> =
  | (Triggered & {
      readonly code: string
      readonly message: string
      readonly when?: CheckedCondition<Fields, FieldNames<Fields>['all'] | SystemField>
      readonly unless: Unless<All, Fields>
    })
  | (Triggered & {
      readonly check: (context: RuleContext<StoredRecord<Fields>>) => RuleObjection | undefined
    })

/** The condition of a rule: on the record itself, or on the records of a collection. */
type Unless<All, Fields> = string extends keyof All
  ? Extract<BusinessRule, { readonly unless: unknown }>['unless']
  :
      | {
          readonly none?: undefined
          readonly some?: undefined
          readonly where: CheckedCondition<Fields, FieldNames<Fields>['all'] | SystemField>
        }
      | UnlessOthers<All>[keyof All]

/**
 * The conditions on the records of each collection, for the rules of all collections: the fields of the changed record
 * are those of any of them. With its own for each rule, the types would grow with the square of the declaration.
 */
type UnlessOthers<All> = {
  [Other in keyof All]:
    | { readonly none: Other; readonly some?: undefined; readonly where: CheckedCondition<All[Other], AnyField<All>> }
    | { readonly some: Other; readonly none?: undefined; readonly where: CheckedCondition<All[Other], AnyField<All>> }
}

type AnyField<All> = { [Collection in keyof All]: keyof All[Collection] & string }[keyof All] | SystemField
