/** SQLite's words for tables. */

import type { Dialect } from '../sql/dialect.ts'
import type { Held } from '../sql/table-spec.ts'
import type { ColumnSpec, Constraint, IndexSpec } from '../sql/tables.ts'
import { partNames } from './search-parts.ts'

// SQLite has neither booleans nor JSON of its own: they are 0 and 1, and text.
const types = {
  text: 'text',
  integer: 'integer',
  real: 'real',
  boolean: 'integer',
  json: 'text',
  bytes: 'blob',
} as const

const constraints: Readonly<Record<Constraint, string>> = {
  row: ' primary key',
  'primary key': ' primary key',
  'unique not null': ' not null unique',
  'not null': ' not null',
  none: '',
}

const conditions: Readonly<Record<IndexSpec['where'], string>> = {
  everything: '',
  live: ' where deleted_at is null',
  deletion: ' where _deletion is not null',
}

// Words come from `words()` already, so the tokenizer only has to take them apart at the spaces: it keeps every kind of
// character that a word can have, and leaves marks alone. Without content the texts are not kept a second time.
const tokenizer = `content='', contentless_delete=1, tokenize="unicode61 categories 'L* M* N* Co' remove_diacritics 0"`

// Tidying goes along with changes, so many pages for so many changes: smaller pages make it smaller steps. It begins where
// half of the rows are gone: at a tenth, the default, a purge of everything would write the index nine times over.
const settings = { pgsz: 500, deletemerge: 50 } as const

/** SQLite 3.53, as it comes with the pinned Node. */
export const sqlite: Dialect = {
  layout: { clockSlots: 1, namesRow: false, keepsPieces: false },
  types,
  identifier,
  columnDefinition,
  createTable: ({ name, columns }) =>
    `create table ${identifier(name)} (${columns.map(columnDefinition).join(', ')}) strict`,
  createIndex: ({ name, table, columns, unique, where }) =>
    `create ${unique ? 'unique ' : ''}index ${identifier(name)} on ${identifier(table)} ` +
    `(${columns.map(identifier).join(', ')})${conditions[where]}`,
  createSearch: ({ name }) => partNames(name).map(createPart).join('; '),
  store,
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function createPart(name: string): string {
  const part = identifier(name)
  const set = Object.entries(settings).map(
    ([word, value]) => `insert into ${part} (${part}, rank) values ('${word}', ${value})`,
  )
  return [`create virtual table ${part} using fts5 (words, ${tokenizer})`, ...set].join('; ')
}

function columnDefinition({ name, type, constraint }: ColumnSpec): string {
  return `${identifier(name)} ${types[type]}${constraints[constraint]}`
}

function store(value: unknown, holds: Held): unknown {
  if (value === null || value === undefined) return null
  if (holds === 'boolean') return value === true ? 1 : 0
  return holds === 'array' || holds === 'object' || holds === 'json' ? JSON.stringify(value) : value
}
