/**
 * Turns a candidate into the profile of a collection: its members, a body that creates a record, valid and invalid
 * values.
 */

import { isSequential } from '../case/fill.ts'
import type { CollectionProfile } from '../profile/profile.ts'
import { type QueryStyle, sizeOf } from '../profile/query-style.ts'
import {
  generate,
  invalidValue,
  isUnmade,
  listOf,
  otherValue,
  type Schema,
  schemaOf,
  takesMark,
  typeOf,
} from '../values/generate.ts'
import { isObject, type JsonObject, mapMembers, objectOf, pick } from '../values/json.ts'
import type { Candidate } from './openapi.ts'
import { documentedPages, filtersIn, ordersToTry } from './query-names.ts'
import { idOf, referencesOf } from './record-names.ts'

type Schemas = Readonly<Record<string, Schema>>

/** The profile of a collection as far as its candidate goes, and notices about what is missing. */
export function describeCollection(candidate: Candidate, all: readonly Candidate[]) {
  const { name, path, query, deletionFilters = [], deletionAnswers } = candidate
  const id = idOf(candidate)
  const schemas = settableSchemas(candidate, id)
  const members = Object.keys(schemas)
  const shown = Object.keys(recordProperties(candidate))
  const required = listOf(candidate.creation?.['required'])
    .map(String)
    .filter((each) => members.includes(each))
  const { references, forms, nested } = referencesOf(candidate, schemas, required, all)
  const { example, unmade } = exampleOf(candidate, schemas, required)
  const unique = uniqueMembers(schemas, example)
  const { pages, query: style } = documentedPages(
    query.filter(({ schema }) => typeOf(schema) !== 'boolean').map(({ name }) => name),
  )
  const { filterable, form } = filtersIn(
    query.map(({ name }) => name),
    [...shown, ...members],
    Object.values(style).map(String),
  )
  const searchName = searchParameter(query)?.name ?? 'q'
  const queryStyle = {
    ...style,
    ...(searchName !== 'q' && { q: searchName }),
    ...sizesIn(query, { pages, query: style }),
    ...form,
  }
  const marker = markerOf(schemas, filterable, unique, references)
  // Filters other than the marker might select records that are not the checker's.
  const isSafe = marker !== undefined && deletionFilters.includes(marker)
  const operations = candidate.operations.filter((each) => each !== 'delete-by-filter' || isSafe)
  const isFree = (each: string) =>
    !unique.includes(each) &&
    !Object.hasOwn(references, each) &&
    !Object.keys(nested).some((at) => at.startsWith(`/${each}/`)) &&
    (shown.length === 0 || shown.includes(each))
  const changeable = members.filter((each) => isFree(each) && isChangeable(candidate, each, schemas[each]))
  const withoutMarker = changeable.filter((each) => each !== marker)
  const collection: CollectionProfile = {
    ...(candidate.names && { names: candidate.names }),
    ...{ name, path, operations, id, references, unique, required, schemas, example, marker },
    ...(Object.keys(forms).length > 0 && { referenceForms: forms }),
    ...(Object.keys(nested).length > 0 && { nestedReferences: nested }),
    ...createdName(shown),
    ...(candidate.slashes.length > 0 && { slashes: candidate.slashes }),
    sequential: sequenceOf(candidate, id),
    // The checker finds its records by the marker.
    change: valuesOf(withoutMarker.length > 0 ? withoutMarker : changeable, (each) =>
      otherValue(example?.[each], schemas[each] ?? {}, each),
    ),
    optional: valuesOf(
      members.filter((each) => isFree(each) && !required.includes(each) && !hasDefault(schemas[each])),
      // Most booleans that are left out become false: true shows whether the value is kept.
      (each) =>
        example?.[each] === false ? true : withoutEmpty(example?.[each] ?? generate(schemas[each] ?? {}, each, 1)),
    ),
    invalid: valuesOf(
      members
        .filter((each) => !Object.hasOwn(references, each))
        .toSorted((left, right) => strictness(schemas[left]) - strictness(schemas[right])),
      (each) => invalidValue(schemas[each] ?? {}),
    ),
    filters: ranked(filterable, example, (each) => (each === marker ? 0 : unique.includes(each) ? 2 : 1)),
    // Numbers have the same order everywhere, texts do not.
    sorts: ranked(sortableMembers(candidate, [...new Set([...shown, ...members])]), example, (each) =>
      typeof example?.[each] === 'number' ? 0 : 1,
    ),
    search: searchMember(candidate, schemas),
    children: Object.fromEntries(
      candidate.children.filter((each) => all.some((other) => other.name === each)).map((each) => [each, each]),
    ),
    deletion: keepsDeleted(candidate) ? 'soft' : 'hard',
    pages,
    ...(Object.keys(queryStyle).length > 0 && { query: queryStyle }),
    conditional: candidate.isConditional,
    ...(deletionAnswers.length > 0 && { deletionAnswers }),
    owner: ownerMember(candidate, id),
  }
  const notices = unmade.map(
    ([member, why]) =>
      `${name}: no value for ${member} can be generated (${why}). Write a valid one into the profile: ` +
      `collections.${name}.example.${member}`,
  )
  const isPut = !operations.includes('create') && operations.includes('replace') && operations.includes('delete')
  const byPut =
    `${name}: its document has PUT of a record and no POST. If clients create records by PUT, at an identifier that ` +
    'they choose, the checker does not try this, and cases that need a record are not applicable.'
  return { collection, notices: operations.includes('create') ? notices : isPut ? [byPut] : [] }
}

