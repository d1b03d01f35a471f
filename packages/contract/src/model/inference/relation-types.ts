/** The relations of a collection and their names, by the rules of `relations.ts` (REL-1). */
import type { ReservedField } from '../names.ts'
import type { SystemField } from './checked-condition.ts'
import type { IsOne } from './field-names.ts'
import type { Flat, Has } from './field-value.ts'

/** Where a relation leads: to one record, or to a list of them. */
interface Leading<To extends 'one' | 'many', Collection> {
  readonly to: To
  readonly collection: Collection
}

/**
 * The relations of a collection by name.
 *
 * @param All the fields of every collection
 */
export type RelationsOf<All, Collection extends keyof All> = NamedRelations<
  All[Collection],
  Extract<ReferencesIn<All>, { readonly target: Collection }>
>

/** A declared name is taken first, then that of a reference of the collection itself. */
type NamedRelations<Fields, Referring, Declared = DeclaredOne<Fields> & DeclaredMany<Referring>> = Flat<
  Declared &
    Omit<DefaultOne<Fields>, keyof Declared> &
    Omit<DefaultMany<Referring>, keyof Declared | keyof DefaultOne<Fields> | Taken<Fields>>
>

/** Names that a relation cannot have without being declared, and those that are refused if they are declared. */
type Taken<Fields> = keyof Fields | ReservedField | SystemField

type DeclaredOne<Fields> = {
  readonly [Name in keyof Fields as Shown<Fields[Name]> extends { readonly as: infer As extends string }
    ? As
    : never]: Leading<'one', TargetOf<Fields[Name]>>
}

type DefaultOne<Fields> = {
  readonly [Name in keyof Fields as DefaultName<Fields, Name>]: Leading<'one', TargetOf<Fields[Name]>>
}

type DefaultName<Fields, Name extends keyof Fields> =
  Shown<Fields[Name]> extends { readonly reference: string }
    ? Fields[Name] extends { readonly as: string }
      ? never
      : Name extends `${infer Short}_id`
        ? Exclude<Short, Taken<Fields>>
        : Name
    : never

/** A reference, as far as the relation from the other side depends on it. */
interface Reference<Target, From, Field, Inverse> {
  readonly target: Target
  readonly from: From
  readonly field: Field
  readonly inverse: Inverse
}

/** The references of all collections. */
type ReferencesIn<All> = {
  [From in keyof All]: {
    [Name in keyof All[From]]: Shown<All[From][Name]> extends { readonly reference: infer Target }
      ? Reference<Target, From, Name, InverseOf<All[From][Name]>>
      : never
  }[keyof All[From]]
}[keyof All]

type InverseOf<X> = X extends { readonly inverse: infer Inverse extends string } ? Inverse : undefined

type DeclaredMany<Referring> = {
  readonly [R in Referring as R extends { readonly inverse: infer Inverse extends string }
    ? Inverse
    : never]: R extends { readonly from: infer From } ? Leading<'many', From> : never
}

/** Of several references of one collection, none has a name from the other side unless it is declared. */
type DefaultMany<Referring> = {
  readonly [From in SourceOf<Referring> as IsOne<FieldFrom<Referring, From>> extends true
    ? Underscored<From>
    : never]: Leading<'many', From>
}

type SourceOf<Referring> = Referring extends {
  readonly from: infer From extends string
  readonly inverse: undefined
}
  ? From
  : never

type FieldFrom<Referring, From> = Referring extends {
  readonly from: From
  readonly inverse: undefined
  readonly field: infer Name
}
  ? Name
  : never

type Underscored<Name extends string> = Name extends `${infer Head}-${infer Rest}`
  ? `${Head}_${Underscored<Rest>}`
  : Name

type TargetOf<X> = X extends { readonly reference: infer Target } ? Target : never

/** The field; nothing is known of one that no response contains. */
type Shown<X> = Has<X, 'writeOnly'> extends true ? unknown : X
