/** A profile file: a profile of which any part may be left to discovery. */
import { Ajv, type ErrorObject } from 'ajv'
import { parseDocument } from 'yaml'
import { CannotCheck } from './cannot-check.ts'
import { type CollectionProfile, type Names, type Operation, type Profile, usualNames } from './profile.ts'

/** What a profile file says. */
export interface PartialProfile extends Partial<Omit<Profile, 'collections' | 'names'>> {
  /** By name; `false` leaves one alone. */
  readonly collections?: Readonly<Record<string, Partial<CollectionProfile> | false>>
  readonly names?: Partial<Names>
}

const operations: readonly Operation[] = [
  ...(['list', 'create', 'read', 'replace', 'update', 'delete', 'restore', 'bulk-delete', 'delete-by-filter'] as const),
]
const texts = { type: 'array', items: { type: 'string' } }
const values = { type: 'object' }
const namesByMember = { type: 'object', additionalProperties: { type: 'string' } }
const address = { type: 'string', pattern: '^https?://[^\\s]+$' }

const collection = {
  type: 'object',
  additionalProperties: false,
  properties: {
    name: { type: 'string' },
    path: { type: 'string', pattern: '^/[^\\s?#]*[^/\\s?#]$' },
    operations: { type: 'array', items: { enum: operations } },
    id: { type: 'string', minLength: 1 },
    example: values,
    references: namesByMember,
    ...{ unique: texts, required: texts, filters: texts, sorts: texts },
    ...{ change: values, optional: values, invalid: values },
    schemas: { type: 'object', additionalProperties: { type: 'object' } },
    ...{ search: { type: 'string' }, marker: { type: 'string' } },
    children: namesByMember,
    deletion: { enum: ['soft', 'hard'] },
    deletionAnswers: { type: 'array', items: { type: 'integer', minimum: 200, maximum: 299 } },
    pages: { type: 'array', items: { enum: ['page', 'offset', 'cursor'] } },
    conditional: { type: 'boolean' },
    owner: { type: 'string' },
    otherMay: { type: 'array', items: { enum: ['create', 'read', 'update', 'delete'] } },
    grace: { type: 'number', exclusiveMinimum: 0 },
  },
}

const pointer = { type: 'string', pattern: '^(/.*)?$' }

const schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...{ base: address, origin: { type: 'string', pattern: '^https?://[^/\\s]+$' }, document: address },
    ...{ deprecated: address, retired: address, versionField: { type: 'string' }, exports: texts },
    ...{ disposable: { type: 'boolean' }, attempts: { type: 'integer', minimum: 1 } },
    open: { type: 'array', items: { type: 'string', pattern: '^/' } },
    ...{ exports: texts, disposable: { type: 'boolean' }, allowChosenIds: { type: 'boolean' } },
    names: {
      type: 'object',
      additionalProperties: false,
      properties: {
        ...{ items: pointer, next: pointer, previous: pointer, code: pointer, message: pointer, errors: pointer },
        total: { type: 'string', pattern: '^(/.+|header:[\\w-]+)$' },
        finished: texts,
      },
    },
    collections: {
      type: 'object',
      additionalProperties: { ...collection, type: ['object', 'boolean'], not: { const: true } },
    },
  },
}

/**
 * Reads a profile file, YAML or JSON.
 *
 * @throws CannotCheck that names everything wrong in it, and where
 */
export function readProfile(text: string, file: string): PartialProfile {
  const document = parseDocument(text, { prettyErrors: true, uniqueKeys: true })
  const [error] = document.errors
  if (error !== undefined) throw new CannotCheck(`${file}: ${error.message.split('\n')[0]}`)
  const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {}
  const isValid = new Ajv({ allErrors: true, strict: false }).compile(schema)
  if (isValid(value)) return value as PartialProfile
  const told = (isValid.errors ?? []).map((each) => `  ${said(each)}`)
  throw new CannotCheck([`${file} is not a profile:`, ...new Set(told)].join('\n'))
}

const meanings: Readonly<Record<string, string>> = {
  '^https?://[^\\s]+$': 'has to be an address that begins with http:// or https://',
  '^https?://[^/\\s]+$': 'has to be an origin: https://pages.example.com, without a path',
  '^/[^\\s?#]*[^/\\s?#]$': 'has to be a path from the base, such as /cities, without a slash at its end',
  '^(/.*)?$': 'has to be a JSON Pointer, such as /data; empty means the whole answer',
  '^(/.+|header:[\\w-]+)$':
    'has to be a JSON Pointer, such as /pagination/total, or a header field, such as header:X-Total-Count',
  '^/': 'has to be a path from the root, beginning with a slash',
}

function said({ instancePath, keyword, params, message }: ErrorObject): string {
  const at = instancePath === '' ? 'the file' : instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/')
  const parameters = params as Readonly<Record<string, unknown>>
  if (keyword === 'additionalProperties')
    return `${at}: there is no entry ${JSON.stringify(parameters['additionalProperty'])}`
  if (keyword === 'enum')
    return `${at}: has to be one of ${(parameters['allowedValues'] as readonly unknown[]).join(', ')}`
  if (keyword === 'pattern') return `${at}: ${meanings[String(parameters['pattern'])] ?? message}`
  if (keyword === 'not' || (keyword === 'type' && Array.isArray(parameters['type'])))
    return `${at}: has to be what is known of a collection, or false, which leaves it alone`
  return `${at}: ${String(message).replace(/^must/, 'has to')}`
}

/** What nobody has said of a collection. */
export function bareCollection(name: string, path = `/${name}`): CollectionProfile {
  return {
    ...{ name, path, id: 'id', operations: ['list', 'read'], references: {}, unique: [], required: [], change: {} },
    ...{
      optional: {},
      invalid: {},
      filters: [],
      sorts: [],
      children: {},
      deletion: 'hard',
      pages: [],
      conditional: false,
    },
  }
}

/** A profile with what a file says in place of what was found. */
export function overridden(profile: Profile, { collections = {}, names, ...rest }: PartialProfile): Profile {
  const known = profile.collections.flatMap((each) => {
    const said = collections[each.name]
    return said === false ? [] : [{ ...each, ...said }]
  })
  const added = Object.entries(collections).flatMap(([name, said]) =>
    said === false || profile.collections.some((each) => each.name === name)
      ? []
      : [{ ...bareCollection(name), ...said }],
  )
  return {
    ...profile,
    ...rest,
    names: { ...usualNames, ...profile.names, ...names },
    collections: [...known, ...added],
  }
}
