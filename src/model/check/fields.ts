/** Fields: their names, and our own words on them. */

import type { FieldDeclaration } from '../declaration.ts'
import { isFilterByItself } from '../field.ts'
import { suggest } from '../nearest.ts'
import { at, item } from '../place.ts'
import { checkFieldSchema } from './field-schema.ts'
import { checkFieldName, controlParameters, secretParameters } from './names.ts'
import { checkChoice, checkFlag, expectRecord, mustBe, own, type Report, show } from './problem.ts'
import { type FieldView, isComparable, type ResourceView, type ResourceViews } from './views.ts'

// SQLite holds 2,000 columns in a table, PostgreSQL 1,600; some fields take two.
const mostFields = 500

/** Checks the fields of a resource. */
export function checkFields(report: Report, resource: ResourceView, resources: ResourceViews): void {
  const path = at(resource.path, 'fields')
  const fields = own(resource.declared, 'fields')
  if (!expectRecord(report, path, fields, 'fields: { title: { type: "string" } }')) return
  const names = Object.keys(fields)
  if (names.length === 0) report(path, 'is empty', 'Declare a field, such as title: { type: "string" }.')
  if (names.length > mostFields) {
    report(path, `has more than ${mostFields} fields`, 'Put some of them into objects.')
    // To check each of them compiles a schema.
    return
  }
  for (const field of resource.fields.values()) {
    checkFieldName(report, field.path, field.name)
    if (!expectRecord(report, field.path, fields[field.name], '{ type: "string" }')) continue
    checkReference(report, field, resources)
    const sound = checkFieldSchema(report, field)
    if (checkFlags(report, field)) checkCombinations(report, field, resource)
    // What a field of an unsound schema can do is not known.
    if (!sound) continue
    checkTypeFits(report, field)
    checkParameterName(report, field)
    checkTransitions(report, field)
  }
}

/** Whether a field is the owner, or could be: an owner that is no field was meant to be one. */
function mayBeOwner({ owner, fields }: ResourceView, name: string): boolean {
  return owner === name || (owner !== undefined && !(typeof owner === 'string' && fields.has(owner)))
}

const flags = ['filter', 'sort', 'search', 'unique', 'immutable', 'readOnly', 'writeOnly', 'optional'] as const

function checkFlags(report: Report, { path, declared }: FieldView): boolean {
  // The meta-schema has a word on readOnly and writeOnly already.
  for (const flag of flags)
    if (flag !== 'readOnly' && flag !== 'writeOnly') checkFlag(report, at(path, flag), declared[flag])
  return flags.every((flag) => declared[flag] === undefined || typeof declared[flag] === 'boolean')
}

function checkReference(report: Report, { path, declared, shape }: FieldView, resources: ResourceViews): void {
  const { reference, onDelete } = declared
  const place = at(path, 'onDelete')
  if (reference === undefined) {
    if (onDelete !== undefined)
      report(place, 'means nothing without a reference', 'Write "reference": the collection, or remove it.')
    return
  }
  if (typeof reference !== 'string' || !resources.has(reference)) {
    const remedy =
      typeof reference === 'string' ? suggest(reference, resources.keys()) : 'Write the name of a collection.'
    report(at(path, 'reference'), `refers to no collection: ${show(reference)}`, remedy)
  }
  if (declared.type !== undefined && declared.type !== 'string' && !isOptionalString(declared.type)) {
    report(at(path, 'type'), 'contradicts the reference: an id is a string', 'Remove "type".')
  }
  checkChoice(report, place, onDelete, ['restrict', 'cascade', 'clear'], {
    'set null': 'clear',
    setNull: 'clear',
    delete: 'cascade',
  })
  if (onDelete === 'clear' && !shape.optional) {
    report(
      place,
      'cannot clear a field that must have a value',
      'Write "optional": true, or onDelete: restrict or cascade.',
    )
  }
}

function isOptionalString(type: unknown): boolean {
  return Array.isArray(type) && type.includes('string') && type.every((each) => each === 'string' || each === 'null')
}

