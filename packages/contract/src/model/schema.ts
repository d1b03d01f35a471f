/** Compiles JSON Schema 2020-12 of a field to a function that finds all issues of a value. */
import {
  _,
  Ajv2020,
  type CodeKeywordDefinition,
  type ErrorObject,
  KeywordCxt,
  type ValidateFunction,
} from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { type Issue, IssueList, type IssueParams, issue, type Reason } from '../spec/faults.ts'
import { compileDecimal, isMultipleOf } from './decimal.ts'
import { escapeStep } from './place.ts'
import { canonicalJson } from './plain-copy.ts'
import { isRecordId } from './text.ts'
import { instantKey } from './time.ts'

/**
 * Finds all issues of a value, with pointers that begin with the field's own (`/labels/0`). An empty array: the value
 * is valid.
 */
export type ValidateValue = (value: unknown) => Issue[]

const none: Issue[] = Object.freeze([]) as never

// Keywords that try a value against several schemas: "none fits" is enough.
const trying = ['anyOf', 'oneOf', 'contains', 'propertyNames']

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
    validateSchema: false,
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
  // A text beyond its maxLength is refused without its pattern, which may take long on it (`check/field-schema.ts`).
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
  for (const keyword of trying) reportOnce(made, keyword)
  countReferences(made)
  return made
}

/**
 * Makes a keyword report that no schema fits, and not why each does not. A schema that is tried ends at its first
 * error, so that a value which no alternative fits costs about as much as one which the last one fits.
 */
function reportOnce(made: Ajv2020, keyword: string): void {
  const definition = made.getKeyword(keyword) as CodeKeywordDefinition
  const { code } = definition
  definition.code = (context, ruleType) => {
    context.subschema = (applied, valid) =>
      KeywordCxt.prototype.subschema.call(context, { ...applied, createErrors: false, allErrors: false }, valid)
    // Schemas that are referred to have errors all the same.
    if (definition.trackErrors === true) {
      context.error = (...reported) => {
        context.reset()
        KeywordCxt.prototype.error.call(context, ...reported)
      }
    }
    code(context, ruleType)
  }
}

// A schema that refers to itself in several alternatives may be tried on a value again and again: on each level of the
// value twice as often as on the one above it. So a body of a hundred bytes could block the server for hours.

/** How often a validation may follow `$ref`, whatever the value. This takes some hundredths of a second. */
const leastFollowed = 200_000

/** The running validation of a schema with references. */
const unbounded = {
  value: undefined as unknown,
  references: 0,
  followed: 0,
  most: Number.POSITIVE_INFINITY,
  isExtended: true,
}
const running = { ...unbounded }

const tooAmbiguous = new Error('A value fits too many alternatives of its schema in part.')

function countReferences(made: Ajv2020): void {
  for (const keyword of ['$ref', '$dynamicRef']) {
    const definition = made.getKeyword(keyword) as CodeKeywordDefinition
    const { code } = definition
    definition.code = (context, ruleType) => {
      const name = context.gen.scopeValue('func', { ref: follow, code: _`undefined` })
      context.gen.code(_`${name}()`)
      code(context, ruleType)
    }
  }
}

function follow(): void {
  if (++running.followed <= running.most) return
  // Without alternatives, each reference is followed at most once for each member.
  if (!running.isExtended) {
    running.isExtended = true
    running.most += 2 * running.references * countMembers(running.value)
  }
  if (running.followed > running.most) throw tooAmbiguous
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const values: unknown[] = Object.values(value)
  return values.reduce((sum: number, each) => sum + countMembers(each), values.length)
}

/** A validator that gives up where a value is tried too often. */
function bounded(validate: ValidateValue, references: number, pointer: string): ValidateValue {
  return (value) => {
    Object.assign(running, { value, references, followed: 0, most: leastFollowed, isExtended: false })
    try {
      return validate(value)
    } catch (error) {
      if (error !== tooAmbiguous) throw error
      return [issue('tooAmbiguous', { pointer })]
    } finally {
      Object.assign(running, unbounded)
    }
  }
}

/**
 * Compiles the schema of a field.
 *
 * @param name the field's name: pointers begin with it
 * @throws Error with the reason if ajv cannot compile the schema
 */
export function compileSchema(name: string, schema: Readonly<Record<string, unknown>>): ValidateValue {
  const validate = compiled(schema)
  const pointer = `/${escapeStep(name)}`
  const references = JSON.stringify(schema).split(/"\$(?:ref|dynamicRef)":/).length - 1
  const check = (value: unknown) => (validate(value) ? none : issuesOf(pointer, validate.errors ?? []))
  return references === 0 ? check : bounded(check, references, pointer)
}

// A schema is compiled when the declaration is checked, and again for its catalog; and many fields have the same one.
const known = new Map<string, ValidateFunction>()
const mostKnown = 1_000

