/** Conditions (`where`): fields that exist, operators that fit them, values that can be compared with them. */
import { isRecord } from '../field-shape.ts'
import { instantKey } from '../instant.ts'
import { suggest } from '../nearest.ts'
import { at, item } from '../place.ts'
import { type FieldType, systemFields } from '../resource.ts'
import { checkFlag, expectRecord, own } from './expect.ts'
import { mustBe, type Report, show } from './problem.ts'
import { isComparable, type ResourceView } from './views.ts'

/** What a condition is about. */
export interface ConditionSubject {
  /** The resource whose records it judges. */
  readonly resource: ResourceView
  /** The resource of the record at hand, in a business rule: what `{ record: FIELD }` may name. */
  readonly record: ResourceView | undefined
}

const example = '{ status: "open" }'

/** Checks a condition and everything within it. */
export function checkCondition(report: Report, path: string, condition: unknown, subject: ConditionSubject): void {
  if (!expectRecord(report, path, condition, example)) return
  for (const [word, value] of Object.entries(condition)) {
    const place = at(path, word)
    if (word === 'not') checkCondition(report, place, value, subject)
    else if (word === 'and' || word === 'or') checkList(report, place, value, subject)
    else checkField(report, place, word, value, subject)
  }
}

function checkList(report: Report, path: string, list: unknown, subject: ConditionSubject): void {
  if (!Array.isArray(list) || list.length === 0) {
    report(path, mustBe('an array of conditions', list), `Write [${example}, …].`)
    return
  }
  list.forEach((each, index) => {
    checkCondition(report, item(path, index), each, subject)
  })
}

/** What a condition can compare: a field's type, and the values that make sense. */
interface Comparable {
  readonly type: FieldType
  readonly values: readonly string[] | undefined
  readonly isInstant: boolean
}

/** How a field is compared; `undefined` where there is no such field. */
function comparableOf(resource: ResourceView, name: string): Comparable | undefined {
  if ((systemFields as readonly string[]).includes(name)) {
    return { type: 'string', values: undefined, isInstant: name !== 'id' }
  }
  const shape = resource.fields.get(name)?.shape
  return (
    shape && {
      type: shape.type,
      values: shape.enum,
      isInstant: shape.type === 'string' && shape.format === 'date-time',
    }
  )
}

function checkField(report: Report, path: string, name: string, value: unknown, subject: ConditionSubject): void {
  const { resource } = subject
  const field = comparableOf(resource, name)
  if (field === undefined) {
    report(
      path,
      `is not a field of ${resource.name}`,
      suggest(name, [...resource.fields.keys(), ...systemFields, 'and', 'or', 'not']),
    )
    return
  }
  if (resource.fields.get(name)?.writeOnly === true) {
    report(path, 'is writeOnly: a condition would let callers find out its value', 'Use another field.')
    return
  }
  if (Array.isArray(value)) {
    report(path, 'cannot be compared with an array', `Write { in: ${show(value)} }.`)
  } else if (isRecord(value) && !isBinding(value)) checkOperators(report, path, field, value, subject)
  else checkValue(report, path, field, value, subject)
}

function isBinding(value: Readonly<Record<string, unknown>>): boolean {
  return Object.hasOwn(value, 'caller') || Object.hasOwn(value, 'record')
}

const ordering = ['gt', 'gte', 'lt', 'lte']
const textual = ['contains', 'startsWith']
const operators = [...ordering, ...textual, 'in', 'not', 'null']
const operatorHints: Readonly<Record<string, string>> = {
  starts_with: 'startsWith', eq: 'the value alone: { status: "open" }', ne: 'not', neq: 'not', nin: '{ not: { field: { in: [ … ] } } }',
  '>': 'gt', '>=': 'gte', '<': 'lt', '<=': 'lte', '=': 'the value alone: { status: "open" }', '!=': 'not', like: 'contains',
} // biome-ignore format: one row reads best

