/** Declared changes (VER-2), walked back from the newest version: each is judged by what the version that made it has. */
import { isRecord, shapeOf } from '../field.ts'
import { oneOf, suggest } from '../nearest.ts'
import { at, item } from '../place.ts'
import { checkSynchronous } from './access.ts'
import { checkFieldSchema } from './field-schema.ts'
import { checkCollectionName, checkFieldName } from './names.ts'
import { checkChoice, checkKeys, expectRecord, mustBe, own, type Report } from './problem.ts'
import type { FieldView, ResourceView, ResourceViews } from './views.ts'

/** A collection as some version has it; `undefined` stands for a field that only older versions have. */
interface Past {
  readonly stored: ResourceView
  readonly name: string
  readonly fields: ReadonlyMap<string, FieldView | undefined>
}

interface Change {
  readonly path: string
  readonly declared: Readonly<Record<string, unknown>>
}

const keys = ['version', 'resource', 'was', 'collection', 'rename', 'add', 'remove', 'convert']
const example = '{ version: "v2", resource: "tasks", rename: { name: "title" } }'
// What can be said of a field that is not stored as it is shown.
const words = ['filter', 'sort', 'optional', 'transitions', 'reference', 'onDelete', 'search', 'unique', 'immutable']
const allowedWords = ['filter', 'sort', 'optional']

/** Checks what each version says that it changed. */
export function checkChanges(
  report: Report,
  declaration: Readonly<Record<string, unknown>>,
  resources: ResourceViews,
): void {
  const declared = own(declaration, 'changes')
  if (declared === undefined) return
  if (!Array.isArray(declared)) {
    report('changes', mustBe('an array', declared), `Write [${example}].`)
    return
  }
  const versions = own(declaration, 'versions')
  const names = isRecord(versions) ? Object.keys(versions) : ['v1']
  const changes = declared.flatMap((each: unknown, index): Change[] => {
    const path = item('changes', index)
    return isChange(report, path, each, names) ? [{ path, declared: each }] : []
  })
  let pasts = [...resources.values()].map((stored): Past => ({ stored, name: stored.name, fields: stored.fields }))
  for (const version of names.slice(1).toReversed()) {
    const own = changes.filter((each) => each.declared['version'] === version)
    const collections = pasts.map(({ name }) => name)
    for (const { path, declared: change } of own) {
      const { resource } = change
      if (typeof resource === 'string' && collections.includes(resource)) continue
      const remedy = typeof resource === 'string' ? suggest(resource, collections) : 'Write the name of a collection.'
      report(at(path, 'resource'), `is no collection that ${version} has`, remedy)
    }
    pasts = pasts.map((past) =>
      own
        .filter((each) => each.declared['resource'] === past.name)
        .reduceRight((after, each) => undo(report, after, each), past),
    )
    checkDistinct(report, pasts, own)
  }
}

function isChange(
  report: Report,
  path: string,
  change: unknown,
  versions: readonly string[],
): change is Record<string, unknown> {
  if (!expectRecord(report, path, change, example)) return false
  checkKeys(report, path, change, keys)
  const version = own(change, 'version')
  if (typeof version !== 'string' || !versions.includes(version)) {
    const remedy =
      versions.length > 1 ? `Write ${oneOf(versions.slice(1))}.` : 'Declare it: versions: { v1: {}, v2: {} }.'
    report(at(path, 'version'), 'must be a declared version', remedy)
    return false
  }
  if (version !== versions[0]) return true
  report(
    at(path, 'version'),
    'is the oldest version: there is none before it to be served',
    'Name the version that made the change.',
  )
  return false
}

function checkDistinct(report: Report, pasts: readonly Past[], changes: readonly Change[]): void {
  const seen = new Set<string>()
  for (const { name } of pasts) {
    const by = changes.find((each) => each.declared['was'] === name)
    if (seen.has(name) && by !== undefined)
      report(at(by.path, 'was'), 'is another collection at that time', 'Name another one.')
    seen.add(name)
  }
}

/** A collection as it was before a change, as far as that can be known. */
function undo(report: Report, past: Past, { path, declared }: Change): Past {
  const part = (key: string): Readonly<Record<string, unknown>> => {
    const value = own(declared, key)
    return value !== undefined && expectRecord(report, at(path, key), value, example) ? value : {}
  }
  checkChoice(report, at(path, 'collection'), own(declared, 'collection'), ['added', 'removed'])
  const was = own(declared, 'was')
  if (typeof was === 'string') checkCollectionName(report, at(path, 'was'), was)
  else if (was !== undefined)
    report(at(path, 'was'), mustBe('the name that the collection had', was), 'Write it, or leave it out.')
  const added = checkAdded(report, at(path, 'add'), own(declared, 'add'), past)
  for (const [name, converted] of Object.entries(part('convert'))) {
    checkConverted(report, at(at(path, 'convert'), name), name, converted, past)
  }
  const fields = new Map<string, FieldView | undefined>()
  const put = (place: string, name: string, field: FieldView | undefined) => {
    if (fields.has(name)) report(place, 'is a name that two fields would have then', 'Name another one.')
    fields.set(name, field)
  }
  const olderNames = new Map<string, string>()
  for (const [older, newer] of Object.entries(part('rename'))) {
    const place = at(at(path, 'rename'), older)
    checkFieldName(report, place, older)
    if (typeof newer === 'string' && past.fields.has(newer)) olderNames.set(newer, older)
    else {
      const remedy =
        typeof newer === 'string' ? suggest(newer, [...past.fields.keys()]) : 'Write the name that it has since.'
      report(place, `is not the name of a field of ${past.name}`, remedy)
    }
  }
  for (const [name, field] of past.fields) {
    const older = olderNames.get(name) ?? name
    if (!added.has(name)) put(at(at(path, 'rename'), older), older, field)
  }
  for (const [name, removed] of Object.entries(part('remove'))) {
    const place = at(at(path, 'remove'), name)
    checkFieldName(report, place, name)
    checkRemoved(report, place, name, removed, [...fields.keys()])
    put(place, name, undefined)
  }
  return { stored: past.stored, name: typeof was === 'string' ? was : past.name, fields }
}

