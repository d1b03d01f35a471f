/**
 * The types of a collection's requests and responses, as the OpenAPI document describes them, and its relations by the
 * rules of `relations.ts` (REL-1).
 */
import type { ReservedField } from '../names.ts'
import type { SystemField } from './checked-condition.ts'
import type { FieldNames, IsOne } from './field-names.ts'
import type { FieldValue, Flat, Has, HasDefault, IsOptional } from './field-value.ts'
import type { FilterParameters, SortTerm, SummaryTypesOf } from './query-types.ts'

/**
 * The types of one collection: a `CollectionTypes` of the client.
 *
 * @param Owner the owner field
 * @param Nested the collections within this one
 * @param Variant how records are deleted
 * @param All the fields of every collection
 * @param Collection its name
 */
export interface CollectionTypesOf<Fields, Owner, Nested, Variant, All, Collection extends keyof All> {
  readonly record: Flat<RecordOf<Fields, Variant>>
  readonly create: Flat<Sent<Fields, Owner, 'create'>>
  readonly replace: Flat<Sent<Fields, Owner, 'replace'> & Repeated<Fields, Owner>>
  readonly patch: Flat<Patch<Fields, Owner> & Repeated<Fields, Owner>>
  readonly filter: Flat<FilterParameters<Fields>>
  readonly sort: SortTerm<Fields>
  readonly field: FieldNames<Fields>['shown'] | 'id' | 'created_at' | 'updated_at' | 'deleted_at'
  readonly nested: Nested & string
  readonly unique: UniqueName<Fields> & string
  readonly relations: RelationsOf<All, Collection>
  readonly summary: SummaryTypesOf<Fields>
}

interface Stamps {
  id: string
  /** When it was created: an RFC 3339 date-time. */
  created_at: string
  /** When it was last changed: an RFC 3339 date-time. */
  updated_at: string
}

type RecordOf<Fields, Variant> = Stamps & {
  -readonly [Name in keyof Fields as Shown<Fields, Name>]: Values<Fields[Name]>['shown']
} & (Variant extends 'hard'
    ? unknown
    : {
        /** When it was deleted: only deleted records have it. */
        deleted_at?: string
      })

type Shown<Fields, Name extends keyof Fields> = Has<Fields[Name], 'writeOnly'> extends true ? never : Name

/** The fields whose values identify a record. */
type UniqueName<Fields> = {
  [Name in keyof Fields]: Has<Fields[Name], 'unique'> extends true ? Shown<Fields, Name> : never
}[keyof Fields]

/** Whether only the server sets the field. */
type IsServers<Fields, Name extends keyof Fields, Owner> = Name extends Owner
  ? true
  : Fields[Name] extends { readonly set: object } | { readonly sequence: object } | { readonly sumOf: string }
    ? true
    : Has<Fields[Name], 'readOnly'>

/** The values of a field. Editors show a member of an interface as what it is, and an alias by its name. */
interface Values<X> {
  readonly shown: FieldValue<X> | (IsOptional<X> extends true ? null : never)
  /** `null` clears a field, or resets it to its default. */
  readonly sent:
    | FieldValue<X>
    | (X extends { readonly '~kind': 'Decimal' } | { readonly type: 'decimal' } ? number : never)
    | (IsOptional<X> extends true ? null : HasDefault<X> extends true ? null : never)
}

/** Whether a request must have the field. */
type IsNeeded<X> = IsOptional<X> extends true ? false : HasDefault<X> extends true ? false : true

/** The fields that callers send. Only administrators send the owner, and only on creation. */
type Sent<Fields, Owner, Kind> = {
  -readonly [Name in keyof Fields as IsServers<Fields, Name, Owner> extends true
    ? never
    : IsNeeded<Fields[Name]> extends true
      ? Name
      : never]: Values<Fields[Name]>['sent']
} & {
  -readonly [Name in keyof Fields as IsServers<Fields, Name, Owner> extends true
    ? never
    : IsNeeded<Fields[Name]> extends true
      ? never
      : Name]?: Values<Fields[Name]>['sent']
} & (Kind extends 'create' ? { -readonly [Name in Owner & keyof Fields]?: FieldValue<Fields[Name]> } : unknown)

/** What a change may repeat as it is. */
type Repeated<Fields, Owner> = Partial<Stamps> & {
  -readonly [Name in keyof Fields as IsServers<Fields, Name, Owner> extends true ? Name : never]?: Values<
    Fields[Name]
  >['shown']
}

type Patch<Fields, Owner> = {
  -readonly [Name in keyof Fields as IsServers<Fields, Name, Owner> extends true ? never : Name]?: Merged<
    Values<Fields[Name]>['sent']
  >
}

/** A JSON Merge Patch (RFC 7396) merges objects: `null` removes a property. */
type Merged<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { -readonly [Name in keyof Value]?: Merged<Value[Name]> | null }
    : Value

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
type RelationsOf<All, Collection extends keyof All> = NamedRelations<
  All[Collection],
  Collection extends keyof ReferencesTo<All>
    ? Extract<ReferencesTo<All>[Collection], { readonly target: Collection }>
    : never
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
  readonly [Name in keyof Fields as Readable<Fields[Name]> extends { readonly as: infer As extends string }
    ? As
    : never]: Leading<'one', TargetOf<Fields[Name]>>
}

type DefaultOne<Fields> = {
  readonly [Name in keyof Fields as DefaultName<Fields, Name>]: Leading<'one', TargetOf<Fields[Name]>>
}

type DefaultName<Fields, Name extends keyof Fields> =
  Readable<Fields[Name]> extends { readonly reference: string }
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

/** The references of all collections, by the collection that they lead to. */
type ReferencesTo<All> = { readonly [R in ReferencesIn<All> as R['target'] & string]: R }

type ReferencesIn<All> = {
  [From in keyof All]: {
    [Name in keyof All[From]]: Readable<All[From][Name]> extends { readonly reference: infer Target }
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
type Readable<X> = Has<X, 'writeOnly'> extends true ? unknown : X
