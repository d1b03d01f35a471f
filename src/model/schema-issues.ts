/**
 * Turns errors of ajv into issues: codes, pointers, and messages that say what is right (ERR-3).
 */
import type { ErrorObject } from 'ajv'
import type { Issue, IssueCode } from '../spec/faults.ts'
import { oneOf } from './nearest.ts'
import { escapeStep } from './place.ts'

// A megabyte of wrong items would make a response of a hundred megabytes.
const mostIssues = 1_000

/**
 * The issues of one value.
 *
 * @param pointer the field's own JSON Pointer, before those of ajv
 */
export function issuesOf(pointer: string, errors: readonly ErrorObject[]): Issue[] {
  const told = withoutBranches(errors)
  const issues = told.slice(0, mostIssues).map((error): Issue => {
    const { code, message, step } = describe(error)
    return { code, message, pointer: pointer + error.instancePath + (step === undefined ? '' : `/${escapeStep(step)}`) }
  })
  if (told.length > mostIssues) {
    issues.push({ code: 'INVALID_VALUE', message: `has ${told.length - mostIssues} more errors`, pointer })
  }
  return issues
}

interface Description {
  readonly code: IssueCode
  readonly message: string
  /** The missing or unknown key. */
  readonly step?: string
}

function describe({ keyword, params, schema, parentSchema, data, message }: ErrorObject): Description {
  switch (keyword) {
    case 'type':
      return { code: 'INVALID_TYPE', message: `must be ${typeWords(params.type)}` }
    case 'enum':
      return { code: 'NOT_IN_ENUM', message: `must be one of ${list(params.allowedValues)}` }
    case 'const':
      return { code: 'NOT_IN_ENUM', message: `must be ${word(params.allowedValue)}` }
    case 'format':
      return {
        code: 'INVALID_FORMAT',
        message: `must be ${formatWords[params.format] ?? `of the format ${params.format}`}`,
      }
    case 'pattern':
      return { code: 'INVALID_VALUE', message: `must match the pattern ${schema}` }
    case 'minLength':
      return { code: 'TOO_SHORT', message: `must have at least ${count(params.limit, 'character')}` }
    case 'maxLength':
      return { code: 'TOO_LONG', message: `must have at most ${count(params.limit, 'character')}` }
    case 'minItems':
      return { code: 'TOO_FEW_ITEMS', message: `must have at least ${count(params.limit, 'item')}` }
    case 'maxItems':
      return { code: 'TOO_MANY_ITEMS', message: `must have at most ${count(params.limit, 'item')}` }
    case 'minimum':
      return { code: 'TOO_SMALL', message: `must be at least ${params.limit}` }
    case 'maximum':
      return { code: 'TOO_LARGE', message: `must be at most ${params.limit}` }
    case 'exclusiveMinimum':
      return { code: 'TOO_SMALL', message: `must be greater than ${params.limit}` }
    case 'exclusiveMaximum':
      return { code: 'TOO_LARGE', message: `must be less than ${params.limit}` }
    case 'multipleOf':
      return { code: 'INVALID_VALUE', message: `must be a multiple of ${schema}` }
    case 'uniqueItems':
      return { code: 'INVALID_VALUE', message: 'must not have the same item twice' }
    case 'required':
      return { code: 'REQUIRED', message: 'is required', step: params.missingProperty }
    case 'dependentRequired':
      return {
        code: 'REQUIRED',
        message: `is required where ${params.property} is given`,
        step: params.missingProperty,
      }
    case 'additionalProperties':
      return { code: 'UNKNOWN_FIELD', message: unknownKey(parentSchema), step: params.additionalProperty }
    case 'unevaluatedProperties':
      return { code: 'UNKNOWN_FIELD', message: unknownKey(parentSchema), step: params.unevaluatedProperty }
    case 'propertyNames':
      return { code: 'INVALID_VALUE', message: 'is not an allowed key', step: params.propertyName }
    case 'minProperties':
      return { code: 'INVALID_VALUE', message: `must have at least ${count(params.limit, 'key')}` }
    case 'maxProperties':
      return { code: 'INVALID_VALUE', message: `must have at most ${count(params.limit, 'key')}` }
    case 'items':
    case 'unevaluatedItems':
      return { code: 'TOO_MANY_ITEMS', message: `must have at most ${count(params.limit ?? params.len, 'item')}` }
    case 'anyOf':
    case 'oneOf':
      return alternatives(schema, data)
    case 'contains':
      return {
        code: 'INVALID_VALUE',
        message: `must have at least ${count(params.minContains, 'item')} of the kind declared`,
      }
    case 'not':
      return { code: 'INVALID_VALUE', message: 'must not be a value of the kind excluded' }
    case 'false schema':
      return { code: 'INVALID_VALUE', message: 'must not be given' }
    default:
      return { code: 'INVALID_VALUE', message: message ?? 'breaks a rule of its schema' }
  }
}

