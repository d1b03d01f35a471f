/** Which column of a file becomes which field, and how its texts become values of the field's type. */
import { type Collection, type Field, typesOf } from '../interface/catalog.ts'
import type { JsonValue } from '../interface/records.ts'
import type { SourceRecord } from './source.ts'

/** The field of each column; an empty text: the column is left out. */
export type Mapping = ReadonlyMap<string, string>

/** What an empty cell of CSV means. */
export type EmptyCell = 'omit' | 'null' | 'text'

/** The fields that a creation can send. */
export function importableFields({ fields }: Collection): Field[] {
  return fields.filter(({ input, read_only }) => input !== undefined && read_only !== true)
}

/** Guesses by the names: `Due on`, `dueOn` and `DUE_ON` are `due_on`, and `Project` is `project_id`. */
export function guessMapping(columns: readonly string[], fields: readonly Field[]): Mapping {
  const free = new Map(
    fields.flatMap(({ name }) => [[plain(name.replace(/_id$/, '')), name] as const, [plain(name), name] as const]),
  )
  const taken = new Set<string>()
  return new Map(
    columns.map((column) => {
      const field = free.get(plain(column)) ?? ''
      if (taken.has(field)) return [column, '']
      taken.add(field)
      return [column, field]
    }),
  )
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

/**
 * The body of the creation. A member of JSON that the first records did not have keeps its name, so that the server
 * refuses what it does not know.
 */
export function bodyOf(
  { values, content }: SourceRecord,
  { field: fields }: Collection,
  mapping: Mapping,
  empty: EmptyCell,
): Record<string, JsonValue> {
  const isCell = typeof content !== 'string'
  return Object.fromEntries(
    [...values].flatMap(([column, value]) => {
      const name = mapping.get(column) ?? column
      if (name === '') return []
      const field = fields.get(name)
      if (typeof value !== 'string' || field === undefined) return [[name, value]]
      if (isCell && value === '') {
        if (empty === 'omit') return []
        return [[name, empty === 'text' && typesOf(field.schema).includes('string') ? '' : null]]
      }
      // A string of JSON is a value already, unless the field takes no strings.
      const types = typesOf(field.input ?? {})
      return [[name, isCell || !types.includes('string') ? cellValue(value, field) : value]]
    }),
  )
}

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const booleans = new Map([
  ['true', true],
  ['yes', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['0', false],
])

/** A text as a value of a field. A text that is none stays a text: the server says at which line, and why. */
export function cellValue(text: string, { input = {}, reference }: Pick<Field, 'input' | 'reference'>): JsonValue {
  const trimmed = text.trim()
  const types = typesOf(input)
  const choice = input.enum?.find((each) => String(each).toLowerCase() === trimmed.toLowerCase())
  if (choice !== undefined) return choice as JsonValue
  if (reference !== undefined) return trimmed.toLowerCase()
  if (types.includes('boolean')) return booleans.get(trimmed.toLowerCase()) ?? text
  // The text of a decimal keeps its digits.
  if (types.includes('string') && types.includes('number')) return trimmed
  if (types.includes('string')) return momentOf(trimmed, input.format) ?? text
  if (types.includes('integer') || types.includes('number')) {
    // Beyond 15 digits a number might change.
    return number.test(trimmed) && trimmed.replace(/\D/g, '').length <= 15 ? Number(trimmed) : text
  }
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return text
  }
}

/** A date or moment as the interface writes it. A moment without a zone is one of the reader's own zone. */
function momentOf(text: string, format: string | undefined): string | undefined {
  if (format !== 'date' && format !== 'date-time') return undefined
  // Days and months between slashes have two readings; between dots and after the year they have one.
  const [, day, month, year, after = ''] = /^(\d\d?)\.(\d\d?)\.(\d{4})(.*)$/.exec(text) ?? []
  const ordered =
    year === undefined
      ? text.replace(/^(\d{4})\/(\d\d)\/(\d\d)/, '$1-$2-$3')
      : `${year}-${month?.padStart(2, '0')}-${day?.padStart(2, '0')}${after}`
  if (format === 'date') return ordered.replace(/^(\d{4}-\d\d-\d\d)[T ].*$/, '$1')
  const [, date, time = '00:00'] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?))?$/.exec(ordered) ?? []
  const moment = date === undefined ? undefined : new Date(`${date}T${time}`)
  return moment === undefined || Number.isNaN(moment.getTime()) ? ordered : moment.toISOString()
}
