/**
 * How long the texts of a record may be that indexes hold (LIM-3). Where an index holds several fields, each has a
 * share of its bytes. So a refusal depends on the values that were sent, and never on values that the caller may not
 * read (AUT-9).
 */

import { fieldOfName, pointerOfName, valueOfName } from 'resourced-contract/model/members'
import { remembered } from 'resourced-contract/model/plain-copy'
import { comparisonKey } from 'resourced-contract/model/predicate'
import {
  comparedField,
  type Draft,
  type Index,
  type RecordValues,
  type Resource,
} from 'resourced-contract/model/resource'
import { fold } from 'resourced-contract/model/text'
import { type Issue, issue } from 'resourced-contract/spec/faults'

/**
 * The most bytes, in UTF-8, of the values of one record in an index. An index entry of PostgreSQL has at most 2,704
 * bytes, with its header, the id and up to seven bytes for each value. PostgreSQL compresses entries first, but the
 * limit of a text must not depend on how well it compresses. The limit is the same on every engine.
 */
export const maxIndexKeyBytes = 2_500

/** Ids, numbers and short values of so many bytes together fit into an entry beside the texts, and are not counted. */
const uncountedBytes = 64

/** The most bytes in UTF-8 of one UTF-16 unit, also with its case folded; and of one character. */
const maxUnitBytes = 3
const maxCharacterBytes = 4

/**
 * The texts of a draft that are too long for an index. Only changed fields are checked: a longer text that is stored
 * already stays.
 *
 * @param draft of the record as it is stored
 * @param before the record before the change; left out: it is new
 */
export function indexKeyIssues(
  resource: Resource,
  { values, changed }: Pick<Draft, 'values' | 'changed'>,
  before: RecordValues = {},
): Issue[] {
  if (changed.length === 0 || areShort(resource, values)) return []
  const issues = new Map<string, Issue>()
  const isChanged = (name: string) => changed.includes(fieldOfName(name))
  for (const { index, shares } of sharedIndexes(resource)) {
    const { fields, kind } = index
    if (!fields.some(isChanged)) continue
    for (const name of fields) {
      const share = shares.get(name) as number
      const value = valueOfName(values, name)
      if (issues.has(name) || !isChanged(name) || isSurelyShort(value, share)) continue
      const bytes = bytesOf(resource, name, value, kind)
      if (bytes > share) issues.set(name, tooLong(name, bytes, share, index))
    }
    const [first] = fields.filter(isChanged)
    if (first === undefined || fields.some((name) => issues.has(name))) continue
    if (growsBesideLongText(resource, { values, changed }, before, { index, shares })) {
      issues.set(first, issue('besideLong', { ...placeOf(first), fields: fields.filter((name) => !isChanged(name)) }))
    }
  }
  return namesOf(resource).flatMap((name) => issues.get(name) ?? [])
}

const leastShare = remembered(({ indexes }: Resource) =>
  Math.floor(maxIndexKeyBytes / Math.max(1, ...indexes.map(({ fields }) => fields.length))),
)

/** Whether all values of a record fit into equal shares of every index: most records are short. */
function areShort(resource: Resource, values: RecordValues): boolean {
  const least = leastShare(resource)
  for (const { name } of resource.fields) {
    const value = values[name]
    if (typeof value === 'string' && value.length * maxUnitBytes > least) return false
    if (typeof value === 'object' && value !== null) return false
  }
  return true
}

/**
 * Whether a change lets an entry grow in which a text that stays is longer than its share. Such a text was stored
 * before fields had shares. If it is too long by itself, no change of the others can help.
 */
function growsBesideLongText(
  resource: Resource,
  { values, changed }: Pick<Draft, 'values' | 'changed'>,
  before: RecordValues,
  { index: { fields, kind }, shares }: SharedIndex,
): boolean {
  const isChanged = (name: string) => changed.includes(fieldOfName(name))
  const stay = fields.filter((name) => !isChanged(name))
  if (stay.every((name) => isSurelyShort(valueOfName(values, name), shares.get(name) as number))) return false
  const sizeIn = (names: readonly string[], record: RecordValues) =>
    names.reduce((sum, name) => sum + bytesOf(resource, name, valueOfName(record, name), kind), 0)
  const isLong = stay.some((name) => sizeIn([name], values) > (shares.get(name) as number))
  if (!isLong || sizeIn(stay, values) > maxIndexKeyBytes) return false
  const sent = fields.filter(isChanged)
  return sizeIn(sent, values) > sizeIn(sent, before)
}

