/** What is to be known of a collection's members, from schemas: a body that creates, and values that are good and bad. */

import type { CollectionProfile } from '../profile/profile.ts'
import { isNarrow } from '../values/distinct.ts'
import { another, generate, isUnmade, listOf, type Schema, typeOf, unfit } from '../values/generate.ts'
import { isObject, type JsonObject, objectOf } from '../values/json.ts'
import { type Draft, filtersOf, pagesOf, sortsOf } from './drafts.ts'
import { bare, callsOf, referred } from './words.ts'

/** A collection as far as its description goes, and what was not found out. */
export interface Described {
  readonly collection: CollectionProfile
  readonly notices: readonly string[]
}

/** What a draft says of a collection, beside all the others. */
export function describe(draft: Draft, all: readonly Draft[]): Described {
  const { name, path, query, removedBy = [] } = draft
  const id = idOf(draft)
  const schemas = settable(draft, id)
  const members = [...new Set([...Object.keys(objectOf(draft.record?.['properties'])), ...Object.keys(schemas)])]
  const required = listOf(draft.creation?.['required'])
    .map(String)
    .filter((each) => Object.hasOwn(schemas, each))
  const references = referencesOf(draft, schemas, required, all)
  const { example, unmade } = exampleOf(draft, schemas, required)
  const unique = uniqueOf(schemas, example)
  const filterable = filtersOf(query, members)
  const marker = markerOf(schemas, filterable, unique, references)
  // What is deleted by something else than what finds the checker's own might be anything.
  const isSafe = marker !== undefined && removedBy.includes(marker)
  const operations = draft.operations.filter((each) => each !== 'delete-by-filter' || isSafe)
  const filters = sorted(filterable, example, (each) => (each === marker ? 0 : unique.includes(each) ? 2 : 1))
  const isUsed = (each: string) => unique.includes(each) || Object.hasOwn(references, each)
  const shown = new Set(Object.keys(objectOf(draft.record?.['properties'])))
  const isShown = (each: string) => shown.size === 0 || shown.has(each)
  const changing = Object.hasOwn(draft.changing ?? {}, 'properties')
    ? objectOf(draft.changing?.['properties'])
    : undefined
  const changeable = Object.keys(schemas).filter(
    (each) =>
      !isUsed(each) &&
      isShown(each) &&
      isSettable(changing === undefined ? {} : changing[each]) &&
      !isFixed(schemas[each]),
  )
  const collection: CollectionProfile = {
    ...{ name, path, operations, id, references, unique, required, filters, schemas },
    example,
    // What records are found by had better stay.
    change: valuesOf(
      changeable.some((each) => each !== marker) ? changeable.filter((each) => each !== marker) : changeable,
      (each) => another(example?.[each], schemas[each] ?? {}, each),
    ),
    optional: valuesOf(
      Object.keys(schemas).filter(
        (each) => !required.includes(each) && !isUsed(each) && isShown(each) && !('default' in (schemas[each] ?? {})),
      ),
      (each) => example?.[each] ?? generate(schemas[each] ?? {}, each, 1),
    ),
    invalid: valuesOf(
      sharpest(
        Object.keys(schemas).filter((each) => !Object.hasOwn(references, each)),
        schemas,
      ),
      (each) => unfit(schemas[each] ?? {}),
    ),
    // Numbers have one order everywhere, texts have many.
    sorts: sorted(sortsOf(query, members), example, (each) => (typeof example?.[each] === 'number' ? 0 : 1)),
    search: searchOf(draft, schemas),
    marker,
    children: childrenOf(draft, all),
    deletion: keepsDeleted(draft) ? 'soft' : 'hard',
    pages: pagesOf(query),
    conditional: draft.isConditional,
    ...spokenOf(draft, id),
  }
  const notices = unmade.map(
    ([member, why]) =>
      `${name}: ${member} cannot be made up (${why}). Write a good value into the profile: collections.${name}.example.${member}`,
  )
  return { collection, notices: operations.includes('create') ? notices : [] }
}

/** The member that identifies a record. */
export function idOf({ record, idParameter, name }: Pick<Draft, 'record' | 'idParameter' | 'name'>): string {
  const has = (each: string | undefined): each is string =>
    each !== undefined && Object.hasOwn(objectOf(record?.['properties']), each)
  const singular = callsOf(name)[0]
  return ['id', idParameter, '_id', 'uuid', `${singular}_id`, `${singular}Id`, 'key'].find(has) ?? 'id'
}

