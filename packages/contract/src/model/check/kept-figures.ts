/** Checks the figures that are kept with every change: summaries (SUM-3), and sums of children (RES-17). */
import { summaryLimits } from '../../spec/limits.ts'
import { snakeCaseForm } from '../names.ts'
import { suggest } from '../nearest.ts'
import { nameRelations, sourceOf } from '../relations.ts'
import { figuresOf, groupsOf } from '../summary.ts'
import { type FieldView, type Part, type ResourceView, type ResourceViews, show } from './parts.ts'

/** Checks kept summaries: their groups and the fields that they add up. */
export function checkSummaries(resource: ResourceView): void {
  for (const [name, summary] of resource.part.key('summaries').entries()) {
    if (!snakeCaseForm.test(name)) summary.reportKey('must be a name in snake_case', 'Write a name such as by_status.')
    const group = summary.key('group')
    if (group.items().length > summaryLimits.groups)
      group.report(`has more than ${summaryLimits.groups} groups`, 'Declare several summaries.')
    checkNames(group.items(), [...groupsOf(resource).keys()], `is not a group of ${resource.name}`)
    const summed = [...figuresOf(resource, 'sum').keys()]
    checkNames(summary.key('sum').items(), summed, `is not an integer or decimal of ${resource.name}`)
  }
}

function checkNames(parts: readonly Part[], known: readonly string[], what: string): void {
  const fields = new Set<string>()
  for (const part of parts) {
    const [field = ''] = part.text.split(':')
    if (!known.includes(part.text)) {
      const period = known.find((name) => name === `${part.text}:month`)
      const remedy = period === undefined ? suggest(part.text, known) : `Name a period: "${period}".`
      part.report(`${what}: ${show(part.value)}`, remedy)
    } else if (fields.has(field)) {
      part.report(`names ${field} again`, 'Keep the shortest period: the longer ones follow from it.')
    }
    fields.add(field)
  }
}

/** Checks the sums of children (`sumOf`): the relation, the field that is added up, and the form of the sum. */
export function checkTotals(resources: ResourceViews): void {
  for (const resource of resources.values()) {
    for (const field of resource.fields) {
      // Another form is reported by the structure.
      if (/^\w+\.\w+$/.test(field.part.key('sumOf').text)) checkTotal(field, resource, resources)
    }
  }
}

// The server sets the value, and it is never missing.
const contradicting = [
  'default',
  'set',
  'sequence',
  'immutable',
  'unique',
  'optional',
  'writeOnly',
  'minimum',
  'maximum',
]

function checkTotal({ part, shape, declared }: FieldView, resource: ResourceView, resources: ResourceViews): void {
  for (const word of contradicting) {
    if (declared[word] === undefined || declared[word] === false) continue
    part.key(word).report('contradicts sumOf: the server adds up the value', `Remove "${word}".`)
  }
  const sumOf = part.key('sumOf')
  const [name = '', amount = ''] = sumOf.text.split('.')
  const sources = [...resources.values()].map(sourceOf)
  const { relations } = nameRelations(sourceOf(resource), sources)
  const many = [...relations.values()].filter(({ to }) => to === 'many')
  const relation = many.find((each) => each.name === name)
  const summed = resources.get(relation?.collection ?? '')
  if (summed === undefined) {
    const names = many.map((each) => each.name)
    sumOf.report(`names no relation to many records of ${resource.name}: ${name}`, suggest(name, names))
    return
  }
  const added = summed.field.get(amount)
  const fits = summed.fields.filter((each) => isNumber(each)).map((each) => each.name)
  if (added === undefined || !isNumber(added)) {
    sumOf.report(`names no integer or decimal of ${summed.name}: ${amount}`, suggest(amount, fits))
  } else checkForm(part, shape, added)
}

function isNumber({ shape, writeOnly, declared }: FieldView): boolean {
  return !writeOnly && declared['sumOf'] === undefined && (shape.type === 'integer' || shape.type === 'decimal')
}

function checkForm(part: Part, { type, decimal }: FieldView['shape'], { name, shape }: FieldView): void {
  const digits = Math.max(shape.decimal?.precision ?? 0, decimal?.precision ?? 0)
  const ofDecimal = `type: "decimal", precision: ${digits}, scale: ${shape.decimal?.scale}`
  const form = shape.decimal === undefined ? 'type: "integer"' : ofDecimal
  const isSame = type === shape.type && decimal?.scale === shape.decimal?.scale
  const hasRoom = (decimal?.precision ?? 0) >= (shape.decimal?.precision ?? 0)
  if (!isSame || !hasRoom) part.report(`has another form than ${name}, whose sum it is`, `Write ${form}.`)
}
