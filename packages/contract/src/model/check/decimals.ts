/** Checks fields of type `decimal`: their precision and scale, and bounds that such decimals can meet. */

import { textOf } from '../../spec/faults.ts'
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
import { isFieldWord } from '../field.ts'
import { type FieldView, type Part, show } from './parts.ts'

const others = ['type', 'precision', 'scale', 'title', 'description', 'deprecated', 'readOnly', 'writeOnly', '$comment']
const keywords: readonly string[] = [...others, ...decimalWords, ...decimalLists]

/** Checks a decimal field, except for its default. */
export function checkDecimal({ part, shape }: FieldView): void {
  if (shape.decimal === undefined) {
    part.report('has decimals among alternatives', 'Write "type": "decimal" at the field itself.')
    return
  }
  for (const [word, keyword] of part.entries()) {
    if (keywords.includes(word) || isFieldWord(word)) continue
    keyword.report('says nothing about a decimal', `Remove "${word}".`)
  }
  const schema = part.as(shape.schema)
  if (!checkForm(schema)) return
  const before = part.findings.length
  for (const word of decimalWords) {
    if (word !== 'default' && !schema.key(word).isAbsent) checkNumber(schema.key(word), shape.decimal)
  }
  for (const word of decimalLists) checkList(schema.key(word), shape.decimal)
  if (part.findings.length === before) checkBounds(schema)
}

function checkForm(schema: Part): boolean {
  const [precision, scale] = [schema.key('precision'), schema.key('scale')]
  const isCount = (value: unknown, least: number, most: number) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most
  const isPrecise = isCount(precision.value, 1, mostDigits)
  if (!isPrecise) {
    const remedy = 'Write how many digits values have at most, such as 12.'
    precision.mustBe(`a whole number from 1 to ${mostDigits}`, remedy)
  }
  const most = isPrecise ? Number(precision.value) : mostDigits
  if (isCount(scale.value, 0, most)) return isPrecise
  const wanted = `a whole number from 0 to ${isPrecise ? 'the precision' : mostDigits}`
  scale.mustBe(wanted, 'Write the number of digits after the decimal point, such as 2.')
  return false
}

function checkNumber(part: Part, form: DecimalForm): void {
  const { value } = part
  // A double keeps 15 digits of every number; more digits may have changed.
  if (typeof value === 'number' && decimalOf(String(value)).digits.length > 15) {
    part.report(`may not be the number that was written: ${show(value)}`, 'Write it in quotes.')
    return
  }
  const [issue] = compileDecimal('', { type: 'decimal', ...form })(value)
  if (issue === undefined) return
  const { precision, scale } = form
  const whole = '1'.padEnd(Math.min(2, precision - scale), '9') || '0'
  const example = `"${whole}${scale > 0 ? `.${'9'.repeat(Math.min(2, scale))}` : ''}"`
  part.report(`${show(value)} ${textOf(issue)}`, `Write a decimal of the field's form, such as ${example}.`)
}

function checkList(list: Part, form: DecimalForm): void {
  if (list.isAbsent) return
  if (!Array.isArray(list.value) || list.value.length === 0) {
    list.mustBe('an array of decimals', 'Write ["9.90", "19.90"].')
    return
  }
  const seen = new Set<string>()
  for (const each of list.items()) {
    checkNumber(each, form)
    const key = decimalKeyOf(each.value) ?? ''
    if (seen.has(key)) list.report(`has ${show(each.value)} twice`, 'Remove one of the two.')
    seen.add(key)
  }
}

function checkBounds(schema: Part): void {
  const { record } = schema
  const step = schema.key('multipleOf')
  const read = readDecimal(step.value)
  if (read !== undefined && (read.negative || read.digits === '')) {
    step.mustBe('a decimal above 0', 'Write one such as "0.05".')
  }
  for (const least of ['minimum', 'exclusiveMinimum']) {
    for (const most of ['maximum', 'exclusiveMaximum']) {
      const [low, high] = [decimalKeyOf(record[least]), decimalKeyOf(record[most])]
      if (low === undefined || high === undefined) continue
      const isOpen = least !== 'minimum' || most !== 'maximum'
      if (low < high || (low === high && !isOpen)) continue
      const message = `is ${record[least]}, and ${most} is ${record[most]}: no value fits both`
      schema.key(least).report(message, `Write less than ${record[most]}, or raise ${most}.`)
    }
  }
}
