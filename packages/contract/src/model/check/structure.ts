/**
 * Checks a declaration by its structure, the JSON Schema that editors check it by: unknown keys, missing keys, and
 * values of another kind. What depends on the rest of the declaration is checked elsewhere.
 */

import { oneOf } from '../../spec/words.ts'
import { suggest } from '../nearest.ts'
import { isObject } from '../plain-copy.ts'
import { resolve } from '../structure/declaration-schema.ts'
import type { Node, Wording } from '../structure-node.ts'
import { own, type Part } from './parts.ts'

/** Reports what a part has against its schema. An absent part has nothing against it. */
export function checkStructure(part: Part, schema: Node): void {
  const node = resolve(schema)
  const { anyOf, wording } = node
  if (part.isAbsent || wording === 'elsewhere') return
  if (typeof part.value === 'function' && wording?.isFunction) return
  if (anyOf !== undefined) {
    const branch = branchFor(part.value, anyOf.map(resolve))
    const isMeantFlag =
      /^(?:yes|no|on|off|true|false)$/i.test(part.text) && anyOf.some(({ type }) => type === 'boolean')
    if (branch !== undefined) checkStructure(part, branch)
    else if (isMeantFlag) part.flag()
    else refuse(part, node)
    if (node.properties === undefined) return
  }
  if (!isOfType(part.value, node)) refuse(part, node)
  else if (node.enum !== undefined && wording?.what === undefined) part.choice(node.enum as string[], wording?.meant)
  else if (Array.isArray(part.value)) checkItems(part, node)
  else if (isObject(part.value)) checkKeys(part, node)
}

const isType: Readonly<Record<string, (value: unknown, node: Node) => boolean>> = {
  string: (value, { pattern }) =>
    typeof value === 'string' && (pattern === undefined || new RegExp(pattern, 'u').test(value)),
  number: (value, { exclusiveMinimum = Number.NEGATIVE_INFINITY }) =>
    typeof value === 'number' && value > exclusiveMinimum,
  integer: (value, { minimum = 0, maximum = 0 }) =>
    Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum,
  boolean: (value) => typeof value === 'boolean',
  array: (value, { minItems = 0 }) => Array.isArray(value) && value.length >= minItems,
  object: isObject,
}

function isOfType(value: unknown, node: Node): boolean {
  if (node.type === undefined) return node.not === undefined
  if (node.enum !== undefined && typeof value !== 'string' && node.wording === undefined) return true
  return [node.type].flat().some((type) => isType[type]?.(value, node) === true)
}

/** Reports that a part is missing, or is not what it must be. */
function refuse(part: Part, node: Node): void {
  const { what, write }: Wording = node.wording === 'elsewhere' ? {} : (node.wording ?? {})
  if (what !== undefined) part.mustBe(what, write ?? `Write ${what}.`)
  else if (node.enum !== undefined) part.as(part.value ?? null).choice(node.enum as string[])
  else if (node.type === 'boolean') part.flag()
  else if (node.type === 'integer') part.as(part.value ?? null).whole(node.minimum ?? 0, node.maximum ?? 0)
  else part.mustBe(oneOf([node.type ?? 'another value'].flat().map((type) => typeWords[type] ?? type)), 'Write one.')
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  array: 'an array',
  object: 'an object',
}

function checkItems(list: Part, { items, uniqueItems = false }: Node): void {
  const values = list.value as readonly unknown[]
  for (const [index, item] of list.items().entries()) {
    if (item.isAbsent) item.report('is missing', 'Remove it.')
    else if (uniqueItems && values.indexOf(item.value) < index) item.report('is listed twice', 'Remove it.')
    else if (items !== undefined) checkStructure(item, items)
  }
}

function checkKeys(object: Part, { properties = {}, required = [], additionalProperties, wording }: Node): void {
  for (const [key, part] of object.entries()) {
    const property = own(properties, key) as Node | undefined
    if (property !== undefined) checkStructure(part, property)
    else if (additionalProperties === false) reportUnknown(part, key, Object.keys(properties), wording)
    else if (additionalProperties !== undefined) checkStructure(part, additionalProperties)
  }
  for (const key of required) {
    const property = resolve(own(properties, key) as Node)
    if (object.key(key).isAbsent && property.wording !== 'elsewhere') refuse(object.key(key), property)
  }
}

function reportUnknown(part: Part, key: string, known: readonly string[], wording: Node['wording']): void {
  const {
    unknownKey = 'is not a known key',
    meantKeys = {},
    otherKeys,
  }: Wording = typeof wording === 'object' ? wording : {}
  part.reportKey(unknownKey, (own(meantKeys, key) as string | undefined) ?? suggest(key, known, otherKeys))
}

/** The alternative that a value is meant to be; `undefined`: none. */
function branchFor(value: unknown, branches: readonly Node[]): Node | undefined {
  const fitting = branches.filter((branch) => ('const' in branch ? branch.const === value : isKindOf(value, branch)))
  if (!isObject(value)) return fitting[0]
  // A constant decides, then the keys that are required.
  const constants = ({ properties = {} }: Node) => Object.entries(properties).filter(([, each]) => 'const' in each)
  return (
    fitting.find(
      (each) => constants(each).length > 0 && constants(each).every(([key, { const: only }]) => value[key] === only),
    ) ??
    fitting.find(({ required = [] }) => required.length > 0 && required.every((key) => Object.hasOwn(value, key))) ??
    fitting.findLast((each) => constants(each).length === 0)
  )
}

function isKindOf(value: unknown, { type, properties }: Node): boolean {
  const kind = Array.isArray(value) ? 'array' : typeof value
  return type === undefined ? properties !== undefined && kind === 'object' : [type].flat().includes(kind)
}