const serverSet =
  /^(?:created|updated|modified|deleted)_?(?:at|on|by|time|date)?$|^(?:date_?(?:created|modified))$|^_|^etag$/i

/** The schemas of the members that a client may send. */
function settable({ creation }: Draft, id: string): Readonly<Record<string, Schema>> {
  const required = listOf(creation?.['required'])
  return Object.fromEntries(
    Object.entries(objectOf(creation?.['properties'])).flatMap(([name, value]) => {
      const schema = objectOf(value)
      const isOurs = required.includes(name) || (name !== id && !serverSet.test(name))
      return isOurs && schema['readOnly'] !== true ? [[name, schema]] : []
    }),
  )
}

function isSettable(value: unknown): boolean {
  return isObject(value) && value['readOnly'] !== true
}

function isFixed(schema: Schema = {}): boolean {
  const text = String(schema['description'] ?? '')
  return schema['x-immutable'] === true || /\b(?:fixed|immutable|cannot be changed|changes only)\b/i.test(text)
}

/** A body as the document shows it, or of values made up; and what could not be made up. */
function exampleOf(
  { shown, creation }: Draft,
  schemas: Readonly<Record<string, Schema>>,
  required: readonly string[],
): { readonly example: JsonObject | undefined; readonly unmade: readonly (readonly [member: string, why: string])[] } {
  if (creation === undefined) return { example: undefined, unmade: [] }
  const unmade: (readonly [string, string])[] = []
  const made = Object.entries(schemas).flatMap(([name, schema]) => {
    const isShown = shown !== undefined && Object.hasOwn(shown, name) && shown[name] !== null
    // An empty object shows nothing.
    if (isShown && !(isObject(shown[name]) && Object.keys(shown[name]).length === 0))
      return [[name, shown[name]] as const]
    // Where the document shows a body, what it leaves out can be left out.
    if (shown !== undefined && !isShown && !required.includes(name)) return []
    const value = generate(schema, name)
    if (!isUnmade(value)) return [[name, value] as const]
    if (required.includes(name)) unmade.push([name, value.unmade])
    return []
  })
  return { example: unmade.length > 0 ? undefined : Object.fromEntries(made), unmade }
}

/** Members that identify a record of another collection. Optional ones only where that can be made. */
function referencesOf(
  draft: Draft,
  schemas: Readonly<Record<string, Schema>>,
  required: readonly string[],
  all: readonly Draft[],
): Record<string, string> {
  const found = Object.entries(schemas).flatMap(([member, schema]) => {
    const other = all.find((each) => refers(member, schema, each))
    if (other === undefined || typeOf(schema) === 'array' || typeOf(schema) === 'object') return []
    const isWanted = required.includes(member) || (other.name !== draft.name && other.operations.includes('create'))
    return isWanted ? [[member, other.name] as const] : []
  })
  return Object.fromEntries(found)
}

function refers(member: string, schema: Schema, other: Draft): boolean {
  const told = /\bid of (?:one of )?(?:the|an?) ([\w-]+)/i.exec(String(schema['description'] ?? ''))?.[1]
  if (told !== undefined && [other.name, ...callsOf(other.name)].includes(told.toLowerCase())) return true
  const calls = callsOf(other.name)
  const called = referred(member)
  if (called !== undefined) return calls.some((each) => called === each || (called.endsWith(each) && each.length > 3))
  const id = objectOf(objectOf(other.record?.['properties'])[idOf(other)])
  const isAlike =
    typeOf(schema) === 'integer' ? typeOf(id) === 'integer' : schema['format'] === 'uuid' && id['format'] === 'uuid'
  return isAlike && calls.includes(bare(member))
}

/** Names of members that are often unique. */
export const oftenUnique =
  /^(?:e-?mail|sku|slug|user_?name|login|code|isbn|handle|domain|key|ean|vin|iban|serial(?:_?number)?)$/i

function uniqueOf(schemas: Readonly<Record<string, Schema>>, example: JsonObject = {}): string[] {
  return Object.entries(schemas).flatMap(([name, schema]) => {
    const isTold =
      schema['x-unique'] === true ||
      /\b(?:no two|must be unique|is unique|unique (?:in|among|across))\b/i.test(String(schema['description'] ?? ''))
    const isScalar = ['string', 'number'].includes(typeof example[name]) && !('enum' in schema)
    return isScalar && (isTold || oftenUnique.test(name)) ? [name] : []
  })
}

