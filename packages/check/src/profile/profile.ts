/**
 * The profile of a server: everything that the checker must know before it can run cases. Discovery finds it, and a
 * profile file corrects and completes it. This file lists the entries of a profile, reads and writes profile files, and
 * merges them with what was discovered.
 */
import { Ajv, type ErrorObject } from 'ajv'
import { parseDocument, stringify } from 'yaml'
import type { JsonObject } from '../values/json.ts'
import { type QueryStyle, queryStyleSchema } from './query-style.ts'

/** A server that cannot be checked, or a file that cannot be used. The message says what to do about it. */
export class CannotCheck extends Error {}

const operations = [
  ...(['list', 'create', 'read', 'replace', 'update', 'delete', 'restore', 'bulk-delete', 'delete-by-filter'] as const),
]
const permissions = ['create', 'read', 'update', 'delete'] as const
const pageStyles = ['page', 'offset', 'cursor'] as const
const slashes = ['collection', 'record'] as const

/** What clients can do with a collection and its records. */
export type Operation = (typeof operations)[number]

/** What an access rule may allow (AUT-3). */
export type Permission = (typeof permissions)[number]

/** A kind of address that may end with a slash. */
export type Slash = (typeof slashes)[number]

/** A style of pagination (PAG-2). */
export type PageStyle = (typeof pageStyles)[number]

declare const valueType: unique symbol

/** The JSON Schema of an entry, with the type of its value. */
type Kind<Value> = object & { readonly [valueType]: (value: Value) => void }

/** Entries of a profile: the kind of each, its comment in files, and a value to show there if none is known. */
type Entries = Readonly<Record<string, readonly [kind: Kind<never>, comment: string, placeholder?: string]>>

type ValueOf<Entry> = Entry extends readonly [Kind<infer Value>, ...unknown[]] ? Value : never

/** The values of entries. */
type ValuesOf<All> = {
  readonly [Key in keyof All as undefined extends ValueOf<All[Key]> ? never : Key]: ValueOf<All[Key]>
} & { readonly [Key in keyof All as undefined extends ValueOf<All[Key]> ? Key : never]?: ValueOf<All[Key]> }

function kind<Value>(schema: object): Kind<Value> {
  return schema as Kind<Value>
}

/** The kind of an entry that discovery cannot always find. */
function optional<Value>(of: Kind<Value>): Kind<Value | undefined> {
  return of as object as Kind<Value | undefined>
}

function anyOf<Choice extends string>(choices: readonly Choice[]): Kind<readonly Choice[]> {
  return kind({ type: 'array', items: { enum: choices } })
}

const text = kind<string>({ type: 'string' })
const texts = kind<readonly string[]>({ type: 'array', items: text })
const flag = kind<boolean>({ type: 'boolean' })
const values = kind<JsonObject>({ type: 'object' })
const namesByMember = kind<Readonly<Record<string, string>>>({ type: 'object', additionalProperties: text })
const address = kind<string>({ type: 'string', pattern: '^https?://[^\\s]+$' })
const pointer = kind<string>({ type: 'string', pattern: '^(/.*)?$' })

