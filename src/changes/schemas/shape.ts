/** What a schema admits, in one form for all the ways in which it can be written. */
import type { Part } from '../openapi/document.ts'

/** The types of JSON, `null` aside; `any` is all of them. */
export type TypeName = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'any'

/** Schemas that must all hold: one, unless `allOf` brought several together. */
export type Schemas = readonly Part[]

/** Values of one type, `null` aside. */
export interface Shape {
  readonly type: TypeName
  /** The component that it is, where it is one. */
  readonly name: string | undefined
  readonly pointer: string
  /** The only values, by canonical text; `undefined`: all of the type. */
  readonly values: ReadonlyMap<string, unknown> | undefined
  /** `minimum`, `maxLength` and the like. */
  readonly limits: ReadonlyMap<string, number>
  readonly patterns: ReadonlySet<string>
  readonly formats: ReadonlySet<string>
  readonly properties: ReadonlyMap<string, Schemas>
  readonly required: ReadonlySet<string>
  /** What properties may be beside those named. */
  readonly additional: 'open' | 'closed' | Schemas
  /** Of an array; `undefined`: anything. */
  readonly items: Schemas | undefined
  /** Keywords that are compared only by being equal, as canonical text. */
  readonly others: ReadonlyMap<string, string>
}

/** All that a schema admits. */
export interface Union {
  readonly nullable: boolean
  /** Any of these. None: nothing but, at most, `null`. */
  readonly shapes: readonly Shape[]
}

/** Which limits narrow when they grow; the others narrow when they shrink. */
export const lowerLimits: readonly string[] = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']

/** The limits of each kind of value. */
export const limitsOf: Readonly<Record<Exclude<TypeName, 'any'>, readonly string[]>> = {
  string: ['minLength', 'maxLength'],
  number: ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum', 'multipleOf'],
  boolean: [],
  array: ['minItems', 'maxItems'],
  object: ['minProperties', 'maxProperties'],
}

/** A shape that admits everything of a type. */
export function wholeType(type: TypeName, pointer: string): Shape {
  return {
    ...{
      type,
      name: undefined,
      pointer,
      values: undefined,
      limits: new Map(),
      patterns: new Set(),
      formats: new Set(),
    },
    ...{ properties: new Map(), required: new Set(), additional: 'open', items: undefined, others: new Map() },
  }
}

/** What it costs to look at a shape once. */
export function sizeOf({ properties, required, values, items, others }: Shape): number {
  let texts = 0
  for (const text of others.values()) texts += text.length
  return 1 + properties.size + required.size + (values?.size ?? 0) + (items?.length ?? 0) + texts / 64
}
