/** What records refer to, the lists below it, and identifiers that never were. */
import type { CollectionProfile, Profile } from './profile.ts'

type Collections = Pick<Profile, 'collections'>

/** The collection that records of another refer to first. */
export function parentOf(
  { references }: CollectionProfile,
  { collections }: Collections,
): CollectionProfile | undefined {
  const [first] = Object.values(references)
  return collections.find(({ name }) => name === first)
}

/**
 * An identifier of the same kind that never was. A number grows beyond all that are in use. A text begins with no digit: many
 * servers read as much of a number as there is, and `190b2c4f-…` would be record 190.
 */
export function otherThan(id: string): string {
  if (/^\d+$/.test(id)) return `${id}000000`
  const parts = /^[\da-f]{8}-[\da-f]{4}-([\da-f])[\da-f]{3}-([\da-f])[\da-f]{3}-[\da-f]{12}$/i.exec(id)
  if (parts !== null) return `ffffffff-ffff-${parts[1]}fff-${parts[2]}fff-ffffffffffff`
  if (/^[\da-f]{16,}$/i.test(id)) return 'f'.repeat(id.length)
  return /\d/.test(id) ? id.replaceAll(/\d/g, 'z') : `${id}z`
}
