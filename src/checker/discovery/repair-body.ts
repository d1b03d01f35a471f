/** Repairs a body that a server refused. */

import { generate, isUnmade, type Schema } from '../values/generate.ts'
import type { JsonObject } from '../values/json.ts'
import { uniqueValue } from '../values/unique-value.ts'
import { type Complaint, schemaFromText } from './complaints.ts'

/** A refused body and what is known about it. */
export interface RefusedBody {
  readonly body: JsonObject
  readonly complaints: readonly Complaint[]
  readonly schemas: Readonly<Record<string, Schema>>
  readonly required: readonly string[]
  /** How many bodies the server refused before. */
  readonly turn: number
  /** Members that hold identifiers of other collections. They cannot be generated. */
  readonly references: Readonly<Record<string, string>>
}

/** Another body, and what the complaints say about its members. */
export interface RepairedBody {
  readonly body: JsonObject
  readonly required: readonly string[]
  /** Members with values that another record already has. */
  readonly unique: readonly string[]
  readonly schemas: Readonly<Record<string, Schema>>
}

/** A body that meets the complaints; `undefined` if nothing is left to try. */
export function repairBody(refused: RefusedBody): RepairedBody | undefined {
  const { body, complaints, schemas, required, turn, references } = refused
  const next: Record<string, unknown> = { ...body }
  const found = { required: [] as string[], unique: [] as string[], schemas: {} as Record<string, Schema> }
  for (const { member, kind, text } of complaints) {
    if (member === undefined) continue
    const isSent = Object.hasOwn(body, member)
    const schema = schemas[member] ?? found.schemas[member]
    if (kind === 'unknown' && isSent) delete next[member]
    else if (kind === 'taken' && isSent) {
      found.unique.push(member)
      next[member] = uniqueValue(body[member], turn, schema)
    } else if (!isSent && kind !== 'unknown' && kind !== 'taken') {
      const value = generate(schema ?? schemaFromName(member), member)
      if (isUnmade(value)) continue
      found.required.push(member)
      next[member] = value
    } else if (isSent && !Object.hasOwn(references, member)) {
      if (turn > 1 && !required.includes(member)) delete next[member]
      else {
        // A schema that was derived from records may be narrower than the complaint says.
        const isFixed = schema !== undefined && ('enum' in schema || 'pattern' in schema)
        const better =
          schema === undefined || turn > 0 ? { ...schema, ...schemaFromText(text), ...(isFixed && schema) } : schema
        const value = generate(better, member, turn + 1)
        if (isUnmade(value)) continue
        next[member] = value
        found.schemas[member] = better
      }
    }
  }
  if (JSON.stringify(next) !== JSON.stringify(body)) return { ...found, body: next }
  if (turn >= 3) return undefined
  const other = withOtherTexts(refused) ?? withRequiredOnly(refused)
  return other && { body: other, required: [], unique: [], schemas: {} }
}

/** Other texts everywhere, if a value is taken and the server does not say which. */
function withOtherTexts({ body, complaints, schemas, turn, references }: RefusedBody): JsonObject | undefined {
  if (!complaints.some(({ kind }) => kind === 'taken')) return undefined
  const free = Object.entries(body).filter(([name, value]) => {
    const schema = schemas[name] ?? {}
    return typeof value === 'string' && !('enum' in schema) && !('format' in schema) && !Object.hasOwn(references, name)
  })
  if (free.length === 0) return undefined
  return {
    ...body,
    ...Object.fromEntries(free.map(([name, value]) => [name, uniqueValue(value, turn, schemas[name])])),
  }
}

function withRequiredOnly({ body, required, references }: RefusedBody): JsonObject | undefined {
  const kept = Object.entries(body).filter(([name]) => required.includes(name) || Object.hasOwn(references, name))
  return kept.length < Object.keys(body).length ? Object.fromEntries(kept) : undefined
}

const measures = 'count amount quantity price total number size age year rank position population area weight height'
const numbers = new RegExp(`(?:${[...measures.split(' '), 'width', 'length'].join('|')})$`, 'i')

/** A schema for a member of which only the name is known. */
function schemaFromName(member: string): Schema {
  if (numbers.test(member)) return { type: 'integer' }
  if (/^(?:is|has)(?:_|[A-Z])|^(?:active|enabled|done|completed|published)$/.test(member)) return { type: 'boolean' }
  return { type: 'string' }
}