// Keywords that try a value against several schemas: "none fits" is enough.
const trying = new Set(['anyOf', 'oneOf', 'contains', 'propertyNames'])

/** Removes the errors of single alternatives, and those of `if`. */
function withoutBranches(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const summaries = errors.filter(({ keyword }) => trying.has(keyword))
  const kept = errors.filter(({ keyword }) => keyword !== 'if')
  if (summaries.length === 0) return kept
  const paths = new Set(summaries.map(({ schemaPath, instancePath }) => `${schemaPath} ${instancePath}`))
  return kept.filter((error) => !isInside(error, paths))
}

function isInside({ schemaPath, instancePath }: ErrorObject, summaries: ReadonlySet<string>): boolean {
  for (let slash = schemaPath.lastIndexOf('/'); slash > 0; slash = schemaPath.lastIndexOf('/', slash - 1)) {
    const schema = schemaPath.slice(0, slash)
    if (!trying.has(schema.slice(schema.lastIndexOf('/') + 1))) continue
    for (let end = instancePath.length; end >= 0; end = end === 0 ? -1 : instancePath.lastIndexOf('/', end - 1)) {
      if (summaries.has(`${schema} ${instancePath.slice(0, end)}`)) return true
    }
  }
  return false
}

function alternatives(branches: unknown, data: unknown): Description {
  const all = Array.isArray(branches) ? branches : []
  const allowed = all.map(allowedBy)
  if (allowed.every((each) => each !== undefined)) {
    return { code: 'NOT_IN_ENUM', message: `must be one of ${list(allowed.flat())}` }
  }
  const types = all.flatMap((branch): unknown[] => branch?.type ?? [undefined])
  if (types.every((type) => typeof type === 'string' && !isOfType(data, type))) {
    return { code: 'INVALID_TYPE', message: `must be ${typeWords(types)}` }
  }
  return { code: 'INVALID_VALUE', message: 'must fit one of the declared alternatives' }
}

function isOfType(value: unknown, type: string): boolean {
  if (value === null || Array.isArray(value)) return type === (value === null ? 'null' : 'array')
  return typeof value === type || (type === 'integer' && Number.isInteger(value))
}

function allowedBy(branch: unknown): readonly unknown[] | undefined {
  if (typeof branch !== 'object' || branch === null) return undefined
  if ('const' in branch) return [branch.const]
  return 'enum' in branch && Array.isArray(branch.enum) ? branch.enum : undefined
}

const typeWord: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null',
}

function typeWords(types: unknown): string {
  const names = Array.isArray(types) ? types : String(types).split(',')
  return oneOf([...new Set(names.map((name) => typeWord[name] ?? name))])
}

/** Descriptions of formats; other formats are named. */
const formatWords: Readonly<Record<string, string>> = {
  date: 'a date such as 2026-11-21',
  time: 'a time with its zone, such as 08:30:00Z',
  'date-time': 'a date and time with its zone, such as 2026-11-21T08:30:00Z',
  duration: 'an ISO 8601 duration such as P3D',
  email: 'an e-mail address',
  hostname: 'a host name',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  uri: 'an absolute URI such as https://example.org/',
  'uri-reference': 'a URI or a relative reference',
  uuid: 'a UUID',
  regex: 'a regular expression',
  'json-pointer': 'a JSON Pointer',
}

function unknownKey(parent: unknown): string {
  const properties = (parent as { properties?: object } | undefined)?.properties
  const known = Object.keys(properties ?? {})
  return known.length === 0 ? 'is not a known key' : `is not a known key; known are ${oneOf(known, 'and')}`
}

function list(values: unknown): string {
  const all = Array.isArray(values) ? values : []
  const shown = all.slice(0, 20).map(word).join(', ')
  return all.length > 20 ? `${shown} and ${all.length - 20} more` : shown
}

function word(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function count(number: unknown, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
