/** Checks conditions (`where`): fields that exist, operators that fit, values that the fields can hold. */

import type { issueCodes } from '../../spec/faults.ts'
import { decimalKeyOf } from '../decimal.ts'
import type { FieldShape } from '../field.ts'
import { suggest } from '../nearest.ts'
import type { Steps } from '../place.ts'
import { isObject } from '../plain-copy.ts'
import { type FieldType, type Resource, systemFields } from '../resource.ts'
import { isRecordId } from '../text.ts'
import { instantKey, stampKey } from '../time.ts'
import { isComparable, own, type Part } from './parts.ts'
import { mustBe, show } from './problem.ts'

/** The resources that a condition can name. */
export interface ConditionSubject {
  /** The resource whose records the condition selects. */
  readonly resource: ComparedResource
  /** The resource of the changed record, in a business rule, for `{ record: FIELD }`. */
  readonly record: ComparedResource | undefined
  /** The system fields that the condition may name; `undefined`: all. */
  readonly system?: readonly string[]
}

/** A mistake in a condition. `message` continues the place, `remedy` is a sentence. */
export interface ConditionProblem extends ValueProblem {
  /** The steps to its place, from the condition. */
  readonly steps: Steps
}

/** Checks a declared condition. */
export function checkCondition(part: Part, subject: ConditionSubject): void {
  for (const { steps, message, remedy } of conditionProblems(part.value, subject)) {
    part.reportBelow(steps, message, remedy)
  }
}

/**
 * All mistakes in a condition. If there are none, `resolveCondition` can resolve the value.
 */
export function conditionProblems(condition: unknown, subject: ConditionSubject): ConditionProblem[] {
  const problems: ConditionProblem[] = []
  const find: Find = (steps, code, message, remedy) => {
    problems.push({ steps, code, message, remedy })
  }
  checkWhole(find, [], condition, subject)
  return problems
}

/** Adds a problem. */
type Find = (steps: Steps, code: ValueProblem['code'], message: string, remedy: string) => void

const example = '{ status: "open" }'

function checkWhole(find: Find, steps: Steps, condition: unknown, subject: ConditionSubject): void {
  if (!isObject(condition)) {
    find(steps, 'INVALID_TYPE', mustBe('an object', condition), `Write ${example}.`)
    return
  }
  for (const [word, value] of Object.entries(condition)) {
    const place = [...steps, word]
    if (word === 'not') checkWhole(find, place, value, subject)
    else if (word === 'and' || word === 'or') checkList(find, place, value, subject)
    else checkField(find, place, word, value, subject)
  }
}

function checkList(find: Find, steps: Steps, list: unknown, subject: ConditionSubject): void {
  if (!Array.isArray(list) || list.length === 0) {
    const code = Array.isArray(list) ? 'TOO_FEW_ITEMS' : 'INVALID_TYPE'
    find(steps, code, mustBe('an array of conditions', list), `Write [${example}, …].`)
    return
  }
  list.forEach((each, index) => {
    checkWhole(find, [...steps, index], each, subject)
  })
}

function checkField(find: Find, steps: Steps, name: string, value: unknown, subject: ConditionSubject): void {
  const { resource, system = systemFields } = subject
  const field = comparedOf(resource, name, system)
  if (field === undefined) {
    const remedy = suggest(name, [...resource.fields.keys(), ...system, 'and', 'or', 'not'])
    find(steps, 'UNKNOWN_FIELD', `is not a field of ${resource.name}`, remedy)
    return
  }
  if (resource.fields.get(name)?.writeOnly === true) {
    const message = 'is writeOnly: a condition would let callers find out its value'
    find(steps, 'UNKNOWN_FIELD', message, 'Use another field.')
    return
  }
  if (Array.isArray(value)) {
    find(steps, 'INVALID_TYPE', 'cannot be compared with an array', `Write { in: ${show(value)} }.`)
  } else if (isObject(value) && !isBinding(value)) checkOperators(find, steps, field, value, subject)
  else checkValue(find, steps, field, value, '=', subject)
}

function isBinding(value: Readonly<Record<string, unknown>>): boolean {
  return Object.hasOwn(value, 'caller') || Object.hasOwn(value, 'record')
}

const ordering = ['gt', 'gte', 'lt', 'lte']
const textual = ['contains', 'startsWith']
const operators = [...ordering, ...textual, 'in', 'not', 'null']
const operatorHints: Readonly<Record<string, string>> = {
  starts_with: 'startsWith', eq: 'the value alone: { status: "open" }', ne: 'not', neq: 'not',
  nin: '{ not: { field: { in: [ … ] } } }',
  '>': 'gt', '>=': 'gte', '<': 'lt', '<=': 'lte', '=': 'the value alone: { status: "open" }', '!=': 'not',
  like: 'contains',
} // biome-ignore format: one row reads best

