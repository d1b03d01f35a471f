/**
 * Translates records, drafts, their issues and their JSON between an older version and the stored form (VER-2). A draft
 * is validated in terms of its version, and then translated. Fields that the version does not have keep their values,
 * even in a PUT.
 */
import { isObject } from 'resourced-contract/model/plain-copy'
import {
  type Draft,
  hasConversions,
  isMapped,
  type MappedResource,
  type RecordValues,
  type Resource,
  type VersionMapping,
} from 'resourced-contract/model/resource'
import type { Issue } from 'resourced-contract/spec/faults'

/** A stored record as an older version has it. */
export function recordFromStored({ fields, mapping }: MappedResource, record: RecordValues): RecordValues {
  const { id, created_at, updated_at, deleted_at } = record
  const values: Record<string, unknown> = { id, created_at, updated_at, deleted_at }
  for (const { name } of fields) {
    const field = mapping.toStored.get(name)
    if (field === undefined) values[name] = mapping.constants.get(name) ?? null
    // What was not read is left out here, too.
    else if (Object.hasOwn(record, field)) values[name] = olderValue(mapping, name, record[field])
  }
  return values
}

/**
 * The draft of a new record, in stored terms.
 *
 * @param draft as the older version has it
 * @param empty the draft that an empty body makes of the stored resource: defaults, and what the server sets
 */
export function createToStored({ mapping }: MappedResource, draft: Draft, empty: Draft): Draft {
  const values: Record<string, unknown> = { ...empty.values }
  for (const [name, field] of mapping.toStored) values[field] = newerValue(mapping, name, draft.values[name])
  const changed = mapping.stored.fields.map(({ name }) => name).filter((name) => values[name] !== null)
  const missing = empty.issues.filter(({ pointer = '' }) => !mapping.fromStored.has(pointer.slice(1)))
  const issues = [...draft.issues.map((issue) => issueToStored(mapping, issue)), ...missing]
  return { values, issues, changed, ...storedNames(mapping, draft) }
}

/** The fields that decide whether the caller may write them, by their stored names. */
function storedNames({ toStored }: VersionMapping, { assigned, refused }: Draft): Pick<Draft, 'assigned' | 'refused'> {
  const stored = (names: readonly string[]) => names.flatMap((name) => toStored.get(name) ?? [])
  return { ...(assigned && { assigned: stored(assigned) }), ...(refused && { refused: stored(refused) }) }
}

/**
 * The draft of an update, in stored terms.
 *
 * @param current the stored record
 * @param draft as the older version has it
 */
export function updateToStored({ mapping }: MappedResource, current: RecordValues, draft: Draft): Draft {
  const values: Record<string, unknown> = { ...current }
  const changed: string[] = []
  for (const name of draft.changed) {
    const field = mapping.toStored.get(name)
    // Values of fields that only the older version has are not stored.
    if (field === undefined) continue
    values[field] = newerValue(mapping, name, draft.values[name])
    changed.push(field)
  }
  if (changed.length > 0) values['updated_at'] = draft.values['updated_at']
  const issues = draft.issues.map((issue) => issueToStored(mapping, issue))
  return { values, issues, changed, ...storedNames(mapping, draft) }
}

function olderValue({ conversions }: VersionMapping, name: string, value: unknown): unknown {
  const conversion = conversions.get(name)
  return (conversion === undefined ? value : conversion.older(value ?? null)) ?? null
}

/**
 * @throws Error if a conversion returns a value that the current version does not allow: a mistake in the declaration
 */
function newerValue({ conversions, toStored, stored, version }: VersionMapping, name: string, value: unknown): unknown {
  const conversion = conversions.get(name)
  if (conversion === undefined || value === null || value === undefined) return value ?? null
  const made = conversion.newer(value)
  const field = stored.field.get(toStored.get(name)!)
  if (made !== null && field?.validate(made).length !== 0) {
    throw new Error(`The conversion of ${name} in ${version} makes a value that ${stored.name} does not allow.`)
  }
  return made ?? null
}

/**
 * The JSON of a record with its values converted to those of an older version. The database writes the older names.
 *
 * @param json of one record, or of an array of records; the texts of several are joined by `,\n`
 */
export function jsonFromStored(resource: MappedResource, json: string): string {
  if (!hasConversions(resource)) return json
  const { mapping } = resource
  const convert = (record: unknown) => {
    if (!isObject(record)) return record
    const made: Record<string, unknown> = { ...record }
    for (const name of mapping.conversions.keys())
      if (Object.hasOwn(made, name)) made[name] = olderValue(mapping, name, made[name])
    return made
  }
  const parsed = parseExactly(json, (name) => mapping.conversions.has(name))
  const write = (record: unknown) => JSON.stringify(convert(record))
  return Array.isArray(parsed) ? parsed.map(write).join(',\n') : write(parsed)
}

