/**
 * Translates records, drafts, their issues and their JSON between an older version and the stored form (VER-2). A draft
 * is validated in terms of its version, and then translated. Fields that the version does not have keep their values,
 * even in a PUT.
 */
import { isObject } from 'resourced-contract/model/plain-copy'
import {
  type Catalog,
  type Draft,
  hasConversions,
  isMapped,
  type MappedResource,
  type RecordValues,
  type Resource,
  resourceOfStored,
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

/** An issue at the stored field, like all other issues. It is shown as the version has it. */
function issueToStored({ toStored }: VersionMapping, own: Issue): Issue {
  const [, name = '', rest = ''] = /^\/([^/]*)(.*)$/s.exec(own.pointer ?? '') ?? []
  const stored = toStored.get(name)
  return { ...own, field: undefined, pointer: stored && `/${stored}${rest}`, own }
}

/**
 * Issues with the names that a version has for collections and fields, and with its values.
 *
 * @param catalog of the version
 * @param resource the stored resource of the records that the request is about
 */
export function issuesFromStored(
  catalog: Pick<Catalog, 'resources'>,
  { name }: Pick<Resource, 'name'>,
  issues: readonly Issue[],
): Issue[] {
  const shown = (collection: string) => resourceOfStored(catalog, collection)
  const fieldOf = (collection: string, field: string) => shown(collection)?.mapping?.fromStored.get(field) ?? field
  return issues.map((issue) => {
    if (issue.own !== undefined) return issue.own
    const { fields, by, ...params } = issue.params
    const { other = name, collection = name } = params
    const renamed: Record<string, unknown> = { ...params }
    for (const key of ['resource', 'target', 'collection', 'other'] as const) {
      const stored = params[key]
      if (stored !== undefined) renamed[key] = shown(stored)?.name ?? stored
    }
    if (fields !== undefined) renamed['fields'] = fields.map((field) => fieldOf(other, field))
    if (by !== undefined) renamed['by'] = fieldOf(collection, by)
    return atVersionField(shown(other)?.mapping, { ...issue, params: renamed })
  })
}

/** An issue with the version's name for its field, and the version's values. */
function atVersionField(mapping: VersionMapping | undefined, issue: Issue): Issue {
  const { field: stored, pointer, params } = issue
  if (mapping === undefined || stored === undefined || !mapping.stored.field.has(stored)) return issue
  const field = mapping.fromStored.get(stored)
  // The client does not have this field: the whole body is the place.
  if (field === undefined) return { ...issue, pointer: pointer && '' }
  const older = (value: unknown) => olderValue(mapping, field, value) ?? undefined
  const { from, to, allowed = [] } = params
  const values = from !== undefined && { from: String(older(from)), to: older(to), allowed: allowed.map(older) }
  return {
    ...issue,
    field,
    pointer: pointer && `/${field}${pointer.slice(stored.length + 1)}`,
    params: { ...params, ...values },
  }
}
