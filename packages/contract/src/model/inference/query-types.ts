/** The query parameters of a collection: filters with the operators that fit, and the terms of `sort`. */
import type { FilterOperator } from '../operators.ts'
import type { DatePart } from '../periods.ts'
import type { FieldKind } from './field-names.ts'
import type { FieldValue, Has, IsOptional } from './field-value.ts'
import type { MemberName, MemberSchema } from './members.ts'

/** The query parameters that filter. A list of values matches any of them. */
export type FilterParameters<Fields> = {
  [Name in keyof Fields & string as IsFilter<Fields[Name]> extends true
    ? Filters<Name, FieldKind<Fields[Name]>>
    : never]?: Parameter<Fields[Name]>
} & {
  [Name in keyof Fields & string as IsFilter<Fields[Name]> extends true ? `${Name}[null]` : never]?: boolean
} & MemberParameters<Fields, MemberName<Fields>> & {
    [Name in 'id' | `id[${Equality}]` | Timestamp | `${Timestamp}[${Operator<'format'>}]`]?: OneOrMore<string>
  } & {
    [Name in `${Timestamp}[null]`]?: boolean
  } & (true extends Searched<Fields>
    ? {
        /** Words that the search fields contain. */
        q?: string
      }
    : unknown)

/** The terms of `sort`; a minus sorts descending. */
export type SortTerm<Fields> =
  `${'' | '-'}${SortField<Fields> | Timestamp | (true extends Searched<Fields> ? 'relevance' : never)}`

type SortField<Fields> = {
  [Name in keyof Fields]: Has<Fields[Name], 'sort'> extends true ? Name : never
}[keyof Fields] &
  string

type Searched<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends { readonly search: true | { readonly weight: number } } ? true : false
}[keyof Fields]

/** References, enums and booleans are filters unless they say otherwise (QRY-7). */
type IsFilter<X> = X extends { readonly filter: infer Filter }
  ? Filter
  : X extends { readonly writeOnly: true }
    ? false
    : FieldKind<X> extends 'reference' | 'enum' | 'boolean' | 'any'
      ? true
      : false

/** The parameters that filter by members of objects; most collections have none. */
type MemberParameters<Fields, Members extends string> = [Members] extends [never]
  ? unknown
  : {
      [Name in Members as Filters<Name, FieldKind<MemberSchema<Fields, Name>>>]?: Parameter<MemberSchema<Fields, Name>>
    } & {
      [Name in `${Members}[null]`]?: boolean
    }

/** The parameters that filter by a field or a member, but for `[null]`. */
type Filters<Name extends string, Kind> = Kind extends 'array'
  ? `${Name}[${FilterOperator<'arrays'>}]`
  : Name | `${Name}[${Operator<Kind>}]`

type OneOrMore<Value> = Value | readonly Value[]

type Parameter<X> = OneOrMore<
  FieldKind<X> extends 'decimal' ? string | number : ItemOf<FieldValue<X>> & (string | number | boolean)
>

type ItemOf<Value> = Value extends readonly (infer Item)[] ? Item : Value

type Timestamp = 'created_at' | 'updated_at'

type Equality = Exclude<FilterOperator<'all'>, 'null'>

type Operator<Kind> =
  | Equality
  | (Kind extends 'text' | 'format' | 'number' | 'decimal' ? FilterOperator<'ordered'> : never)
  | (Kind extends 'text' ? FilterOperator<'texts'> : never)

/** The groups and figures of summaries: a `SummaryTypes` of the client. */
export interface SummaryTypesOf<Fields> {
  readonly group: {
    -readonly [Name in keyof Fields & string as IsGroup<Fields[Name]> extends true ? Name : never]:
      | FieldValue<Fields[Name]>
      | (IsOptional<Fields[Name]> extends true ? null : never)
  } & {
    [Name in DateField<Fields> | Timestamp as `${Name}:${DatePart}`]: string | (Name extends Timestamp ? never : null)
  }
  readonly sum: {
    [Name in keyof Fields]: IsSummed<Fields[Name]> extends true ? Name : never
  }[keyof Fields] &
    string
  readonly min: {
    -readonly [Name in keyof Fields & string as IsFilter<Fields[Name]> extends true ? Name : never]: FieldValue<
      Fields[Name]
    >
  } & {
    -readonly [Name in SortField<Fields>]: FieldValue<Fields[Name & keyof Fields]>
  } & { [Name in Timestamp]: string }
}

type IsGroup<X> =
  Has<X, 'writeOnly'> extends true
    ? false
    : FieldKind<X> extends 'reference' | 'enum' | 'boolean' | 'any'
      ? true
      : false

type DateField<Fields> = {
  [Name in keyof Fields]: Has<Fields[Name], 'writeOnly'> extends true
    ? never
    : Fields[Name] extends { readonly format: 'date' | 'date-time' }
      ? Name
      : never
}[keyof Fields] &
  string

type IsSummed<X> =
  Has<X, 'writeOnly'> extends true
    ? false
    : FieldKind<X> extends 'decimal' | 'any'
      ? true
      : X extends { readonly type: 'integer' } | { readonly sequence: object }
        ? true
        : false