/** Words that contradict each other. */
function checkCombinations(report: Report, { name, path, declared, shape }: FieldView, resource: ResourceView): void {
  const { readOnly, writeOnly, immutable } = declared
  if (writeOnly === true) {
    for (const word of ['filter', 'sort', 'search', 'unique'] as const) {
      if (declared[word] === true)
        report(at(path, word), 'would let callers find out a writeOnly value', `Remove "${word}" or "writeOnly".`)
    }
    if (declared.transitions !== undefined)
      report(
        at(path, 'transitions'),
        'would let callers find out a writeOnly value',
        'Remove "transitions" or "writeOnly".',
      )
    if (readOnly === true || name === resource.owner) {
      report(
        at(path, 'writeOnly'),
        'leaves nobody: the server sets the field and nobody reads it',
        'Remove "writeOnly".',
      )
    }
  }
  if (readOnly === true && immutable === true) {
    report(
      at(path, 'immutable'),
      'says nothing more: a readOnly field is never set by a caller',
      'Remove "immutable" or "readOnly".',
    )
  }
  if (immutable === true && declared.transitions !== undefined) {
    report(
      at(path, 'immutable'),
      'contradicts the transitions: the field never changes',
      'Remove "immutable" or "transitions".',
    )
  }
  if (readOnly === true && !mayBeOwner(resource, name) && !shape.optional && declared.default === undefined) {
    const remedy = 'Give it a default, write "optional": true, or name it as the owner.'
    report(at(path, 'readOnly'), 'leaves the field without a value, and it must have one', remedy)
  }
}

/** Words that mean nothing on values of the field's type. */
function checkTypeFits(report: Report, { path, declared, shape }: FieldView): void {
  const kind = shape.type === 'json' ? 'values of several types' : `an ${shape.type}`
  if (!isComparable(shape.type)) {
    for (const word of ['filter', 'sort', 'unique'] as const) {
      if (declared[word] !== true || declared.writeOnly === true) continue
      report(
        at(path, word),
        `does not work on ${kind}`,
        `Remove "${word}", or keep what it needs in a field of its own.`,
      )
    }
  }
  const searchable = shape.type === 'string' && declared.reference === undefined
  if (declared.search === true && declared.writeOnly !== true && !searchable) {
    report(at(path, 'search'), 'works on texts alone', 'Remove "search".')
  }
}

/** A filter is a query parameter: its name must be free (QRY-9). */
function checkParameterName(report: Report, { name, path, declared, shape, writeOnly }: FieldView): void {
  const isFilter = declared.filter ?? (!writeOnly && isFilterByItself(declared as FieldDeclaration, shape))
  if (isFilter !== true || (declared.filter === true && writeOnly)) return
  const remedy = 'Rename the field, or write "filter": false.'
  if (secretParameters.includes(name)) report(path, 'cannot be a filter: secrets never travel in a query', remedy)
  if (controlParameters.includes(name)) report(path, `cannot be a filter: ?${name}= steers the list itself`, remedy)
}

function checkTransitions(report: Report, { path, declared, shape }: FieldView): void {
  const { transitions } = declared
  const place = at(path, 'transitions')
  if (transitions === undefined) return
  if (!expectRecord(report, place, transitions, '{ open: ["done"] }')) return
  const values = shape.enum
  if (values === undefined) {
    report(place, 'needs a field whose values are listed', 'Write "enum": the list of states.')
    return
  }
  for (const [from, targets] of Object.entries(transitions)) {
    const inner = at(place, from)
    if (!values.includes(from)) report(inner, 'is not one of the values of the field', suggest(from, values))
    if (!Array.isArray(targets))
      report(inner, mustBe('an array of values', targets), `Write [${JSON.stringify(values[0])}].`)
    else
      targets.forEach((to: unknown, index) => {
        if (typeof to === 'string' && values.includes(to)) return
        report(
          item(inner, index),
          `is not one of the values of the field: ${show(to)}`,
          suggest(typeof to === 'string' ? to : '', values),
        )
      })
  }
}
