/** Our own ways with text and values, as functions of a SQLite connection: a migration uses them over whole tables. */
import type { DatabaseSync } from 'node:sqlite'
import { convertValue } from '../migration/convert.ts'
import { derived, searchText } from '../sql/derived.ts'
import type { Held } from '../sql/table-spec.ts'
import { sqlite } from './engine.ts'

type Stored = string | number | bigint | null

/** Adds `resourced_instant`, `resourced_folded`, `resourced_words` and `resourced_convert` to a connection. */
export function addFunctions(database: DatabaseSync): void {
  for (const [name, derive] of Object.entries(derived)) {
    const ofStored = (text: unknown) => (typeof text === 'string' ? derive(text) : null)
    database.function(`resourced_${name}`, { deterministic: true }, ofStored)
  }
  const words = (...texts: unknown[]) => searchText(texts as (string | null)[])
  database.function('resourced_words', { deterministic: true, varargs: true }, words)
  // SQLite counts the arguments by the function's own.
  const convert = (stored: unknown, from: unknown, to: unknown) =>
    convertStored(stored as Stored, from as Held, to as Held)
  database.function('resourced_convert', { deterministic: true, useBigIntArguments: true }, convert)
}

function convertStored(stored: Stored, from: Held, to: Held): Stored {
  const value = load(stored, from)
  if (value === null) return null
  const converted = convertValue(value, to, from)
  if (converted === undefined) return null
  // JSON text stays as it is: printing it again could change how its numbers are written.
  return isJson(from) && isJson(to) ? stored : (sqlite.store(converted, to) as Stored)
}

function load(stored: Stored, holds: Held): unknown {
  if (stored === null) return null
  if (holds === 'boolean') return Number(stored) !== 0
  if (isJson(holds)) return JSON.parse(stored as string)
  return typeof stored === 'bigint' && Number.isSafeInteger(Number(stored)) ? Number(stored) : stored
}

function isJson(holds: Held): boolean {
  return holds === 'array' || holds === 'object' || holds === 'json'
}
