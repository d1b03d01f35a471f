/** Fields as data whose words and values fit each other, and references to collections that are declared. */
import type { FieldWords, OnDelete, ServerValue } from '../declaration.ts'
import type { IsUntyped } from './field-value.ts'

/** The fields if they are right; otherwise what they should be, so that the mistake is shown in its place. */
export type CheckedFields<Fields, Collection> = {
  [Name in keyof Fields]: Fields[Name] extends CheckedField<Fields[Name], Collection> ? never : Name
}[keyof Fields] extends never
  ? Fields
  : { readonly [Name in keyof Fields]: CheckedField<Fields[Name], Collection> }

/** Builders check their options themselves; the collection that a reference names is known only here. */
type CheckedField<X, Collection> =
  IsUntyped<X> extends true
    ? X
    : X extends { readonly reference: infer Target }
      ? Target extends Collection
        ? CheckedWords<X>
        : Reference<Collection>
      : X extends { readonly '~kind': string }
        ? X
        : CheckedWords<X>

interface Reference<Collection> {
  readonly reference: Collection
  readonly type?: unknown
  readonly onDelete?: OnDelete
}

type CheckedWords<X> = X extends FieldWords
  ? Exclude<keyof X, keyof FieldWords | '~optional'> extends never
    ? CheckedValues<X>
    : FieldWords
  : FieldWords

type CheckedValues<X> = X extends { readonly enum: readonly (infer Value)[] }
  ? X extends EnumWords<Value> & OnlyStates<X, Value>
    ? X
    : Omit<FieldWords, 'default' | 'transitions'> & EnumWords<Value>
  : X

/** That `transitions` has no other values than the listed ones: an object with more members would fit `EnumWords`. */
type OnlyStates<X, Value> = X extends { readonly transitions: infer Transitions }
  ? { readonly transitions: { readonly [From in Exclude<keyof Transitions, Value>]?: never } }
  : unknown

/** The words of a field with listed values. */
interface EnumWords<Value> {
  readonly default?: Value | ServerValue
  readonly transitions?: { readonly [From in Value & string]?: readonly Value[] }
}
