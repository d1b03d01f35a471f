/** Fills the places of a case's texts with what is known when they are needed. */
import { type Exchange, fieldOf, jsonOf } from './exchange.ts'
import { valueAt } from './pointer.ts'
import type { CollectionProfile, Profile } from './profile.ts'

/** A record that the checker has made. */
export interface Made {
  /** From the root: `/v1/cities/1`. */
  readonly path: string
  readonly id: string
  /** Somebody else's, that had to do: it is only referred to. */
  readonly isFound?: boolean | undefined
}

/** What is known while a case runs. */
export interface Known {
  readonly profile: Profile
  readonly collection: CollectionProfile
  /** By which a case's records are found. */
  readonly mark: string
  readonly made: ReadonlyMap<string, Made>
  readonly exchanges: ReadonlyMap<string, readonly Exchange[]>
}

/** A case cannot go on: something that it only prepares did not come about. */
export class NotSetUp extends Error {}

/** What a case is about is not there, as answers have shown. */
export class NotApplicable extends Error {}

const place = /\{([a-z][\w-]*(?:\.\d+)?)(?:\.(id|other|etag|location|field|json))?(?::([^{}]*))?\}/g

/**
 * Fills all places of a text; see `Request`.
 *
 * @throws NotSetUp where there is nothing to fill one with
 */
export function fill(text: string, known: Known): string {
  return text.replace(place, (whole, name: string, part: string | undefined, detail: string | undefined) => {
    const value = placeValue(known, name, part, detail)
    if (value === undefined) throw new NotSetUp(`nothing is known for ${whole}`)
    return value
  })
}

/** A JSON value with all its texts filled, names too. */
export function fillAll(value: unknown, known: Known): unknown {
  if (typeof value === 'string') return fill(value, known)
  if (Array.isArray(value)) return value.map((each) => fillAll(each, known))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [fill(name, known), fillAll(each, known)]))
}

/** The path of an interface's base: empty where it is the root. */
export function basePath({ base }: Pick<Profile, 'base'>): string {
  return new URL(base).pathname.replace(/\/$/, '')
}

function placeValue(known: Known, name: string, part?: string, detail?: string): string | undefined {
  const { profile, collection, mark, exchanges } = known
  if (part === undefined) {
    switch (name) {
      case 'base':
        return basePath(profile)
      case 'host':
        return new URL(profile.base).host
      case 'collection':
        return basePath(profile) + collection.path
      case 'mark':
        return mark
      case 'mine':
        return collection.marker && `${encodeURIComponent(collection.marker)}=${encodeURIComponent(mark)}`
      case 'id':
        return collection.id
      case 'member':
        return memberOf(collection, detail ?? '')
      case 'origin':
        return profile.origin
      case 'name':
        return collection.name
      case 'parents':
        return parentOf(collection, profile) && basePath(profile) + parentOf(collection, profile)?.path
      case 'nested':
        return nestedPath(known)
      case 'format':
        return profile.exports?.[0]
    }
    return madeBy(known, name)?.path
  }
  const answer = exchanges.get(name)?.at(-1)?.answer
  if (part === 'id') return madeBy(known, name)?.id
  if (part === 'other') return otherThan(madeBy(known, name)?.id)
  if (answer === undefined) return undefined
  if (part === 'etag') return fieldOf(answer, 'ETag')
  if (part === 'location') return fieldOf(answer, 'Location')
  if (part === 'field') return fieldOf(answer, detail ?? '')
  const value = valueAt(jsonOf(answer), detail ?? '')
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined
}

/** The collection that records of another refer to first. */
export function parentOf(
  { references }: CollectionProfile,
  { collections }: Pick<Profile, 'collections'>,
): CollectionProfile | undefined {
  const [first] = Object.values(references)
  return collections.find(({ name }) => name === first)
}

/** How a collection is called below the records that it refers to first. */
export function nestedName(collection: CollectionProfile, profile: Pick<Profile, 'collections'>): string | undefined {
  const children = Object.entries(parentOf(collection, profile)?.children ?? {})
  return children.find(([, name]) => name === collection.name)?.[0]
}

function nestedPath(known: Known): string | undefined {
  const [parent, name] = [madeBy(known, 'parent'), nestedName(known.collection, known.profile)]
  return parent === undefined || name === undefined ? undefined : `${parent.path}/${name}`
}

/** What was made under a name; what was only found is not given away: it must not be touched. */
function madeBy({ profile, collection, made }: Known, name: string): Made | undefined {
  const found = made.get(name === 'parent' ? `parent ${parentOf(collection, profile)?.name}` : name)
  return found?.isFound === true ? undefined : found
}

/**
 * An identifier of the same kind that never was. A number grows beyond all that are in use. A text begins with no digit: many
 * servers read as much of a number as there is, and `190b2c4f-…` would be record 190.
 */
function otherThan(id: string | undefined): string | undefined {
  if (id === undefined) return undefined
  if (/^\d+$/.test(id)) return `${id}000000`
  const parts = /^[\da-f]{8}-[\da-f]{4}-([\da-f])[\da-f]{3}-([\da-f])[\da-f]{3}-[\da-f]{12}$/i.exec(id)
  if (parts !== null) return `ffffffff-ffff-${parts[1]}fff-${parts[2]}fff-ffffffffffff`
  if (/^[\da-f]{16,}$/i.test(id)) return 'f'.repeat(id.length)
  return /\d/.test(id) ? id.replaceAll(/\d/g, 'z') : `${id}z`
}

function memberOf(collection: CollectionProfile, which: string): string | undefined {
  const { required, unique, filters, sorts, search, marker, change, optional, invalid, references, children } =
    collection
  const first: Readonly<Record<string, string | undefined>> = {
    ...{ required: required[0], unique: unique[0], filter: filters[0], sort: sorts[0], search, marker },
    ...{ change: Object.keys(change)[0], optional: Object.keys(optional)[0], invalid: Object.keys(invalid)[0] },
    ...{ distinct: sorts.find((each) => unique.includes(each)) },
    ...{ reference: Object.keys(references)[0], child: Object.keys(children)[0] },
  }
  return first[which]
}
