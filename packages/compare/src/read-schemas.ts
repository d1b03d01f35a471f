/**
 * Brings schemas into one form before they are compared: shapes, each the values of one type that are admitted. Follows
 * references, joins `allOf`, lays `anyOf` and `oneOf` side by side.
 */
import { canonicalJson, isObject } from 'resourced-contract/model/plain-copy'
import {
  child,
  type Document,
  DocumentError,
  items,
  members,
  type Part,
  referenceOf,
  type Spend,
  target,
} from './openapi-document.ts'

/** The types of JSON Schema; `any` is all of them. */
type TypeName = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object' | 'any'

/** Schemas that must all hold: one, unless `allOf` brings several together. */
export type Schemas = readonly Part[]

export interface Shape {
  readonly type: TypeName
  /** The name of the component, where the schema is one. */
  readonly name: string | undefined
  readonly pointer: string
  /** The only values, by canonical text; `undefined`: all of the type. */
  readonly values: ReadonlyMap<string, unknown> | undefined
  /** `minimum`, `maxLength` and the like. */
  readonly limits: ReadonlyMap<string, number>
  /** `pattern`, `format`, and keywords that are only compared for equality, as canonical texts: all of them hold. */
  readonly texts: ReadonlyMap<string, ReadonlySet<string>>
  readonly properties: ReadonlyMap<string, Schemas>
  readonly required: ReadonlySet<string>
  /** Properties other than those named. */
  readonly additional: 'open' | 'closed' | Schemas
  /** Of an array; `undefined`: anything. */
  readonly items: Schemas | undefined
}

interface Keywords {
  readonly limits: readonly string[]
  readonly texts: readonly string[]
}

const bounds = ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum', 'multipleOf']
const number = { limits: bounds, texts: ['format'] }
const none = { limits: [], texts: [] }

const keywordsOf: Readonly<Record<Exclude<TypeName, 'any'>, Keywords>> = {
  null: none,
  boolean: none,
  integer: number,
  number,
  string: { limits: ['minLength', 'maxLength'], texts: ['pattern', 'format', 'contentEncoding', 'contentMediaType'] },
  array: {
    limits: ['minItems', 'maxItems'],
    texts: ['contains', 'minContains', 'maxContains', 'prefixItems', 'unevaluatedItems', 'uniqueItems'],
  },
  object: {
    limits: ['minProperties', 'maxProperties'],
    texts: ['patternProperties', 'propertyNames', 'dependentRequired', 'dependentSchemas', 'unevaluatedProperties'],
  },
}

/** Whether a limit narrows when it grows; the others narrow when they shrink. */
export function isLowerLimit(keyword: string): boolean {
  return /^(?:min|exclusiveMin)/.test(keyword)
}

const everything = {
  ...{ name: undefined, values: undefined, items: undefined, additional: 'open' as const },
  ...{ limits: new Map(), texts: new Map(), properties: new Map(), required: new Set<string>() },
}

function wholeType(type: TypeName, pointer: string): Shape {
  return { ...everything, type, pointer }
}

/** Whether a shape admits everything of its type. */
function isWhole({ values, limits, texts, properties, required, additional, items }: Shape): boolean {
  const isEmpty = [limits, texts, properties, required].every((each) => each.size === 0)
  return isEmpty && values === undefined && items === undefined && additional === 'open'
}

function typeOf(value: unknown): TypeName {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value as TypeName
}

function valuesOf(type: TypeName, values: ReadonlyMap<string, unknown>): ReadonlyMap<string, unknown> {
  if (type === 'any') return values
  return new Map([...values].filter(([, value]) => commonType(type, typeOf(value)) === typeOf(value)))
}

/** The steps that it costs to look at a shape once. */
export function sizeOf({ properties, required, values, items, texts }: Shape): number {
  let characters = 0
  for (const set of texts.values()) for (const text of set) characters += text.length
  return 1 + properties.size + required.size + (values?.size ?? 0) + (items?.length ?? 0) + characters / 64
}

