/**
 * Which field each column of a file is, and how its values are written. A map is data: a file in YAML or JSON
 * (docs/how-to/import-files.md). Without one, each column has the name of its field.
 */

import { type Finding, Part } from 'resourced-contract/model/check/parts'
import { suggest } from 'resourced-contract/model/nearest'
import { isObject } from 'resourced-contract/model/plain-copy'
import type { Field, Resource } from 'resourced-contract/model/resource'
import { type Issue, issue, type Place } from 'resourced-contract/spec/faults'
import { isEncoding } from './decode.ts'
import { type Column, readText } from './read-cell.ts'
import { dateForm, numberForm, sampleNumbers, samplePatterns } from './text-form.ts'

/** A map as it was read. */
export interface ImportMap {
  /** By the names in the file; `left out`: the column is not imported. */
  readonly columns: ReadonlyMap<string, Column | 'left out'>
  readonly nulls: readonly string[]
  readonly ignoresUnknown: boolean
  /** Between the cells of CSV. */
  readonly delimiter: string | undefined
  readonly encoding: string | undefined
  /** The unique field that identifies a record. */
  readonly key: string | undefined
  /** The unique field of the other collection that a reference holds, by the reference. */
  readonly referenceKeys: ReadonlyMap<string, string>
}

/** A map that says nothing. */
export const emptyMap: ImportMap = {
  columns: new Map(),
  nulls: [],
  ignoresUnknown: false,
  delimiter: undefined,
  encoding: undefined,
  key: undefined,
  referenceKeys: new Map(),
}

const known = ['columns', 'null', 'ignoreUnknown', 'delimiter', 'encoding', 'key']
const knownOfColumn = ['field', 'null', 'number', 'date', 'true', 'false', 'key']

