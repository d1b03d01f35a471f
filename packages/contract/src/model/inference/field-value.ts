/** The values of a declared field, of TypeBox or as data, and what requests and responses may leave out. */
import type { Static, TSchema } from 'typebox'

/** A field whose declaration is not known to the compiler: it was read from a file, or is an `InterfaceDeclaration`. */
export type IsUntyped<X> = string extends keyof X ? true : false

/** The value of a field in a record, without `null`. */
export type FieldValue<X> = X extends { readonly '~unsafe': infer Value }
  ? Value
  : X extends { readonly reference: string } | { readonly type: 'decimal' }
    ? string
    : X extends { readonly sequence: object }
      ? number
      : X extends { readonly enum: readonly (infer Value)[] } | { readonly const: infer Value }
        ? Exclude<Value, null>
        : X extends { readonly type: infer Word }
          ? ValueOfWord<Word, X>
          : X extends { readonly sumOf: string }
            ? number | string
            : X extends { readonly anyOf: readonly (infer Branch)[] } | { readonly oneOf: readonly (infer Branch)[] }
              ? FieldValue<Branch>
              : X extends TSchema & { readonly '~kind': string }
                ? Static<X>
                : unknown

/** @param Word the word `type` of a field, or one of several words */
type ValueOfWord<Word, X> = Word extends 'string'
  ? string
  : Word extends 'integer' | 'number'
    ? number
    : Word extends 'boolean'
      ? boolean
      : Word extends 'null'
        ? never
        : Word extends 'array'
          ? X extends { readonly items: infer Items extends object }
            ? FieldValue<Items>[]
            : unknown[]
          : Word extends 'object'
            ? ObjectValue<X>
            : Word extends readonly (infer Each)[]
              ? ValueOfWord<Each, X>
              : unknown

type ObjectValue<X> = X extends { readonly properties: infer Properties extends object }
  ? Flat<
      {
        -readonly [Name in RequiredIn<X, Properties> & keyof Properties]: PropertyValue<Properties[Name]>
      } & {
        -readonly [Name in Exclude<keyof Properties, RequiredIn<X, Properties>>]?: PropertyValue<Properties[Name]>
      }
    >
  : Record<string, unknown>

/** One object type instead of an intersection: editors show its members. */
export type Flat<T> = { [Name in keyof T]: T[Name] } & {}

/** A property of an object in a field may be `null` only if its schema says so. */
type PropertyValue<X> = FieldValue<X> | (AllowsNull<X> extends true ? null : never)

/** The properties that the value must have. TypeBox marks optional ones; data lists the required ones. */
type RequiredIn<X, Properties> = X extends { readonly '~kind': string }
  ? {
      [Name in keyof Properties]: Properties[Name] extends { readonly '~optional': true } ? never : Name
    }[keyof Properties]
  : X extends { readonly required: readonly (infer Name)[] }
    ? Name
    : never

/** Whether a record may be without a value of the field. */
export type IsOptional<X> = X extends { readonly '~optional': true } | { readonly optional: true }
  ? true
  : AllowsNull<X>

type AllowsNull<X> = X extends { readonly type: readonly (infer Word)[] }
  ? 'null' extends Word
    ? true
    : false
  : X extends { readonly enum: readonly (infer Value)[] }
    ? null extends Value
      ? true
      : false
    : X extends { readonly anyOf: readonly (infer Branch)[] } | { readonly oneOf: readonly (infer Branch)[] }
      ? Extract<Branch, { readonly type: 'null' }> extends never
        ? false
        : true
      : false

/** Whether a request that leaves the field out gives it a value. */
export type HasDefault<X> = X extends { readonly default: infer Value } ? (Value extends null ? false : true) : false

/** Whether the field has a word with the value `true`. */
export type Has<X, Word extends string> = X extends { readonly [W in Word]: true } ? true : false