function compiled(schema: Readonly<Record<string, unknown>>): ValidateFunction {
  const text = JSON.stringify(schema)
  const before = known.get(text)
  if (before !== undefined) return before
  const validate = ajv.compile(schema)
  // Ajv keeps every schema otherwise.
  ajv.removeSchema(schema)
  if (known.size >= mostKnown) known.clear()
  known.set(text, validate)
  return validate
}

/**
 * Compiles a field: its schema, and what none can say. A reference is an id in the spelling of the server (RES-4).
 * Integers beyond 2^53 are refused, because a double cannot hold them exactly.
 *
 * @param target the collection that a reference refers to, for the message
 * @throws Error with the reason if ajv cannot compile the schema
 */
export function compileField(
  name: string,
  { type, schema }: { readonly type: string; readonly schema: Readonly<Record<string, unknown>> },
  target?: string,
): ValidateValue {
  if (type === 'decimal' && target === undefined) return compileDecimal(name, schema)
  const validate = compileSchema(name, schema)
  const pointer = `/${escapeStep(name)}`
  if (target !== undefined) {
    return (value) =>
      typeof value !== 'string' || isRecordId(value) ? validate(value) : [issue('id', { pointer, target })]
  }
  if (type !== 'integer') return validate
  return (value) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value) || !Number.isInteger(value)) return validate(value)
    return value > 0
      ? [issue('maximum', { pointer, limit: Number.MAX_SAFE_INTEGER })]
      : [issue('minimum', { pointer, limit: Number.MIN_SAFE_INTEGER })]
  }
}

function hasUniqueItems(wanted: boolean, items: readonly unknown[]): boolean {
  return !wanted || new Set(items.map(canonicalJson)).size === items.length
}

/**
 * The issues of one value: codes, pointers, and the expected form (ERR-3).
 *
 * @param pointer the field's own JSON Pointer, before those of ajv
 */
function issuesOf(pointer: string, errors: readonly ErrorObject[]): Issue[] {
  const issues = new IssueList()
  for (const error of errors) {
    const { keyword } = error
    // The error of `if` repeats that of `then` or `else`. Names that `propertyNames` tries leave errors without a
    // keyword.
    if (keyword === undefined || keyword === 'if') continue
    issues.add(() => {
      const [reason, params, step] = descriptions[keyword]?.(error) ?? unknownKeyword(error)
      const place = pointer + error.instancePath + (step === undefined ? '' : `/${escapeStep(step)}`)
      return issue(reason, { pointer: place, ...params } as never)
    })
  }
  return issues.all(pointer)
}

/** A reason with its data, and the missing or unknown key. */
type Description = readonly [reason: Reason, params: IssueParams, step?: string]

const descriptions: Readonly<Record<string, (error: ErrorObject) => Description>> = {
  type: ({ params }) => ['type', { types: [params.type].flat() }],
  enum: ({ params }) => ['enum', { allowed: params.allowedValues }],
  const: ({ params }) => ['enum', { allowed: [params.allowedValue] }],
  format: ({ params }) => ['format', params],
  pattern: ({ schema }) => ['pattern', { limit: schema }],
  multipleOf: ({ schema }) => ['multipleOf', { limit: schema }],
  ...sameNamed('minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'),
  ...sameNamed('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'uniqueItems', 'not', 'false schema'),
  required: ({ params }) => ['required', {}, params.missingProperty],
  dependentRequired: ({ params }) => ['dependentRequired', { property: params.property }, params.missingProperty],
  additionalProperties: (error) => unknownKey(error, error.params.additionalProperty),
  unevaluatedProperties: (error) => unknownKey(error, error.params.unevaluatedProperty),
  propertyNames: ({ params }) => ['propertyNames', {}, params.propertyName],
  items: tooManyItems,
  unevaluatedItems: tooManyItems,
  anyOf: alternatives,
  oneOf: alternatives,
  contains: ({ params }) => ['contains', { limit: params.minContains }],
}

/** Keywords whose reason has their name, and ajv's data. */
function sameNamed(...keywords: Reason[]): typeof descriptions {
  return Object.fromEntries(
    keywords.map((keyword) => [keyword, ({ params }): Description => [keyword, { limit: params.limit }]] as const),
  )
}

function unknownKeyword({ message = 'breaks a rule of its schema' }: ErrorObject): Description {
  return ['keyword', { text: message }]
}

function tooManyItems({ params }: ErrorObject): Description {
  return ['maxItems', { limit: params.limit ?? params.len }]
}

function alternatives({ schema, data }: ErrorObject): Description {
  const all = Array.isArray(schema) ? schema : []
  const allowed = all.map(allowedBy)
  if (allowed.every((each) => each !== undefined)) return ['enum', { allowed: allowed.flat() }]
  const types = all.flatMap((branch): unknown[] => branch?.type ?? [undefined])
  if (types.every((type) => typeof type === 'string' && !isOfType(data, type))) return ['type', { types }]
  return ['anyOf', {}]
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

function unknownKey({ parentSchema }: ErrorObject, key: string): Description {
  const known = Object.keys((parentSchema as { properties?: object } | undefined)?.properties ?? {})
  return ['additionalProperties', { known }, key]
}
