/** Reads the cells of CSV and the texts of JSON by the field that they belong to, and by the form that a map gives. */
import { isUtf8 } from 'node:buffer'
import { deepestNesting, isKeptExactly, readJson } from 'resourced-contract/model/json/read-json'
import type { Field } from 'resourced-contract/model/resource'
import { isStorableText } from 'resourced-contract/model/text'
import { Fault, type Issue, issue, movedTo } from 'resourced-contract/spec/faults'
import { oneOf } from 'resourced-contract/spec/words'
import type { ReadText } from './text-form.ts'

/** A column of a file, and how its values are written. */
export interface Column {
  readonly field: Field
  /** The texts that mean `null`, beside the empty cell of CSV. */
  readonly nulls: ReadonlySet<string>
  /** The form of numbers or dates; left out: that of JSON. */
  readonly form?: { readonly sample: string; readonly read: ReadText }
  /** The words for `true` and `false` in lower case; left out: true, false, 1 and 0. */
  readonly booleans?: ReadonlyMap<string, boolean>
}

/** A value, or what is wrong with the cell. */
export type Cell =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'wrong'; readonly issues: readonly Issue[] }

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const booleans = new Map([
  ['true', true],
  ['false', false],
  ['1', true],
  ['0', false],
])

/**
 * Reads a cell of CSV by the type of its field. An empty cell is `null`. A text that is no number or boolean stays a
 * text, which the schema of the field refuses. Arrays and objects are JSON.
 *
 * @param bytes the cell without its quotes
 */
export function readCell(column: Column, bytes: Uint8Array): Cell {
  const { field } = column
  if (bytes.length === 0) return value(null)
  if (!isUtf8(bytes)) return wrong(issue('notUtf8', { field: field.name, name: field.name }))
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
  if (!isStorableText(text)) return wrong(issue('INVALID_TEXT', { field: field.name }))
  const formed = readText(column, text)
  if (formed !== undefined) return formed
  switch (field.type) {
    case 'string':
      return value(text)
    case 'decimal':
      return value(text.trim())
    case 'integer':
    case 'number':
      return readNumber(field, text)
    case 'boolean':
      return value(booleans.get(text.trim().toLowerCase()) ?? text)
    case 'array':
    case 'object':
      return readNested(field, bytes)
    case 'json': {
      // A field of several types: a text that is not JSON is a string.
      const nested = readNested(field, bytes)
      return nested.kind === 'wrong' && nested.issues[0]?.code === 'MALFORMED_JSON' ? value(text) : nested
    }
  }
}

/** Reads a text as a map says: what means `null`, forms, booleans. `undefined`: the map says nothing about it. */
export function readText({ field, nulls, form, booleans: words }: Column, text: string): Cell | undefined {
  if (nulls.has(text)) return value(null)
  if (form !== undefined) {
    const read = form.read(text)
    if (read === undefined) return wrong(issue('unlike', { field: field.name, text, form: form.sample }))
    return field.type === 'integer' || field.type === 'number' ? readNumber(field, read) : value(read)
  }
  if (words === undefined) return undefined
  const found = words.get(text.trim().toLowerCase())
  return found === undefined
    ? wrong(issue('unlike', { field: field.name, text, form: oneOf([...words.keys()]) }))
    : value(found)
}

function readNumber(field: Field, text: string): Cell {
  const literal = text.trim()
  if (!number.test(literal)) return value(text)
  if (!isKeptExactly(literal)) return wrong(issue('NUMBER_NOT_EXACT', { field: field.name }))
  // Adding zero takes the sign from -0, as in JSON.
  return value(Number(literal) + 0)
}

function readNested(field: Field, bytes: Uint8Array): Cell {
  try {
    const place = { name: `The JSON in ${field.name}`, line: 1, column: 1 }
    return value(readJson(bytes, { maxDepth: deepestNesting }, place))
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { errors } = error.details
    const pointer = `/${field.name}`
    if (errors !== undefined) return wrong(...errors.map((each) => movedTo({ pointer: pointer + each.pointer }, each)))
    return wrong(issue('given', { code: 'MALFORMED_JSON', pointer, message: error.message }))
  }
}

function value(read: unknown): Cell {
  return { kind: 'value', value: read }
}

function wrong(...issues: Issue[]): Cell {
  return { kind: 'wrong', issues }
}
