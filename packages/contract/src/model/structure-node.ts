/**
 * The language that the structure of a declaration is described in: JSON Schema 2020-12, with the words that messages
 * need beside it. From the same nodes come the checks at start, the published JSON Schema and the reference page.
 */

/** The words of messages about a value. The published schema does not have them. */
export interface Wording {
  /** What the value must be: `a rate`. */
  readonly what?: string
  /** What to write instead, a sentence. */
  readonly write?: string
  /** What is wrong with an unknown key; default: `is not a known key`. */
  readonly unknownKey?: string
  /** What to write instead of an unknown key, by key, sentences. */
  readonly meantKeys?: Readonly<Record<string, string>>
  /** What to write if no known key is near, a sentence. */
  readonly otherKeys?: string
  /** The choice that an unknown choice means, by that choice. */
  readonly meant?: Readonly<Record<string, string>>
  /** The value is a function. */
  readonly isFunction?: true
}

/** A JSON Schema of a part of a declaration. Functions are valid where the wording is `elsewhere`. */
export interface Node {
  readonly $ref?: `#/$defs/${string}`
  readonly title?: string
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Node>>
  readonly required?: readonly string[]
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>
  readonly additionalProperties?: Node | false
  readonly propertyNames?: Node
  readonly allOf?: readonly Node[]
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly items?: Node
  readonly minItems?: number
  readonly uniqueItems?: boolean
  readonly pattern?: string
  readonly maxLength?: number
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly anyOf?: readonly Node[]
  readonly not?: Node
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  /** `elsewhere`: the checks that know the rest of the declaration check this value too. */
  readonly wording?: Wording | 'elsewhere'
}

/** The keys of a type that are names, without its index signatures. */
export type KeyOf<T> = keyof { [Key in keyof T as string extends Key ? never : Key]: 1 }
type OptionalKey<T> = { [Key in KeyOf<T>]: object extends Pick<T, Key> ? Key : never }[KeyOf<T>]

export type Required<T> = { readonly [Key in Exclude<KeyOf<T>, OptionalKey<T>>]: Node }
/** A node for each key that a type allows. */
export type Optional<T> = { readonly [Key in OptionalKey<T>]: Node }

/**
 * The node of an object. The compiler refuses keys that the type does not have, and misses those that it has.
 *
 * @param wording with `write`, an example of such an object
 */
export function objectOf<T>(
  description: string,
  required: Required<T>,
  optional: Optional<T>,
  wording?: Node['wording'],
): Node & { readonly properties: Readonly<Record<string, Node>> } {
  const needed = Object.keys(required)
  return {
    description,
    type: 'object',
    properties: { ...(required as Record<string, Node>), ...(optional as Record<string, Node>) },
    ...(needed.length === 0 ? {} : { required: needed }),
    additionalProperties: false,
    wording: typeof wording === 'object' ? { what: 'an object', ...wording } : 'elsewhere',
  }
}

/** A node that is described below `$defs`. */
export function ref(name: string, more: Node = {}): Node {
  return { $ref: `#/$defs/${name}`, ...more }
}

/** One of a few texts. */
export function choice(values: readonly string[], description: string, more: Node = {}): Node {
  return { description, type: 'string', enum: values, ...more }
}

/** `true` or `false`, and `false` if the key is left out. */
export function flag(description: string): Node {
  return { description, type: 'boolean', default: false }
}

/** `true` or `false`. The description has the default, if there is one. */
export function flagWithoutDefault(description: string): Node {
  return { description, type: 'boolean' }
}

/** A whole number. */
export function whole(least: number, most: number, description: string, standard?: number): Node {
  const bounds = { type: 'integer', minimum: least, maximum: most }
  return { description, ...bounds, ...(standard === undefined ? {} : { default: standard }) }
}

/** A text with characters that are no blanks. */
export function prose(description: string, write = 'Write a few words for people, or leave it out.'): Node {
  return { description, type: 'string', pattern: '\\S', wording: { what: 'a text', write } }
}

/** An array. */
export function arrayOf(items: Node, description: string, wording: Node['wording'], more: Node = {}): Node {
  return { description, type: 'array', items, ...more, ...(wording === undefined ? {} : { wording }) }
}

/** An object of any keys. */
export function mapOf(values: Node, description: string, write: string, more: Node = {}): Node {
  return {
    ...{ description, type: 'object', additionalProperties: values, ...more },
    wording: { what: 'an object', write },
  }
}

/** A function, which only TypeScript and JavaScript can express. */
export function functionOnly(description: string, write: string): Node {
  const wording = { what: 'a function', write, isFunction: true } as const
  return { description: `${description} Only in TypeScript and JavaScript.`, not: {}, wording }
}
