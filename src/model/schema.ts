/** Compiles JSON Schema 2020-12 of a field to a function that finds all issues of a value. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { Issue } from '../spec/faults.ts'
import { isMultipleOf } from './decimal.ts'
import { escapeStep } from './place.ts'
import { issuesOf } from './schema-issues.ts'
import { isRecordId } from './text.ts'
import { instantKey } from './time.ts'

/**
 * Finds all issues of a value, with pointers that begin with the field's own (`/labels/0`). An empty array: the value
 * is valid.
 */
export type ValidateValue = (value: unknown) => Issue[]

const none: Issue[] = Object.freeze([]) as never

/** The compiler, shared by all fields because its meta-schema and formats take long to create. */
export const ajv = makeAjv()

function makeAjv(): Ajv2020 {
  const made = new Ajv2020({
    // ERR-3: every error in one response.
    allErrors: true,
    // Inherited keys (`constructor`) do not count.
    ownProperties: true,
    // A keyword that does not apply to the type is a mistake of the declaration.
    strict: true,
    allowUnionTypes: true,
    strictTuples: false,
    strictRequired: false,
    // Fields may have schemas with the same $id.
    addUsedSchema: false,
    // Messages need the schema of the error.
    verbose: true,
    logger: false,
  })
  formats.default(made)
  // RFC 3339 section 5.6, as `instantKey` reads it: ajv-formats also accepts a space for the T.
  made.addFormat('date-time', { type: 'string', validate: (text) => instantKey(text) !== undefined })
  // RFC 9562 section 4, without the URN form, so that a value has one spelling.
  made.addFormat('uuid', /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i)
  // Ajv divides binary fractions, in which 19.99 is not a multiple of 0.01.
  made.removeKeyword('multipleOf')
  made.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    compile: (step: number) => (value: number) => isMultipleOf(value, step),
    errors: false,
  })
  // The pattern of ajv-formats, `\S+(?::\S*)?@` before the host, takes minutes on a text of colons. User information
  // has no slash.
  const url = made.formats['url'] as RegExp
  made.addFormat(
    'url',
    new RegExp(url.source.replace(String.raw`(?:\S+(?::\S*)?@)?`, String.raw`(?:[^\s/]+@)?`), url.flags),
  )
  // A text beyond its maxLength is refused without its pattern, which may take long on it (`slow-pattern.ts`).
  made.removeKeyword('pattern')
  made.addKeyword({
    keyword: 'pattern',
    type: 'string',
    schemaType: 'string',
    compile(pattern: string, { maxLength }) {
      const expression = new RegExp(pattern, 'u')
      // In UTF-16 units; a character has at most two.
      const longest = typeof maxLength === 'number' ? 2 * maxLength : Number.POSITIVE_INFINITY
      return (text: string) => text.length > longest || expression.test(text)
    },
    errors: false,
  })
  // Ajv compares each item with each: an array of 100,000 objects would block the server for minutes.
  made.removeKeyword('uniqueItems')
  made.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: hasUniqueItems,
    errors: false,
  })
  return made
}

/**
 * Compiles the schema of a field.
 *
 * @param name the field's name: pointers begin with it
 * @throws Error with the reason if ajv cannot compile the schema
 */
export function compileSchema(name: string, schema: Readonly<Record<string, unknown>>): ValidateValue {
  const validate: ValidateFunction = ajv.compile(schema)
  // Ajv keeps every schema otherwise.
  ajv.removeSchema(schema)
  const pointer = `/${escapeStep(name)}`
  return (value) => (validate(value) ? none : issuesOf(pointer, validate.errors ?? []))
}

/**
 * Compiles a reference: the id of a record in the spelling of the server (RES-4), and its schema.
 *
 * @param collection the collection referred to, for the message
 */
export function compileReference(
  name: string,
  schema: Readonly<Record<string, unknown>>,
  collection: string,
): ValidateValue {
  const validate = compileSchema(name, schema)
  const pointer = `/${escapeStep(name)}`
  return (value) => {
    if (typeof value !== 'string' || isRecordId(value)) return validate(value)
    return [
      { code: 'INVALID_FORMAT', message: `must be the id of one of the ${collection}: a UUID in lower case`, pointer },
    ]
  }
}

/**
 * Compiles an integer: numbers beyond 2^53 are refused, because a double cannot hold them exactly.
 */
export function compileInteger(name: string, schema: Readonly<Record<string, unknown>>): ValidateValue {
  const validate = compileSchema(name, schema)
  const pointer = `/${escapeStep(name)}`
  return (value) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value) || !Number.isInteger(value)) return validate(value)
    return value > 0
      ? [{ code: 'TOO_LARGE', message: `must be at most ${Number.MAX_SAFE_INTEGER}`, pointer }]
      : [{ code: 'TOO_SMALL', message: `must be at least ${Number.MIN_SAFE_INTEGER}`, pointer }]
  }
}

function hasUniqueItems(wanted: boolean, items: readonly unknown[]): boolean {
  return !wanted || new Set(items.map(canonical)).size === items.length
}

/** One text for each JSON value: objects with the same members in another order are equal. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each
    return { '': Object.entries(each).sort(([left], [right]) => (left < right ? -1 : 1)) }
  })
}