/** The sizes that pages may have, as far as they are narrower than 1 to 100. */
function sizesIn(query: Candidate['query'], styled: Pick<CollectionProfile, 'pages' | 'query'>): QueryStyle {
  const { schema = {} } = query.find(({ name }) => name === sizeOf(styled)) ?? {}
  const sizes = listOf(schema['enum'])
    .map(Number)
    .filter((each) => each > 0)
  const least = sizes.length > 0 ? Math.min(...sizes) : Number(schema['minimum'] ?? 1)
  const most = sizes.length > 0 ? Math.max(...sizes) : Number(schema['maximum'] ?? 100)
  return { ...(least > 1 && { least }), ...(most > 0 && most < 100 && { most }) }
}

function recordProperties({ record }: Candidate): JsonObject {
  return objectOf(record?.['properties'])
}

/** Whether the server numbers the records: by the first record of the list, or by the type of the identifier. */
function sequenceOf(candidate: Candidate, id: string): boolean | undefined {
  const value = candidate.listed?.first?.[id]
  // Clients choose what a body must have.
  if (typeof value === 'string' && listOf(candidate.creation?.['required']).includes(id)) return false
  if (value !== undefined) return isSequential(String(value))
  const schema = objectOf(recordProperties(candidate)[id])
  if (schema['format'] === 'uuid') return false
  return ['integer', 'number'].includes(typeOf(schema) ?? '') ? true : undefined
}

/** Resourced writes `x-default`, because generators misunderstand `default` in requests. */
function hasDefault(schema: Schema = {}): boolean {
  // Some generators write null where there is none.
  return (schema['default'] ?? schema['x-default'] ?? null) !== null
}

export const setByServer =
  /^(?:last_?)?(?:created|updated|modified|deleted)_?(?:at|on|by|time|date)?$|^date_?(?:created|modified)$|^_|^etag$/i

/** The schemas of the members that a client may send. */
function settableSchemas({ creation, example, listed }: Candidate, id: string): Schemas {
  const shown = listed?.first ?? {}
  const required = listOf(creation?.['required'])
  const all = objectOf(creation?.['properties'])
  const isReadOnly = (name: string) => objectOf(all[name])['readOnly'] === true
  const settable = pick(
    all,
    (name) => !isReadOnly(name) && (required.includes(name) || (name !== id && !setByServer.test(name))),
  )
  return mapMembers(settable, (value, name) => {
    const schema = objectOf(value)
    const values = (listed?.items ?? []).map((each) => each[name])
    const formatted = withShownFormat(schema, example?.[name] ?? shown[name])
    return { ...formatted, ...(seenChoices(schema, values) ?? seenShape(formatted, values)) }
  })
}

/** Whether a schema says nothing about its texts but their length. */
function isPlainText(schema: Schema): boolean {
  return typeOf(schema) === 'string' && !['enum', 'pattern', 'format'].some((keyword) => keyword in schema)
}

/** Few texts that many records have are probably the only ones that are admitted. */
function seenChoices(schema: Schema, values: readonly unknown[]): Schema | undefined {
  const texts = values.filter((each) => typeof each === 'string')
  const distinct = [...new Set(texts)]
  const isRepeated = texts.length >= 8 && texts.length === values.length && distinct.length * 2 <= texts.length
  return isPlainText(schema) && isRepeated && distinct.length <= 8 ? { 'x-seen': distinct } : undefined
}

