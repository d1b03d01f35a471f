/** The schemas of one resource: of responses, and of request bodies. */
import { patternOf } from '../../model/decimal.ts'
import type { Field, Resource } from '../../model/resource.ts'
import { type Json, object, refTo } from './components.ts'
import { exampleOfObject } from './example.ts'
import type { ResourceNames } from './names.ts'

const id: Json = { type: 'string', format: 'uuid', readOnly: true, description: 'Assigned by the server.' }
const stamp = (description: string): Json => ({ type: 'string', format: 'date-time', readOnly: true, description })
const timestamps: Json = {
  created_at: stamp('When it was created.'),
  updated_at: stamp('When it was last changed.'),
}
const deletedAt: Json = { deleted_at: stamp('When it was deleted.') }

/** The component schemas of a resource, by name. */
export function resourceSchemas(resource: Resource, { one, many }: ResourceNames): Json {
  const shown = Object.fromEntries(
    resource.fields.filter((field) => !field.writeOnly).map((field) => [field.name, inAnswer(field)]),
  )
  const properties = { id, ...shown, ...timestamps }
  const soft = resource.deletion.variant === 'soft'
  const keptRecord = `One of the ${resource.name} that was deleted and is still kept`
  const items = [refTo('schemas', one), refTo('schemas', `${one}Selection`)]
  return {
    [one]: {
      ...(resource.description === undefined ? {} : { description: resource.description }),
      ...object(properties, Object.keys(properties)),
    },
    [`${one}Selection`]: {
      description: `What \`fields\` asked for of one of the ${resource.name}.`,
      ...object(properties, ['id']),
    },
    ...(soft && {
      [`${one}Deleted`]: {
        description: `${keptRecord}, or what \`fields\` asked for of it.`,
        ...object({ ...properties, ...deletedAt }, ['id', 'deleted_at']),
      },
    }),
    [`${one}Page`]: {
      description: `A page of ${many}.`,
      ...object(
        {
          data: { type: 'array', items: { anyOf: soft ? [...items, refTo('schemas', `${one}Deleted`)] : items } },
          pagination: { anyOf: ['PageByNumber', 'PageByOffset', 'PageByCursor'].map((name) => refTo('schemas', name)) },
        },
        ['data', 'pagination'],
      ),
    },
    ...(resource.made === 'by-clients' && bodySchemas(resource, one)),
  }
}

function bodySchemas(resource: Resource, one: string): Json {
  return {
    [`${one}Create`]: creation(resource, undefined),
    ...(resource.within !== undefined && {
      [`${one}CreateNested`]: creation(resource, resource.within.field),
    }),
    [`${one}Replace`]: replacement(resource),
    [`${one}Patch`]: patch(resource),
  }
}

function inAnswer(field: Field): Json {
  return {
    ...(field.required ? answered(field) : orNull(answered(field))),
    ...described(field),
    ...(field.readOnly && { readOnly: true }),
  }
}

/** The schema of a field in requests: `null` clears the field, or resets it to its default. */
function inBody(field: Field): Json {
  const { required, default: standIn, writeOnly } = field
  const schema = sent(field)
  return {
    ...(required && standIn === undefined ? schema : orNull(schema)),
    ...described(field),
    ...(writeOnly && { writeOnly: true }),
  }
}

// Bounds of numbers have no meaning for decimals, which are texts.
const numeric = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

function answered({ schema, decimal }: Field): Json {
  if (decimal === undefined) return schema
  return Object.fromEntries(Object.entries(schema).filter(([word]) => !numeric.includes(word)))
}

/** A decimal may also be sent as a number, and without trailing zeros. Listed decimals are described as texts only. */
function sent(field: Field): Json {
  const { schema, decimal } = field
  if (decimal === undefined) return schema
  const bounds = numeric.flatMap((word) => (word in schema ? [[word, Number(schema[word])]] : []))
  const isListed = 'enum' in schema || 'const' in schema
  const type = isListed ? 'string' : ['string', 'number']
  return { ...answered(field), type, pattern: patternOf(decimal, true), ...(!isListed && Object.fromEntries(bounds)) }
}

