/** Checks conditions (`where`): fields that exist, operators that fit, values that the fields can hold. */

import { oneOf } from '../../spec/words.ts'
import { decimalKeyOf } from '../decimal.ts'
import { suggest } from '../nearest.ts'
import { equality, filterOperators, listOperators, operators } from '../operators.ts'
import { isObject } from '../plain-copy.ts'
import { isBinding, mostSteps, quantifiers, type RelatedCatalog, relationOf } from '../related-conditions.ts'
import { relationsOf } from '../relations.ts'
import {
  comparedField,
  type Field,
  type FieldType,
  type Filterable,
  hasMembers,
  isComparable,
  isFitting,
  type NamedFields,
  type Resource,
  systemFields,
} from '../resource.ts'
import { isRecordId } from '../text.ts'
import { instantKey, stampKey } from '../time.ts'
import { isDay, mostSpans, spansOf } from '../time-zone.ts'
import { own, Part, show } from './parts.ts'

/** The resources that a condition can name. */
interface ConditionSubject {
  /** The resource whose records the condition selects. */
  readonly resource: ComparedResource
  /** The resource of the changed record, in a business rule, or of the record that a lookup is about. */
  readonly record: ComparedResource | undefined
  /** Whether the database compares both records, so that both fields must have one form; otherwise one is a value. */
  readonly isLookup?: boolean
  /** The system fields that the condition may name; `undefined`: all. */
  readonly system?: readonly string[]
  /** Whether date-times can be compared with days. */
  readonly takesDays?: boolean
  /** What the condition may compare; `undefined`: all fields. */
  readonly filters?: readonly Filterable[]
  /** The relations that the condition may follow; left out: none. */
  readonly follows?: Followed
}

/** A resource from which a condition follows relations. */
interface Followed {
  readonly catalog: RelatedCatalog
  readonly resource: Resource
  /** How many relations led to it; `none`: relations cannot be followed here, and the mistake says so. */
  readonly steps: number | 'none'
}

/**
 * All mistakes in a condition. If there are none, `resolveCondition` can resolve the value.
 */
export function conditionProblems(condition: unknown, subject: ConditionSubject): Part['findings'] {
  const part = new Part(condition)
  checkCondition(part, subject)
  return part.findings
}

const example = '{ status: "open" }'

/** Checks a declared condition. */
export function checkCondition(condition: Part, subject: ConditionSubject): void {
  if (!condition.object(example)) return
  for (const [word, part] of condition.entries()) {
    if (word === 'not') checkCondition(part, subject)
    else if (word === 'and' || word === 'or') checkList(part, subject)
    else if (subject.resource.member.has(word)) {
      part.reportKey('is the member of an object', `Write ${nested(word)}.`, 'UNKNOWN_FIELD')
    } else if (!checkRelation(part, word, subject)) checkField(part, word, subject)
  }
}

/** How a condition names a member: `{ size: { width: … } }` for `size.width`. */
function nested(path: string): string {
  return path.split('.').reduceRight((inner, name) => `{ ${name}: ${inner} }`, '…')
}

function checkList(list: Part, subject: ConditionSubject): void {
  if (Array.isArray(list.value) && list.value.length > 0) {
    for (const each of list.items()) checkCondition(each, subject)
  } else list.mustBe('an array of conditions', `Write [${example}, …].`, codeOfNoList(list))
}

/** The code for a value that is not an array with items. */
function codeOfNoList({ value }: Part): 'TOO_FEW_ITEMS' | 'INVALID_TYPE' {
  return Array.isArray(value) ? 'TOO_FEW_ITEMS' : 'INVALID_TYPE'
}

