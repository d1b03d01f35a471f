/** Checks fields: their names, and the words that JSON Schema does not have. */
import type { FieldDeclaration } from '../declaration.ts'
import { isFilter, isServers, keywordRows } from '../keywords.ts'
import { memberPaths } from '../members.ts'
import { controlParameters, secretParameters } from '../names.ts'
import { suggest } from '../nearest.ts'
import { operators } from '../operators.ts'
import { isObject } from '../plain-copy.ts'
import { isComparable } from '../resource.ts'
import { checkFieldSchema } from './field-schema.ts'
import { checkFieldName } from './names.ts'
import { type FieldView, type Part, type ResourceView, type ResourceViews, show } from './parts.ts'
import { checkServerValues, isSetOnCreation } from './server-values.ts'

// SQLite holds 2,000 columns in a table, PostgreSQL 1,600; some fields take two.
const mostFields = 500

/** Checks the fields of a resource. */
export function checkFields(resource: ResourceView, resources: ResourceViews): void {
  const fields = resource.part.key('fields')
  if (!isObject(fields.value)) return
  const count = Object.keys(fields.record).length + resource.member.size
  if (count === 0) fields.report('is empty', 'Declare a field, such as title: { type: "string" }.')
  if (count > mostFields) {
    fields.report(`has more than ${mostFields} fields`, 'Put some of them into objects.')
    // Checking a field compiles its schema.
    return
  }
  for (const field of resource.fields) {
    checkFieldName(field.part, field.name)
    if (!field.part.object('{ type: "string" }')) continue
    checkReference(field, resources)
    const sound = checkFieldSchema(field)
    checkCombinations(field, resource)
    if (!sound) continue
    checkTypeFits(field)
    checkMembers(field)
    checkParameterName(field)
    checkTransitions(field)
    checkServerValues(field, resource)
  }
}

/** Whether a field is the owner, or may be meant: the declared owner is not a field. */
function mayBeOwner({ owner, field }: ResourceView, name: string): boolean {
  return owner === name || (owner !== undefined && !(typeof owner === 'string' && field.has(owner)))
}

function checkReference({ part, declared, shape }: FieldView, resources: ResourceViews): void {
  const [reference, onDelete] = [part.key('reference'), part.key('onDelete')]
  if (reference.isAbsent) {
    for (const word of [onDelete, part.key('requires'), part.key('as'), part.key('inverse')]) {
      if (word.isAbsent) continue
      word.report('means nothing without a reference', 'Write "reference": the collection, or remove it.')
    }
    return
  }
  if (!resources.has(reference.text)) {
    const isName = typeof reference.value === 'string'
    const remedy = isName ? suggest(reference.text, resources.keys()) : 'Write the name of a collection.'
    reference.report(`refers to no collection: ${show(reference.value)}`, remedy)
  }
  if (declared['type'] !== undefined && declared['type'] !== 'string' && !isOptionalString(declared['type'])) {
    part.key('type').report('contradicts the reference: an id is a string', 'Remove "type".')
  }
  if (onDelete.value === 'clear' && !shape.optional) {
    const remedy = 'Write "optional": true, or onDelete: restrict or cascade.'
    onDelete.report('cannot clear a field that must have a value', remedy)
  }
}

function isOptionalString(type: unknown): boolean {
  return Array.isArray(type) && type.includes('string') && type.every((each) => each === 'string' || each === 'null')
}

/** Words that contradict each other. */
function checkCombinations({ name, part, declared, shape }: FieldView, resource: ResourceView): void {
  const { readOnly, writeOnly, immutable, transitions } = declared
  // `prepare` gives values to fields that no caller sets.
  const isPrepared = !resource.part.key('prepare').isAbsent
  const isReadOnly = isServers(declared)
  if (writeOnly === true) {
    for (const [word, { revealsValues }] of keywordRows) {
      const isUsed = declared[word] !== undefined && declared[word] !== false
      if (revealsValues && isUsed)
        part.key(word).report('would let callers find out a writeOnly value', `Remove "${word}" or "writeOnly".`)
    }
    if ((isReadOnly && !isPrepared) || name === resource.owner) {
      const message = 'makes the field useless: only the server sets it, and no response contains it'
      part.key('writeOnly').report(message, 'Remove "writeOnly".')
    }
  }
  // A sequence names the words that contradict it.
  if (isReadOnly && immutable === true && !isPrepared && declared['sequence'] === undefined) {
    const message = 'says nothing more: a readOnly field is never set by a caller'
    const word = readOnly === true ? 'readOnly' : 'set'
    part.key('immutable').report(message, `Remove "immutable" or "${word}".`)
  }
  if (immutable === true && transitions !== undefined) {
    const message = 'contradicts the transitions: the field never changes'
    part.key('immutable').report(message, 'Remove "immutable" or "transitions".')
  }
  const isGiven = declared['default'] !== undefined || declared['sumOf'] !== undefined
  const hasValue = shape.optional || isGiven || isSetOnCreation(declared)
  if (readOnly === true && !hasValue && !isPrepared && !mayBeOwner(resource, name)) {
    const remedy = 'Give it a default, write "optional": true, or name it as the owner.'
    part.key('readOnly').report('leaves the field without a value, and it must have one', remedy)
  }
}