function checkOperators(
  find: Find,
  steps: Steps,
  field: Compared,
  comparisons: Readonly<Record<string, unknown>>,
  subject: ConditionSubject,
): void {
  if (Object.keys(comparisons).length === 0) {
    find(steps, 'INVALID_VALUE', 'compares with nothing', 'Write a value, or { gt: 3 }.')
  }
  for (const [operator, value] of Object.entries(comparisons)) {
    const place = [...steps, operator]
    const hint = own(operatorHints, operator) as string | undefined
    if (!operators.includes(operator)) {
      find(place, 'INVALID_OPERATOR', 'is not an operator', hint ? `Write ${hint}.` : suggest(operator, operators))
    } else if (operator === 'null') {
      if (typeof value === 'boolean') continue
      find(place, 'INVALID_TYPE', mustBe('true or false', value), 'Write true or false, without quotes.')
    } else if (ordering.includes(operator) && value === null) {
      find(place, 'INVALID_VALUE', 'is never true of null', 'Write { null: true }.')
    } else if (ordering.includes(operator) && field.type === 'boolean') {
      find(place, 'INVALID_OPERATOR', 'does not work on true and false', 'Write the value alone.')
    } else if (textual.includes(operator) && (field.type !== 'string' || holdsInstants(field))) {
      const remedy = `Use ${field.type === 'boolean' ? 'the value alone' : 'gt, gte, lt or lte'}.`
      find(place, 'INVALID_OPERATOR', 'works on texts alone', remedy)
    } else if (operator !== 'in') checkValue(find, place, field, value, operator, subject)
    else if (!Array.isArray(value) || value.length === 0) {
      const code = Array.isArray(value) ? 'TOO_FEW_ITEMS' : 'INVALID_TYPE'
      find(place, code, mustBe('an array of values', value), `Write { in: [${show(value)}] }.`)
    } else
      value.forEach((each, index) => {
        checkValue(find, [...place, index], field, each, operator, subject)
      })
  }
}

function checkValue(
  find: Find,
  steps: Steps,
  field: Compared,
  value: unknown,
  operator: string,
  subject: ConditionSubject,
): void {
  const isPart = textual.includes(operator)
  if (value === null) {
    const remedies: Readonly<Record<string, string>> = {
      not: 'Write { null: false }.',
      in: 'Leave null out, and add a branch { FIELD: { null: true } } by or.',
    }
    find(
      steps,
      'INVALID_VALUE',
      'is never true of null',
      (own(remedies, operator) as string) ?? 'Write { null: true }.',
    )
  } else if (!isComparable(field.type)) {
    const message = 'cannot be compared: only whether it is null can be asked'
    find(steps, 'INVALID_OPERATOR', message, 'Write { null: true } or { null: false }.')
  } else if (isObject(value)) checkBinding(find, steps, field, value, operator, subject)
  else {
    const problem = valueProblemOf(field, value, isPart)
    if (problem !== undefined) find(steps, problem.code, problem.message, problem.remedy)
  }
}

function checkBinding(
  find: Find,
  steps: Steps,
  field: Compared,
  binding: Readonly<Record<string, unknown>>,
  operator: string,
  { record }: ConditionSubject,
): void {
  const [[word, name] = ['', undefined], ...more] = Object.entries(binding)
  const place = [...steps, word]
  if (more.length > 0 || (word !== 'caller' && word !== 'record')) {
    const remedy = 'Write a value, { caller: "id" }, or in a business rule { record: "id" }.'
    find(steps, 'INVALID_VALUE', `is not a value: ${show(binding)}`, remedy)
  } else if (word === 'caller') checkCaller(find, place, field, name, operator)
  else if (record === undefined) {
    const message = 'works in a business rule alone: here there is no other record'
    find(place, 'INVALID_VALUE', message, 'Write a value, or { caller: "id" }.')
  } else checkOther(find, place, field, name, record)
}

function checkCaller(find: Find, place: Steps, field: Compared, name: unknown, operator: string): void {
  const isPath = typeof name === 'string' && /^(?:id|roles|claims(?:\.[^.\s]+)+)$/.test(name)
  if (!isPath) {
    const message = `is nothing that a caller has: ${show(name)}`
    find(place, 'INVALID_VALUE', message, 'Write "id", "roles" or "claims.NAME".')
  } else if ((name === 'id' || name === 'roles') && (field.type !== 'string' || holdsInstants(field))) {
    const type = holdsInstants(field) ? 'date and time' : field.type
    find(place, 'INVALID_VALUE', `is a text, and the field is a ${type}`, 'Compare it with a field that holds texts.')
  } else if (name === 'roles' && operator !== 'in') {
    find(place, 'INVALID_VALUE', 'is several texts', 'Write { in: [{ caller: "roles" }] }.')
  }
}

