/** Conditions (`where`) whose fields, operators and values fit a collection. */
import type { Condition } from '../declaration.ts'
import type { Comparisons } from '../operators.ts'
import type { FieldKind, FieldNames } from './field-names.ts'
import type { FieldValue } from './field-value.ts'
import type { FirstStep, PathsBelow, PropertyOf } from './members.ts'

/** The fields that the server adds to every record. */
export type SystemField = 'id' | 'created_at' | 'updated_at' | 'deleted_at'

/**
 * A condition on a record of a collection.
 *
 * @param Changed the fields of the changed record, which only business rules can name
 */
export type CheckedCondition<Fields, Changed extends string = never> = string extends keyof Fields
  ? Condition
  : ConditionOn<
      {
        [Name in FieldNames<Fields>['shown'] | SystemField]: Name extends keyof Fields
          ? ComparedValue<Fields[Name]>
          : string
      },
      Changed
    >

/** A condition on the fields with some names, whatever their types are. */
export type LookupCondition<Names extends string> = ConditionOn<{ readonly [Name in Names]: unknown }, never>

/** A value that a field is compared with. `null`: only whether the field has a value can be asked. */
type ComparedValue<X> =
  FieldKind<X> extends 'array' | 'object' | 'json'
    ? X extends { readonly filter: true; readonly items: infer Items }
      ? Listed<ComparedValue<Items>>
      : X extends { readonly filter: readonly (infer Path)[] }
        ? Members<ComparedMembers<X, Path>>
        : null
    : FieldKind<X> extends 'decimal'
      ? string | number
      : FieldValue<X>

/** An array that is compared by its items. */
interface Listed<Item> {
  readonly '~item': Item
}

/** An object that is compared by its members. */
interface Members<Values> {
  readonly '~members': Values
}

type ComparedMembers<X, Path> = {
  readonly [Name in FirstStep<Path>]: [PathsBelow<Path, Name>] extends [never]
    ? ComparedValue<PropertyOf<X, Name>>
    : Members<ComparedMembers<PropertyOf<X, Name>, PathsBelow<Path, Name>>>
}

/** @param Values the values of the fields, as messages show them */
type ConditionOn<Values, Changed extends string> = {
  readonly [Name in keyof Values]?: Compared<Values[Name], Changed>
} & {
  readonly and?: readonly ConditionOn<Values, Changed>[]
  readonly or?: readonly ConditionOn<Values, Changed>[]
  readonly not?: ConditionOn<Values, Changed>
}

/** What a field is compared with: a value, or comparisons. The tuples keep unions together. */
type Compared<Value, Changed extends string> = unknown extends Value
  ? Condition[string]
  : [Value] extends [null]
    ? { readonly null: boolean }
    : [Value] extends [Listed<infer Item>]
      ? Comparisons<'array', Operand<Item, Changed>>
      : [Value] extends [Members<infer Values>]
        ? { readonly null?: boolean } & { readonly [Name in keyof Values]?: Compared<Values[Name], Changed> }
        : Operand<Value, Changed> | ComparisonsOf<Value, Changed>

type Operand<Value, Changed extends string> =
  | Value
  | { readonly caller: 'id' | 'roles' | `claims.${string}` }
  | ([Changed] extends [never] ? never : { readonly record: Changed })

type ComparisonsOf<Value, Changed extends string> = Comparisons<
  [Value] extends [boolean] ? 'boolean' : [Value] extends [string] ? 'string' : 'number',
  Operand<Value, Changed>,
  Operand<string, Changed>
>