/**
 * Parses JSON. Numbers that JavaScript cannot hold stay as they are written.
 *
 * @param isRead whether the value of a member is read as a number all the same
 */
function parseExactly(json: string, isRead: (name: string) => boolean): unknown {
  return JSON.parse(json, (name: string, value: unknown, context?: { source?: string }) => {
    const source = context?.source
    if (typeof value !== 'number' || source === undefined || String(value) === source) return value
    return isRead(name) ? value : rawJson(source)
  })
}

/**
 * The record that an event shows, with its values converted to those of an older version.
 *
 * @param resource of the version; `undefined`: the version does not have the collection
 */
export function shownFromStored(resource: Resource | undefined, record: unknown): unknown {
  if (resource === undefined || !isMapped(resource) || !hasConversions(resource) || !isObject(record)) return record
  return parseExactly(jsonFromStored(resource, JSON.stringify(record)), () => false)
}

// TypeScript's library does not declare it yet.
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown }

// No field name contains it. It marks the pointers of fields that only the older version has.
const mark = '@'

/** An issue with the names of stored fields, like all other issues until they are answered. */
function issueToStored({ toStored }: VersionMapping, issue: Issue): Issue {
  if (!issue.pointer) return issue
  const { name, rest } = splitPointer(issue.pointer)
  const field = toStored.get(name)
  if (field === name) return issue
  return field === undefined ? { ...issue, pointer: `/${name}${mark}${rest}` } : renamed(issue, name, field, rest)
}

/** An issue with the names that the version's clients use, in its pointer and in its message. */
export function issueFromStored(mapping: VersionMapping, issue: Issue): Issue {
  return withVersionWords(mapping, withVersionPointer(mapping, issue))
}

function withVersionPointer({ fromStored, stored }: VersionMapping, issue: Issue): Issue {
  if (!issue.pointer) return issue
  const { name, rest } = splitPointer(issue.pointer)
  if (name.endsWith(mark)) return { ...issue, pointer: `/${name.slice(0, -mark.length)}${rest}` }
  if (!stored.field.has(name)) return issue
  const own = fromStored.get(name)
  if (own === name) return issue
  // The client does not have this field: the whole body is the place.
  return own === undefined ? { ...issue, pointer: '' } : renamed(issue, name, own, rest)
}

/** The first step of a pointer, and what follows it. */
function splitPointer(pointer: string): { readonly name: string; readonly rest: string } {
  const [, name = '', rest = ''] = /^\/([^/]*)(.*)$/s.exec(pointer) ?? []
  return { name, rest }
}

/** Renames what a message names: values of a transition, collections, and fields that are unique together. */
function withVersionWords(
  { conversions, toStored, fromStored, stored, collections }: VersionMapping,
  issue: Issue,
): Issue {
  let { message } = issue
  const name = issue.pointer?.slice(1) ?? ''
  const conversion = conversions.get(name)
  const values = stored.field.get(toStored.get(name) ?? '')?.enum
  if (issue.code === 'INVALID_TRANSITION' && conversion !== undefined && values !== undefined) {
    message = message.replaceAll(/[^\s:,.]+/g, (word) =>
      values.includes(word) ? String(conversion.older(word)) : word,
    )
  }
  if (issue.code === 'DUPLICATE_VALUE' || issue.code === 'TOO_LONG' || issue.code === 'TEXT_TOO_LONG') {
    message = message.replace(/ together with .* (?:is taken|has (?:at most|more))/, (part) =>
      part.replaceAll(/\w+/g, (word) => fromStored.get(word) ?? word),
    )
  }
  const { collection = '' } = issue as { collection?: string }
  const dependent = collections.get(collection)
  if (dependent !== undefined) {
    message = message.replace(/ by (\w+);/, (_words, field) => ` by ${dependent.fields.get(field) ?? field};`)
  }
  for (const [from, { name: to }] of collections) {
    if (to !== from) message = message.replaceAll(new RegExp(`(?<![\\w-])${from}(?![\\w-])`, 'g'), to)
  }
  return { ...issue, message, ...(dependent === undefined ? {} : { collection: dependent.name }) }
}

/** Messages begin with the name of their field. */
function renamed(issue: Issue, from: string, to: string, rest: string): Issue {
  const { message } = issue
  const begins = message.startsWith(from) && !/^\w/.test(message.slice(from.length))
  return { ...issue, pointer: `/${to}${rest}`, message: begins ? to + message.slice(from.length) : message }
}