const serverEntries = {
  base: [address, 'Address of the interface, without a slash at the end.'],
  document: [optional(address), 'Address of its OpenAPI document.', 'https://api.example.com/openapi.json'],
  mediaType: [optional(text), 'Media type of records, if it is not application/json.', 'application/vnd.api+json'],
  patchType: [optional(text), 'Media type of PATCH, if it is another one.', 'application/merge-patch+json'],
  open: [
    kind<readonly string[]>({ type: 'array', items: { type: 'string', pattern: '^/' } }),
    'Paths from the root that answer without a credential, such as health checks.',
  ],
  versionField: [optional(text), 'Request header field that may name the version instead of the path.', 'API-Version'],
  exports: [optional(texts), 'Formats in which POST /exports writes collections.', '[ json, csv ]'],
  events: [optional(texts), 'Collections whose events GET /events lists.', '[ orders ]'],
  webhooks: [
    optional(flag),
    'Whether POST /webhooks makes webhooks. The checker makes only such that are turned off, and deletes them.',
    'true',
  ],
  origin: [
    optional(kind<string>({ type: 'string', pattern: '^https?://[^/\\s]+$' })),
    'Origin whose pages may read responses (CORS).',
    'https://app.example.com',
  ],
  deprecated: [optional(address), 'Base of an older version that is deprecated.', 'https://api.example.com/v1'],
  retired: [optional(address), 'Base of a version that is past its sunset.', 'https://api.example.com/v0'],
  disposable: [
    optional(flag),
    'Whether all data may be lost: the checker then sends requests that a careless server takes as "delete ' +
      'everything".',
    'true',
  ],
  allowChosenIds: [
    optional(flag),
    'Whether requests may choose integer identifiers. A server that accepts one may continue its sequence from ' +
      'there for ever.',
    'true',
  ],
  attempts: [
    optional(kind<number>({ type: 'integer', minimum: 1 })),
    'Number of failed authentications after which an address must wait. Only for servers on which this may be tried.',
    '60',
  ],
} satisfies Entries

const nameEntries = {
  items: [pointer, "The records of a list; '' if the list is the whole body."],
  total: [
    kind<string>({ type: 'string', pattern: '^(/.+|header:[\\w-]+(/.+)?)$' }),
    'The exact number of records; header:X-Total-Count if a header field holds it.',
  ],
  next: [pointer, 'The cursor of the next page.'],
  previous: [pointer, 'The cursor of the previous page.'],
  body: [pointer, "The record in the body of a request; '' if it is the whole body."],
  code: [pointer, 'The stable code of an error.'],
  message: [pointer, 'The message of an error.'],
  errors: [pointer, 'The list of all errors in a request.'],
  finished: [texts, 'Statuses of jobs that have ended.'],
} satisfies Entries