/** Checks a condition on related records; `false`: it is a comparison of a field. */
function checkRelation(part: Part, name: string, subject: ConditionSubject): boolean {
  const { follows, filters } = subject
  if (follows === undefined) return false
  const relation = relationOf(follows.catalog, follows.resource, name, part.value)
  const target = relation && follows.catalog.resources.get(relation.collection)
  if (relation === undefined || target === undefined) return false
  if (follows.steps === 'none') {
    const remedy = `Compare fields of ${subject.resource.name}.`
    part.reportKey('leads to other records, which cannot be asked for here', remedy, 'UNKNOWN_FIELD')
    return true
  }
  if (follows.steps >= mostSteps) {
    part.reportKey(
      `is step ${follows.steps + 1}: a condition follows ${mostSteps} relations`,
      'Ask for less.',
      'TOO_DEEP',
    )
    return true
  }
  const inner: ConditionSubject = {
    ...subject,
    resource: target,
    ...(filters && { filters: target.filterables }),
    follows: { catalog: follows.catalog, resource: target, steps: follows.steps + 1 },
  }
  if (relation.to === 'one') checkCondition(part, inner)
  else checkQuantifiers(part, inner)
  return true
}

function checkQuantifiers(part: Part, subject: ConditionSubject): void {
  if (!part.object('{ some: { … } }')) return
  const all = part.entries()
  if (all.length === 0) part.report('says nothing of its records', `Write ${oneOf(quantifiers)}.`, 'REQUIRED')
  for (const [word, condition] of all) {
    if ((quantifiers as readonly string[]).includes(word)) checkCondition(condition, subject)
    else condition.reportKey('leads to several records', `Write { some: { ${word}: … } }.`, 'INVALID_OPERATOR')
  }
}

function checkField(part: Part, name: string, subject: ConditionSubject): void {
  const { resource, system = systemFields, filters } = subject
  const { value } = part
  const field = comparedOf(resource, name, system)
  if (isObject(value) && hasMembers(resource, name)) checkMembers(part, name, subject)
  else if (filters !== undefined && !filters.some((each) => each.name === name)) {
    const remedy = suggest(name, [...filters.map((each) => each.name), ...relationNames(subject), 'and', 'or', 'not'])
    part.reportKey(`is not a filter of ${resource.name}`, remedy, 'UNKNOWN_FIELD')
  } else if (field === undefined) {
    const remedy = suggest(name, [...resource.field.keys(), ...system, ...relationNames(subject), 'and', 'or', 'not'])
    part.reportKey(`is not a field of ${resource.name}`, remedy, 'UNKNOWN_FIELD')
  } else if (resource.field.get(name)?.writeOnly === true) {
    const message = 'is writeOnly: a condition would let callers find out its value'
    part.report(message, 'Use another field.', 'UNKNOWN_FIELD')
  } else if (Array.isArray(value)) {
    const instead = field.isArray ? 'hasAll' : 'in'
    part.report('cannot be compared with an array', `Write { ${instead}: ${show(value)} }.`, 'INVALID_TYPE')
  } else if (field.isArray && (!isObject(value) || isBinding(value))) {
    const message = 'is an array: it is compared by its items'
    part.report(message, `Write { has: ${show(value)} }.`, value === null ? 'INVALID_VALUE' : 'INVALID_TYPE')
  } else if (isObject(value) && !isBinding(value)) checkOperators(part, { name, field }, subject)
  else checkValue(part, field, equality, subject)
}

function relationNames({ follows }: ConditionSubject): Iterable<string> {
  return follows === undefined || follows.steps === 'none' ? [] : relationsOf(follows.catalog, follows.resource).keys()
}

/** Checks what is asked of the members of an object, at any depth. */
function checkMembers(object: Part, path: string, subject: ConditionSubject): void {
  const { resource, filters } = subject
  const all = object.entries()
  if (all.length === 0) object.report('compares with nothing', 'Write the name of a member, or { null: true }.')
  for (const [key, part] of all) {
    const name = `${path}.${key}`
    if (resource.member.has(name)) checkField(part, name, subject)
    else if (hasMembers(resource, name)) {
      if (part.object('{ size: 3 }')) checkMembers(part, name, subject)
    } else if (key === 'null' && resource.field.has(path) && filters === undefined) part.flag()
    else {
      const known = [...resource.member.keys()].flatMap((each) =>
        each.startsWith(`${path}.`) ? (each.slice(path.length + 1).split('.', 1)[0] as string) : [],
      )
      part.reportKey(`is not a member of ${path} that "filter" lists`, suggest(key, known), 'UNKNOWN_FIELD')
    }
  }
}

