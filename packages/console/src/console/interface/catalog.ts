/** The collections of the interface, read from its OpenAPI document. */
import { own } from './own.ts'

/** A JSON Schema of the document. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  /** What the server sets where a request leaves the value out. */
  readonly 'x-default'?: unknown
  readonly title?: string
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly multipleOf?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly items?: Schema | boolean
  readonly prefixItems?: readonly unknown[]
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly readOnly?: boolean
  readonly writeOnly?: boolean
  readonly $ref?: string
}

/** What JSON Schema cannot say about a field. */
export interface FieldTraits {
  /** The collection that the field refers to. */
  readonly reference?: string
  readonly on_delete?: 'restrict' | 'cascade' | 'clear'
  /** What a caller needs to refer to a record; left out: permission to read it. */
  readonly requires?: 'none'
  /** Fixed once the record exists. */
  readonly immutable?: boolean
  readonly read_only?: boolean
  readonly write_only?: boolean
  readonly unique?: boolean
  /** The values that each value may change to. */
  readonly transitions?: Readonly<Record<string, readonly string[]>>
  readonly search?: boolean
  readonly sort?: boolean
  /** The operators of filters: `eq`, `gt`, `in`, `contains`, `starts_with`, `null` and others. */
  readonly filter?: readonly string[]
}

/** The extension `x-collection` of a tag. */
interface CollectionExtension {
  readonly path: string
  /** Names of component schemas. */
  readonly schemas: { readonly record: string; readonly create?: string; readonly patch?: string }
  /** Who creates its records; `for-clients`: API keys. */
  readonly made: 'by-clients' | 'by-server' | 'for-clients'
  readonly fields: Readonly<Record<string, FieldTraits>>
  /** By name. Older servers have none: they include no related records, and do not filter by them. */
  readonly relations?: Readonly<Record<string, Relation>>
  /** What a summary is asked for; older servers have none. */
  readonly summary?: SummaryTraits
  readonly search: boolean
  readonly within?: { readonly field: string; readonly collection: string }
  readonly owner?: string
  readonly deletion?: Deletion
  /** Older servers change no records together. */
  readonly updates?: Updates
  readonly preconditions?: 'optional' | 'required'
}

/** A way to the records of another collection (REL-1). */
export interface Relation {
  readonly to: 'one' | 'many'
  readonly collection: string
  /** The reference: of this collection (`one`), or of the other one (`many`). */
  readonly field: string
}

/** What records are grouped by, such as `status` and `created_at:month`, and the fields that are added up (SUM-1). */
export interface SummaryTraits {
  readonly group: readonly string[]
  readonly sum: readonly string[]
}

/** What a deletion does. */
export interface Deletion {
  readonly variant: 'soft' | 'hard'
  /** How long a deleted record is retained, in seconds. */
  readonly grace_period?: number
  readonly restorable?: boolean
  /** The most records of one bulk deletion; `false`: there is none. */
  readonly bulk: number | false
  readonly by_filter: boolean
}

/** What changes several records. */
interface Updates {
  /** The most records of one array; `false`: the collection takes none. */
  readonly bulk: number | false
  readonly by_filter: boolean
}

export interface Field extends FieldTraits {
  readonly name: string
  /** The schema in responses. */
  readonly schema: Schema
  /** The schema in bodies; `undefined`: nobody sends this field. */
  readonly input: Schema | undefined
  readonly required: boolean
  /** What a list sorts by in place of a reference: the name of the record, such as `author.name`. */
  readonly sortedBy?: string
}

export interface Collection extends Omit<CollectionExtension, 'fields' | 'schemas'> {
  readonly name: string
  readonly description: string | undefined
  /** In the declared order; `id` first, then the declared fields, then the timestamps. */
  readonly fields: readonly Field[]
  /** By name, also those of records that are referred to, such as `author.born`, where lists filter or sort by them. */
  readonly field: ReadonlyMap<string, Field>
  /** What lists are filtered by. */
  readonly filters: readonly Field[]
  /** The collections whose records lie within a record of this one. */
  readonly children: readonly string[]
  /** The fields of other collections that refer to this one. */
  readonly referredBy: readonly { readonly collection: string; readonly field: string }[]
}

export interface Catalog {
  readonly title: string
  readonly version: string
  readonly collections: ReadonlyMap<string, Collection>
  /** The most records of a page that a request may ask for. */
  readonly pageSize: number
  /** The most relations that a request may include. */
  readonly includedPaths: number
}

/** An OpenAPI document, as far as the console reads it. */
export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string }
  readonly tags?: readonly {
    readonly name: string
    readonly description?: string
    readonly 'x-collection'?: CollectionExtension
  }[]
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly parameters?: Readonly<Partial<Record<'ApiLimit' | 'ApiInclude', { readonly schema: Schema }>>>
  }
}

