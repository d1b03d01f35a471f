/** Members of objects that requests may filter by (WHR-4): names and schemas, by the paths that `filter` lists. */

/** The schema of a property; `unknown`: the compiler does not know it. */
export type PropertyOf<X, Name> = X extends { readonly properties: infer Properties }
  ? Name extends keyof Properties
    ? Properties[Name]
    : unknown
  : unknown

/** The first step of a path: `color` of `/color/name`. */
export type FirstStep<Path> = Path extends `/${infer First}/${string}`
  ? First
  : Path extends `/${infer First}`
    ? First
    : never

/** The paths below a step: `/name` of `/color/name`. */
export type PathsBelow<Path, First extends string> = Path extends `/${First}/${infer Rest}` ? `/${Rest}` : never

/** The whole names of members: `attributes.color.name`. */
export type MemberName<Fields> = {
  [Name in keyof Fields & string]: Fields[Name] extends { readonly filter: readonly (infer Path)[] }
    ? `${Name}${Dotted<Path>}`
    : never
}[keyof Fields & string]

type Dotted<Path> = Path extends `/${infer First}/${infer Rest}`
  ? `.${First}${Dotted<`/${Rest}`>}`
  : Path extends `/${infer First}`
    ? `.${First}`
    : never

/** The schema of a member, by its whole name. */
export type MemberSchema<Fields, Member> = Member extends `${infer Name}.${infer Path}`
  ? Name extends keyof Fields
    ? SchemaAt<Fields[Name], Path>
    : unknown
  : unknown

type SchemaAt<X, Path> = Path extends `${infer First}.${infer Rest}`
  ? SchemaAt<PropertyOf<X, First>, Rest>
  : PropertyOf<X, Path>