const collectionEntries = {
  path: [kind<string>({ type: 'string', pattern: '^/[^\\s?#]*[^/\\s?#]$' }), 'Path from the base.'],
  names: [
    optional(kind<Partial<ValuesOf<typeof nameEntries>>>(objectSchema(nameEntries, {}))),
    'Names that differ from those of the other collections.',
    '{ items: /cities }',
  ],
  slashes: [
    optional(anyOf(slashes)),
    'Addresses that the server writes with a slash at the end: collection (/cities/), record (/cities/1/).',
    '[collection]',
  ],
  operations: [
    anyOf(operations),
    'Any of: list, create, read, replace (PUT), update (PATCH), delete, restore, bulk-delete, delete-by-filter.',
  ],
  id: [kind<string>({ type: 'string', minLength: 1 }), "Member that holds a record's identifier."],
  created: [
    optional(text),
    'Member that holds the time of creation, if it is another one than created_at.',
    'createdAt',
  ],
  example: [optional(values), 'Body that creates a record.', '{ name: Some name }'],
  references: [
    namesByMember,
    'Members that hold an identifier of another collection, with the name of that collection.',
  ],
  referenceForms: [
    optional(
      kind<Readonly<Record<string, 'object' | 'path'>>>({
        type: 'object',
        additionalProperties: { enum: ['object', 'path'] },
      }),
    ),
    'References that are no bare identifiers: object for { "id": 1 }, path for the path of the record.',
    '{ team: object }',
  ],
  nestedReferences: [
    optional(namesByMember),
    'Places inside members that hold an identifier of another collection, as JSON Pointers.',
    '{ /lines/0/product_id: products }',
  ],
  unique: [texts, 'Members whose values must be unique.'],
  required: [texts, 'Members that a body must have.'],
  change: [values, 'Members that clients may change, each with another valid value.'],
  optional: [values, 'Members that may be left out and are then empty, each with a valid value.'],
  invalid: [values, 'Members with values that the server must refuse.'],
  // JSON Schemas of members, without references. The checker makes values by them.
  schemas: [
    optional(kind<Readonly<Record<string, JsonObject>>>({ type: 'object', additionalProperties: { type: 'object' } })),
    '',
  ],
  filters: [texts, 'Members by which lists can be filtered (?name=value).'],
  sorts: [texts, 'Members by which lists can be sorted (?sort=-name).'],
  search: [optional(text), 'Member whose words the search finds (?q=words).', 'name'],
  marker: [
    optional(text),
    'Text member that takes any text and filters lists: the checker finds its own records by it.',
    'name',
  ],
  children: [
    namesByMember,
    'Collections below its records (/cities/1/streets), with the name of the collection shown.',
  ],
  deletion: [
    kind<'soft' | 'hard'>({ enum: ['soft', 'hard'] }),
    'soft: the server keeps deleted records for authorized callers; hard: it does not.',
  ],
  deletionAnswers: [
    optional(kind<readonly number[]>({ type: 'array', items: { type: 'integer', minimum: 200, maximum: 299 } })),
    'Statuses of successful deletions: 204, 200, 202.',
    '[204]',
  ],
  pages: [anyOf(pageStyles), 'Any of: page (with per_page), offset and cursor (with limit).'],
  query: [
    optional(kind<QueryStyle>(queryStyleSchema)),
    'How lists are queried, where it differs: names of page, per_page, offset, limit, cursor, fields, q; and forms.',
    '{ per_page: size, firstPage: 0, ascending: "order={}", descending: "order=-{}", finder: "search={mark}" }',
  ],
  conditional: [flag, 'Whether the server refuses changes without If-Match (428).'],
  owner: [
    optional(text),
    'Member that holds the creator of a record, if the caller of --other-key may create records and sees only its own.',
    'owner_id',
  ],
  otherMay: [
    optional(anyOf(permissions)),
    'What the caller of --other-key may do with records of others: create, read, update, delete.',
    '[read]',
  ],
  grace: [
    optional(kind<number>({ type: 'number', exclusiveMinimum: 0 })),
    'Seconds after which the server purges deleted records. Only for servers on which this may be tried.',
    '2',
  ],
} satisfies Entries

export interface CollectionProfile extends ValuesOf<typeof collectionEntries> {
  /** Its name in reports: the last segment of its path. */
  readonly name: string
  /** Whether the server numbers records, also as a part of texts (`ORD-000123`); `undefined` if nothing shows it. */
  readonly sequential?: boolean | undefined
  /** The identifier of a record that existed. */
  readonly sample?: string | undefined
  /** If there is no marker: text member that takes any text, into which the checker writes its mark. */
  readonly label?: string | undefined
}

/** Names that the interface leaves open, as JSON Pointers into responses. */
export type Names = ValuesOf<typeof nameEntries>

export interface Profile extends ValuesOf<typeof serverEntries> {
  readonly collections: readonly CollectionProfile[]
  readonly names: Names
}

/** The content of a profile file: a profile of which discovery finds every part that is missing. */
export interface PartialProfile extends Partial<Omit<Profile, 'collections' | 'names'>> {
  /** By name; `false` excludes a collection. */
  readonly collections?: Readonly<Record<string, Partial<CollectionProfile> | false>>
  readonly names?: Partial<Names>
}

/** The names that this project's own interfaces use. */
export const usualNames: Names = {
  items: '/data',
  body: '',
  total: '/pagination/total_count',
  next: '/pagination/next_cursor',
  previous: '/pagination/previous_cursor',
  code: '/code',
  message: '/detail',
  errors: '/errors',
  finished: ['succeeded', 'failed'],
}

/** The members that a server must report for a body that holds all known invalid values and nothing else. */
export function mistakesOf({ invalid, required }: Pick<CollectionProfile, 'invalid' | 'required'>): string[] {
  return [...new Set([...Object.keys(invalid), ...required])]
}