const textual = `${listOperators('texts', 'name')}, without wildcards`
const notIn = '{ not: { FIELD: { in: [ … ] } } } instead of the field'
const operatorHints: Readonly<Record<string, string>> = {
  eq: 'the value alone: { status: "open" }', ne: 'not', neq: 'not',
  nin: notIn, notin: notIn, not_in: notIn, notIn, exists: 'null: false, or null: true for no value',
  '>': 'gt', '>=': 'gte', '<': 'lt', '<=': 'lte', '=': 'the value alone: { status: "open" }', '!=': 'not',
  like: textual, ilike: textual,
} // biome-ignore format: one row reads best

function checkOperators(
  comparisons: Part,
  { name: of, field }: { readonly name: string; readonly field: Compared },
  subject: ConditionSubject,
): void {
  const filter = subject.filters?.find((each) => each.name === of)
  const all = comparisons.entries()
  if (all.length === 0) comparisons.report('compares with nothing', 'Write a value, or { gt: 3 }.')
  for (const [name, part] of all) {
    const { value } = part
    const operator = operators.get(name)
    if (operator === undefined) {
      const hint = filterOperators.get(name)?.name ?? own(operatorHints, name)
      const remedy = hint ? `Write ${hint}.` : suggest(name, operators.keys())
      part.reportKey('is not an operator', remedy, 'INVALID_OPERATOR')
    } else if (filter !== undefined && !isFitting(operator, filter)) {
      const fitting = [...operators.values()].filter((each) => isFitting(each, filter)).map((each) => each.name)
      part.reportKey(`is not an operator of ${of}`, `Write ${oneOf(fitting)}.`, 'INVALID_OPERATOR')
    } else if (operator.operand === 'flag') {
      part.flag()
    } else if (operator.fits === 'arrays' && !field.isArray) {
      part.report(
        'works on arrays with "filter": true alone',
        `Use ${listOperators('all', 'name')}.`,
        'INVALID_OPERATOR',
      )
    } else if (operator.fits !== 'arrays' && field.isArray) {
      part.report('does not work on an array', `Use ${listOperators('arrays', 'name')}.`, 'INVALID_OPERATOR')
    } else if (operator.fits === 'ordered' && value === null) {
      part.report('is never true of null', 'Write { null: true }.')
    } else if (operator.fits === 'ordered' && field.type === 'boolean') {
      part.report('does not work on true and false', 'Write the value alone.', 'INVALID_OPERATOR')
    } else if (operator.fits === 'texts' && (field.type !== 'string' || holdsInstants(field))) {
      const remedy = `Use ${field.type === 'boolean' ? 'the value alone' : listOperators('ordered', 'name')}.`
      part.report('works on texts alone', remedy, 'INVALID_OPERATOR')
    } else if (operator.operand !== 'list') checkValue(part, field, operator, subject)
    else if (!Array.isArray(value) || value.length === 0) {
      const remedy = Array.isArray(value) ? 'List one value at least.' : `Write { ${name}: [${show(value)}] }.`
      part.mustBe('an array of values', remedy, codeOfNoList(part))
    } else {
      checkDays(part, value, field, subject)
      for (const each of part.items()) checkValue(each, field, operator, subject)
    }
  }
}

/** Each day that follows no other is a term of its own in the condition of the database. */
function checkDays(part: Part, values: readonly unknown[], field: Compared, { takesDays }: ConditionSubject): void {
  if (takesDays !== true || !holdsInstants(field)) return
  const { length } = spansOf(values.filter((each) => typeof each === 'string' && isDay(each)) as string[])
  if (length <= mostSpans) return
  const message = `may have ${mostSpans} days that do not follow each other, not ${length}`
  part.report(message, 'Ask for fewer days, or for times by gte and lt.', 'TOO_MANY_ITEMS')
}

