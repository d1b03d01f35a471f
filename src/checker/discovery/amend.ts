/** Another body in place of one that was refused. */

import { distinct } from '../values/distinct.ts'
import { generate, isUnmade, type Schema } from '../values/generate.ts'
import type { JsonObject } from '../values/json.ts'
import { type Complaint, schemaIn } from './complaint.ts'

/** What is known when a body was refused. */
export interface Refused {
  readonly body: JsonObject
  readonly complaints: readonly Complaint[]
  readonly schemas: Readonly<Record<string, Schema>>
  readonly required: readonly string[]
  /** How often one was refused before. */
  readonly turn: number
  /** Members that hold identifiers of others: they are not made up. */
  readonly references: Readonly<Record<string, string>>
}

/** What was learnt from it. */
export interface Amended {
  readonly body: JsonObject
  /** Members that it turned out to need. */
  readonly demanded: readonly string[]
  /** Members of which it was said that another record has the same value. */
  readonly taken: readonly string[]
  /** What was said about values, as schemas. */
  readonly schemas: Readonly<Record<string, Schema>>
}

/** A body that is another way; `undefined` where nothing is left to try. */
export function amend({ body, complaints, schemas, required, turn, references }: Refused): Amended | undefined {
  const next: Record<string, unknown> = { ...body }
  const learnt: Record<string, Schema> = {}
  const demanded: string[] = []
  const taken: string[] = []
  for (const { member, kind, text } of complaints) {
    if (member === undefined) continue
    const isThere = Object.hasOwn(body, member)
    const schema = schemas[member] ?? learnt[member]
    if (kind === 'unknown' && isThere) delete next[member]
    else if (kind === 'taken' && isThere) {
      taken.push(member)
      next[member] = distinct(body[member], turn, schema)
    } else if (!isThere && kind !== 'unknown' && kind !== 'taken') {
      const made = generate(schema ?? guessed(member), member)
      if (isUnmade(made)) continue
      demanded.push(member)
      next[member] = made
    } else if (isThere && !Object.hasOwn(references, member)) {
      if (turn > 1 && !required.includes(member)) delete next[member]
      else {
        // A schema that was seen in records may be narrower than what is said now.
        const better = schema === undefined || turn > 0 ? { ...schema, ...schemaIn(text), ...pinned(schema) } : schema
        const made = generate(better, member, turn + 1)
        if (isUnmade(made)) continue
        next[member] = made
        learnt[member] = better
      }
    }
  }
  if (JSON.stringify(next) !== JSON.stringify(body)) return { body: next, demanded, taken, schemas: learnt }
  const isTaken = complaints.some(({ kind }) => kind === 'taken')
  const free = Object.entries(body).filter(
    ([name, value]) => typeof value === 'string' && isFree(schemas[name]) && !Object.hasOwn(references, name),
  )
  if (isTaken && free.length > 0 && turn < 3) {
    return {
      ...none,
      body: {
        ...body,
        ...Object.fromEntries(free.map(([name, value]) => [name, distinct(value, turn, schemas[name])])),
      },
    }
  }
  const bare = Object.fromEntries(
    Object.entries(body).filter(([name]) => required.includes(name) || Object.hasOwn(references, name)),
  )
  return turn < 3 && Object.keys(bare).length < Object.keys(body).length ? { ...none, body: bare } : undefined
}

const none = { demanded: [], taken: [], schemas: {} }

function pinned(schema: Schema = {}): Schema {
  return 'enum' in schema || 'pattern' in schema ? schema : {}
}

function isFree(schema: Schema = {}): boolean {
  return !('enum' in schema) && !('format' in schema)
}

/** What a member may be of which only its name is known. */
function guessed(member: string): Schema {
  if (
    /(?:count|amount|quantity|price|total|number|size|age|year|rank|position|population|area|weight|height|width|length)$/i.test(
      member,
    )
  )
    return { type: 'integer' }
  if (/^(?:is|has)(?:_|[A-Z])|^(?:active|enabled|done|completed|published)$/.test(member)) return { type: 'boolean' }
  return { type: 'string' }
}