/** What is wrong with a delimiter; `undefined`: it can be used. */
export function delimiterOf(text: string): string | undefined {
  if (text === 'tab' || text === String.raw`\t`) return '\t'
  return text.length === 1 && !/["\r\n\p{L}\p{N}]/u.test(text) ? text : undefined
}

/** What a name shows to separate columns, as a shell takes it; `undefined`: it is one column. */
export function delimiterIn(name: string): string | undefined {
  const found = /[;\t|]/.exec(name)?.[0]
  return found === '\t' ? 'tab' : found && `'${found}'`
}

/**
 * Reads a map for a collection.
 *
 * @param findings receives every mistake, with its place
 * @param moreNulls further texts that mean `null` in every column
 */
export function readImportMap(
  value: unknown,
  resource: Resource,
  findings: Finding[],
  moreNulls: readonly string[] = [],
): ImportMap {
  const map = new Part(value, findings)
  if (!map.object('columns: with a line for each column, such as `Unit price: price`')) return emptyMap
  map.keys(known)
  const nulls = textsOf(map.key('null'), 'null: [NA, "-"]')
  map.key('ignoreUnknown').flag()
  const encoding = map.key('encoding')
  if (!encoding.isAbsent && !isEncoding(encoding.text)) {
    encoding.mustBe(
      'the name of an encoding',
      'Write utf-8, utf-16le, windows-1252 or another name of the Encoding standard.',
    )
  }
  const delimiter = map.key('delimiter')
  const separator = delimiterOf(delimiter.text)
  if (!delimiter.isAbsent && separator === undefined) {
    delimiter.mustBe('one character, or tab', 'Write ";" or tab.')
  }
  const key = map.key('key')
  if (!key.isAbsent && !resource.field.has(key.text))
    key.unknown(`is not a field of ${resource.name}`, namesOf(resource))
  return {
    ...readColumns(map.key('columns'), resource, [...nulls, ...moreNulls]),
    nulls,
    ignoresUnknown: map.key('ignoreUnknown').value === true,
    delimiter: separator,
    encoding: encoding.isAbsent ? undefined : encoding.text,
    key: key.isAbsent ? undefined : key.text,
  }
}

function readColumns(
  part: Part,
  resource: Resource,
  nulls: readonly string[],
): Pick<ImportMap, 'columns' | 'referenceKeys'> {
  const columns = new Map<string, Column | 'left out'>()
  const referenceKeys = new Map<string, string>()
  if (part.isAbsent || !part.object('a line for each column, such as `Unit price: price`'))
    return { columns, referenceKeys }
  const taken = new Map<string, string>()
  for (const [name, each] of part.entries()) {
    if (each.value === false) {
      columns.set(name, 'left out')
      continue
    }
    const column = readColumn(name, each, { resource, nulls })
    if (column === undefined) continue
    const { field } = column
    const other = taken.get(field.name)
    if (other !== undefined) {
      each.report(
        `is the field ${field.name}, as the column ${other} is`,
        'Name another field, or write false to leave the column out.',
      )
    }
    taken.set(field.name, name)
    columns.set(name, column)
    const key = each.key('key')
    if (!key.isAbsent) referenceKeys.set(field.name, key.text)
  }
  return { columns, referenceKeys }
}

interface Reading {
  readonly resource: Resource
  readonly nulls: readonly string[]
}

function readColumn(name: string, part: Part, { resource, nulls }: Reading): Column | undefined {
  const isName = typeof part.value === 'string'
  if (!isName && !isObject(part.value)) {
    part.mustBe(
      'a field, false, or an object',
      `Write the name of the field, or { field: NAME, date: DD.MM.YYYY }, or false to leave the column out.`,
    )
    return undefined
  }
  const named = isName ? part : part.key('field')
  const field = resource.field.get(named.isAbsent ? name : named.text)
  if (field === undefined) {
    if (named.isAbsent)
      part.report(`is not a field of ${resource.name}`, `Add field: NAME. ${suggest(name, namesOf(resource))}`)
    else named.unknown(`is not a field of ${resource.name}`, namesOf(resource))
    return undefined
  }
  if (isName) return { field, nulls: new Set(nulls) }
  part.keys(knownOfColumn)
  const own = part.key('null').isAbsent ? nulls : textsOf(part.key('null'), 'null: [NA, "-"]')
  const form = readNumberForm(part.key('number'), field) ?? readDateForm(part.key('date'), field)
  const booleans = readBooleans(part, field)
  const key = part.key('key')
  if (!key.isAbsent && field.reference === undefined) {
    key.reportKey(`is for references, and ${field.name} is none`, 'Remove it.')
  }
  return { field, nulls: new Set(own), ...(form && { form }), ...(booleans && { booleans }) }
}

function readNumberForm(part: Part, { name, type }: Field): Column['form'] {
  if (part.isAbsent) return undefined
  if (type !== 'integer' && type !== 'number' && type !== 'decimal') {
    part.reportKey(`is for numbers, and ${name} is of the type ${type}`, 'Remove it.')
    return undefined
  }
  const sample = String(part.value)
  const read = numberForm(sample)
  if (read !== undefined) return { sample, read }
  part.mustBe('the number 1234 as the file writes it', `Write ${sampleNumbers}, in quotes.`)
  return undefined
}

function readDateForm(part: Part, { name, format }: Field): Column['form'] {
  if (part.isAbsent) return undefined
  if (format !== 'date' && format !== 'date-time') {
    part.reportKey(`is for dates, and ${name} has not the format date or date-time`, 'Remove it.')
    return undefined
  }
  const read = dateForm(part.text, format === 'date-time')
  if (read !== undefined) return { sample: part.text, read }
  part.mustBe(
    'a form of dates, of YYYY, MMMM, MMM, MM, M, DD, D, HH, H, mm, ss and Z',
    `Write a form such as ${samplePatterns}.`,
  )
  return undefined
}

function readBooleans(part: Part, { name, type }: Field): Column['booleans'] {
  const [yes, no] = [part.key('true'), part.key('false')]
  if (yes.isAbsent && no.isAbsent) return undefined
  for (const each of [yes, no]) {
    if (type !== 'boolean' && !each.isAbsent)
      each.reportKey(`is for booleans, and ${name} is of the type ${type}`, 'Remove it.')
    if (each.isAbsent) each.mustBe('the word that the file has for it', 'Write both, such as true: yes and false: no.')
  }
  const words = (each: Part, value: boolean) =>
    textsOf(each, 'true: ja').map((word) => [word.toLowerCase(), value] as const)
  return new Map([...words(yes, true), ...words(no, false)])
}

/** A text, or several; a number or boolean of YAML is the text that it stands for. */
function textsOf(part: Part, example: string): string[] {
  if (part.isAbsent) return []
  const all = Array.isArray(part.value) ? part.value : [part.value]
  const isText = (each: unknown) => ['string', 'number', 'boolean'].includes(typeof each)
  if (all.every(isText)) return all.map(String)
  part.mustBe('a text, or a list of texts', `Write ${example}.`)
  return []
}

function namesOf({ fields }: Resource): string[] {
  return fields.map(({ name }) => name)
}

/** The columns of one file. */
export class Columns {
  readonly resource: Resource
  /** The columns that the map names. */
  readonly named: readonly string[]
  /** The columns that were left out because they are no fields, at most some. */
  readonly unknown = new Set<string>()
  /** The columns that were left out because the map gives the fields of their names to others, at most some. */
  readonly replaced = new Set<string>()
  readonly #map: ImportMap
  readonly #nulls: ReadonlySet<string>
  readonly #names: ReadonlyMap<string, string>

  constructor(resource: Resource, map: ImportMap = emptyMap) {
    this.resource = resource
    this.#map = map
    this.#nulls = new Set(map.nulls)
    this.named = [...map.columns.keys()]
    const pairs = [...map.columns].flatMap(([name, each]) =>
      each === 'left out' ? [] : [[each.field.name, name] as const],
    )
    this.#names = new Map(pairs)
  }

  /** The column of a name in the file; `undefined`: it is no field, which is a mistake. */
  find(name: string): Column | 'left out' | undefined {
    const mapped = this.#map.columns.get(name)
    if (mapped !== undefined) return mapped
    const isReplaced = this.#names.has(name)
    const field = isReplaced ? undefined : this.resource.field.get(name)
    if (field !== undefined) return { field, nulls: this.#nulls }
    if (!this.#map.ignoresUnknown) return undefined
    const leftOut = isReplaced ? this.replaced : this.unknown
    if (leftOut.size < mostUnknown) leftOut.add(name)
    return 'left out'
  }

  /** Why columns of which none is a field cannot be imported, although unknown ones are left out. */
  noField(names: readonly string[]): Issue {
    const delimiter = names.map(delimiterIn).find((each) => each !== undefined)
    const shown = names.map((name) => JSON.stringify(name))
    return issue('noField', { resource: this.resource.name, names: shown, delimiter })
  }

  /** The name in the file of a field, where it is another one. */
  nameOf(field: string): string | undefined {
    const name = this.#names.get(field)
    return name === field ? undefined : name
  }

  /** Why a name of the file is not that field; `undefined`: the map gives the field to no other column. */
  replacement(name: string, place: Place & Pick<Issue, 'code'>): Issue | undefined {
    const column = this.nameOf(name)
    return column === undefined ? undefined : issue('givenElsewhere', { ...place, name, column })
  }

  /** A record of JSON with the names of fields, and its texts read as the map says. */
  apply(value: unknown): { readonly value: unknown; readonly issues: readonly Issue[] } {
    const { columns, nulls, ignoresUnknown } = this.#map
    const isPlain = columns.size === 0 && nulls.length === 0 && !ignoresUnknown
    if (isPlain || !isObject(value)) return { value, issues: [] }
    const record: Record<string, unknown> = {}
    const issues: Issue[] = []
    for (const [name, each] of Object.entries(value)) {
      const column = this.find(name)
      if (column === 'left out') continue
      const member = column === undefined ? name : column.field.name
      if (Object.hasOwn(record, member)) {
        const place = { code: 'DUPLICATE_KEY', pointer: `/${member}` }
        issues.push(this.replacement(member, place) ?? issue('memberTwice', place))
      }
      const read = column !== undefined && typeof each === 'string' ? readText(column, each) : undefined
      if (read?.kind === 'wrong') issues.push(...read.issues)
      record[member] = read?.kind === 'value' ? read.value : each
    }
    const names = Object.keys(value)
    if (names.length > 0 && Object.keys(record).length === 0) issues.push(this.noField(names))
    return { value: record, issues }
  }
}

/** How many columns that are no fields are named. */
const mostUnknown = 20
