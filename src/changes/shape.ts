/**
 * The one form into which schemas are brought before they are compared: shapes, each the values of one type that are
 * admitted.
 */
import type { Part, Spend } from './openapi-document.ts'

/** The types of JSON Schema; `any` is all of them. */
export type TypeName = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object' | 'any'

/** Schemas that must all hold: one, unless `allOf` brings several together. */
export type Schemas = readonly Part[]

/** Values of one type. */
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

const number = {
  limits: ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum', 'multipleOf'],
  texts: ['format'],
}
const none = { limits: [], texts: [] }

/** The keywords of each type. */
export const keywordsOf: Readonly<Record<Exclude<TypeName, 'any'>, Keywords>> = {
  null: none,
  boolean: none,
  integer: number,
  number,
  string: {
    limits: ['minLength', 'maxLength'],
    texts: ['pattern', 'format', 'contentEncoding', 'contentMediaType'],
  },
  array: {
    limits: ['minItems', 'maxItems'],
    texts: ['contains', 'minContains', 'maxContains', 'prefixItems', 'unevaluatedItems', 'uniqueItems'],
  },
  object: {
    limits: ['minProperties', 'maxProperties'],
    texts: ['patternProperties', 'propertyNames', 'dependentRequired', 'dependentSchemas', 'unevaluatedProperties'],
  },
}

const lowerLimits = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']

/** Whether a limit narrows when it grows; the others narrow when they shrink. */
export function isLowerLimit(keyword: string): boolean {
  return lowerLimits.includes(keyword)
}

/** The shape of everything of a type. */
export function wholeType(type: TypeName, pointer: string): Shape {
  return {
    type,
    name: undefined,
    pointer,
    values: undefined,
    limits: new Map(),
    texts: new Map(),
    properties: new Map(),
    required: new Set(),
    additional: 'open',
    items: undefined,
  }
}

/** Whether a shape admits everything of its type. */
export function isWhole({ values, limits, texts, properties, required, additional, items }: Shape): boolean {
  const isEmpty = [limits, texts, properties, required].every((each) => each.size === 0)
  return isEmpty && values === undefined && items === undefined && additional === 'open'
}

/** The type of a value. */
export function typeOf(value: unknown): TypeName {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value as TypeName
}

/** The listed values that are of a type. */
export function valuesOf(type: TypeName, values: ReadonlyMap<string, unknown>): ReadonlyMap<string, unknown> {
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
export function intersect(left: Shape, right: Shape, spend: Spend): Shape | undefined {
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