function checkOperators(
  report: Report,
  path: string,
  field: Comparable,
  comparisons: Readonly<Record<string, unknown>>,
  subject: ConditionSubject,
): void {
  if (Object.keys(comparisons).length === 0) report(path, 'compares with nothing', 'Write a value, or { gt: 3 }.')
  for (const [operator, value] of Object.entries(comparisons)) {
    const place = at(path, operator)
    const hint = own(operatorHints, operator) as string | undefined
    if (!operators.includes(operator))
      report(place, 'is not an operator', hint ? `Write ${hint}.` : suggest(operator, operators))
    else if (operator === 'null') {
      if (value === undefined || typeof value !== 'boolean') checkFlag(report, place, value ?? null)
    } else if (ordering.includes(operator) && (field.type === 'boolean' || value === null)) {
      report(
        place,
        value === null ? 'is never true of null' : 'does not work on true and false',
        'Write the value alone.',
      )
    } else if (textual.includes(operator) && (field.type !== 'string' || field.isInstant)) {
      report(
        place,
        'works on texts alone',
        `Use ${field.type === 'boolean' ? 'the value alone' : 'gt, gte, lt or lte'}.`,
      )
    } else if (operator !== 'in') checkValue(report, place, field, value, subject, operator === 'not')
    else if (!Array.isArray(value) || value.length === 0) {
      report(place, mustBe('an array of values', value), `Write { in: [${show(value)}] }.`)
    } else
      value.forEach((each, index) => {
        checkValue(report, item(place, index), field, each, subject)
      })
  }
}

function checkValue(
  report: Report,
  path: string,
  field: Comparable,
  value: unknown,
  subject: ConditionSubject,
  exact = !textual.some((word) => path.endsWith(word)),
): void {
  if (value === null) {
    if (textual.some((word) => path.endsWith(`.${word}`)))
      report(path, 'is never true of null', 'Write { null: true }.')
    return
  }
  if (!isComparable(field.type)) {
    report(path, 'cannot be compared: only whether it is null can be asked', 'Write { null: true } or { null: false }.')
  } else if (isRecord(value)) checkBinding(report, path, field, value, subject)
  else checkScalar(report, path, field, value, exact)
}

function checkScalar(report: Report, path: string, field: Comparable, value: unknown, exact: boolean): void {
  const wanted = field.type === 'integer' ? 'number' : field.type
  if (typeof value !== wanted) {
    report(path, mustBe(`a ${wanted} as the field is`, value), `Write a ${wanted}.`)
  } else if (exact && field.values !== undefined && !field.values.includes(value as string)) {
    report(path, `is not one of the values of the field: ${show(value)}`, suggest(value as string, field.values))
  } else if (field.isInstant && instantKey(value as string) === undefined) {
    report(path, `is not a date and time: ${show(value)}`, 'Write one such as "2026-11-21T08:30:00Z".')
  }
}

function checkBinding(
  report: Report,
  path: string,
  field: Comparable,
  binding: Readonly<Record<string, unknown>>,
  { record }: ConditionSubject,
): void {
  const [[word, name] = ['', undefined], ...more] = Object.entries(binding)
  const place = at(path, word)
  if (more.length > 0 || (word !== 'caller' && word !== 'record')) {
    report(
      path,
      `is not a value: ${show(binding)}`,
      'Write a value, { caller: "id" }, or in a business rule { record: "id" }.',
    )
  } else if (word === 'caller') {
    const isPath = typeof name === 'string' && /^(?:id|roles|claims(?:\.[^.\s]+)+)$/.test(name)
    if (!isPath) report(place, `is nothing that a caller has: ${show(name)}`, 'Write "id", "roles" or "claims.NAME".')
    else if ((name === 'id' || name === 'roles') && field.type !== 'string') {
      report(place, `is a text, and the field is a ${field.type}`, 'Compare it with a field that holds texts.')
    }
  } else if (record === undefined) {
    report(
      place,
      'works in a business rule alone: here there is no other record',
      'Write a value, or { caller: "id" }.',
    )
  } else {
    const other = typeof name === 'string' ? comparableOf(record, name) : undefined
    if (other === undefined) {
      const names = [...record.fields.keys(), ...systemFields]
      report(
        place,
        `is not a field of ${record.name}: ${show(name)}`,
        suggest(typeof name === 'string' ? name : '', names),
      )
    } else if (basic(other.type) !== basic(field.type)) {
      report(place, `is a ${other.type}, and the field is a ${field.type}`, 'Compare fields of one type.')
    }
  }
}

function basic(type: FieldType): FieldType {
  return type === 'integer' ? 'number' : type
}
