/** Checks sums of children (`sumOf`): the relation, the field that is added up, and the form of the sum. */
import { suggest } from '../nearest.ts'
import { nameRelations } from '../relations.ts'
import type { FieldView, Part, ResourceView, ResourceViews } from './parts.ts'
import { sourceOf } from './relations.ts'

export function checkTotals(resources: ResourceViews): void {
  for (const resource of resources.values()) {
    for (const field of resource.fields.values()) {
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
  const added = summed.fields.get(amount)
  const fits = [...summed.fields.values()].filter((each) => isNumber(each)).map((each) => each.name)
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