/** What could be filtered by that holds any text of the length of a mark. */
export function markerOf(
  schemas: Readonly<Record<string, Schema>>,
  filters: readonly string[],
  unique: readonly string[],
  references: Readonly<Record<string, string>> = {},
): string | undefined {
  const fitting = filters.filter((each) => {
    const schema = schemas[each]
    if (schema === undefined || typeOf(schema) !== 'string' || Object.hasOwn(references, each)) return false
    return (
      !('enum' in schema) && !('pattern' in schema) && !('format' in schema) && Number(schema['maxLength'] ?? 99) >= 24
    )
  })
  return fitting.find((each) => !unique.includes(each)) ?? fitting[0]
}

function searchOf({ query }: Draft, schemas: Readonly<Record<string, Schema>>): string | undefined {
  const q = query.find(({ name }) => name === 'q')
  if (q === undefined) return undefined
  const texts = Object.keys(schemas).filter(
    (each) => typeOf(schemas[each] ?? {}) === 'string' && !('enum' in (schemas[each] ?? {})),
  )
  const words = new Set(q.description.match(/\w+/g) ?? [])
  return (
    texts.find((each) => words.has(each)) ??
    texts.find((each) => /^(?:name|title|label|subject|text)$/i.test(each)) ??
    texts[0]
  )
}

/** What a document says that is no more than a beginning: whether others see a record has to be tried. */
function spokenOf({ deletionAnswers, record, creation }: Draft, id: string) {
  const owner = Object.entries(objectOf(record?.['properties'])).find(([name, value]) => {
    const isSent = isSettable(objectOf(creation?.['properties'])[name])
    return (
      name !== id &&
      !isSent &&
      /^(?:owner|creator|created_?by|author)(?:_?id)?$/i.test(name) &&
      typeOf(objectOf(value)) !== 'object'
    )
  })?.[0]
  return { ...(deletionAnswers.length > 0 && { deletionAnswers }), ...(owner !== undefined && { owner }) }
}

function childrenOf({ below }: Draft, all: readonly Draft[]): Record<string, string> {
  return Object.fromEntries(below.flatMap((each) => (all.some(({ name }) => name === each) ? [[each, each]] : [])))
}

function keepsDeleted({ operations, query, record }: Draft): boolean {
  return (
    operations.includes('restore') ||
    query.some(({ name }) => name === 'include_deleted') ||
    Object.keys(objectOf(record?.['properties'])).some((each) => /^deleted_?at$/i.test(each))
  )
}

function valuesOf(members: readonly string[], make: (member: string) => unknown): JsonObject {
  return Object.fromEntries(
    members.flatMap((each) => {
      const value = make(each)
      return value === undefined || value === null || isUnmade(value) ? [] : [[each, value]]
    }),
  )
}

/** Where a bad value is most plainly bad comes first. */
function sharpest(members: readonly string[], schemas: Readonly<Record<string, Schema>>): string[] {
  const rank = (schema: Schema = {}) =>
    'enum' in schema
      ? 0
      : ['integer', 'number', 'boolean'].includes(typeOf(schema) ?? '')
        ? 1
        : 'format' in schema
          ? 2
          : 3
  return members.toSorted((left, right) => rank(schemas[left]) - rank(schemas[right]))
}

/** What a body has comes first, and of that what has the lower rank: cases can choose its values. */
function sorted(members: readonly string[], example: JsonObject = {}, rank: (member: string) => number): string[] {
  const place = (each: string) => (Object.hasOwn(example, each) ? rank(each) : 9)
  return members.toSorted((left, right) => place(left) - place(right))
}

/** How many of a collection's unique members soon run out of values. */
export function narrowMembers({ unique, schemas = {} }: CollectionProfile): string[] {
  return unique.filter((each) => isNarrow(schemas[each] ?? {}))
}

/** A schema for a value that was seen. */
export function schemaOf(value: unknown): Schema {
  if (value === null || value === undefined) return {}
  if (Array.isArray(value)) return { type: 'array', items: value.length > 0 ? schemaOf(value[0]) : {} }
  if (isObject(value)) {
    return {
      type: 'object',
      properties: Object.fromEntries(Object.entries(value).map(([name, each]) => [name, schemaOf(each)])),
    }
  }
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number' }
  if (typeof value !== 'string') return { type: typeof value }
  const formats = {
    uuid: /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i,
    'date-time': /^\d{4}-\d\d-\d\dT/,
    date: /^\d{4}-\d\d-\d\d$/,
    email: /^[^\s@]+@[^\s@]+\.\w+$/,
  }
  const format = Object.entries(formats).find(([, pattern]) => pattern.test(value))?.[0]
  return { type: 'string', ...(format && { format }) }
}
