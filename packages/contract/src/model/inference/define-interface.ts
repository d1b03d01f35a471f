/** `defineInterface`: checks a declaration in the editor, and infers the types of its requests and responses. */
import type {
  ChangeDeclaration,
  ConvertedField,
  CountedAction,
  FieldWords,
  InterfaceDeclaration,
  RemovedField,
  ResourceDeclaration,
  TypedField,
  VersionDeclaration,
} from '../declaration.ts'
import type { CheckedFields } from './checked-fields.ts'
import type { CheckedResource } from './checked-resource.ts'
import type { CollectionTypesOf } from './collection-types.ts'

/**
 * A declaration with the types of its fields.
 *
 * The compiler infers each parameter from one key of the resources, by the name of the collection: only so does it know
 * the fields of all collections before it types the functions of their rules.
 *
 * @param All the fields
 * @param Owner the names of owner fields
 * @param Within the names of the references that nest the collection
 * @param Variant how records are deleted
 */
interface CheckedInterface<
  All,
  Owner,
  Within,
  Variant,
  Version extends string,
  Older extends string,
  Was extends string,
> extends Omit<InterfaceDeclaration, 'resources' | 'versions' | 'changes' | 'limits'> {
  readonly resources: {
    readonly [C in keyof All]: { readonly fields: CheckedFields<All[C], keyof All> } & CheckedResource<All, C>
  } & { readonly [C in keyof Owner]: { readonly owner?: Inferred<Owner[C]> } } & {
    readonly [C in keyof Within]: { readonly within?: Inferred<Within[C]> }
  } & { readonly [C in keyof Variant]: { readonly deletion?: { readonly variant?: Inferred<Variant[C]> } } }
  /** By name (`v1`, `v2`, …), the oldest first; the last one is the current version. */
  readonly versions?: Readonly<Record<Version, VersionDeclaration>>
  readonly changes?: readonly CheckedChange<All, Version, Older, Was>[]
  readonly limits?: CheckedLimits<keyof All & string>
}

/** Infers `T` and accepts everything: another place checks the value. */
type Inferred<T> = unknown extends T ? T : unknown

type Limits = NonNullable<InterfaceDeclaration['limits']>

interface CheckedLimits<Collection extends string> extends Omit<Limits, 'rate'> {
  readonly rate?: Omit<NonNullable<Limits['rate']>, 'actions'> & {
    /** Requests of one caller for an action, by `collection.action`; `*` is any collection or action. */
    readonly actions?: { readonly [Name in `${Collection | '*'}.${CountedAction | '*'}`]?: string }
  }
}

/** A checked declaration. It carries the types of its requests and responses for `createClient` and `Infer`. */
export interface DefinedInterface<All, Owner, Within, Variant> extends Omit<InterfaceDeclaration, 'resources'> {
  readonly resources: {
    readonly [C in keyof All]: Omit<ResourceDeclaration, 'fields'> & { readonly fields: All[C] }
  }
  /** Exists for the compiler only. */
  readonly '~types'?: {
    readonly [C in keyof All]: CollectionTypesOf<
      All[C],
      Named<C extends keyof Owner ? Owner[C] : never>,
      NestedIn<C, Parents<All, Within>>,
      C extends keyof Variant ? Variant[C] : unknown,
      All,
      C
    > & { readonly within: Named<C extends keyof Within ? Within[C] : never> }
  }
}

/** The inferred name, or none: a parameter that nothing was inferred for is `unknown`. */
type Named<Name> = unknown extends Name ? never : Name

/** The collections that are within one. */
type NestedIn<Collection, Parents> = Collection extends keyof Parents ? Parents[Collection] : never

/**
 * The collections that others are within, with those others. Searched for each collection, they would make the types
 * grow with the square of the declaration.
 */
type Parents<All, Within> = {
  [C in keyof All & keyof Within as Within[C] extends keyof All[C] ? NameOf<All[C][Within[C]]> : never]: C
}

type NameOf<X> = X extends { readonly reference: infer Name extends string }
  ? string extends Name
    ? never
    : Name
  : never

/**
 * Declares an interface. The function returns its argument. The compiler reports names and values that do not fit; the
 * declaration is checked completely when it is served, and all mistakes are reported together.
 *
 * @example
 * export default defineInterface({
 *   name: 'notes',
 *   resources: { notes: { fields: { text: Type.String() }, access: { read: 'anyone', create: 'anyone' } } },
 * })
 */
export function defineInterface<
  const All extends Readonly<Record<string, Readonly<Record<string, FieldWords | TypedField | object>>>>,
  const Owner,
  const Within,
  const Variant,
  const Version extends string = 'v1',
  const Older extends string = never,
  const Was extends string = never,
>(
  declaration: CheckedInterface<All, Owner, Within, Variant, Version, Older, Was>,
): DefinedInterface<All, Owner, Within, Variant> {
  return declaration as never
}

/**
 * A type of a collection of an interface: its records, unless another part is named.
 *
 * @example
 * type Task = Infer<typeof api, 'tasks'>
 * type NewTask = Infer<typeof api, 'tasks', 'create'>
 */
export type Infer<
  Api extends { readonly '~types'?: object },
  Collection extends keyof NonNullable<Api['~types']>,
  Part extends keyof NonNullable<Api['~types']>[Collection] = 'record' & keyof NonNullable<Api['~types']>[Collection],
> = NonNullable<Api['~types']>[Collection][Part]

/**
 * A change. A version may have collections and fields of other names, which the changes themselves declare.
 *
 * @param Older the names before a `rename`, and of removed fields
 * @param Was the names of collections before a change
 */
type CheckedChange<All, Version extends string, Older extends string, Was extends string> =
  | {
      [Collection in keyof All]: Change<
        Version,
        Collection,
        (keyof All[Collection] & string) | NoInfer<Older>,
        Older,
        Was
      >
    }[keyof All]
  | ([Was] extends [never] ? never : Change<Version, NoInfer<Was>, string, Older, Was>)

interface Change<Version extends string, Collection, Name extends string, Older extends string, Was extends string>
  extends Pick<ChangeDeclaration, 'collection'> {
  /** The version that made the change. */
  readonly version: NoInfer<Version>
  /** The collection's name in that version. */
  readonly resource: Collection
  /** The collection's name before the change. */
  readonly was?: Was
  /** The new names of fields by their old names: `{ name: 'title' }`. */
  readonly rename?: { readonly [Old in Older]?: Name }
  /** Fields that older versions do not have. */
  readonly add?: readonly Name[]
  readonly remove?: { readonly [Old in Older]?: RemovedField }
  /** By the field's name in this version. */
  readonly convert?: { readonly [N in Name]?: ConvertedField }
}
