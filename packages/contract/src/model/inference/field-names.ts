/** What the fields of a collection can be used for: the names that each place of a declaration may contain. */
import type { Has, IsUntyped } from './field-value.ts'

/** How the values of a field are compared. `any`: the compiler does not know the declaration. */
export type FieldKind<X> =
  IsUntyped<X> extends true
    ? 'any'
    : X extends { readonly reference: string }
      ? 'reference'
      : X extends { readonly sequence: object }
        ? 'number'
        : X extends { readonly '~kind': 'Decimal' } | { readonly type: 'decimal' }
          ? 'decimal'
          : X extends { readonly enum: readonly (infer Value)[] } | { readonly const: infer Value }
            ? KindOfValue<Exclude<Value, null>>
            : X extends { readonly type: infer Word }
              ? KindOfWord<Word, X>
              : X extends { readonly anyOf: readonly (infer Branch)[] } | { readonly oneOf: readonly (infer Branch)[] }
                ? Common<FieldKind<Exclude<Branch, { readonly type: 'null' }>>>
                : 'json'

type KindOfValue<Value> = [Value] extends [string]
  ? 'enum'
  : [Value] extends [number]
    ? 'number'
    : [Value] extends [boolean]
      ? 'boolean'
      : 'json'

type KindOfWord<Word, X> = Word extends 'string'
  ? X extends { readonly format: string }
    ? 'format'
    : 'text'
  : Word extends 'integer' | 'number'
    ? 'number'
    : Word extends 'boolean' | 'array' | 'object'
      ? Word
      : Word extends readonly (infer Each)[]
        ? Common<KindOfWord<Exclude<Each, 'null'>, X>>
        : 'json'

/** Values of several kinds are compared as JSON. */
type Common<Kind> = [Kind] extends ['text' | 'format']
  ? 'text'
  : [Kind] extends ['number' | 'boolean' | 'array' | 'object' | 'enum' | 'decimal' | 'any']
    ? IsOne<Kind> extends true
      ? Kind
      : 'json'
    : 'json'

/** Whether a type is no union. */
export type IsOne<Kind, All = Kind> = Kind extends unknown ? ([All] extends [Kind] ? true : false) : never

type Incomparable = 'array' | 'object' | 'json'

/** The names of fields, by what they can be used for. A member of an interface is shown in messages as its names. */
export interface FieldNames<Fields> {
  readonly all: keyof Fields & string
  /** Fields that a response may contain. */
  readonly shown: {
    [Name in keyof Fields]: Has<Fields[Name], 'writeOnly'> extends true ? never : Name
  }[keyof Fields] &
    string
  /** Fields of texts without listed values: they can hold the id of a caller. */
  readonly text: {
    [Name in keyof Fields]: FieldKind<Fields[Name]> extends 'text' | 'format' | 'reference' | 'any' ? Name : never
  }[keyof Fields] &
    string
  readonly reference: {
    [Name in keyof Fields]: FieldKind<Fields[Name]> extends 'reference' | 'any' ? Name : never
  }[keyof Fields] &
    string
  /** Fields whose values can be compared, without those that no response contains. */
  readonly comparable: {
    [Name in keyof Fields]: FieldKind<Fields[Name]> extends Incomparable
      ? never
      : Has<Fields[Name], 'writeOnly'> extends true
        ? never
        : Name
  }[keyof Fields] &
    string
}
