/** Replaces the references in a case's texts with values when they are needed. */
import { altered } from '../client/credentials.ts'
import { type Answer, type Exchange, fieldOf, jsonOf, linksOf } from '../client/exchange.ts'
import { basePath, type CollectionProfile, versionsIn } from '../profile/profile.ts'
import { memberPointer, valueAt } from '../values/json.ts'
import type { CaseState, CreatedRecord } from './case-state.ts'
import { choosableIdentifier, unusedIdentifier } from './identifiers.ts'
import { type MemberKind, memberOf, type TwoValues, twoValuesOf } from './members.ts'
import { NotSetUp } from './not-judged.ts'
import { nestedPath, parentOf } from './related-collections.ts'
import { forgedCursor, textVariant, wordOf } from './variants.ts'

/** Values that belong to a case as a whole. */
const ofCase = {
  base: ({ profile }) => basePath(profile),
  host: ({ profile }) => new URL(profile.base).host,
  collection: ({ profile, collection }) => basePath(profile) + collection.path,
  path: ({ collection }) => collection.path,
  name: ({ collection }) => collection.name,
  id: ({ collection }) => collection.id,
  nested: (known) => madeBy(known, 'parent') && nestedPath(known),
  parents({ profile, collection }) {
    const parent = parentOf(collection, profile)
    return parent && basePath(profile) + parent.path
  },
  absent: (known) => choosableIdentifier(known),
  mark: ({ mark }, detail) => textVariant(mark, detail),
  word: ({ mark }, detail) => textVariant(wordOf(mark), detail),
  mine: ({ collection: { marker }, mark }) => marker && `${encodeURIComponent(marker)}=${encodeURIComponent(mark)}`,
  any: () => '*',
  size: ({ collection }) => (collection.pages.some((style) => style !== 'page') ? 'limit' : 'per_page'),
  member: ({ collection }, kind) => memberOf(collection, kind as MemberKind),
  less: ({ collection }, kind) => valuesOf(collection, kind as MemberKind)?.less,
  more: ({ collection }, kind) => valuesOf(collection, kind as MemberKind)?.more,
  key: ({ key }) => key,
  altered: ({ key }) => key && altered(key),
  deprecated: ({ profile: { deprecated } }) => deprecated && basePath({ base: deprecated }),
  'deprecated-version': ({ profile: { deprecated } }) => deprecated && versionsIn(new URL(deprecated).pathname).at(-1),
  'version-field': ({ profile }) => profile.versionField,
  retired: ({ profile: { retired } }) => retired && basePath({ base: retired }),
  open: ({ profile }) => profile.open[0],
  document: ({ profile }) => profile.document && new URL(profile.document, profile.base).href,
  origin: ({ profile }) => profile.origin,
  format: ({ profile }) => profile.exports?.[0],
} satisfies Record<string, (known: CaseState, detail: string) => unknown>

/** The name of a value that belongs to a case as a whole. */
export type ValueOfCase = keyof typeof ofCase

/** Values from the record that a step created. */
const ofRecord = {
  path: ({ path }) => path,
  id: ({ id }) => id,
  other: ({ id }) => unusedIdentifier(id),
} satisfies Record<string, (made: CreatedRecord) => string>

/** Values from the last response of a step. */
const ofAnswer = {
  etag: (answer) => fieldOf(answer, 'ETag'),
  location: (answer) => fieldOf(answer, 'Location'),
  field: (answer, { detail }) => fieldOf(answer, detail),
  json: (answer, { detail }) => valueAt(jsonOf(answer), detail),
  link: (answer, { exchange, detail }) => linksOf(answer, exchange.asked.url).get(detail),
  owner(answer, { known: { collection, profile } }) {
    const at = memberPointer(collection.owner ?? '')
    const value = valueAt(jsonOf(answer), at) ?? valueAt(jsonOf(answer), profile.names.items + at)
    return value === undefined || value === null ? undefined : String(value)
  },
  item(answer, { known: { collection, profile, made }, detail }) {
    // Only a record that the case created: a list that ignores its filter would give away another client's record.
    const id = valueAt(jsonOf(answer), `${profile.names.items}/${detail}/${collection.id}`)
    const isOwn = [...made.values()].some((each) => each.id === String(id) && each.isExisting !== true)
    return isOwn ? encodeURIComponent(String(id)) : undefined
  },
  next: (answer, { known, detail }) => cursorIn(answer, known.profile.names.next, detail),
  previous: (answer, { known }) => cursorIn(answer, known.profile.names.previous),
} satisfies Record<string, (answer: Answer, context: AnswerContext) => unknown>

interface AnswerContext {
  readonly known: CaseState
  readonly exchange: Exchange
  readonly detail: string
}

/** The name of a value that belongs to one step. */
export type PartOfStep = keyof typeof ofRecord | keyof typeof ofAnswer

const token = /«(?:([^«»|]*)\|)?([a-z-]+)(?::([^«»]*))?»/g
const wholeToken = new RegExp(`^${token.source}$`)

/**
 * Replaces all references in a text.
 *
 * @throws NotSetUp if a value is not known
 */
export function fill(text: string, known: CaseState): string {
  return text.replace(token, (_, step: string | undefined, name: string, detail: string | undefined) => {
    const value = referencedValue(known, step, name, detail)
    if (value === undefined || value === null || typeof value === 'object') {
      throw new NotSetUp(`nothing is known for ${step === undefined ? name : `${step}.${name}`}`)
    }
    return String(value)
  })
}

/**
 * Replaces all references in a JSON value and its names. A text that is only a reference takes the type of its value.
 */
export function fillAll(value: unknown, known: CaseState): unknown {
  if (typeof value === 'string') {
    const [, step, name, detail] = wholeToken.exec(value) ?? []
    const whole = name === undefined ? undefined : referencedValue(known, step, name, detail)
    return whole === undefined ? fill(value, known) : whole
  }
  if (Array.isArray(value)) return value.map((each) => fillAll(each, known))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [fill(name, known), fillAll(each, known)]))
}

function referencedValue(known: CaseState, step: string | undefined, name: string, detail = ''): unknown {
  if (step === undefined) return ofCase[name as ValueOfCase](known, detail)
  if (name in ofRecord) {
    const made = madeBy(known, step)
    return made && ofRecord[name as keyof typeof ofRecord](made)
  }
  const exchange = known.exchanges.get(step)?.at(-1)
  return exchange?.answer && ofAnswer[name as keyof typeof ofAnswer](exchange.answer, { known, exchange, detail })
}

/** The record that a step created. A record that was only found is not given away, because it must not be changed. */
function madeBy({ profile, collection, made }: CaseState, step: string): CreatedRecord | undefined {
  const found = made.get(step === 'parent' ? `parent ${parentOf(collection, profile)?.name}` : step)
  return found?.isExisting === true ? undefined : found
}

function cursorIn(answer: Answer, pointer: string, detail = ''): string | undefined {
  const cursor = valueAt(jsonOf(answer), pointer)
  if (typeof cursor !== 'string') return undefined
  return encodeURIComponent(detail === 'forged' ? forgedCursor(cursor) : cursor)
}

function valuesOf(collection: CollectionProfile, kind: MemberKind): TwoValues | undefined {
  const member = memberOf(collection, kind)
  return member === undefined ? undefined : twoValuesOf(collection, member)
}