/** Words without a meaning for values of the field's type. */
function checkTypeFits(field: FieldView): void {
  const { part, declared, shape, writeOnly } = field
  const kind = shape.type === 'json' ? 'values of several types' : `an ${shape.type}`
  const isText = shape.type === 'string' && declared['reference'] === undefined
  for (const [word, { fits, revealsValues }] of keywordRows) {
    const value = declared[word] ?? false
    if (value === false || (writeOnly && revealsValues)) continue
    if (fits === 'comparable' && !isComparable(shape.type)) {
      const remedy = `Remove "${word}", or keep its value in a separate field.`
      part.key(word).report(`does not work on ${kind}`, remedy)
    }
    if (fits === 'filterable' && value === true) checkFilterable(part.key(word), field)
    if (fits === 'texts' && !isText) part.key(word).report('works on texts alone', `Remove "${word}".`)
  }
}

/** Arrays of scalars can be filtered by; objects by the members that `filter` lists (WHR-4). */
function checkFilterable(filter: Part, { type, items }: FieldView): void {
  if (type === 'object') {
    filter.report('does not work on an object', 'List the paths of its members: ["/size", "/color/name"].')
  } else if (type === 'array') {
    if (items !== undefined && items.format !== 'date-time') return
    const message = 'works on arrays whose items are texts, numbers or booleans, but not date-times'
    filter.report(message, 'Declare the type of the items, or remove "filter".')
  } else if (!isComparable(type)) {
    filter.report('does not work on values of several types', 'Remove "filter", or keep its value in a separate field.')
  }
}

/** The members of an object that `filter` lists: each must be in its schema, with values that can be compared. */
function checkMembers({ name, part, declared, shape, writeOnly, members }: FieldView): void {
  const filter = part.key('filter')
  if (!Array.isArray(filter.value) || writeOnly) return
  if (shape.type !== 'object') {
    filter.report('lists members, and the field is no object', 'Write true or false.')
    return
  }
  const paths = memberPaths(name, declared)
  for (const item of filter.items()) {
    const path = paths.find(({ pointer }) => pointer === item.value)
    const taken = item.text.split('/').find((step) => operators.has(step))
    if (taken !== undefined) {
      item.report(`names a member by a word of the condition language: ${taken}`, 'Give the member another name.')
    } else if (path?.schema === undefined) {
      item.report(`is no member that "properties" has: ${show(item.value)}`, 'Declare it, or correct the path.')
    } else if (!members.some((each) => each.name === path.name)) {
      item.report('leads to no text, number or boolean', 'Name a member of one of these types.')
    }
  }
}

/** A filter is a query parameter: its name must be free (QRY-9). */
function checkParameterName({ name, part, declared, shape, writeOnly }: FieldView): void {
  const isNamed = isFilter(declared as FieldDeclaration, shape) || Array.isArray(declared['filter'])
  if (!isNamed || writeOnly) return
  const remedy = 'Rename the field, or write "filter": false.'
  if (secretParameters.includes(name)) part.report('cannot be a filter: secrets never travel in a query', remedy)
  if (controlParameters.includes(name)) part.report(`cannot be a filter: ?${name}= steers the list itself`, remedy)
}

function checkTransitions({ part, shape }: FieldView): void {
  const transitions = part.key('transitions')
  if (!isObject(transitions.value)) return
  const values = shape.enum
  if (values === undefined) {
    transitions.report('needs a field whose values are listed', 'Write "enum": the list of states.')
    return
  }
  for (const [from, targets] of transitions.entries()) {
    if (!values.includes(from)) targets.report('is not one of the values of the field', suggest(from, values))
    if (!Array.isArray(targets.value)) targets.mustBe('an array of values', `Write [${JSON.stringify(values[0])}].`)
    for (const to of targets.items()) checkTransition(to, values)
  }
}

function checkTransition(to: Part, values: readonly string[]): void {
  if (typeof to.value === 'string' && values.includes(to.value)) return
  to.unknown(`is not one of the values of the field: ${show(to.value)}`, values)
}
