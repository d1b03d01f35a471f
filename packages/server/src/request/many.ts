/** Reads the requests that create or change the records of an array, or the record that a unique value identifies. */
import { isDeepStrictEqual } from 'node:util'
import { canonicalValue } from 'resourced-contract/model/decimal'
import { isKeptExactly } from 'resourced-contract/model/json/read-json'
import { isObject } from 'resourced-contract/model/plain-copy'
import type { Field, Resource } from 'resourced-contract/model/resource'
import { uniqueKeysOf } from 'resourced-contract/model/resource'
import { type Fault, type Issue, issue } from 'resourced-contract/spec/faults'
import { isUnstorable, jsonNumber, unstorable } from './filters.ts'
import { invalidQuery, type Parameter, readItems } from './parameters.ts'

/** The records of a request, and how they are found. */
export interface Many {
  readonly bodies: readonly unknown[]
  /** The unique field whose values identify them; left out: they are new, or have their ids. */
  readonly key?: string
  /** Whether the body is a single record, and not an array. */
  readonly isSingle: boolean
  /** What is wrong with the body as a whole. */
  readonly issues: readonly Issue[]
}

/** Reads an array of new records, or of changes that name their ids. */
export function readArray(body: unknown, most: number): Many {
  const issues: Issue[] = []
  return { bodies: readItems(body, '', { least: 1, most }, issues) ?? [], isSingle: false, issues }
}

/**
 * Reads a PUT of a collection: `?key=sku` with an array, or `?sku=ABC` with a record.
 *
 * @throws Fault INVALID_QUERY
 */
export function readUpsert(
  resource: Resource,
  parameters: readonly Parameter[],
  { body, most }: { readonly body: unknown; readonly most: number },
): Many {
  const keys = uniqueKeysOf(resource)
  const names = [...keys.keys()]
  const wrong = parameters.filter(isUnstorable)
  if (wrong.length > 0) throw invalidQuery(wrong.map(({ name: parameter }) => unstorable(parameter)))
  const [first, another] = parameters
  if (another !== undefined) throw notUnique(another.name, names)
  if (Array.isArray(body)) {
    if (first?.name !== 'key') throw notUnique(first?.name ?? 'key', names)
    const stored = keys.get(first.value)
    if (stored === undefined) throw invalidQuery([issue('enum', { parameter: 'key', allowed: names })])
    return { ...readArray(body, most), key: stored }
  }
  const stored = first === undefined ? undefined : keys.get(first.name)
  if (first === undefined || stored === undefined) throw notUnique(first?.name ?? names[0], names)
  return { ...identified(resource, first, body), key: stored }
}

function notUnique(parameter: string | undefined, known: readonly string[]): Fault {
  return invalidQuery([issue('uniqueParameter', { parameter, known })])
}

/** A record with the unique value of its address. */
function identified(resource: Resource, { name, value: text }: Parameter, body: unknown): Omit<Many, 'key'> {
  const field = resource.field.get(name)
  const value = field === undefined ? text : typedValue(field, text)
  const single = { isSingle: true, issues: [] }
  if (!isObject(body)) return { bodies: [body], ...single }
  const completed = { bodies: [{ ...body, [name]: value }], ...single }
  if (field === undefined || !Object.hasOwn(body, name)) return completed
  const isSame = isDeepStrictEqual(canonicalValue(field, body[name]), canonicalValue(field, value))
  return isSame ? completed : { ...completed, issues: [issue('parent', { pointer: `/${name}`, parent: text })] }
}

/**
 * The value that a text of an address means. A number is written as in a body, so none is taken for another. A text
 * without a meaning is kept, and refused with the record.
 */
function typedValue({ type }: Field, text: string): unknown {
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  if (type !== 'integer' && type !== 'number') return text
  // A negative zero is zero.
  return jsonNumber.test(text) && isKeptExactly(text) ? Number(text) + 0 : text
}
