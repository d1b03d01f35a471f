/** Fills the places of a case's texts with what is known when they are needed. */
import { altered } from '../client/credentials.ts'
import { type Answer, type Exchange, fieldOf, jsonOf, linksOf } from '../client/exchange.ts'
import { basePath, versionsIn } from '../profile/profile.ts'
import { memberPointer, valueAt } from '../values/json.ts'
import { nestedPath, parentOf } from './family.ts'
import { freshId, otherThan } from './identifiers.ts'
import type { Known, Made } from './known.ts'
import { memberOf, twoValuesOf } from './members.ts'
import { NotSetUp } from './not-judged.ts'
import { forgedCursor, textVariant, wordOf } from './variants.ts'

const place =
  /\{([a-z][\w-]*(?:\.\d+)?)(?:\.(id|other|etag|location|owner|field|json|next|previous|item|link))?(?::([^{}]*))?\}/g
const wholePlace = new RegExp(`^${place.source}$`)

/**
 * Fills all places of a text; see `Request`.
 *
 * @throws NotSetUp where there is nothing to fill one with
 */
export function fill(text: string, known: Known): string {
  return text.replace(place, (whole, name: string, part: string | undefined, detail: string | undefined) => {
    const value = placeValue(known, name, part, detail)
    if (value === undefined || value === null || typeof value === 'object') {
      throw new NotSetUp(`nothing is known for ${whole}`)
    }
    return String(value)
  })
}

/** A JSON value with all its texts filled, names too. A text that is one place and nothing else becomes what is there: a number stays one. */
export function fillAll(value: unknown, known: Known): unknown {
  if (typeof value === 'string') {
    const [, name, part, detail] = wholePlace.exec(value) ?? []
    const whole = name === undefined ? undefined : placeValue(known, name, part, detail)
    return whole === undefined ? fill(value, known) : whole
  }
  if (Array.isArray(value)) return value.map((each) => fillAll(each, known))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [fill(name, known), fillAll(each, known)]))
}

function placeValue(known: Known, name: string, part = '', detail = ''): unknown {
  const made = madeBy(known, name)
  if (part === '') return general(known, name, detail) ?? made?.path
  if (part === 'id') return made?.id
  if (part === 'other') return made && otherThan(made.id)
  const exchange = known.exchanges.get(name)?.at(-1)
  return exchange?.answer && ofAnswer(known, exchange, exchange.answer, part, detail)
}

/** What was made under a name; what was only found is not given away: it must not be touched. */
function madeBy({ profile, collection, made }: Known, name: string): Made | undefined {
  const found = made.get(name === 'parent' ? `parent ${parentOf(collection, profile)?.name}` : name)
  return found?.isFound === true ? undefined : found
}

function general(known: Known, name: string, detail: string): unknown {
  const { profile, collection, mark } = known
  switch (name) {
    case 'base':
      return basePath(profile)
    case 'host':
      return new URL(profile.base).host
    case 'collection':
      return basePath(profile) + collection.path
    case 'path':
      return collection.path
    case 'name':
      return collection.name
    case 'nested':
      return madeBy(known, 'parent') && nestedPath(known)
    case 'absent':
      return freshId(known)
    case 'mark':
      return textVariant(mark, detail)
    case 'word':
      return textVariant(wordOf(mark), detail)
    case 'mine':
      return collection.marker && `${encodeURIComponent(collection.marker)}=${encodeURIComponent(mark)}`
    case 'any':
      return '*'
    case 'size':
      return collection.pages.some((style) => style !== 'page') ? 'limit' : 'per_page'
    case 'id':
      return collection.id
    case 'member':
      return memberOf(collection, detail)
    case 'less':
    case 'more': {
      const member = memberOf(collection, detail)
      return member === undefined ? undefined : twoValuesOf(collection, member)?.[name]
    }
    case 'parents': {
      const parent = parentOf(collection, profile)
      return parent && basePath(profile) + parent.path
    }
  }
  return ofServer(known, name)
}

function ofServer({ profile, key }: Known, name: string): unknown {
  switch (name) {
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
      return key
    case 'altered':
      return key && altered(key)
    case 'origin':
      return profile.origin
    case 'format':
      return profile.exports?.[0]
  }
  return undefined
}

/** Who made the record that an answer holds. */
function ownerIn(answer: Answer, { collection, profile }: Known): string | undefined {
  const at = memberPointer(collection.owner ?? '')
  const value = valueAt(jsonOf(answer), at) ?? valueAt(jsonOf(answer), profile.names.items + at)
  return value === undefined || value === null ? undefined : String(value)
}

function ofAnswer(known: Known, { asked }: Exchange, answer: Answer, part: string, detail: string): unknown {
  const { profile, collection } = known
  switch (part) {
    case 'etag':
      return fieldOf(answer, 'ETag')
    case 'location':
      return fieldOf(answer, 'Location')
    case 'owner':
      return ownerIn(answer, known)
    case 'field':
      return fieldOf(answer, detail)
    case 'link':
      return linksOf(answer, asked.url).get(detail)
    case 'item': {
      // Only what was made for the case: by an address from a list that ignores its filter somebody else's would be touched.
      const id = valueAt(jsonOf(answer), `${profile.names.items}/${detail}/${collection.id}`)
      const isOwn = [...known.made.values()].some((each) => each.id === String(id) && each.isFound !== true)
      return isOwn ? encodeURIComponent(String(id)) : undefined
    }
    case 'next':
    case 'previous': {
      const cursor = valueAt(jsonOf(answer), profile.names[part])
      if (typeof cursor !== 'string') return undefined
      return encodeURIComponent(detail === 'forged' ? forgedCursor(cursor) : cursor)
    }
  }
  return valueAt(jsonOf(answer), detail)
}