function checkOther(find: Find, place: Steps, field: Compared, name: unknown, record: ComparedResource): void {
  const other = typeof name === 'string' ? comparedOf(record, name) : undefined
  if (other === undefined) {
    const remedy = suggest(typeof name === 'string' ? name : '', [...record.fields.keys(), ...systemFields])
    find(place, 'UNKNOWN_FIELD', `is not a field of ${record.name}: ${show(name)}`, remedy)
  } else if (basic(other.type) !== basic(field.type)) {
    const message = `is a ${other.type}, and the field is a ${field.type}`
    find(place, 'INVALID_TYPE', message, 'Compare fields of one type.')
  }
}

function basic(type: FieldType): FieldType {
  return type === 'integer' ? 'number' : type
}

/** What the checks of conditions need of a field. */
interface ComparedField {
  readonly shape: Pick<FieldShape, 'type' | 'format' | 'enum'>
  readonly declared: { readonly reference?: unknown }
  readonly writeOnly: boolean
}

/** What the checks of conditions need of a resource; a `ResourceView` is one. */
export interface ComparedResource {
  readonly name: string
  readonly fields: ReadonlyMap<string, ComparedField>
}

/** How a field is compared. */
export interface Compared {
  readonly type: FieldType
  /** The allowed texts; `undefined`: all. */
  readonly values: readonly string[] | undefined
  /** The form of its texts. `stamp`: a timestamp of the server. */
  readonly texts: 'stamp' | 'instant' | 'date' | 'reference' | 'free'
}

/** A complete resource, for conditions that are not declared. */
export function comparedResource({ name, fields }: Resource): ComparedResource {
  const views = fields.map((field) => ({ shape: field, declared: field, writeOnly: field.writeOnly }))
  return { name, fields: new Map(views.map((view) => [view.shape.name, view])) }
}

/**
 * How a field is compared; `undefined`: no such field.
 *
 * @param system the system fields that may be named
 */
export function comparedOf(
  resource: ComparedResource,
  name: string,
  system: readonly string[] = systemFields,
): Compared | undefined {
  if (system.includes(name)) return { type: 'string', values: undefined, texts: name === 'id' ? 'free' : 'stamp' }
  const field = resource.fields.get(name)
  if (field === undefined) return undefined
  const { shape, declared } = field
  return { type: shape.type, values: shape.enum, texts: textsOf(shape, declared.reference !== undefined) }
}

function textsOf({ type, format }: ComparedField['shape'], isReference: boolean): Compared['texts'] {
  if (isReference) return 'reference'
  if (type !== 'string') return 'free'
  if (format === 'date-time') return 'instant'
  return format === 'date' ? 'date' : 'free'
}

/** Whether the texts of a field are instants. */
export function holdsInstants({ texts }: Compared): boolean {
  return texts === 'stamp' || texts === 'instant'
}

/** Why a value cannot be compared, and what to write instead. */
export interface ValueProblem {
  readonly code: keyof typeof issueCodes
  readonly message: string
  readonly remedy: string
}

/**
 * Why a field cannot be compared with a text, a number or a boolean; `undefined`: it can.
 *
 * @param isPart whether the value is a part of a text, which need not be an allowed value itself
 */
export function valueProblemOf(compared: Compared, value: unknown, isPart: boolean): ValueProblem | undefined {
  const { type, values } = compared
  if (type === 'decimal') {
    if (decimalKeyOf(value) !== undefined) return undefined
    const message = mustBe('a decimal as the field is', value)
    return { code: 'INVALID_TYPE', message, remedy: 'Write a text of digits such as "19.99", or a number.' }
  }
  const wanted = type === 'integer' ? 'number' : type
  if (typeof value !== wanted) {
    return { code: 'INVALID_TYPE', message: mustBe(`a ${wanted} as the field is`, value), remedy: `Write a ${wanted}.` }
  }
  if (type === 'integer' && !Number.isSafeInteger(value)) {
    return {
      code: 'INVALID_VALUE',
      message: mustBe('a whole number as the field is', value),
      remedy: 'Write one such as 3.',
    }
  }
  if (type !== 'string' || isPart) return undefined
  const text = value as string
  if (values !== undefined && !values.includes(text)) {
    const message = `is not one of the values of the field: ${show(text)}`
    return { code: 'NOT_IN_ENUM', message, remedy: suggest(text, values) }
  }
  const form = forms[compared.texts]
  if (form === undefined || form.fits(text)) return undefined
  return {
    code: 'INVALID_FORMAT',
    message: `is not ${form.what}: ${show(text)}`,
    remedy: `Write one such as "${form.example}".`,
  }
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