/** What both shapes admit; `undefined`: nothing. */
function intersect(left: Shape, right: Shape, spend: Spend): Shape | undefined {
  spend(sizeOf(left) + sizeOf(right))
  const type = commonType(left.type, right.type)
  if (type === undefined) return undefined
  const common = commonValues(left.values, right.values)
  const values = common && valuesOf(type, common)
  if (values?.size === 0) return undefined
  return {
    type,
    // A component with something added is still that component.
    name: left.name ?? right.name,
    pointer: left.name === undefined && right.name !== undefined ? right.pointer : left.pointer,
    values,
    limits: joined(left.limits, right.limits, (one, other, keyword) =>
      isLowerLimit(keyword) ? Math.max(one, other) : Math.min(one, other),
    ),
    texts: joined(left.texts, right.texts, (one, other) => one.union(other)),
    properties: joined(left.properties, right.properties, (one, other) => {
      spend(one.length)
      return [...one, ...other]
    }),
    required: left.required.union(right.required),
    additional: commonAdditional(left.additional, right.additional),
    items: left.items && right.items ? [...left.items, ...right.items] : (left.items ?? right.items),
  }
}

function commonType(left: TypeName, right: TypeName): TypeName | undefined {
  if (left === right || right === 'any') return left
  if (left === 'any') return right
  return [left, right].sort().join() === 'integer,number' ? 'integer' : undefined
}

function commonValues(left: Shape['values'], right: Shape['values']): Shape['values'] {
  if (left === undefined || right === undefined) return left ?? right
  return new Map([...left].filter(([text]) => right.has(text)))
}

function commonAdditional(left: Shape['additional'], right: Shape['additional']): Shape['additional'] {
  if (left === 'closed' || right === 'closed') return 'closed'
  if (left === 'open') return right
  return right === 'open' ? left : [...left, ...right]
}

function joined<Value>(
  left: ReadonlyMap<string, Value>,
  right: ReadonlyMap<string, Value>,
  both: (one: Value, other: Value, key: string) => Value,
): ReadonlyMap<string, Value> {
  const all = new Map(left)
  for (const [key, value] of right) {
    const known = left.get(key)
    all.set(key, known === undefined ? value : both(known, value, key))
  }
  return all
}

// Documents that people or programs write for an interface stay far below.
const mostAlternatives = 256
const mostNested = 200

/** The annotations of a schema, in addition to the values that it accepts. */
const annotations = ['default', 'readOnly', 'writeOnly', 'deprecated'] as const
type Annotations = Partial<Readonly<Record<(typeof annotations)[number], unknown>>>

interface Local extends Annotations {
  readonly shapes: readonly Shape[]
}

/** Everything that some schemas admit together: any of the shapes, and `null` where that is admitted. */
export interface Union extends Local {
  readonly isNullable: boolean
}

/** Reads the schemas of one document, each once. */
export interface SchemaReader {
  /** @throws DocumentError where a schema is too intricate */
  union(schemas: Schemas): Union
  /** A text that is equal for equal schemas, whichever references lead to them. */
  key(schemas: Schemas): string
}

