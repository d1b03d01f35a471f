/** A declared field made complete: its type read from its schema, its defaults filled in, its validator compiled. */

import { compileDecimal, decimalSchema } from './decimal-field.ts'
import type { FieldDeclaration, OnDelete } from './declaration.ts'
import { type FieldShape, shapeOf } from './field-shape.ts'
import type { Field } from './resource.ts'
import { compileInteger, compileReference, compileSchema, type ValidateValue } from './schema.ts'

/**
 * Completes a field.
 *
 * @param declared the field as declared, copied by `plainCopy`
 * @param isOwner whether the server sets it from the caller (AUT-7)
 * @param isSent whether clients send it; of what they never send no validator is compiled, which takes a while
 */
export function completeField(name: string, declared: FieldDeclaration, isOwner: boolean, isSent: boolean): Field {
  const shape = shapeOf(declared)
  const schema = shape.decimal === undefined ? shape.schema : decimalSchema(shape.schema, shape.decimal)
  const writeOnly = declared.writeOnly === true
  return {
    name,
    type: shape.type,
    schema,
    format: shape.format,
    decimal: shape.decimal,
    enum: shape.enum,
    required: !shape.optional,
    default: schema.default,
    filter: declared.filter ?? (!writeOnly && isFilterByItself(declared, shape)),
    sort: declared.sort ?? false,
    search: declared.search ?? false,
    unique: declared.unique ?? false,
    immutable: declared.immutable ?? false,
    readOnly: isOwner || declared.readOnly === true,
    writeOnly,
    transitions: declared.transitions,
    reference: referenceOf(declared),
    validate: isSent ? validatorOf(name, declared, shape) : unsent,
  }
}

/** References, enums of texts and booleans are filters unless the declaration says otherwise (QRY-7). */
export function isFilterByItself(declared: FieldDeclaration, shape: FieldShape): boolean {
  return declared.reference !== undefined || shape.enum !== undefined || shape.type === 'boolean'
}

function referenceOf(declared: FieldDeclaration): { collection: string; onDelete: OnDelete } | undefined {
  if (declared.reference === undefined) return undefined
  return { collection: declared.reference, onDelete: declared.onDelete ?? 'restrict' }
}

function validatorOf(name: string, declared: FieldDeclaration, { schema, type }: FieldShape): ValidateValue {
  if (declared.reference !== undefined) return compileReference(name, schema, declared.reference)
  if (type === 'decimal') return compileDecimal(name, schema)
  return type === 'integer' ? compileInteger(name, schema) : compileSchema(name, schema)
}

function unsent(): never {
  throw new Error('The server alone writes this field.')
}
