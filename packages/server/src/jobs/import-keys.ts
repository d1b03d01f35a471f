/** Finds the keys in the records of a file: their own, and those that their references hold. */
import { suggest } from 'resourced-contract/model/nearest'
import { isObject } from 'resourced-contract/model/plain-copy'
import type { Catalog, Field, Resource } from 'resourced-contract/model/resource'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import type { StagedReference } from './import-stage.ts'
import { type Incoming, type KeySpace, keyText } from './import-staged.ts'
import type { SourceRecord } from './source.ts'

/** The keys of a file: the first space is that of its own keys, if it has any. */
export interface FileKeys {
  readonly resource: Resource
  /** The field with the key of each record; `undefined`: records have none. */
  readonly own: Field | undefined
  readonly spaces: readonly KeySpace[]
  /** The references that hold keys, with the numbers of their spaces. */
  readonly links: ReadonlyMap<string, number>
}

/**
 * The keys of a file for a collection. A reference holds keys if its collection has the unique field `key` too, or if
 * `referenceKeys` names another unique field of it.
 *
 * @throws ConfigurationError where such a field is missing or not unique
 */
export function keysOf(
  catalog: Catalog,
  resource: Resource,
  key: string | undefined,
  referenceKeys: ReadonlyMap<string, string>,
): FileKeys {
  const own = key === undefined ? undefined : uniqueField(resource, key, '--key')
  const spaces: KeySpace[] = own === undefined ? [] : [{ resource, field: own }]
  const links = new Map<string, number>()
  for (const { name, reference } of resource.fields) {
    const target = catalog.resources.get(reference?.collection ?? '')
    if (target === undefined) continue
    const named = referenceKeys.get(name)
    const shared = target.field.get(key ?? '')
    const field = named === undefined ? shared : uniqueField(target, named, 'key')
    if (field === undefined || !isKey(field)) continue
    let space = spaces.findIndex((each) => each.resource === target && each.field === field)
    if (space === -1) space = spaces.push({ resource: target, field }) - 1
    links.set(name, space)
  }
  return { resource, own, spaces, links }
}

/** Whether a field can identify records. */
export function isKey({ unique, writeOnly, type }: Field): boolean {
  return unique && !writeOnly && (type === 'string' || type === 'integer' || type === 'decimal')
}

function uniqueField(resource: Resource, name: string, option: string): Field {
  const field = resource.field.get(name)
  if (field !== undefined && isKey(field)) return field
  const keys = resource.fields.filter(isKey).map((each) => each.name)
  const example = `${name}: { type: string, optional: true, unique: true }`
  const found =
    field === undefined
      ? `${resource.name} has no field ${JSON.stringify(name)}`
      : `${name} of ${resource.name} is not unique`
  const remedy =
    keys.length === 0 ? `Declare ${example}.` : suggest(name, keys, `Name ${keys.join(' or ')}, or declare ${example}.`)
  throw new ConfigurationError(`${option} ${name}: ${found}. ${remedy}`)
}

/** The records of a file with their keys. Places are lines. */
export async function* withKeys(records: AsyncIterable<SourceRecord>, keys: FileKeys): AsyncGenerator<Incoming> {
  for await (const record of records) {
    const place = `line ${record.line}`
    if ('issues' in record) yield { place, issues: record.issues, ...(record.final && { final: true }) }
    else yield keyed(record.value, place, record.size, keys)
  }
}

function keyed(given: unknown, place: string, size: number, { resource, own, spaces, links }: FileKeys): Incoming {
  const nothing = { place, collection: 0, size, keys: [], references: [] }
  // The schema refuses it.
  if (!isObject(given)) return { ...nothing, value: given }
  const value: Record<string, unknown> = { ...given }
  const issues: Issue[] = []
  const key = own === undefined ? undefined : keyText(resource, own, value[own.name])
  if (own !== undefined && key === undefined) {
    const isThere = (value[own.name] ?? '') !== ''
    const place = { field: own.name }
    issues.push(isThere ? issue('keyType', { ...place, type: own.type }) : issue('noKey', place))
  }
  const references: StagedReference[] = []
  for (const [name, space] of links) {
    const sent = value[name]
    delete value[name]
    if (sent === undefined || sent === null || sent === '') continue
    const { resource: target, field } = spaces[space] as KeySpace
    const text = keyText(target, field as Field, sent)
    if (text !== undefined) references.push({ field: name, space, key: text })
    else {
      issues.push(issue('targetKey', { field: name, key: field?.name, target: target.name }))
    }
  }
  if (issues.length > 0) return { place, issues }
  return { place, collection: 0, size, value, keys: key === undefined ? [] : [[0, key]], references }
}