/** Short texts that all have letters and digits at the same places are codes (`AB-123`): no others may be admitted. */
function seenShape(schema: Schema, values: readonly unknown[]): Schema {
  const texts = values.filter((each): each is string => typeof each === 'string')
  const [first = '', ...others] = texts.map(shapeOf)
  const isCode = /\\d/.test(first) && /^[\w./-]{2,24}$/.test(texts[0] ?? '') && others.every((each) => each === first)
  return isPlainText(schema) && others.length > 3 && texts.length === values.length && isCode
    ? { pattern: `^${first}$` }
    : {}
}

/** A pattern for the shape of a text: `[A-Z]{2}-\d{3}` for `AB-123`. */
function shapeOf(text: string): string {
  const classes = [/[A-Z]/, /[a-z]/, /\d/].map((each) => [each, each.source] as const)
  return text.replaceAll(/([A-Z]+)|([a-z]+)|(\d+)|(\W|_)/g, (part, ...groups: string[]) => {
    const kind = groups.findIndex((each) => each !== undefined)
    const source = classes[kind]?.[1]
    return source === undefined ? RegExp.escape(part) : `${source}${part.length > 1 ? `{${part.length}}` : ''}`
  })
}

/** A text schema without a format gets the one that its example has: some generators write times as plain texts. */
function withShownFormat(schema: Schema, seen: unknown): Schema {
  const value = [schema['example'], ...listOf(schema['examples']), seen].find((each) => typeof each === 'string')
  const { format } = isPlainText(schema) ? schemaOf(value) : {}
  return format === undefined ? schema : { ...schema, format }
}

function isWritable(schema: unknown): boolean {
  return isObject(schema) && schema['readOnly'] !== true
}

function isChangeable({ changing }: Candidate, member: string, schema: Schema = {}): boolean {
  const properties = changing?.['properties']
  const isFixed = /\b(?:fixed|immutable|cannot be changed|changes only)\b/i.test(String(schema['description'] ?? ''))
  return (
    (properties === undefined || isWritable(objectOf(properties)[member])) && schema['x-immutable'] !== true && !isFixed
  )
}

/** A body with the values that the document shows, or generated ones; and the required members without a value. */
function exampleOf({ example, creation }: Candidate, schemas: Schemas, required: readonly string[]) {
  const unmade: (readonly [member: string, why: string])[] = []
  if (creation === undefined) return { example: undefined, unmade }
  const made = Object.entries(schemas).flatMap(([name, schema]) => {
    const given = example?.[name] ?? undefined
    // An empty object shows nothing.
    if (given !== undefined && !(isObject(given) && Object.keys(given).length === 0)) return [[name, given] as const]
    // What a shown body leaves out can be left out.
    if (example !== undefined && given === undefined && !required.includes(name)) return []
    const value = generate(schema, name)
    if (!isUnmade(value)) return [[name, value] as const]
    if (required.includes(name)) unmade.push([name, value.unmade])
    return []
  })
  return { example: unmade.length > 0 ? undefined : Object.fromEntries(made), unmade }
}

/** The name of the time of creation, if it is another one than ours. */
function createdName(shown: readonly string[]): Pick<CollectionProfile, 'created'> {
  const found = shown.find((each) => /^(?:created|inserted)_?(?:at|on|date|time)?$|^date_?created$/i.test(each))
  return found === undefined || shown.includes('created_at') ? {} : { created: found }
}

export const oftenUnique =
  /^(?:e-?mail|sku|slug|user_?name|login|code|isbn|handle|domain|key|ean|vin|iban|serial(?:_?number)?)$/i

function uniqueMembers(schemas: Schemas, example: JsonObject = {}): string[] {
  return Object.keys(schemas).filter((name) => {
    const schema = schemas[name] ?? {}
    const isDeclared =
      schema['x-unique'] === true ||
      /\b(?:no two|must be unique|is unique|unique (?:in|among|across))\b/i.test(String(schema['description'] ?? ''))
    const isScalar = ['string', 'number'].includes(typeof example[name]) && !('enum' in schema)
    return isScalar && (isDeclared || oftenUnique.test(name))
  })
}

