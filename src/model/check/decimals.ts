/** Checks fields of type `decimal`: their precision and scale, and bounds that such decimals can meet. */
import {
  compileDecimal,
  type DecimalForm,
  decimalKeyOf,
  decimalLists,
  decimalOf,
  decimalWords,
  mostDigits,
  readDecimal,
} from '../decimal.ts'
import { isFieldWord, type Schema } from '../field.ts'
import { at, item } from '../place.ts'
import type { FieldView } from './parts.ts'
import { mustBe, type Report, show } from './problem.ts'

const others = ['type', 'precision', 'scale', 'title', 'description', 'deprecated', 'readOnly', 'writeOnly', '$comment']
const keywords: readonly string[] = [...others, ...decimalWords, ...decimalLists]

/** Checks a decimal field, except for its default. */
export function checkDecimal(report: Report, { path, declared, shape }: FieldView): void {
  if (shape.decimal === undefined) {
    report(path, 'has decimals among alternatives', 'Write "type": "decimal" at the field itself.')
    return
  }
  for (const word of Object.keys(declared)) {
    if (keywords.includes(word) || isFieldWord(word)) continue
    report(at(path, word), 'says nothing about a decimal', `Remove "${word}".`)
  }
  if (!checkForm(report, path, shape.schema)) return
  let sound = true
  const unsound: Report = (...problem) => {
    sound = false
    report(...problem)
  }
  for (const word of decimalWords) {
    if (word !== 'default' && shape.schema[word] !== undefined)
      checkNumber(unsound, at(path, word), shape.schema[word], shape.decimal)
  }
  for (const word of decimalLists) checkList(unsound, at(path, word), shape.schema[word], shape.decimal)
  if (sound) checkBounds(report, path, shape.schema)
}

function checkForm(report: Report, path: string, { precision, scale }: Schema): boolean {
  const isCount = (value: unknown, least: number, most: number) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most
  const isPrecise = isCount(precision, 1, mostDigits)
  if (!isPrecise) {
    const wanted = `a whole number from 1 to ${mostDigits}`
    report(at(path, 'precision'), mustBe(wanted, precision), 'Write how many digits values have at most, such as 12.')
  }
  const most = isPrecise ? Number(precision) : mostDigits
  if (isCount(scale, 0, most)) return isPrecise
  const wanted = `a whole number from 0 to ${isPrecise ? 'the precision' : mostDigits}`
  report(at(path, 'scale'), mustBe(wanted, scale), 'Write how many digits stand after the decimal point, such as 2.')
  return false
}

function checkNumber(report: Report, path: string, value: unknown, form: DecimalForm): void {
  // A double keeps 15 digits of every number; more digits may have changed.
  if (typeof value === 'number' && decimalOf(String(value)).digits.length > 15) {
    report(path, `may not be the number that was written: ${show(value)}`, 'Write it in quotes.')
    return
  }
  const [issue] = compileDecimal('', { type: 'decimal', ...form })(value)
  if (issue === undefined) return
  const { precision, scale } = form
  const whole = '1'.padEnd(Math.min(2, precision - scale), '9') || '0'
  const example = `"${whole}${scale > 0 ? `.${'9'.repeat(Math.min(2, scale))}` : ''}"`
  report(path, `${show(value)} ${issue.message}`, `Write a decimal of the field's form, such as ${example}.`)
}

function checkList(report: Report, path: string, list: unknown, form: DecimalForm): void {
  if (list === undefined) return
  if (!Array.isArray(list) || list.length === 0) {
    report(path, mustBe('an array of decimals', list), 'Write ["9.90", "19.90"].')
    return
  }
  const seen = new Set<string>()
  for (const [index, value] of list.entries()) {
    checkNumber(report, item(path, index), value, form)
    const key = decimalKeyOf(value) ?? ''
    if (seen.has(key)) report(path, `has ${show(value)} twice`, 'Remove one of the two.')
    seen.add(key)
  }
}

function checkBounds(report: Report, path: string, schema: Schema): void {
  const step = readDecimal(schema['multipleOf'])
  if (step !== undefined && (step.negative || step.digits === '')) {
    report(at(path, 'multipleOf'), mustBe('a decimal above 0', schema['multipleOf']), 'Write one such as "0.05".')
  }
  for (const least of ['minimum', 'exclusiveMinimum']) {
    for (const most of ['maximum', 'exclusiveMaximum']) {
      const [low, high] = [decimalKeyOf(schema[least]), decimalKeyOf(schema[most])]
      if (low === undefined || high === undefined) continue
      const isOpen = least !== 'minimum' || most !== 'maximum'
      if (low < high || (low === high && !isOpen)) continue
      const message = `is ${schema[least]}, and ${most} is ${schema[most]}: no value fits both`
      report(at(path, least), message, `Write less than ${schema[most]}, or raise ${most}.`)
    }
  }
}