export function schemaReader(document: Document, spend: Spend): SchemaReader {
  const ids = new Map<object, number>()
  const read = new Map<object, Local>()
  const unions = new Map<string, Union>()
  const open = new Set<object>()

  function key(schemas: Schemas): string {
    const each = schemas.map((part) => {
      const { value } = withoutReference(part)
      if (typeof value !== 'object' || value === null) return String(value)
      const id = ids.get(value) ?? ids.size
      ids.set(value, id)
      return id
    })
    return [...new Set(each)].sort().join()
  }

  /** The target of a schema that is only a reference; the schema itself where it says anything else. */
  function withoutReference(part: Part): Part {
    let at = part
    for (let steps = 0; steps < mostNested; steps++) {
      const reference = referenceOf(at)
      if (reference === undefined) return at
      if (Object.keys(at.value as object).length > 1 && document.dialect !== '3.0') return at
      at = target(document, at.pointer, reference)
    }
    throw new DocumentError(part.pointer, 'refers to itself.')
  }

  function readSchema(part: Part): Local {
    const { value, pointer } = part
    if (!isObject(value)) return { shapes: value === false ? [] : [wholeType('any', pointer)] }
    const known = read.get(value)
    if (known !== undefined) return known
    // A schema that is directly a part of itself adds nothing by that.
    if (open.has(value)) return { shapes: [wholeType('any', pointer)] }
    if (open.size >= mostNested) throw new DocumentError(pointer, `is composed over more than ${mostNested} levels.`)
    open.add(value)
    const result = readObject(part)
    open.delete(value)
    read.set(value, result)
    return result
  }

  function readObject(part: Part): Local {
    const reference = referenceOf(part)
    if (reference === undefined) return readKeywords(part)
    const to = target(document, part.pointer, reference)
    const referred = readSchema(to)
    // The dialect 3.0 ignores keywords beside a reference.
    const own = document.dialect === '3.0' ? { shapes: [wholeType('any', part.pointer)] } : readKeywords(part)
    const name = /^\/components\/[^/]+\/([^/]+)$/.exec(to.pointer)?.[1]
    const both = allOf(referred.shapes, own.shapes, part)
    return { ...referred, ...own, shapes: both.map((shape) => ({ ...shape, name: name ?? shape.name })) }
  }

  function readKeywords(part: Part): Local {
    let shapes = ownShapes(document, part)
    let said: Annotations = {}
    // Records that other responses show too: what changes about them is found there.
    const isRepeated = child(part, 'x-repeats') !== undefined
    for (const each of isRepeated ? [] : items(child(part, 'allOf'))) {
      const local = readSchema(each)
      shapes = allOf(shapes, local.shapes, part)
      said = { ...local, ...said }
    }
    for (const keyword of isRepeated ? [] : ['anyOf', 'oneOf']) {
      const alternatives = items(child(part, keyword))
      if (alternatives.length === 0) continue
      const any = alternatives.flatMap((each) => readSchema(each).shapes)
      refuseMany(any.length, part)
      shapes = allOf(shapes, any, part)
    }
    if (document.dialect === '3.0' && child(part, 'nullable')?.value === true) {
      shapes = [...shapes, wholeType('null', part.pointer)]
    }
    for (const keyword of annotations) {
      // Resourced writes `x-default`: generators misunderstand `default` in requests.
      const own = child(part, keyword) ?? (keyword === 'default' ? child(part, 'x-default') : undefined)
      if (own !== undefined) said = { ...said, [keyword]: own.value }
    }
    return { ...said, shapes }
  }

  function allOf(left: readonly Shape[], right: readonly Shape[], part: Part): readonly Shape[] {
    refuseMany(left.length * right.length, part)
    return left.flatMap((one) => right.flatMap((other) => intersect(one, other, spend) ?? []))
  }

  return {
    key,
    union(schemas) {
      const known = key(schemas)
      const found = unions.get(known)
      if (found !== undefined) return found
      const locals = schemas.map(readSchema)
      const shapes = locals.map((local) => local.shapes).reduce((left, right) => allOf(left, right, schemas[0]!))
      const union = { ...Object.assign({}, ...locals.toReversed()), ...unionOf(shapes) } as Union
      unions.set(known, union)
      return union
    },
  }
}

function refuseMany(alternatives: number, { pointer }: Part): void {
  if (alternatives <= mostAlternatives) return
  throw new DocumentError(pointer, `has more than ${mostAlternatives} alternatives, which is too many to compare.`)
}

/** The shapes of a schema object without those that it is composed of. */
function ownShapes(document: Document, part: Part): readonly Shape[] {
  const { type, enum: listed } = part.value as Readonly<Record<string, unknown>>
  const types = [type].flat().filter((each) => typeof each === 'string')
  const own: TypeName[] = types.length === 0 ? ['any'] : typeNames.filter((name) => types.includes(name))
  const constant = child(part, 'const')
  const values = Array.isArray(listed) ? (listed as unknown[]) : constant && [constant.value]
  const all = values && new Map(values.map((each) => [canonicalJson(each), each]))
  return own
    .filter((name) => name !== 'integer' || !own.includes('number'))
    .map((name): Shape => ({ ...shapeOf(document, part, name), values: all && valuesOf(name, all) }))
    .filter((shape) => shape.values?.size !== 0)
}

