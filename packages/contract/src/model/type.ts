/**
 * The types of declarations in TypeScript: TypeBox's, and `Decimal`. The builders of TypeBox forget their options in
 * the type of their result. Those of this file keep them, so that `defineInterface` infers from `readOnly`, `default`
 * and the other words.
 */
import * as TypeBox from 'typebox'
import type { FieldWords, OnDelete, SequenceDeclaration, ServerValue } from './declaration.ts'

export * from 'typebox'

/** The words that only references have. */
type ReferenceWord = 'reference' | 'onDelete' | 'requires' | 'as' | 'inverse'

/** The options of a field whose values are of the type `V`. */
interface Options<V> extends Omit<FieldWords, 'default' | 'transitions' | 'sequence' | ReferenceWord> {
  /** The value of a field that a request leaves out: a constant, or what the server finds on creation. */
  readonly default?: V | ServerValue
}

/** The options of a field with listed values. */
interface EnumOptions<V> extends Options<V> {
  /** The values that may follow each value; other changes get 409 `INVALID_TRANSITION`. */
  readonly transitions?: { readonly [From in V & string]?: readonly V[] }
}

/** The options of a reference. */
interface ReferenceOptions
  extends Omit<FieldWords, 'transitions' | 'reference' | 'onDelete' | 'requires' | 'sequence'> {
  /** What happens when the record that the field refers to is deleted; default `restrict`. */
  readonly onDelete?: 'restrict' | 'cascade' | 'clear'
  /** What a caller needs to refer to a record; default: permission to read it. */
  readonly requires?: 'read' | 'none'
  readonly default?: string | ServerValue
}

/** The options themselves if all of them are known; else the known ones, so that the compiler reports the others. */
type Known<O, All> = Exclude<keyof O, keyof All> extends never ? O : All

/** The same of options with listed values: `transitions` has no other ones. */
type KnownEnum<O, V> = O extends { readonly transitions: infer Transitions }
  ? Exclude<keyof Transitions, V> extends never
    ? Known<O, EnumOptions<V>>
    : EnumOptions<V>
  : Known<O, EnumOptions<V>>

/** Makes a field whose values are of the type `V`. */
type Builder<V, Made> = <const O extends Options<V> = object>(options?: Known<O, Options<V>>) => Made & NoInfer<O>

/** A text. */
const string = TypeBox.String as Builder<string, TypeBox.TString>

/** A whole number. */
export const Integer = TypeBox.Integer as Builder<number, TypeBox.TInteger>

/** A number. */
const number = TypeBox.Number as Builder<number, TypeBox.TNumber>

/** True or false. */
const boolean = TypeBox.Boolean as Builder<boolean, TypeBox.TBoolean>

/** One of the listed values. */
export const Enum = TypeBox.Enum as <
  const Values extends TypeBox.TEnumValue[],
  const O extends EnumOptions<Values[number]> = object,
>(
  values: readonly [...Values],
  options?: KnownEnum<O, Values[number]>,
) => TypeBox.TEnum<Values> & NoInfer<O>

/** One value. */
export const Literal = TypeBox.Literal as <
  const Value extends TypeBox.TLiteralValue,
  const O extends Options<Value> = object,
>(
  value: Value,
  options?: Known<O, Options<Value>>,
) => TypeBox.TLiteral<Value> & NoInfer<O>

/** A list of values of one type. */
const array = TypeBox.Array as <Items extends TypeBox.TSchema, const O extends Options<readonly unknown[]> = object>(
  items: Items,
  options?: Known<O, Options<readonly unknown[]>>,
) => TypeBox.TArray<Items> & NoInfer<O>

/** An object with the given properties. */
const object = TypeBox.Object as <Properties extends TypeBox.TProperties, const O extends Options<object> = object>(
  properties: Properties,
  options?: Known<O, Options<object>>,
) => TypeBox.TObject<Properties> & NoInfer<O>

/** A value of one of several types. */
export const Union = TypeBox.Union as <Types extends TypeBox.TSchema[], const O extends Options<unknown> = object>(
  types: [...Types],
  options?: Known<O, Options<unknown>>,
) => TypeBox.TUnion<Types> & NoInfer<O>

/** Any value. */
export const Unknown = TypeBox.Unknown as <const O extends Options<unknown> = object>(
  options?: Known<O, Options<unknown>>,
) => TypeBox.TUnknown & NoInfer<O>

export { array as Array, boolean as Boolean, number as Number, object as Object, string as String }

/** The options of a decimal field. Bounds are texts of digits, or numbers. */
export interface DecimalOptions extends Options<string | number> {
  /** The most digits, 1 to 38. */
  readonly precision: number
  /** The number of digits after the decimal point. */
  readonly scale: number
  readonly enum?: readonly (string | number)[]
}

/** The result of `Decimal`; `Static` makes it a string. */
export type TDecimal = TypeBox.TUnsafe<string> & { readonly '~kind': 'Decimal' }

/**
 * A number of decimal digits that is stored and compared exactly, such as an amount of money. Its values are texts of
 * digits: `"19.90"`. Clients may send a number too.
 *
 * @example
 * Type.Decimal({ precision: 12, scale: 2, minimum: 0, filter: true, sort: true })
 */
export function Decimal<const O extends DecimalOptions>(options: Known<O, DecimalOptions>): TDecimal & NoInfer<O> {
  return TypeBox.Unsafe<string>({ ...options, type: 'decimal' }) as TDecimal & NoInfer<O>
}

/** A field that refers to a record of the collection `C`. An interface would not fit `FieldDeclaration`. */
export type TReference<C extends string> = {
  readonly type: 'string'
  readonly reference: C
  readonly onDelete: OnDelete
}

/**
 * A field that refers to a record of another collection by its id.
 *
 * @param collection the collection's name
 * @param options `onDelete` (default `restrict`) and other words of fields
 */
export function reference<const C extends string, const O extends ReferenceOptions = object>(
  collection: C,
  options?: Known<O, ReferenceOptions>,
): TReference<C> & NoInfer<O> {
  return { type: 'string', reference: collection, onDelete: 'restrict', ...options } as never
}

/** The options of a sequence. */
export interface SequenceOptions extends SequenceDeclaration {
  readonly title?: string
  readonly description?: string
  readonly deprecated?: boolean
  readonly examples?: readonly number[]
  readonly filter?: boolean
  readonly sort?: boolean
}

/** The result of `Sequence`: the server sets it, so no request contains it. An interface would not fit a field. */
export type TSequence<Per extends string> = {
  readonly type: 'integer'
  readonly sequence: { readonly per: Per }
}

/**
 * Numbers 1, 2, 3 and so on, which the server assigns on creation: without gaps, and each once.
 *
 * @param options `per`: the field whose values are numbered separately; left out: the collection is numbered
 *
 * @example
 * Type.Sequence({ per: 'project_id', filter: true, sort: true })
 */
export function Sequence<const O extends SequenceOptions = object>(
  options?: Known<O, SequenceOptions>,
): TSequence<O extends { readonly per: infer Per extends string } ? Per : never> & NoInfer<Omit<O, 'per'>> {
  const { per, ...words } = (options ?? {}) as SequenceOptions
  return { type: 'integer', minimum: 1, sequence: per === undefined ? {} : { per }, ...words } as never
}
