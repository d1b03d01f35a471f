/** The types of related records: what `include` and `where` may name, and what a record with its related records is. */
import type { CollectionTypes, Relations, UntypedCollection } from './interface-types.ts'

/** The relations of a collection. Where types do not say which, any name may be one. */
type RelationsOf<Types> = Types extends Relations ? Types['relations'] : UntypedRelations

interface UntypedRelations {
  readonly [name: string]: { readonly to: 'one' | 'many'; readonly collection: string }
}

type NameIn<Types> = keyof RelationsOf<Types> & string

/** The names of the relations to one record, or to many. */
type NameTo<Types, To> =
  string extends NameIn<Types>
    ? string
    : {
        [Name in NameIn<Types>]: RelationsOf<Types>[Name] extends { readonly to: To } ? Name : never
      }[NameIn<Types>]

/** The types of the collection that a relation leads to. */
type TargetOf<Types, All, Name> = Name extends keyof RelationsOf<Types>
  ? RelationsOf<Types>[Name] extends { readonly collection: infer Collection extends keyof All }
    ? All[Collection] extends CollectionTypes
      ? All[Collection]
      : UntypedCollection
    : UntypedCollection
  : UntypedCollection

/** The paths of related records, of one relation or two: `author`, `chapters.translator`. */
export type IncludePath<Types, All> =
  string extends NameIn<Types>
    ? string
    : { [Name in NameIn<Types>]: Name | `${Name}.${NameIn<TargetOf<Types, All, Name>>}` }[NameIn<Types>]

/** Records that a relation leads to. A list that was cut shows it: `total` has their exact number. */
export interface RelatedList<Data = unknown> extends ReadonlyArray<Data> {
  readonly total: number
  /** The address of the next page; `null`: the list has all of them. */
  readonly next: string | null
  /** Reads all of them: those of the list, then page by page. */
  all(): AsyncGenerator<Data, void, void>
}

/** A record with its related records, by the names of the relations. */
export type Including<Data, Types, All, Path extends string> = [Path] extends [never]
  ? Data
  : string extends NameIn<Types>
    ? Data
    : Omit<Data, FirstName<Path>> & {
        readonly [Name in FirstName<Path>]: Related<
          Name extends NameTo<Types, 'one'> ? 'one' : 'many',
          TargetOf<Types, All, Name>,
          All,
          RestOf<Path, Name>
        >
      }

/** Without a record of this id, or without permission to read it, a relation to one record is `null`. */
type Related<To, Types extends CollectionTypes, All, Path extends string> = To extends 'one'
  ? Including<Types['record'], Types, All, Path> | null
  : RelatedList<Including<Types['record'], Types, All, Path>>

type FirstName<Path extends string> = Path extends `${infer Name}.${string}` ? Name : Path

type RestOf<Path extends string, Name extends string> = Path extends `${Name}.${infer Rest}` ? Rest : never

type Value = string | number | boolean

/** Related records, and the parameters of their paths. */
export type Include<Types, Path extends string> = {
  /** The related records to return: `author`, `chapters.translator`. */
  readonly include: Path | readonly Path[]
} & (string extends NameIn<Types>
  ? unknown
  : { readonly [Limit in `include[${string}][limit]`]?: number } & {
      /** `fields[author]` selects fields of the included records. */
      readonly [List in `include[${string}][sort]` | `fields[${string}]`]?: string | readonly string[]
    } & { readonly [Where in `include[${string}][where]`]?: object })

/** Filters of related records: `author.born[gte]`, and with two relations `chapters.translator.name`. */
export type RelatedFilters<Types, All> =
  string extends NameIn<Types>
    ? unknown
    : {
        readonly [Filter in FilterAcross<Types, All, NameIn<Types>> as Filter['name']]?: Filter['value']
      } & {
        readonly [Name in `${NameIn<Types>}.${string}.${string}`]?: Value | readonly Value[]
      }

type FilterAcross<Types, All, Name extends string> = Name extends string
  ? FilterOf<Name, TargetOf<Types, All, Name>['filter']>
  : never

type FilterOf<Relation extends string, Filter> = {
  [Name in keyof Filter & string]-?: { readonly name: `${Relation}.${Name}`; readonly value: Filter[Name] }
}[Exclude<keyof Filter & string, 'q'>]

/** The terms of `sort` by related records: `author.name`. */
export type RelatedSort<Types> = string extends NameIn<Types> ? string : `${'' | '-'}${NameTo<Types, 'one'>}.${string}`

/**
 * A condition on a record: what its fields are compared with, and conditions on related records.
 *
 * @example
 * const where: Where<Books, Library> = { or: [{ status: 'open' }, { author: { born: { gte: 1920 } } }] }
 */
export type Where<Types extends CollectionTypes, All> = string extends keyof Types['filter']
  ? Readonly<Record<string, unknown>>
  : Compared<Types['filter']> & {
      readonly [Name in NameTo<Types, 'one'>]?: Where<TargetOf<Types, All, Name>, All>
    } & {
      readonly [Name in NameTo<Types, 'many'>]?: OfSeveral<Where<TargetOf<Types, All, Name>, All>>
    } & {
      readonly and?: readonly Where<Types, All>[]
      readonly or?: readonly Where<Types, All>[]
      readonly not?: Where<Types, All>
    }

/** A condition that some, none or every one of the related records meets. */
interface OfSeveral<Condition> {
  readonly some?: Condition
  readonly none?: Condition
  readonly every?: Condition
}

/** Comparisons of the fields that a collection filters by; members of an object are within it. */
type Compared<Filter, Before extends string = ''> = {
  readonly [Name in HeadOf<Compact<keyof Filter>, Before>]?:
    | Comparison<Filter, `${Before}${Name}`>
    | (HeadOf<Compact<keyof Filter>, `${Before}${Name}.`> extends never ? never : Compared<Filter, `${Before}${Name}.`>)
}

/** The names of fields in those of filters: `due_on[lt]` is one of `due_on`. */
type Compact<Key> = Key extends `${infer Name}[${string}` ? Name : Exclude<Key, 'q'>

/** The first part of each name that begins with other ones. */
type HeadOf<Name, Before extends string> = Name extends `${Before}${infer Rest}`
  ? Rest extends `${infer Head}.${string}`
    ? Head
    : Rest
  : never

type Comparison<Filter, Name extends string> =
  | (Name extends keyof Filter ? Operand<Filter[Name]> : never)
  | {
      readonly [Key in keyof Filter as Key extends `${Name}[${infer Operator}]` ? Camel<Operator> : never]?: Key extends
        | `${string}[in]`
        | `${string}[has_any]`
        | `${string}[has_all]`
        ? readonly Operand<Filter[Key]>[]
        : Operand<Filter[Key]>
    }

/** A single value, or that of the caller: `{ caller: 'id' }`. */
type Operand<X> = Exclude<X, undefined | readonly unknown[]> | { readonly caller: 'id' | 'roles' | `claims.${string}` }

type Camel<Name extends string> = Name extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<Camel<Rest>>}`
  : Name
