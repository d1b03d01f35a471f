/** Checks values that the server sets: `set`, `sequence`, and defaults that the server finds. */
import { suggest } from '../nearest.ts'
import { isObject } from '../plain-copy.ts'
import type { FieldType } from '../resource.ts'
import { type FieldView, type Part, type ResourceView, show } from './parts.ts'

/** Checks what the server sets in a field whose schema is sound. */
export function checkServerValues(field: FieldView, resource: ResourceView): void {
  const { name, part, declared, shape } = field
  const isOwner = resource.owner === name
  checkServerDefault(field)
  if (declared['set'] !== undefined) checkSet(part.key('set'), field)
  if (declared['sequence'] !== undefined) checkSequence(part.key('sequence'), field, resource)
  for (const word of ['set', 'sequence', ...(shape.serverDefault === undefined ? [] : ['default'])]) {
    if (!isOwner || declared[word] === undefined) continue
    part.key(word).report('says nothing more: the owner is the caller who creates the record', `Remove "${word}".`)
  }
}

/** Checks a default that the server finds. */
export function checkServerDefault(field: FieldView): void {
  if (field.shape.serverDefault !== undefined) checkServerValue(field.part.key('default'), field)
}

/** Whether a declared field always gets a value from the server on creation. */
export function isSetOnCreation(declared: FieldView['declared']): boolean {
  const { set, sequence } = declared
  return sequence !== undefined || (isObject(set) && set['onCreate'] !== undefined)
}

const setForm = 'Write { onCreate: { caller: "id" } }.'

function checkSet(set: Part, field: FieldView): void {
  const { declared, shape, part } = field
  if (!set.object('{ onCreate: { caller: "id" } }')) return
  set.keys(['onCreate', 'onUpdate'])
  const [onCreate, onUpdate] = [set.key('onCreate'), set.key('onUpdate')]
  if (Object.keys(set.record).length === 0) set.report('sets nothing', setForm)
  for (const each of [onCreate, onUpdate]) if (!each.isAbsent) checkServerValue(each, field)
  if (declared['sequence'] !== undefined) set.report('contradicts the sequence', 'Remove "set" or "sequence".')
  if (!onCreate.isAbsent && shape.serverDefault !== undefined) {
    const remedy = 'Remove it, or write a value for callers without that attribute.'
    part.key('default').report('is never used: the server sets the field on creation', remedy)
  }
  if (onCreate.isAbsent && !onUpdate.isAbsent && !shape.optional && declared['default'] === undefined) {
    const remedy = 'Write "onCreate" too, give the field a default, or write "optional": true.'
    set.report('leaves new records without a value, and they must have one', remedy)
  }
}

const valueForm = 'Write { caller: "id" }, { caller: "claims.NAME" } or { now: true }.'

function checkServerValue(value: Part, { shape, declared }: FieldView): void {
  const [[word, what] = ['', value], ...more] = value.entries()
  if (more.length > 0 || (word !== 'caller' && word !== 'now')) {
    value.report(`is not a value that the server finds: ${show(value.value)}`, valueForm)
  } else if (word === 'now') checkNow(what, shape)
  else checkCaller(what, shape.type, declared['reference'] !== undefined ? undefined : shape.format)
}

function checkNow(now: Part, { type, format }: FieldView['shape']): void {
  if (now.value !== true) now.mustBe('true', 'Write { now: true }.')
  else if (type !== 'string' || (format !== 'date-time' && format !== 'date')) {
    const kind = type === 'string' ? (format === undefined ? 'text of any form' : `text of the format ${format}`) : type
    now.report(`is a time, and the field is ${article(kind)}`, 'Write type: string with format: date-time, or date.')
  }
}

const times: readonly unknown[] = ['date', 'time', 'date-time', 'iso-time', 'iso-date-time', 'duration']

function checkCaller(part: Part, type: FieldType, format: string | undefined): void {
  const name = part.text
  part.callers()
  if (name === 'id' && (type !== 'string' || times.includes(format))) {
    const kind = type === 'string' ? `text of the format ${format}` : type
    part.report(`is a text, and the field is ${article(kind)}`, 'Set a field that holds texts, or write "claims.NAME".')
  } else if (name === 'roles' && type !== 'array') {
    part.report(
      `is several texts, and the field is ${article(type)}`,
      'Write type: array with items: { type: string }.',
    )
  }
}

function article(kind: string): string {
  return kind === 'json' ? 'of several types' : `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`
}

const withSequence = [
  'sequence', 'type', 'minimum', 'title', 'description', 'deprecated', 'examples', 'filter', 'sort', 'search', 'unique',
  'readOnly', 'set', '$comment',
] as const // biome-ignore format: one row reads best

function checkSequence(sequence: Part, { name, part, declared, shape }: FieldView, resource: ResourceView): void {
  for (const [word, each] of part.entries()) {
    if ((withSequence as readonly string[]).includes(word)) continue
    each.report('contradicts the sequence: the server gives every record the next number', `Remove "${word}".`)
  }
  if (shape.optional && declared['optional'] === undefined) {
    part.report('is optional, and the sequence gives every record a number', 'Remove Type.Optional.')
  }
  if (declared['type'] !== undefined && declared['type'] !== 'integer') {
    part.key('type').report('contradicts the sequence: its numbers are integers', 'Remove "type".')
  }
  if (!sequence.object('{ per: "project_id" }, or {} to number the collection')) return
  sequence.keys(['per'])
  const per = sequence.key('per')
  if (!per.isAbsent) checkPer(per, name, resource)
}

/** A record keeps its number, so the field that its number belongs to must keep its value. */
function checkPer(per: Part, name: string, resource: ResourceView): void {
  const others = [...resource.field.keys()].filter((each) => each !== name)
  const field = per.text === name ? undefined : resource.field.get(per.text)
  if (field === undefined) {
    const isName = typeof per.value === 'string'
    const remedy = isName ? suggest(per.text, others) : 'Write the name of a field, such as project_id.'
    per.report(`is not another field of ${resource.name}: ${show(per.value)}`, remedy)
    return
  }
  const { shape, declared, writeOnly } = field
  const isTime = shape.format === 'date-time'
  if ((shape.type !== 'string' && shape.type !== 'integer') || isTime || writeOnly) {
    const kind = writeOnly ? 'a writeOnly field' : article(isTime ? 'date and time' : shape.type)
    per.report(`is ${kind}, by which records cannot be numbered`, 'Use a reference, a text or an integer.')
    return
  }
  if (shape.optional) {
    per.report('may have no value, and a record without one has no number', `Make ${per.text} a required field.`)
  } else if (!isFixed(declared, resource.owner === per.text)) {
    const message = 'may change, and a record keeps its number'
    per.report(message, `Write "immutable": true for ${per.text}. Then no record moves to another one.`)
  }
}

function isFixed(declared: FieldView['declared'], isOwner: boolean): boolean {
  const { set, immutable, readOnly } = declared
  if (immutable === true) return true
  if (isObject(set)) return set['onUpdate'] === undefined
  return readOnly === true && !isOwner
}
