/** Fills the places of a case's texts with what is known when they are needed. */
import type { Caller } from './case.ts'
import { altered } from './credential.ts'
import { type Answer, type Exchange, fieldOf, jsonOf } from './exchange.ts'
import { memberPointer, valueAt } from './pointer.ts'
import type { CollectionProfile, Profile } from './profile.ts'
import { versionsIn } from './version-segments.ts'

/** A record that the checker has made. */
export interface Made {
  /** From the root: `/v1/cities/1`. */
  readonly path: string
  readonly id: string
  /** Who made it, where not the one who was given with `--key`. */
  readonly by?: Caller | undefined
}

/** What is known while a case runs. */
export interface Known {
  readonly profile: Profile
  readonly collection: CollectionProfile
  /** By which a case's records are found. */
  readonly mark: string
  /** The caller's credential, without its scheme. */
  readonly key?: string | undefined
  readonly made: ReadonlyMap<string, Made>
  readonly exchanges: ReadonlyMap<string, readonly Exchange[]>
}

/** A case cannot go on: something that it only prepares did not come about. */
export class NotSetUp extends Error {}

/** What a case is about is not there, as answers have shown. */
export class NotApplicable extends Error {}

const place = /\{([a-z][\w-]*(?:\.\d+)?)(?:\.(id|etag|location|owner|field|json))?(?::([^{}]*))?\}/g

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
  const { profile, collection, mark, made, exchanges } = known
  if (part === undefined) {
    switch (name) {
      case 'base':
        return basePath(profile)
      case 'host':
        return new URL(profile.base).host
      case 'collection':
        return basePath(profile) + collection.path
      case 'path':
        return collection.path
      case 'deprecated':
        return profile.deprecated && basePath({ base: profile.deprecated })
      case 'deprecated-version':
        return profile.deprecated && versionsIn(new URL(profile.deprecated).pathname).at(-1)
      case 'version-field':
        return profile.versionField
      case 'retired':
        return profile.retired && basePath({ base: profile.retired })
      case 'open':
        return profile.open[0]
      case 'document':
        return profile.document && new URL(profile.document, profile.base).href
      case 'key':
        return known.key
      case 'altered':
        return known.key && altered(known.key)
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
      case 'format':
        return profile.exports?.[0]
    }
    return made.get(name)?.path
  }
  const answer = exchanges.get(name)?.at(-1)?.answer
  if (part === 'id') return made.get(name)?.id
  if (answer === undefined) return undefined
  if (part === 'etag') return fieldOf(answer, 'ETag')
  if (part === 'location') return fieldOf(answer, 'Location')
  if (part === 'owner') return ownerIn(answer, known)
  if (part === 'field') return fieldOf(answer, detail ?? '')
  const value = valueAt(jsonOf(answer), detail ?? '')
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined
}

/** Who made the record that an answer holds. */
function ownerIn(answer: Answer, { collection, profile }: Known): string | undefined {
  const at = memberPointer(collection.owner ?? '')
  const value = valueAt(jsonOf(answer), at) ?? valueAt(jsonOf(answer), profile.names.items + at)
  return value === undefined || value === null ? undefined : String(value)
}

function memberOf(collection: CollectionProfile, which: string): string | undefined {
  const { required, unique, filters, sorts, search, marker, change, optional, invalid, references, children } =
    collection
  const first: Readonly<Record<string, string | undefined>> = {
    ...{ required: required[0], unique: unique[0], filter: filters[0], sort: sorts[0], search, marker },
    ...{ change: Object.keys(change)[0], optional: Object.keys(optional)[0], invalid: Object.keys(invalid)[0] },
    owner: collection.owner,
    ...{ reference: Object.keys(references)[0], child: Object.keys(children)[0] },
  }
  return first[which]
}