function tooLong(name: string, bytes: number, share: number, { fields, kind }: Index): Issue {
  const others = fields.filter((each) => each !== name)
  return issue('indexed', { ...placeOf(name), given: bytes, most: share, folded: kind === 'folded', fields: others })
}

function placeOf(name: string) {
  return { field: fieldOfName(name), pointer: pointerOfName(name) }
}

/** The names of the fields, and of the members of objects that requests filter by. */
function namesOf({ fields }: Resource): string[] {
  return fields.flatMap(({ name, members }) => [name, ...members.map((member) => member.name)])
}

/**
 * The texts of a deleted record that are too long for an index, which was declared after the deletion. Nobody sends
 * them, so only their sum counts.
 */
export function restoredKeyIssues(resource: Resource, values: RecordValues): Issue[] {
  const issues = new Map<string, Issue>()
  for (const { fields, kind } of resource.indexes) {
    const sizes = fields.map((name) => ({ name, bytes: bytesOf(resource, name, valueOfName(values, name), kind) }))
    const [longest] = sizes.toSorted((left, right) => right.bytes - left.bytes)
    const bytes = sizes.reduce((sum, each) => sum + each.bytes, 0)
    if (longest === undefined || bytes <= maxIndexKeyBytes || fields.some((name) => issues.has(name))) continue
    const others = fields.filter((name) => name !== longest.name)
    issues.set(longest.name, issue('longText', { ...placeOf(longest.name), most: maxIndexKeyBytes, fields: others }))
  }
  return namesOf(resource).flatMap((name) => issues.get(name) ?? [])
}

/** An index, with the most bytes that each of its fields may have. */
interface SharedIndex {
  readonly index: Index
  readonly shares: ReadonlyMap<string, number>
}

const sharedIndexes = remembered((resource: Resource): readonly SharedIndex[] =>
  resource.indexes.map((index) => ({ index, shares: sharesOf(resource, index) })),
)

/** A field whose values need less than an equal share gets what they need, and leaves the rest to the others. */
function sharesOf(resource: Resource, { fields }: Index): Map<string, number> {
  const needs = fields.map((name) => ({ name, need: mostBytes(resource, name) }))
  const short = needs.reduce((sum, { need }) => sum + (need <= uncountedBytes ? need : 0), 0)
  let left = maxIndexKeyBytes + Math.min(short, uncountedBytes)
  const shares = new Map<string, number>()
  for (const [place, { name, need }] of needs.sort((one, other) => one.need - other.need).entries()) {
    const share = Math.min(need, Math.floor(left / (needs.length - place)))
    shares.set(name, share)
    left -= share
  }
  return shares
}

/** The most bytes that a value of a field needs in an index; `Infinity`: any number. */
function mostBytes(resource: Resource, name: string): number {
  const declared = comparedField(resource, name)
  if (declared === undefined) return idBytes
  const { type, reference, schema } = declared
  if (declared.enum !== undefined) return Math.max(...declared.enum.map((text) => Buffer.byteLength(text)))
  if (reference !== undefined) return idBytes
  if (type === 'decimal') return decimalBytes
  if (type !== 'string') return numberBytes
  const { maxLength } = schema
  // The key of a date-time is another text.
  const isBounded = typeof maxLength === 'number' && declared.format !== 'date-time'
  return isBounded ? maxLength * maxCharacterBytes : Number.POSITIVE_INFINITY
}

const idBytes = 36
const numberBytes = 8
/** Of the comparison key of a decimal: at most 38 digits, and what orders them. */
const decimalBytes = 64

/** Whether a value is short enough without a look at its characters. */
function isSurelyShort(value: unknown, most: number): boolean {
  return (typeof value === 'string' ? value.length * maxUnitBytes : numberBytes) <= most
}

function bytesOf(resource: Resource, name: string, value: unknown, kind: Index['kind']): number {
  if (value === null || value === undefined) return 0
  const key = comparisonKey(resource, name, value)
  return typeof key === 'string' ? Buffer.byteLength(kind === 'folded' ? fold(key) : key) : numberBytes
}