const nullRemedies: Readonly<Record<string, string>> = {
  not: 'Write { null: false }.',
  in: 'Leave null out, and add a branch { FIELD: { null: true } } by or.',
}

function checkValue(part: Part, field: Compared, operator: typeof equality, subject: ConditionSubject): void {
  const { value } = part
  if (subject.takesDays === true && holdsInstants(field) && isDay(part.text)) {
    if (operator.day !== undefined) return
    const instead = operator.name === 'gt' ? 'gte' : 'lt'
    part.report('cannot be a day here', `Write ${instead} with the day after it, or a date-time.`, 'INVALID_VALUE')
    return
  }
  if (value === null) {
    part.report('is never true of null', nullRemedies[operator.name] ?? 'Write { null: true }.')
  } else if (!isComparable(field.type)) {
    const message = 'cannot be compared: only whether it is null can be asked'
    part.report(message, 'Write { null: true } or { null: false }.', 'INVALID_OPERATOR')
  } else if (isObject(value)) checkBinding(part, field, operator, subject)
  else checkConstant(part, field, operator.operand === 'text')
}

function checkBinding(binding: Part, field: Compared, operator: typeof equality, subject: ConditionSubject): void {
  const { record, isLookup = false } = subject
  const [[word, name] = ['', binding], ...more] = binding.entries()
  if (more.length > 0 || (word !== 'caller' && word !== 'record')) {
    const remedy = 'Write a value, { caller: "id" }, or in a business rule or a lookup { record: "id" }.'
    binding.report(`is not a value: ${show(binding.value)}`, remedy)
  } else if (word === 'caller') checkCaller(name, field, operator)
  else if (record === undefined) {
    const message = 'works in business rules and lookups alone: here there is no other record'
    name.report(message, 'Write a value, or { caller: "id" }.')
  } else if (isLookup && operator.name === 'not') {
    const remedy = 'Write not: { FIELD: { record: "id" } } around the field.'
    binding.report('cannot be compared by not with another record', remedy, 'INVALID_OPERATOR')
  } else if (isLookup && field.isArray) {
    binding.report('cannot be an item of another record', 'Write a value, or { caller: "id" }.', 'INVALID_OPERATOR')
  } else checkOther(name, field, record, isLookup)
}

function checkCaller(part: Part, field: Compared, { operand }: typeof equality): void {
  const name = part.text
  part.callers()
  if ((name === 'id' || name === 'roles') && (field.type !== 'string' || holdsInstants(field))) {
    const type = holdsInstants(field) ? 'date and time' : field.type
    part.report(`is a text, and the field is a ${type}`, 'Compare it with a field that holds texts.')
  } else if (name === 'roles' && operand !== 'list') {
    part.report('is several texts', 'Write { in: [{ caller: "roles" }] }.')
  }
}

function checkOther(part: Part, field: Compared, record: ComparedResource, isLookup: boolean): void {
  const other = record.member.has(part.text) ? undefined : comparedOf(record, part.text)
  if (other === undefined) {
    const remedy = suggest(part.text, [...record.field.keys(), ...systemFields])
    part.report(`is not a field of ${record.name}: ${show(part.value)}`, remedy, 'UNKNOWN_FIELD')
  } else if (other.isArray) {
    part.report('is an array', 'Compare with a field that holds one value.', 'INVALID_TYPE')
  } else if (basic(other.type) !== basic(field.type)) {
    const message = `is a ${other.type}, and the field is a ${field.type}`
    part.report(message, 'Compare fields of one type.', 'INVALID_TYPE')
  } else if (isLookup && record.field.get(part.text)?.writeOnly === true) {
    const message = 'is writeOnly: a condition would let callers find out its value'
    part.report(message, 'Use another field.', 'UNKNOWN_FIELD')
  } else if (isLookup && formOf(other) !== formOf(field)) {
    const message = 'has another form than the field: one of them holds dates and times'
    part.report(message, 'Compare fields of one form.', 'INVALID_TYPE')
  }
}

/** The form in which the database compares the texts of a field. */
function formOf({ texts }: Compared): Compared['texts'] {
  return texts === 'stamp' || texts === 'instant' ? texts : 'free'
}

