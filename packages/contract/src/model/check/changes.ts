/**
 * Checks declared changes (VER-2), from the newest version back to the oldest: each against the version that made it.
 */

import { oneOf } from '../../spec/words.ts'
import { shapeOf } from '../field.ts'
import { keywordRows } from '../keywords.ts'
import { suggest } from '../nearest.ts'
import { below } from '../place.ts'
import { isObject } from '../plain-copy.ts'
import { checkFieldSchema } from './field-schema.ts'
import { checkCollectionName, checkFieldName } from './names.ts'
import { type FieldView, type Part, type ResourceView, type ResourceViews, viewOfField } from './parts.ts'
import { checkServerDefault, isSetOnCreation } from './server-values.ts'

/** A collection as an older version has it; `undefined` represents a field that only older versions have. */
interface OlderCollection {
  readonly stored: ResourceView
  readonly name: string
  readonly fields: ReadonlyMap<string, FieldView | undefined>
}

/** Checks what each version changed. */
export function checkChanges(declaration: Part, resources: ResourceViews): void {
  const declared = declaration.key('changes')
  const { value: versions } = declaration.key('versions')
  const names = isObject(versions) ? Object.keys(versions) : ['v1']
  const changes = declared.items().filter((each) => isChange(each, names))
  let collections = [...resources.values()].map(
    (stored): OlderCollection => ({ stored, name: stored.name, fields: stored.field }),
  )
  for (const version of names.slice(1).toReversed()) {
    const own = changes.filter((each) => each.record['version'] === version)
    const existing = collections.map(({ name }) => name)
    for (const resource of own.map((change) => change.key('resource'))) {
      if (!existing.includes(resource.text)) unknownName(resource, `is no collection that ${version} has`, existing)
    }
    collections = collections.map((collection) =>
      own.filter((each) => each.record['resource'] === collection.name).reduceRight(undo, collection),
    )
    checkDistinct(collections, own)
  }
}

function unknownName(part: Part, message: string, names: readonly string[], what = 'a collection'): void {
  part.report(message, typeof part.value === 'string' ? suggest(part.value, names) : `Write the name of ${what}.`)
}

function isChange(change: Part, versions: readonly string[]): boolean {
  if (!isObject(change.value)) return false
  const version = change.key('version')
  if (!versions.includes(version.text)) {
    const remedy =
      versions.length > 1 ? `Write ${oneOf(versions.slice(1))}.` : 'Declare it: versions: { v1: {}, v2: {} }.'
    version.report('must be a declared version', remedy)
    return false
  }
  if (version.value !== versions[0]) return true
  const message = 'is the oldest version: there is none before it to be served'
  version.report(message, 'Name the version that made the change.')
  return false
}

function checkDistinct(collections: readonly OlderCollection[], changes: readonly Part[]): void {
  const seen = new Set<string>()
  for (const { name } of collections) {
    const by = changes.find((each) => each.record['was'] === name)
    if (seen.has(name) && by !== undefined)
      by.key('was').report('is another collection at that time', 'Name another one.')
    seen.add(name)
  }
}

/** A collection as it was before a change, as far as it can be read. */
function undo(newer: OlderCollection, change: Part): OlderCollection {
  const was = change.key('was')
  if (typeof was.value === 'string') checkCollectionName(was, was.value)
  else if (!was.isAbsent) was.mustBe('the name that the collection had', 'Write it, or leave it out.')
  const added = checkAdded(change.key('add'), newer)
  for (const [name, converted] of change.key('convert').entries()) checkConverted(converted, name, newer)
  const fields = new Map<string, FieldView | undefined>()
  const put = (place: Part, name: string, field: FieldView | undefined) => {
    if (fields.has(name)) place.report('is a name that two fields would have then', 'Name another one.')
    fields.set(name, field)
  }
  const rename = change.key('rename')
  const olderNames = new Map<string, string>()
  for (const [older, current] of rename.entries()) {
    checkFieldName(current, older)
    if (newer.fields.has(current.text)) olderNames.set(current.text, older)
    else {
      const isName = typeof current.value === 'string'
      const remedy = isName ? suggest(current.text, newer.fields.keys()) : 'Write the name that it has since.'
      current.report(`is not the name of a field of ${newer.name}`, remedy)
    }
  }
  for (const [name, field] of newer.fields) {
    const older = olderNames.get(name) ?? name
    if (!added.has(name)) put(rename.key(older), older, field)
  }
  for (const [name, removed] of change.key('remove').entries()) {
    checkFieldName(removed, name)
    checkRemoved(removed, name, [...fields.keys()])
    put(removed, name, undefined)
  }
  return { stored: newer.stored, name: typeof was.value === 'string' ? was.value : newer.name, fields }
}

