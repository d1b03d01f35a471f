/**
 * Replaces the references in a case's texts with values when they are needed: values from the profile and from
 * responses, identifiers that no record has, and forged cursors.
 */

import { createHash } from 'node:crypto'
import { wrongSecret } from '../client/credentials.ts'
import { type Answer, type Exchange, fieldOf, jsonOf, linksOf } from '../client/exchange.ts'
import { messagesIn } from '../client/stream-messages.ts'
import { basePath, type CollectionProfile, versionsIn } from '../profile/profile.ts'
import { finderQuery, parameterOf, smallestPage, wholeQuery } from '../profile/query-style.ts'
import { memberPointer, valueAt } from '../values/json.ts'
import { type CaseState, type CreatedRecord, NotApplicable, NotSetUp } from './case.ts'
import { finderOf, type MemberKind, memberOf, nestingOf, parentOf, twoValuesOf } from './members.ts'

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
  unused: ({ collection: { sample }, mark }) => (sample === undefined ? `no-such-${mark}` : unusedIdentifier(sample)),
  mark: ({ mark }, detail) => textVariant(mark, detail),
  word: ({ mark }, detail) => textVariant(wordOf(mark), detail),
  mine: (known) => queryOfCase(known),
  shown: (known) => (finderOf(known.collection) === undefined ? wholeQuery(known.collection) : queryOfCase(known)),
  size: ({ collection }) =>
    parameterOf(collection, collection.pages.some((style) => style !== 'page') ? 'limit' : 'per_page'),
  smallest: ({ collection }) => smallestPage(collection),
  'page-size': ({ collection }) => parameterOf(collection, 'per_page'),
  page: ({ collection }) => parameterOf(collection, 'page'),
  member: ({ collection }, kind) => memberOf(collection, kind as MemberKind),
  less: ({ collection }, kind) => valuesOf(collection, kind as MemberKind)?.less,
  more: ({ collection }, kind) => valuesOf(collection, kind as MemberKind)?.more,
  changed: ({ collection }) => Object.values(collection.change)[0],
  key: ({ key }) => key,
  wrong: ({ key }) => key && wrongSecret(key),
  deprecated: ({ profile: { deprecated } }) => deprecated && basePath({ base: deprecated }),
  'deprecated-version': ({ profile: { deprecated } }) => deprecated && versionsIn(new URL(deprecated).pathname).at(-1),
  'version-field': ({ profile }) => profile.versionField,
  retired: ({ profile: { retired } }) => retired && basePath({ base: retired }),
  open: ({ profile }) => profile.open[0],
  document: ({ profile }) => profile.document && new URL(profile.document, profile.base).href,
  origin: ({ profile }) => profile.origin,
  format: ({ profile }) => profile.exports?.[0],
} satisfies Record<string, (known: CaseState, detail: string) => unknown>

/** The query that finds the records of a case. */
function queryOfCase(known: CaseState): string | undefined {
  const finder = finderOf(known.collection)
  return finder && finderQuery(finder, (name) => (name === 'mark' ? known.mark : madeBy(known, `parent ${name}`)?.id))
}

export type ValueOfCase = keyof typeof ofCase

/** Values from the record that a step created. */
const ofRecord = {
  path: ({ path }) => path,
  id: ({ id }) => id,
  other: ({ id }) => unusedIdentifier(id),
} satisfies Record<string, (made: CreatedRecord) => string>

/** Values from the last response of a step. */
const ofAnswer = {
  etag(answer, { detail }) {
    const tag = fieldOf(answer, 'ETag')
    return tag !== undefined && detail === 'other' ? withAnother(tag, -1) : tag
  },
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
  message: (answer) => messagesIn(answer.body).at(-1)?.id,
  previous: (answer, { known }) => cursorIn(answer, known.profile.names.previous),
} satisfies Record<string, (answer: Answer, context: AnswerContext) => unknown>

interface AnswerContext {
  readonly known: CaseState
  readonly exchange: Exchange
  readonly detail: string
}

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

function valuesOf(collection: CollectionProfile, kind: MemberKind) {
  const member = memberOf(collection, kind)
  return member === undefined ? undefined : twoValuesOf(collection, member)
}

/**
 * An identifier of the same kind that no record has. Numbers are far larger than those in use. Texts do not begin with
 * a digit, because many servers parse a leading number: `190b2c4f-…` would be record 190.
 */
export function unusedIdentifier(id: string): string {
  // Many servers keep integers in 32 bits.
  if (/^\d+$/.test(id)) return Number(id) > 2_147 && Number(id) < 2_000_000_000 ? '2147483001' : `${id}000000`
  const parts = /^[\da-f]{8}-[\da-f]{4}-([\da-f])[\da-f]{3}-([\da-f])[\da-f]{3}-[\da-f]{12}$/i.exec(id)
  if (parts !== null) return `ffffffff-ffff-${parts[1]}fff-${parts[2]}fff-ffffffffffff`
  if (/^[\da-f]{16,}$/i.test(id)) return 'f'.repeat(id.length)
  return /\d/.test(id) ? id.replaceAll(/\d/g, 'z') : `${id}z`
}

