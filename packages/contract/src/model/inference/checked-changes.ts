/** Changes of versions that name declared versions, collections and fields. */
import type { ChangeDeclaration, ConvertedField, RemovedField } from '../declaration.ts'

/**
 * A change. A version may have collections and fields of other names, which the changes themselves declare.
 *
 * @param Older the names before a `rename`, and of removed fields
 * @param Was the names of collections before a change
 */
export type CheckedChange<All, Version extends string, Older extends string, Was extends string> =
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