const typeNames = Object.keys(keywordsOf) as Exclude<TypeName, 'any'>[]
const anyType = {
  limits: typeNames.flatMap((name) => keywordsOf[name].limits),
  texts: typeNames.flatMap((name) => keywordsOf[name].texts),
}
// What these admit cannot be compared without trying every value.
const ofEveryType = ['not', 'if', 'then', 'else', '$dynamicRef']

function shapeOf(document: Document, part: Part, type: TypeName): Shape {
  const schema = part.value as Readonly<Record<string, unknown>>
  const keywords = type === 'any' ? anyType : keywordsOf[type]
  const texts = new Map<string, ReadonlySet<string>>()
  for (const keyword of [...keywords.texts, ...(type === 'null' ? [] : ofEveryType)]) {
    const said = schema[keyword]
    const isPlain = keyword === 'pattern' || keyword === 'format'
    if (said === undefined || said === false || (isPlain && typeof said !== 'string')) continue
    texts.set(keyword, new Set([isPlain ? String(said) : canonicalJson(said)]))
  }
  const whole = { ...wholeType(type, part.pointer), limits: limitsOf(schema, keywords.limits, document.dialect), texts }
  if (child(part, 'x-repeats') !== undefined) return whole
  const each = child(part, 'items')
  const more = child(part, 'additionalProperties')
  return {
    ...whole,
    ...((type === 'any' || type === 'array') && { items: isObject(each?.value) ? [each as Part] : undefined }),
    ...((type === 'any' || type === 'object') && {
      properties: new Map(members(child(part, 'properties')).map(([name, property]) => [name, [property]])),
      required: new Set(items(child(part, 'required')).map(({ value }) => String(value))),
      additional: more?.value === false ? 'closed' : isObject(more?.value) ? [more as Part] : 'open',
    }),
  }
}

function limitsOf(schema: Readonly<Record<string, unknown>>, keywords: readonly string[], dialect: string) {
  const limits = new Map<string, number>()
  for (const keyword of keywords) {
    const value = schema[keyword]
    // A length is never less than 0.
    if (typeof value !== 'number' || (value === 0 && /^min[LIP]/.test(keyword))) continue
    const exclusive = `exclusive${keyword.charAt(0).toUpperCase()}${keyword.slice(1)}`
    // In 3.0 the exclusive bounds are booleans beside the bound.
    limits.set(dialect === '3.0' && schema[exclusive] === true ? exclusive : keyword, value)
  }
  return limits
}

/** Finds the types that were left out, and joins alternatives that only list values. */
function unionOf(shapes: readonly Shape[]): Union {
  const typed = shapes.flatMap(withType)
  const isNullable = typed.some(({ type }) => type === 'null' || type === 'any')
  const whole = typed.find((shape) => shape.type === 'any' && isWhole(shape))
  if (whole !== undefined) return { isNullable, shapes: [whole] }
  const joined: Shape[] = []
  for (const shape of typed) {
    if (shape.type === 'null') continue
    const at = isList(shape) ? joined.findIndex((each) => each.type === shape.type && isList(each)) : -1
    const known = joined[at]
    if (known === undefined) joined.push(shape)
    else joined[at] = { ...known, values: new Map([...(known.values ?? []), ...(shape.values ?? [])]) }
  }
  return { isNullable, shapes: joined }
}

function isList(shape: Shape): boolean {
  return shape.values !== undefined && isWhole({ ...shape, values: undefined })
}

function withType(shape: Shape): Shape[] {
  if (shape.type !== 'any') return [shape]
  if (shape.values === undefined) return [{ ...shape, type: impliedType(shape) }]
  const byType = Map.groupBy(shape.values, ([, value]) => typeOf(value))
  return [...byType].map(([type, values]) => ({ ...shape, type, values: new Map(values) }))
}

/** The type that the keywords of a schema without `type` imply; `any`: none in particular. */
function impliedType({ properties, required, additional, items, limits, texts }: Shape): TypeName {
  if (properties.size > 0 || required.size > 0 || additional !== 'open') return 'object'
  if (items !== undefined) return 'array'
  if (texts.has('pattern')) return 'string'
  const limited = (['string', 'number', 'array', 'object'] as const).find((type) =>
    keywordsOf[type].limits.some((keyword) => limits.has(keyword)),
  )
  return limited ?? (texts.has('format') ? 'string' : 'any')
}