/** Whether the checker can create records and delete them again. */
export function canCreate({ operations, example }: CollectionProfile): boolean {
  return operations.includes('create') && operations.includes('delete') && example !== undefined
}

/** The path of the interface's base: empty for the root. */
export function basePath({ base }: Pick<Profile, 'base'>): string {
  return new URL(base).pathname.replace(/\/$/, '')
}

/** An address on the server, from a path that begins at the root or from a whole address. */
export function urlOf({ base }: Pick<Profile, 'base'>, path: string): string {
  return /^https?:/.test(path) ? path : new URL(base).origin + path
}

/** A profile with the names of one of its collections. */
export function profileFor(profile: Profile, { names }: Pick<CollectionProfile, 'names'>): Profile {
  return names === undefined ? profile : { ...profile, names: { ...profile.names, ...names } }
}

/** Gives addresses the slash at their end with which the server writes them, and leaves all others unchanged. */
export function addressForm(profile: Pick<Profile, 'base' | 'collections'>): (url: string) => string {
  const written = profile.collections.flatMap(({ path, slashes: kinds = [] }) =>
    kinds.map((kind) => {
      const start = RegExp.escape(profile.base + path)
      return new RegExp(kind === 'record' ? `^${start}/[^/?]+(?=$|\\?)` : `^${start}(?=$|\\?)`)
    }),
  )
  return (url) => written.reduce((form, each) => form.replace(each, '$&/'), url)
}

/** The segments of a path that are versions, such as `v1` and `v2.1`. */
export function versionsIn(path: string): string[] {
  return path.split('/').filter((segment) => /^v\d+(?:\.\d+)*$/i.test(segment))
}

function objectSchema(entries: Entries, more: Readonly<Record<string, object>>) {
  const own = Object.entries(entries).map(([key, [schema]]) => [key, schema])
  return { type: 'object', additionalProperties: false, properties: { ...Object.fromEntries(own), ...more } }
}

const schema = objectSchema(serverEntries, {
  names: objectSchema(nameEntries, {}),
  collections: {
    type: 'object',
    additionalProperties: {
      ...objectSchema(collectionEntries, { name: text }),
      ...{ type: ['object', 'boolean'], not: { const: true } },
    },
  },
})

/**
 * Reads a profile file in YAML or JSON.
 *
 * @throws CannotCheck with every mistake in the file and its place
 */
export function readProfile(source: string, file: string): PartialProfile {
  const document = parseDocument(source, { prettyErrors: true, uniqueKeys: true })
  const [error] = document.errors
  if (error !== undefined) throw new CannotCheck(`${file}: ${error.message.split('\n')[0]}`)
  const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {}
  const isValid = new Ajv({ allErrors: true, strict: false }).compile(schema)
  if (isValid(value)) return value as PartialProfile
  const mistakes = (isValid.errors ?? []).map((each) => `  ${mistakeText(each)}`)
  throw new CannotCheck([`${file} is not a profile:`, ...new Set(mistakes)].join('\n'))
}

const patternTexts: Readonly<Record<string, string>> = {
  '^https?://[^\\s]+$': 'has to be an address that begins with http:// or https://',
  '^https?://[^/\\s]+$': 'has to be an origin: https://pages.example.com, without a path',
  '^/[^\\s?#]*[^/\\s?#]$': 'has to be a path from the base, such as /cities, without a slash at its end',
  '^(/.*)?$': 'has to be a JSON Pointer, such as /data; empty means the whole body',
  '^(/.+|header:[\\w-]+(/.+)?)$':
    'has to be a JSON Pointer, such as /pagination/total, or a header field, such as header:X-Total-Count',
  '\\{\\}': 'has to contain {} where the name of a member stands, such as sort={},desc',
  '=.*\\{[\\w-]+\\}': 'has to be a query with {mark} or the name of a collection in braces, such as search={mark}',
  '^/': 'has to be a path from the root, beginning with a slash',
}