function checkAdded(add: Part, { name: collection, fields, stored }: OlderCollection): Set<string> {
  const added = new Set<string>()
  for (const part of add.items()) {
    const name = part.text
    if (!fields.has(name)) {
      unknownName(part, `is no field of ${collection}`, [...fields.keys()], 'a field')
      continue
    }
    added.add(name)
    const field = fields.get(name)
    if (field === undefined) continue
    const { declared, shape } = field
    const isServers = declared['readOnly'] === true || isSetOnCreation(declared)
    const hasValue = shape.optional || declared['default'] !== undefined || isServers
    if (!hasValue && stored.owner !== field.name) {
      const message = 'must have a value that older versions cannot send: they could create no record'
      part.report(message, `Give ${field.part.path} a default, or make it optional.`)
    }
  }
  return added
}

function checkConverted(converted: Part, name: string, newer: OlderCollection): void {
  const { fields, stored } = newer
  if (!fields.has(name)) converted.report(`is no field of ${newer.name}`, suggest(name, fields.keys()))
  if (!isObject(converted.value)) return
  const schema = converted.key('schema')
  checkSchema(converted, name, undefined)
  for (const way of [converted.key('older'), converted.key('newer')]) way.synchronous()
  const { type } = shapeOf(schema.record)
  if ((type === 'array' || type === 'object') && (schema.record['filter'] ?? false) !== false) {
    const message = 'does not work on arrays and objects whose values are converted'
    schema.key('filter').report(message, 'Remove it: the current version can be filtered.')
  }
  const field = fields.get(name)
  if (field?.writeOnly === true && isObject(schema.value) && schema.record['writeOnly'] !== true)
    schema.key('writeOnly').report('is missing: older versions would show the value', 'Write true.')
  if (field !== undefined && (field.declared['reference'] !== undefined || stored.owner === field.name)) {
    const message = 'refers to other records or callers: such values cannot be converted'
    converted.report(message, 'Rename it instead.')
  }
}

function checkRemoved(removed: Part, name: string, others: readonly string[]): void {
  if (!isObject(removed.value)) return
  const value = removed.key('value')
  if (value.isAbsent) value.report('is missing: it must be what older versions read', 'Write a value, or null.')
  checkSchema(removed, name, value.value)
  const before = removed.key('before')
  if (before.isAbsent || others.includes(before.text)) return
  const isName = typeof before.value === 'string'
  const remedy = isName ? suggest(before.text, others) : 'Write the name of a field, or leave it out.'
  before.report('is no field beside it', remedy)
}

/** @param value of the field in every record; `undefined`: it varies */
function checkSchema(part: Part, name: string, value: unknown): void {
  const schema = part.key('schema')
  if (!schema.object('{ type: "integer" }')) return
  const { record } = schema
  for (const [word, { inOlderVersions, revealsValues }] of keywordRows) {
    if (!inOlderVersions && Object.hasOwn(record, word)) {
      schema.key(word).report('cannot be kept for older versions', 'Remove it.')
    } else if (revealsValues && record['writeOnly'] === true && (record[word] ?? false) !== false) {
      schema.key(word).report('would let callers find out a writeOnly value', `Remove "${word}" or "writeOnly".`)
    }
  }
  if (value === null && !shapeOf(record).optional)
    part.key('value').report('is null, and the schema does not allow it', 'Add optional: true.')
  // The value of every record is checked like a default.
  const constant = value === undefined || value === null ? {} : { default: value }
  const field = schema.as({ ...record, ...constant }, [])
  const view = viewOfField(name, field)
  if (checkFieldSchema(view)) checkServerDefault(view)
  const place = field.key('default').path
  for (const found of field.findings) {
    const { steps } = below('', found.steps) === place ? part.key('value') : found
    part.findings.push({ ...found, steps })
  }
}
