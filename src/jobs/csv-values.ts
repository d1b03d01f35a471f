/** The text of a CSV cell as a value of its field. */
import { isUtf8 } from 'node:buffer'
import { isKeptExactly } from '../model/json/find-issues.ts'
import { deepestNesting, readJson } from '../model/json/read-json.ts'
import type { Field } from '../model/resource.ts'
import { isStorableText } from '../model/text.ts'
import { Fault, type Issue, issueCodes } from '../spec/faults.ts'

/** A value, or what is wrong with the cell. */
export type Cell =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'wrong'; readonly issues: readonly Issue[] }

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const booleans: ReadonlyMap<string, boolean> = new Map([['true', true], ['false', false], ['1', true], ['0', false]]) // biome-ignore format: short

/**
 * Reads a cell by the type of its field. An empty cell is `null`; a number or boolean that is none stays the text that
 * it is, for the field's schema to refuse; arrays and objects are JSON.
 *
 * @param bytes the cell without its quotes
 */
export function readCell(field: Field, bytes: Uint8Array): Cell {
  if (bytes.length === 0) return value(null)
  if (!isUtf8(bytes)) return wrong('INVALID_TEXT', `${field.name} is not valid UTF-8.`, field)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
  if (!isStorableText(text)) return wrong('INVALID_TEXT', issueCodes.INVALID_TEXT, field)
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
      // A field that takes texts and other things: what is not JSON is a text.
      const nested = readNested(field, bytes)
      return nested.kind === 'wrong' && nested.issues[0]?.code === 'MALFORMED_JSON' ? value(text) : nested
    }
  }
}

function readNumber(field: Field, text: string): Cell {
  const literal = text.trim()
  if (!number.test(literal)) return value(text)
  if (!isKeptExactly(literal)) return wrong('NUMBER_NOT_EXACT', issueCodes.NUMBER_NOT_EXACT, field)
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
    if (errors === undefined) return wrong('MALFORMED_JSON', error.message, field)
    return {
      kind: 'wrong',
      issues: errors.map((each) => ({ ...each, pointer: `/${field.name}${each.pointer ?? ''}` })),
    }
  }
}

function value(read: unknown): Cell {
  return { kind: 'value', value: read }
}

function wrong(code: Issue['code'], message: string, field: Field): Cell {
  return { kind: 'wrong', issues: [{ code, message, pointer: `/${field.name}` }] }
}