/**
 * Whether a server may derive the next identifier from the largest one: integers, and texts that end with a number,
 * such as `ORD-000123`. A record with a chosen identifier moves such a sequence, and deleting the record does not move
 * it back.
 */
export function isSequential(id: string): boolean {
  if (uuid.test(id) || (/^[\da-f]{16,}$/i.test(id) && /[a-f]/i.test(id))) return false
  return /^\d+$/.test(id) || (/\d$/.test(id) && (id.length < 16 || /[^\da-z]\d{2,}$/i.test(id)))
}

/**
 * Whether a server numbers its records, by identifiers that it gave one after the other. Short random texts may end
 * with a digit (`4e12`), but the text before the digit differs from one to the next.
 */
export function areSequential(ids: readonly string[]): boolean {
  const isRandom = ids.length > 2 && ids.every((id) => /^[\w-]+$/.test(id) && id.length === ids[0]?.length)
  const starts = new Set(ids.map((id) => id.replace(/\d+$/, '')))
  // A counter may stand after a hyphen: `A-7`, `B-7`.
  const least = ids.every((id) => /^[\da-z]+$/i.test(id)) ? 2 : ids.length
  return ids.some(isSequential) && !(isRandom && starts.size >= least)
}

const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i

/** Why a case that chooses an identifier is not tried. */
const notChosen =
  'not tried: identifiers are sequential, and one that the checker chooses could move the sequence for ever ' +
  '(--allow-chosen-ids tries it)'

/**
 * An identifier that a client could choose, of the same kind as those of the case's records. Every case gets another
 * one, because a careless server creates a record with it. `undefined` before the case has a record.
 *
 * Texts end with random characters: no server counts on from them. Numbers are little larger than those in use: a
 * sequence that follows them does not come near its end.
 *
 * @throws NotApplicable if identifiers are sequential and the profile does not allow to choose one
 */
export function choosableIdentifier({ made, mark, profile, collection }: CaseState): string | undefined {
  const known = [...made].find(([name]) => !name.startsWith('parent '))?.[1].id
  if (known === undefined) return undefined
  const isCounted = collection.sequential ?? isSequential(known)
  if (isCounted && profile.allowChosenIds !== true) throw new NotApplicable(notChosen)
  const digest = createHash('sha256').update(mark).digest('hex')
  if (/^\d+$/.test(known)) return String(BigInt(known) + 1_000n + (BigInt(`0x${digest.slice(0, 8)}`) % 9_000n))
  return known.slice(0, -12) + digest.slice(0, Math.min(12, known.length))
}

/** A text as it is, or in capitals. */
export function textVariant(text: string, variant: string): string {
  return variant === 'upper' ? text.toUpperCase() : text
}

// No vowels: nothing that a search could take for an ending or leave out as a common word.
const letters = 'bcdfghjklmnpqrtv'

/** A word of letters only that represents a mark: searches split words at all other characters. */
export function wordOf(mark: string): string {
  const digits = mark.slice(mark.lastIndexOf('-') + 1)
  return `z${digits.replaceAll(/[\da-f]/g, (digit) => letters[Number.parseInt(digit, 16)] as string)}z`
}

/**
 * A forged cursor: if the decoded cursor is readable, one of its letters or digits is changed; otherwise one character
 * of the cursor.
 */
export function forgedCursor(cursor: string): string {
  const alphabet = /[-_]/.test(cursor) ? 'base64url' : 'base64'
  const decoded = Buffer.from(cursor, alphabet)
  const text = decoded.toString()
  const isReadable = /^[\x20-\x7e]+$/.test(text) && decoded.length > 1
  if (!isReadable || /^\d+$/.test(cursor)) return withAnother(cursor)
  const padding = cursor.endsWith('=')
  const forged = Buffer.from(withAnother(text, -1)).toString(alphabet)
  return padding ? forged : forged.replace(/=+$/, '')
}

/** With another letter or digit: in the middle, or the last, which is part of a value, not of a name. */
function withAnother(text: string, which?: -1): string {
  const places = [...text.matchAll(/[\da-z]/gi)].map(({ index }) => index)
  const at = places.at(which ?? Math.floor(places.length / 2))
  if (at === undefined) return `${text}x`
  const old = text[at] as string
  const other = old === '1' || old === 'b' ? (/\d/.test(old) ? '2' : 'c') : /\d/.test(old) ? '1' : 'b'
  return text.slice(0, at) + other + text.slice(at + 1)
}

/** The path of the list below the record to which the records of a case refer; `undefined` before that exists. */
export function nestedPath({ profile, collection, made }: CaseState): string | undefined {
  const found = nestingOf(collection, profile)
  const parent = found && made.get(`parent ${found.parent}`)
  return parent && `${parent.path}/${found?.child}`
}