function described(field: Field): Json {
  const { schema, decimal, reference, transitions, immutable, unique } = field
  const notes = [
    schema.description,
    decimal && decimalNote(field),
    reference && `The id of one of the ${reference.collection}.`,
    transitions &&
      `It changes only so: ${Object.entries(transitions)
        .map(([from, to]) => `${from} to ${to.join(' or ') || 'nothing else'}`)
        .join('; ')}.`,
    immutable && 'It is fixed once the record exists.',
    unique && 'No two live records share it.',
  ].filter((note) => typeof note === 'string')
  return notes.length === 0 ? {} : { description: notes.join(' ') }
}

function decimalNote({ schema, decimal }: Field): string {
  const words = {
    minimum: 'at least',
    exclusiveMinimum: 'more than',
    maximum: 'at most',
    exclusiveMaximum: 'less than',
  }
  const bounds = Object.entries(words).flatMap(([word, words]) => (word in schema ? [`${words} ${schema[word]}`] : []))
  if ('multipleOf' in schema) bounds.push(`a multiple of ${schema['multipleOf']}`)
  const form = `A decimal of at most ${decimal?.precision} digits, ${decimal?.scale} of them after the point`
  return `${[form, ...bounds].join(', ')}.`
}

/** A schema that admits `null` too. */
export function orNull(schema: Json): Json {
  const { type, enum: allowed } = schema
  const composed = ['const', 'anyOf', 'oneOf', 'allOf', 'not', 'if', '$ref'].some((word) => word in schema)
  if (composed || (type === undefined && allowed === undefined)) return { anyOf: [schema, { type: 'null' }] }
  return {
    ...schema,
    ...(type !== undefined && { type: [...new Set([type, 'null'].flat())] }),
    ...(Array.isArray(allowed) && { enum: [...new Set([...allowed, null])] }),
  }
}

/** Whether a body must have the field. */
function mustBring(field: Field): boolean {
  return field.required && field.default === undefined && !field.readOnly
}

/** @param given the field whose value the address has, in a nested collection */
function creation(resource: Resource, given: string | undefined): Json {
  const sent = resource.fields.filter((field) => !field.readOnly || field.name === resource.owner)
  const required = sent.filter((field) => mustBring(field) && field.name !== given).map((field) => field.name)
  const schema = (fields: readonly Field[]) =>
    object(Object.fromEntries(fields.map((field) => [field.name, ownerNoted(resource, field)])), required)
  // The example leaves out fields that only administrators may send, and ids of unknown records.
  const shown = sent.filter(
    ({ name, readOnly, reference }) => required.includes(name) || (!readOnly && reference === undefined),
  )
  const example = exampleOfObject(schema(shown))
  return { ...schema(sent), ...(example !== undefined && { examples: [example] }) }
}

function ownerNoted(resource: Resource, field: Field): Json {
  if (field.name !== resource.owner) return inBody(field)
  return { ...inBody(field), description: 'Set from the caller; only an administrator may send it.' }
}

/** The body of PUT: everything that GET returns, because read-only fields may be sent back unchanged (RES-9). */
function replacement(resource: Resource): Json {
  const fields = resource.fields.map((field) => [field.name, field.readOnly ? inAnswer(field) : inBody(field)])
  return {
    description:
      'The whole record. Fields left out are cleared; those that the server sets may be repeated as they are.',
    ...object(
      { id, ...Object.fromEntries(fields), ...timestamps },
      resource.fields.filter(mustBring).map((field) => field.name),
    ),
  }
}

function patch(resource: Resource): Json {
  const fields = resource.fields.map((field) => {
    if (field.readOnly) return [field.name, inAnswer(field)]
    // RFC 7396 merges objects: only the result must match the schema, not the patch.
    const merged: Json = { type: field.required ? 'object' : ['object', 'null'], ...described(field) }
    return [field.name, field.type === 'object' ? merged : withoutDefault(inBody(field))]
  })
  return {
    description: 'The fields to change, as a JSON Merge Patch (RFC 7396): the others stay as they are.',
    ...object({ id, ...Object.fromEntries(fields), ...timestamps }, []),
  }
}

// A field left out of a patch stays as it is, so a default would be wrong there.
function withoutDefault({ default: _, ...schema }: Json): Json {
  return schema
}
