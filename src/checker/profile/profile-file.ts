/** Profile files: reads what a file says about a server, and writes what discovery found for people to complete. */
import { Ajv, type ErrorObject } from 'ajv'
import { parseDocument, stringify } from 'yaml'
import { CannotCheck, type CollectionProfile, type Names, type Operation, type Profile, usualNames } from './profile.ts'

/** The content of a profile file: a profile of which discovery finds every part that is missing. */
export interface PartialProfile extends Partial<Omit<Profile, 'collections' | 'names'>> {
  /** By name; `false` excludes a collection. */
  readonly collections?: Readonly<Record<string, Partial<CollectionProfile> | false>>
  readonly names?: Partial<Names>
}

const operations: readonly Operation[] = [
  ...(['list', 'create', 'read', 'replace', 'update', 'delete', 'restore', 'bulk-delete', 'delete-by-filter'] as const),
]
const text = { type: 'string' }
const texts = { type: 'array', items: text }
const flag = { type: 'boolean' }
const values = { type: 'object' }
const namesByMember = { type: 'object', additionalProperties: text }
const address = { type: 'string', pattern: '^https?://[^\\s]+$' }
const pointer = { type: 'string', pattern: '^(/.*)?$' }
const anyOf = (choices: readonly string[]) => ({ type: 'array', items: { enum: choices } })

/** An entry of a file: the schema of its value, its comment, and a value to show where none is known. */
type Entries = Readonly<Record<string, readonly [schema: object, comment: string, placeholder?: string]>>

const serverEntries: Entries = {
  base: [address, 'Address of the interface, without a slash at the end.'],
  document: [address, 'Address of its OpenAPI document.', 'https://api.example.com/openapi.json'],
  open: [
    { type: 'array', items: { type: 'string', pattern: '^/' } },
    'Paths from the root that answer without a credential, such as health checks.',
  ],
  versionField: [text, 'Request header field that may name the version instead of the path.', 'API-Version'],
  exports: [texts, 'Formats in which POST /exports writes collections.', '[ json, csv ]'],
  origin: [
    { type: 'string', pattern: '^https?://[^/\\s]+$' },
    'Origin whose pages may read responses (CORS).',
    'https://app.example.com',
  ],
  deprecated: [address, 'Base of an older version that is deprecated.', 'https://api.example.com/v1'],
  retired: [address, 'Base of a version that is past its sunset.', 'https://api.example.com/v0'],
  disposable: [
    flag,
    'Whether all data may be lost: the checker then sends requests that a careless server takes as "delete ' +
      'everything".',
    'true',
  ],
  allowChosenIds: [
    flag,
    'Whether requests may choose integer identifiers. A server that accepts one may continue its sequence from ' +
      'there for ever.',
    'true',
  ],
  attempts: [
    { type: 'integer', minimum: 1 },
    'Number of failed authentications after which an address must wait. Only for servers on which this may be tried.',
    '60',
  ],
}

const nameEntries: Entries = {
  items: [pointer, "The records of a list; '' if the list is the whole body."],
  total: [
    { type: 'string', pattern: '^(/.+|header:[\\w-]+)$' },
    'The exact number of records; header:X-Total-Count if a header field holds it.',
  ],
  next: [pointer, 'The cursor of the next page.'],
  previous: [pointer, 'The cursor of the previous page.'],
  code: [pointer, 'The stable code of an error.'],
  message: [pointer, 'The message of an error.'],
  errors: [pointer, 'The list of all errors in a request.'],
  finished: [texts, 'Statuses of jobs that have ended.'],
}

const collectionEntries: Entries = {
  path: [{ type: 'string', pattern: '^/[^\\s?#]*[^/\\s?#]$' }, 'Path from the base.'],
  operations: [
    anyOf(operations),
    'Any of: list, create, read, replace (PUT), update (PATCH), delete, restore, bulk-delete, delete-by-filter.',
  ],
  id: [{ type: 'string', minLength: 1 }, "Member that holds a record's identifier."],
  example: [values, 'Body that creates a record.', '{ name: Some name }'],
  references: [
    namesByMember,
    'Members that hold an identifier of another collection, with the name of that collection.',
  ],
  unique: [texts, 'Members whose values must be unique.'],
  required: [texts, 'Members that a body must have.'],
  change: [values, 'Members that clients may change, each with another valid value.'],
  optional: [values, 'Members that may be left out and are then empty, each with a valid value.'],
  invalid: [values, 'Members with values that the server must refuse.'],
  schemas: [{ type: 'object', additionalProperties: { type: 'object' } }, ''],
  filters: [texts, 'Members by which lists can be filtered (?name=value).'],
  sorts: [texts, 'Members by which lists can be sorted (?sort=-name).'],
  search: [text, 'Member whose words the search finds (?q=words).', 'name'],
  marker: [text, 'Text member that takes any text and filters lists: the checker finds its own records by it.', 'name'],
  children: [
    namesByMember,
    'Collections below its records (/cities/1/streets), with the name of the collection shown.',
  ],
  deletion: [
    { enum: ['soft', 'hard'] },
    'soft: the server keeps deleted records for authorized callers; hard: it does not.',
  ],
  deletionAnswers: [
    { type: 'array', items: { type: 'integer', minimum: 200, maximum: 299 } },
    'Statuses of successful deletions: 204, 200, 202.',
    '[204]',
  ],
  pages: [anyOf(['page', 'offset', 'cursor']), 'Any of: page (with per_page), offset and cursor (with limit).'],
  conditional: [flag, 'Whether the server refuses changes without If-Match (428).'],
  owner: [
    text,
    'Member that holds the creator of a record, if the caller of --other-key may create records and sees only its own.',
    'owner_id',
  ],
  otherMay: [
    anyOf(['create', 'read', 'update', 'delete']),
    'What the caller of --other-key may do with records of others: create, read, update, delete.',
    '[read]',
  ],
  grace: [
    { type: 'number', exclusiveMinimum: 0 },
    'Seconds after which the server purges deleted records. Only for servers on which this may be tried.',
    '2',
  ],
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
  '^(/.+|header:[\\w-]+)$':
    'has to be a JSON Pointer, such as /pagination/total, or a header field, such as header:X-Total-Count',
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

/** A collection of which only its path is known. */
export function bareCollection(name: string, path = `/${name}`): CollectionProfile {
  return {
    ...{ name, path, id: 'id', operations: ['list', 'read'], deletion: 'hard', conditional: false, pages: [] },
    ...{ references: {}, unique: [], required: [], change: {}, optional: {}, invalid: {} },
    ...{ filters: [], sorts: [], children: {} },
  }
}

/** A discovered profile in which the entries of a file replace what was found. */
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