/** A filter that takes any text that is as long as a mark. */
export function markerOf(
  schemas: Schemas,
  filters: readonly string[],
  unique: readonly string[],
  references: Readonly<Record<string, string>>,
): string | undefined {
  const fitting = filters.filter((each) => {
    const schema = schemas[each]
    if (schema === undefined || typeOf(schema) !== 'string' || Object.hasOwn(references, each)) return false
    return takesMark(schema)
  })
  const usual = fitting.filter((each) => !unique.includes(each))
  return usual.find((each) => !('x-seen' in (schemas[each] ?? {}))) ?? usual[0] ?? fitting[0]
}

/**
 * The members that the `sort` parameter names: in its values, its pattern or its description. None if its form is open:
 * the order is named by another parameter, or its values have no sign for the descending one.
 */
function sortableMembers({ query }: Candidate, members: readonly string[]): string[] {
  const sort = query.find(({ name }) => name === 'sort')
  if (sort === undefined) return []
  const { schema, description } = sort
  const values = [schema['enum'], objectOf(schema['items'])['enum']].find(Array.isArray)
  const [form] = ordersToTry(query.map(({ name }) => name))
  const isSigned = values === undefined || values.some((each) => String(each).startsWith('-'))
  if (form?.ascending !== 'sort={}' || !isSigned) return []
  const text = values?.join(' ') ?? `${schema['pattern'] ?? ''} ${description} ${schema['description'] ?? ''}`
  const words = new Set(text.match(/[A-Za-z_]\w*/g) ?? [])
  return members.filter((each) => words.has(each))
}

/** The parameter for a search: `q`, or a text with another usual name. */
function searchParameter(query: Candidate['query']): Candidate['query'][number] | undefined {
  const isText = ({ schema }: Candidate['query'][number]) => typeOf(schema) === 'string' && !('enum' in schema)
  return (
    query.find(({ name }) => name === 'q') ??
    query.find((each) => /^(?:search|query|keywords?|term|search_?term)$/i.test(each.name) && isText(each))
  )
}

/** The member that `q` searches: one that its description names, or a usual one. */
function searchMember({ query }: Candidate, schemas: Schemas): string | undefined {
  const q = searchParameter(query)
  if (q === undefined) return undefined
  const texts = Object.keys(schemas).filter(
    (each) => typeOf(schemas[each] ?? {}) === 'string' && takesMark(schemas[each] ?? {}),
  )
  const words = new Set(q.description.match(/\w+/g) ?? [])
  return (
    texts.find((each) => words.has(each)) ??
    texts.find((each) => /^(?:name|title|label|subject|text)$/i.test(each)) ??
    texts[0]
  )
}

/**
 * A member that the server sets to the creator of a record. Discovery tries later whether other callers see the record.
 */
function ownerMember(candidate: Candidate, id: string): string | undefined {
  const sent = objectOf(candidate.creation?.['properties'])
  return Object.entries(recordProperties(candidate)).find(
    ([name, value]) =>
      name !== id &&
      !isWritable(sent[name]) &&
      /^(?:owner|creator|created_?by|author)(?:_?id)?$/i.test(name) &&
      typeOf(objectOf(value)) !== 'object',
  )?.[0]
}

function keepsDeleted(candidate: Candidate): boolean {
  return (
    candidate.operations.includes('restore') ||
    candidate.query.some(({ name }) => name === 'include_deleted') ||
    Object.keys(recordProperties(candidate)).some((each) => /^deleted_?at$/i.test(each))
  )
}

function valuesOf(members: readonly string[], make: (member: string) => unknown): JsonObject {
  const made = members.map((each) => [each, make(each)] as const)
  return Object.fromEntries(made.filter(([, value]) => value !== undefined && value !== null && !isUnmade(value)))
}

/** An empty array is what a record has without the member, too: a case could not tell them apart. */
function withoutEmpty(value: unknown): unknown {
  return Array.isArray(value) && value.length === 0 ? undefined : value
}

/** Ranks schemas by how certainly servers refuse an invalid value: 0 for the most certain ones. */
function strictness(schema: Schema = {}): number {
  if ('enum' in schema) return 0
  if (['integer', 'number', 'boolean'].includes(typeOf(schema) ?? '')) return 1
  return 'format' in schema ? 2 : 3
}

/**
 * Members in the order of their rank; last those that are not in the example, because cases cannot choose their values.
 */
function ranked(members: readonly string[], example: JsonObject = {}, rank: (member: string) => number): string[] {
  const place = (each: string) => (Object.hasOwn(example, each) ? rank(each) : 9)
  return members.toSorted((left, right) => place(left) - place(right))
}
