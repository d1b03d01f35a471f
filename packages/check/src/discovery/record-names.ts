/** What records, and members that refer to them or identify them, are called on servers of many kinds. */
import { type Schema, typeOf } from '../values/generate.ts'
import { objectOf } from '../values/json.ts'
import type { Candidate } from './openapi.ts'

type Schemas = Readonly<Record<string, Schema>>

const irregular: Readonly<Record<string, string>> = { people: 'person', children: 'child', men: 'man', women: 'woman' }

/** `country` for `countries`. */
export function singular(plural: string): string {
  const found = irregular[plural]
  if (found !== undefined) return found
  if (/ies$/.test(plural)) return plural.replace(/ies$/, 'y')
  if (/(?:ss|sh|ch|x|z)es$/.test(plural)) return plural.replace(/es$/, '')
  if (/ves$/.test(plural)) return plural.replace(/ves$/, 'f')
  return /[^s]s$/.test(plural) ? plural.slice(0, -1) : plural
}

/** A name without its writing style: `countryId`, `country_id` and `country-id` are the same. */
function normalized(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}

/** Names for a record of a collection in members that refer to it, without `_id`; the best one first. */
function recordNames(collection: string): readonly [string, string] {
  const one = normalized(singular(collection))
  // `shelves` are of a `shelf`, but `archives` are of an `archive`.
  return [one, /ves$/.test(collection) ? normalized(collection).slice(0, -1) : normalized(collection)]
}

/**
 * The collection that the name of a member refers to: `country` for `country_id`; `undefined` if it does not end like
 * an identifier.
 */
function referredName(member: string): string | undefined {
  const found = /^(.+?)(?:_id|-id|Id|ID|_uuid|Uuid|_key)$/.exec(member)
  return found === null ? undefined : normalized(found[1] as string)
}

/** Usual names of the member that identifies a record, the most usual first. */
function identifierNames(collection: string): readonly string[] {
  const [one] = recordNames(collection)
  return ['id', '_id', 'uuid', 'ID', `${one}_id`, `${one}Id`, 'documentId', 'key']
}

/** The member of a record that identifies it. */
export function identifierIn(record: Readonly<Record<string, unknown>>, collection: string): string | undefined {
  return identifierNames(collection).find((name) => ['string', 'number'].includes(typeof record[name]))
}

/**
 * The member of a schema's properties that identifies a record; `id` if none of them does.
 *
 * @param idName its name in the paths of records
 */
function identifierOf(properties: object, collection: string, idName: string | undefined): string {
  const names = [idName, ...identifierNames(collection)]
  return names.find((name) => name !== undefined && Object.hasOwn(properties, name)) ?? 'id'
}

/** The member that identifies the records of a candidate. */
export function idOf({ record, idName, listed, name }: Candidate): string {
  const seen = idName ?? (listed?.first && identifierIn(listed.first, name))
  return identifierOf(objectOf(record?.['properties']), name, seen)
}

/** The references of a collection: of members, the forms of those that are no bare identifiers, and inside members. */
export function referencesOf(
  candidate: Candidate,
  schemas: Schemas,
  required: readonly string[],
  all: readonly Candidate[],
) {
  const references = plainReferences(candidate, schemas, required, all)
  const forms = Object.entries(references).flatMap(([member, other]) => {
    const named = all.find((each) => each.name === other)
    const form = named && formOf(member, schemas[member] ?? {}, named)
    return form === undefined ? [] : [[member, form] as const]
  })
  return { references, forms: Object.fromEntries(forms), nested: nestedReferencesOf(schemas, all) }
}

/** Members that identify a record of another collection. Optional ones only if clients can create those records. */
function plainReferences(
  candidate: Candidate,
  schemas: Schemas,
  required: readonly string[],
  all: readonly Candidate[],
): Record<string, string> {
  const found = Object.entries(schemas).flatMap(([member, schema]) => {
    const shown = candidate.listed?.first?.[member]
    const other = all.find(
      (each) => refersTo(member, schema, each, shown) || formOf(member, schema, each) !== undefined,
    )
    if (other === undefined || typeOf(schema) === 'array') return []
    if (typeOf(schema) === 'object' && formOf(member, schema, other) === undefined) return []
    const isUsed = required.includes(member) || (other.name !== candidate.name && other.operations.includes('create'))
    return isUsed ? [[member, other.name] as const] : []
  })
  return Object.fromEntries(found)
}

/** Places inside members that hold an identifier of another collection: `/lines/0/productId`. */
function nestedReferencesOf(schemas: Schemas, all: readonly Candidate[]): Record<string, string> {
  const found = Object.entries(schemas).flatMap(([member, schema]) => {
    const isList = typeOf(schema) === 'array'
    const properties = objectOf((isList ? objectOf(schema['items']) : schema)['properties'])
    return Object.entries(properties).flatMap(([name, value]) => {
      const other = all.find((each) => refersTo(name, objectOf(value), each, undefined))
      return other?.operations.includes('create')
        ? [[`/${member}/${isList ? '0/' : ''}${name}`, other.name] as const]
        : []
    })
  })
  return Object.fromEntries(found)
}

/** The form of a reference that is no bare identifier: an object with that, or the path of the record. */
function formOf(member: string, schema: Schema, other: Candidate): 'object' | 'path' | undefined {
  if (schema['x-path'] === true && refersTo(member, schema, other, undefined)) return 'path'
  if (!recordNames(other.name).includes(normalized(member))) return undefined
  if (/^(?:uri|iri)(?:-reference)?$/.test(String(schema['format']))) return 'path'
  const isRecord = typeOf(schema) === 'object' && Object.hasOwn(objectOf(schema['properties']), 'id')
  return isRecord ? 'object' : undefined
}

/** @param shown the member's value in an existing record */
function refersTo(member: string, schema: Schema, other: Candidate, shown: unknown): boolean {
  const names = recordNames(other.name)
  const described = /\bid of (?:one of )?(?:the|an?) ([\w-]+)/i.exec(String(schema['description'] ?? ''))?.[1]
  if (described !== undefined && [other.name, ...names].includes(described.toLowerCase())) return true
  const referred = referredName(member)
  if (referred !== undefined) {
    return names.some((each) => referred === each || (referred.endsWith(each) && each.length > 3))
  }
  const id = objectOf(objectOf(other.record?.['properties'])[idOf(other)])
  const isAlike =
    typeOf(schema) === 'integer' ? typeOf(id) === 'integer' : schema['format'] === 'uuid' && id['format'] === 'uuid'
  const isListed = () => typeof shown === 'string' && other.listed?.items?.some((each) => each[idOf(other)] === shown)
  return names.includes(normalized(member)) && (isAlike || isListed() === true)
}