function checkAdded(report: Report, path: string, add: unknown, past: Past): Set<string> {
  const added = new Set<string>()
  if (add === undefined) return added
  if (!Array.isArray(add)) {
    report(path, mustBe('an array of field names', add), 'Write ["labels"].')
    return added
  }
  for (const [index, name] of (add as unknown[]).entries()) {
    const place = item(path, index)
    if (typeof name !== 'string' || !past.fields.has(name)) {
      const remedy = typeof name === 'string' ? suggest(name, [...past.fields.keys()]) : 'Write the name of a field.'
      report(place, `is no field of ${past.name}`, remedy)
      continue
    }
    added.add(name)
    const field = past.fields.get(name)
    if (field === undefined) continue
    const { optional } = field.shape
    const hasValue = optional || field.declared['default'] !== undefined || field.declared['readOnly'] === true
    if (!hasValue && past.stored.owner !== field.name) {
      const message = 'must have a value that older versions cannot send: they could create no record'
      report(place, message, `Give ${field.path} a default, or make it optional.`)
    }
  }
  return added
}

function checkConverted(report: Report, path: string, name: string, converted: unknown, past: Past): void {
  if (!past.fields.has(name)) report(path, `is no field of ${past.name}`, suggest(name, [...past.fields.keys()]))
  if (!expectRecord(report, path, converted, '{ schema, older: (value) => …, newer: (value) => … }')) return
  checkKeys(report, path, converted, ['schema', 'older', 'newer'])
  checkSchema(report, path, name, own(converted, 'schema'), undefined)
  for (const key of ['older', 'newer']) {
    const way = own(converted, key)
    if (typeof way === 'function') checkSynchronous(report, at(path, key), way)
    else
      report(
        at(path, key),
        mustBe('a function of a value', way),
        'Write one such as (value) => value. It needs TypeScript or JavaScript.',
      )
  }
  const { stored } = past
  const field = past.fields.get(name)
  const schema = own(converted, 'schema')
  if (field?.writeOnly === true && isRecord(schema) && schema['writeOnly'] !== true)
    report(at(at(path, 'schema'), 'writeOnly'), 'is missing: older versions would show the value', 'Write true.')
  if (field !== undefined && (field.declared['reference'] !== undefined || stored.owner === field.name)) {
    report(path, 'refers to other records or callers: such values cannot be converted', 'Rename it instead.')
  }
}

function checkRemoved(report: Report, path: string, name: string, removed: unknown, others: readonly string[]): void {
  if (!expectRecord(report, path, removed, '{ schema: { type: "integer" }, value: 3 }')) return
  checkKeys(report, path, removed, ['schema', 'value', 'before'])
  const value = own(removed, 'value')
  if (value === undefined)
    report(at(path, 'value'), 'is missing: it must be what older versions read', 'Write a value, or null.')
  checkSchema(report, path, name, own(removed, 'schema'), value)
  const before = own(removed, 'before')
  if (before !== undefined && !(typeof before === 'string' && others.includes(before))) {
    const remedy = typeof before === 'string' ? suggest(before, others) : 'Write the name of a field, or leave it out.'
    report(at(path, 'before'), 'is no field beside it', remedy)
  }
}

/** @param value what the field always is; `undefined`: it varies */
function checkSchema(report: Report, path: string, name: string, schema: unknown, value: unknown): void {
  const place = at(path, 'schema')
  if (!expectRecord(report, place, schema, '{ type: "integer" }')) return
  for (const word of words) {
    if (Object.hasOwn(schema, word) && !allowedWords.includes(word)) {
      report(at(place, word), 'cannot be kept for older versions', 'Remove it.')
    }
  }
  for (const word of ['filter', 'sort'] as const) {
    if (schema['writeOnly'] === true && schema[word] === true)
      report(at(place, word), 'would let callers find out a writeOnly value', `Remove "${word}" or "writeOnly".`)
  }
  const shape = shapeOf(schema)
  if (value === null && !shape.optional)
    report(at(path, 'value'), 'is null, and the schema does not allow it', 'Add optional: true.')
  // A value that every record has is judged as a default is.
  const constant = value === undefined || value === null ? {} : { default: value }
  const atValue: Report = (where, message, remedy) =>
    report(where === at(place, 'default') ? at(path, 'value') : where, message, remedy)
  const declared = { ...schema, ...constant }
  checkFieldSchema(atValue, {
    name,
    path: place,
    declared,
    shape: shapeOf(declared),
    writeOnly: schema['writeOnly'] === true,
  })
}