function basic(type: FieldType): FieldType {
  return type === 'integer' ? 'number' : type
}

/** A resource, as far as conditions depend on it. */
type ComparedResource = NamedFields & Pick<Resource, 'name'>

/** How a field is compared. */
interface Compared {
  readonly type: FieldType
  /** The allowed texts; `undefined`: all. */
  readonly values: readonly string[] | undefined
  /** The form of its texts. `stamp`: a timestamp of the server. */
  readonly texts: 'stamp' | 'instant' | 'date' | 'reference' | 'free'
  /** Whether it is an array of such values. */
  readonly isArray?: boolean
}

/**
 * How a field is compared; `undefined`: no such field.
 *
 * @param system the system fields that may be named
 */
function comparedOf(
  resource: ComparedResource,
  name: string,
  system: readonly string[] = systemFields,
): Compared | undefined {
  if (system.includes(name)) return { type: 'string', values: undefined, texts: name === 'id' ? 'reference' : 'stamp' }
  const field = comparedField(resource, name)
  if (field === undefined) return undefined
  const isArray = resource.field.get(name)?.items !== undefined
  return { type: field.type, values: field.enum, texts: textsOf(field), isArray }
}

function textsOf({ type, format, reference }: Field): Compared['texts'] {
  if (reference !== undefined) return 'reference'
  if (type !== 'string') return 'free'
  if (format === 'date-time') return 'instant'
  return format === 'date' ? 'date' : 'free'
}

/** Whether the texts of a field are instants. */
function holdsInstants({ texts }: Compared): boolean {
  return texts === 'stamp' || texts === 'instant'
}

/**
 * Checks a text, a number or a boolean that a field is compared with.
 *
 * @param isPart whether it is a part of a text, which need not be an allowed value itself
 */
function checkConstant(part: Part, { type, values, texts }: Compared, isPart: boolean): void {
  const { value, text } = part
  if (type === 'decimal') {
    const remedy = 'Write a text of digits such as "19.99", or a number.'
    if (decimalKeyOf(value) === undefined) part.mustBe('a decimal as the field is', remedy)
    return
  }
  const wanted = basic(type)
  if (typeof value !== wanted) part.mustBe(`a ${wanted} as the field is`, `Write a ${wanted}.`)
  else if (typeof value === 'number' && !Number.isFinite(value)) {
    part.mustBe('a finite number', 'Write one such as 3.', 'INVALID_VALUE')
  } else if (type === 'integer' && !Number.isSafeInteger(value)) {
    part.mustBe('a whole number as the field is', 'Write one such as 3.', 'INVALID_VALUE')
  }
  if (typeof value !== 'string' || type !== 'string' || isPart) return
  if (values !== undefined && !values.includes(text)) {
    part.report(`is not one of the values of the field: ${show(text)}`, suggest(text, values), 'NOT_IN_ENUM')
    return
  }
  const form = forms[texts]
  if (form === undefined || form.fits(text)) return
  part.report(`is not ${form.what}: ${show(text)}`, `Write one such as "${form.example}".`, 'INVALID_FORMAT')
}

/** The form of a text. */
interface Form {
  readonly fits: (text: string) => boolean
  readonly what: string
  readonly example: string
}

const forms: Readonly<Record<Compared['texts'], Form | undefined>> = {
  stamp: {
    fits: (text) => stampKey(text) !== undefined,
    what: 'a date and time of at most milliseconds',
    example: '2026-11-21T08:30:00.000Z',
  },
  instant: {
    fits: (text) => instantKey(text) !== undefined,
    what: 'a date and time',
    example: '2026-11-21T08:30:00Z',
  },
  date: {
    fits: (text) => instantKey(`${text}T00:00:00Z`) !== undefined,
    what: 'a date',
    example: '2026-11-21',
  },
  reference: {
    fits: isRecordId,
    what: 'the id of a record, a UUID in lower case',
    example: '019a8f3c-2b7e-7c41-9d52-6f0e8a1b4c3d',
  },
  free: undefined,
}