export function readCatalog(document: OpenApiDocument): Catalog {
  const collections = new Map<string, Collection>()
  const described = (document.tags ?? []).flatMap((tag) => {
    const extension = tag['x-collection']
    return extension === undefined ? [] : [{ tag, extension }]
  })
  const children = new Map<string, string[]>()
  const referredBy = new Map<string, { readonly collection: string; readonly field: string }[]>()
  for (const { tag, extension } of described) {
    const { within, fields } = extension
    if (within !== undefined) listed(children, within.collection).push(tag.name)
    for (const [field, { reference }] of Object.entries(fields)) {
      if (reference !== undefined) listed(referredBy, reference).push({ collection: tag.name, field })
    }
  }
  for (const { tag, extension } of described) {
    const { schemas: _, ...rest } = extension
    const fields = fieldsOf(document, extension)
    collections.set(tag.name, {
      ...rest,
      name: tag.name,
      // A collection without a description is described by its name.
      description: isNameOf(tag) ? undefined : tag.description,
      ...byName(fields),
      children: children.get(tag.name) ?? [],
      referredBy: referredBy.get(tag.name) ?? [],
    })
  }
  const { ApiLimit: limit, ApiInclude: include } = document.components.parameters ?? {}
  const pageSize = Math.min(100, limit?.schema.maximum ?? 100)
  const includedPaths = include?.schema.maxItems ?? 0
  return { title: document.info.title, version: document.info.version, collections, pageSize, includedPaths }
}

/** The fields of a collection by name, and those that filter. */
export function byName(fields: readonly Field[]): Pick<Collection, 'fields' | 'field' | 'filters'> {
  const filters = fields.filter(({ filter }) => filter !== undefined)
  return { fields, filters, field: new Map(fields.map((field) => [field.name, field])) }
}

function isNameOf({ name, description = '' }: { readonly name: string; readonly description?: string }): boolean {
  return description.toLowerCase() === `${labelOf(name)}.`.toLowerCase()
}

function listed<Entry>(lists: Map<string, Entry[]>, name: string): Entry[] {
  const list = lists.get(name) ?? []
  lists.set(name, list)
  return list
}

function fieldsOf({ components }: OpenApiDocument, { schemas, fields: traits }: CollectionExtension): Field[] {
  const schemaOf = (name: string | undefined) => (name === undefined ? undefined : components.schemas[name])
  const create = schemaOf(schemas.create)
  // Only the views of deleted records show when a record was deleted.
  const { deleted_at: _, ...shown } = schemaOf(schemas.record)?.properties ?? {}
  const sent = { ...schemaOf(schemas.patch)?.properties, ...create?.properties }
  return [...new Set([...Object.keys(shown), ...Object.keys(sent)])].map((name) => ({
    ...traits[name],
    ...((name === 'id' || own(sent, name)?.readOnly) && { read_only: true }),
    name,
    schema: own(shown, name) ?? own(sent, name) ?? {},
    input: own(sent, name),
    required: create?.required?.includes(name) ?? false,
  }))
}

/** Words of names that people write in capitals. */
const capitals = new Set([
  'api', 'bic', 'csv', 'ean', 'gps', 'gtin', 'html', 'http', 'https', 'iban', 'id', 'ip', 'isbn', 'issn', 'json',
  'pdf', 'qr', 'sku', 'sms', 'uri', 'url', 'utc', 'uuid', 'vat', 'xml',
]) // biome-ignore format: a list reads best in rows

/** A name for people: `due_on` becomes `Due on`, `vat_id` `VAT ID`, and `image_urls` `Image URLs`. */
export function labelOf(name: string): string {
  const words = name.split(/[_-]+/).map((word, index) => {
    const [, singular = '', ending = ''] = /^(.*?)(s?)$/.exec(word) ?? []
    if (capitals.has(word)) return word.toUpperCase()
    if (capitals.has(singular)) return singular.toUpperCase() + ending
    return index === 0 ? word.charAt(0).toUpperCase() + word.slice(1) : word
  })
  return words.join(' ')
}

/** The label of a field: a reference `project_id` is the `Project`, and `project.due_on` is `Project: Due on`. */
export function fieldLabel({ name, reference }: Pick<Field, 'name' | 'reference'>): string {
  const names = (reference === undefined ? name : name.replace(/_id$/, '')).split('.')
  return names.map(labelOf).join(': ')
}

const naming = ['name', 'title', 'label', 'subject', 'email', 'code', 'slug', 'key']

/** The field whose value names a record for people; `id` if there is none. */
export function namingField({ fields, field }: Collection): string {
  const isName = (each: Field | undefined) =>
    each !== undefined && each.write_only !== true && typesOf(each.schema).includes('string')
  const usual = naming.find((name) => isName(field.get(name)))
  const first = fields.find((each) => each.search === true && isName(each))
  return usual ?? first?.name ?? 'id'
}

/** The types that a schema allows, `null` among them. */
export function typesOf(schema: Schema): readonly string[] {
  const { type, anyOf, oneOf, enum: values } = schema
  if (type !== undefined) return typeof type === 'string' ? [type] : type
  const alternatives = anyOf ?? oneOf
  if (alternatives !== undefined) return [...new Set(alternatives.flatMap(typesOf))]
  return [...new Set((values ?? []).map((value) => (value === null ? 'null' : typeof value)))]
}

/** Whether values are numbers: a decimal is a text of digits. */
export function isNumeric(schema: Schema): boolean {
  return schema.format === 'decimal' || typesOf(schema).some((type) => type === 'integer' || type === 'number')
}
