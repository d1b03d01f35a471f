/** What places stand for that has to be worked out: a list below a record, an identifier that nobody has. */
import { createHash } from 'node:crypto'
import type { Known } from './known.ts'
import type { CollectionProfile, JsonObject, Profile } from './profile.ts'

/** How a collection is shown below the records of another. */
export interface Nesting {
  /** The other, by its name. */
  readonly parent: string
  /** The last part of the path. */
  readonly child: string
}

/** How a collection is shown below records that its own refer to; `undefined` where it is not. */
export function nesting({ collections }: Pick<Profile, 'collections'>, it: CollectionProfile): Nesting | undefined {
  for (const parent of Object.values(it.references)) {
    const children = collections.find(({ name }) => name === parent)?.children ?? {}
    const child = Object.keys(children).find((each) => children[each] === it.name)
    if (child !== undefined) return { parent, child }
  }
  return undefined
}

/** The path of the list below the record that a case's records refer to; `undefined` before there is one. */
export function nestedPath({ profile, collection, made }: Known): string | undefined {
  const found = nesting(profile, collection)
  const parent = found && made.get(`parent ${found.parent}`)
  return parent && `${parent.path}/${found?.child}`
}

/** An identifier of the same kind as those of a case's records, which none has. */
export function absentId({ made, mark }: Known): string | undefined {
  const known = [...made].find(([name]) => !name.startsWith('parent '))?.[1].id
  if (known === undefined) return undefined
  const digest = createHash('sha256').update(mark).digest('hex')
  // Numbers that fit into 31 bits, yet are seldom reached.
  if (/^\d+$/.test(known)) return String(2_000_000_000 + (Number.parseInt(digest.slice(0, 7), 16) % 147_000_000))
  return known.slice(0, -12) + digest.slice(0, Math.min(12, known.length))
}

/** A member that is an object, and a part of it: its first member alone. */
export interface ObjectMember {
  readonly member: string
  readonly part: JsonObject
}

/** The first member of a collection's bodies that is an object with two members or more. */
export function objectOf({ example, optional }: CollectionProfile): ObjectMember | undefined {
  for (const [member, value] of Object.entries({ ...optional, ...example })) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue
    const [first, second] = Object.entries(value)
    if (first !== undefined && second !== undefined) return { member, part: Object.fromEntries([first]) }
  }
  return undefined
}