function mistakeText({ instancePath, keyword, params, message }: ErrorObject): string {
  const at = instancePath === '' ? 'the file' : instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/')
  switch (keyword) {
    case 'additionalProperties':
      return `${at}: unknown entry ${JSON.stringify(params['additionalProperty'])}`
    case 'enum':
      return `${at}: has to be one of ${(params['allowedValues'] as readonly unknown[]).join(', ')}`
    case 'pattern':
      return `${at}: ${patternTexts[String(params['pattern'])] ?? message}`
    default:
      return keyword === 'not' || Array.isArray(params['type'])
        ? `${at}: has to be the entries of a collection, or false to exclude it`
        : `${at}: ${String(message).replace(/^must/, 'has to')}`
  }
}

export function bareCollection(name: string, path = `/${name}`): CollectionProfile {
  return {
    ...{ name, path, id: 'id', operations: ['list', 'read'], deletion: 'hard', conditional: false, pages: [] },
    ...{ references: {}, unique: [], required: [], change: {}, optional: {}, invalid: {} },
    ...{ filters: [], sorts: [], children: {} },
  }
}

/** A discovered profile in which the entries of a file replace discovered values. */
export function mergeProfile(profile: Profile, { collections = {}, names, ...rest }: PartialProfile): Profile {
  const known = profile.collections.flatMap((each) => {
    const given = collections[each.name]
    return given === false ? [] : [{ ...each, ...given }]
  })
  const added = Object.entries(collections).flatMap(([name, given]) =>
    given === false || profile.collections.some((each) => each.name === name)
      ? []
      : [{ ...bareCollection(name), ...given }],
  )
  return {
    ...profile,
    ...rest,
    names: { ...usualNames, ...profile.names, ...names },
    collections: [...known, ...added],
  }
}

/** The text of a profile file: every entry with a comment, unknown ones commented out. */
export function writeProfile(profile: Profile, notices: readonly string[], date: Date): string {
  return [
    `# What resourced check discovered about ${profile.base} on ${date.toISOString().slice(0, 10)}.`,
    '# Correct wrong entries and complete empty ones. Entries that you remove are discovered anew in each run.',
    ...notices.map((notice) => `#\n# ${notice.replaceAll(/\s+/g, ' ')}`),
    '',
    ...entryLines(profile, serverEntries, 0),
    '',
    '# Names that the interface leaves open, as JSON Pointers into responses.',
    'names:',
    ...entryLines(profile.names, nameEntries, 1),
    '',
    '# Collections by name. The value false excludes one: "orders: false". The first collection explains the entries.',
    'collections:',
    ...profile.collections.flatMap((each, index) => [
      `  ${stringify({ [each.name]: 0 }).split(': 0')[0]}:`,
      ...entryLines(each, collectionEntries, 2, index === 0),
    ]),
    '',
  ].join('\n')
}

function entryLines(holder: object, entries: Entries, depth: number, isExplained = true): string[] {
  const indent = '  '.repeat(depth)
  return Object.entries(entries).flatMap(([key, [, comment, placeholder = '']]) => {
    if (comment === '') return []
    const value = (holder as Readonly<Record<string, unknown>>)[key]
    const lines = isExplained ? [`${indent}# ${comment}`] : []
    if (value === undefined) return isExplained ? [...lines, `${indent}# ${key}: ${placeholder}`.trimEnd()] : []
    return [...lines, ...valueLines(key, value).map((line) => indent + line)]
  })
}

/** A value as YAML. Short arrays and empty objects are written on one line. */
function valueLines(key: string, value: unknown): string[] {
  const isCompact = Array.isArray(value) || (typeof value === 'object' && Object.keys(value ?? {}).length === 0)
  if (isCompact) {
    const line = stringify({ [key]: value }, { collectionStyle: 'flow', lineWidth: 0 })
      .trim()
      .slice(2, -2)
    if (line.length < 100) return [line]
  }
  return stringify({ [key]: value }, { lineWidth: 110 })
    .trimEnd()
    .split('\n')
}
