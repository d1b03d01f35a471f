/** The data: the atlas, as `npm start` loads it, and made-up records in numbers that the world does not have. */

import { uuidv7 } from 'uuidv7'
import type { Catalog, RecordValues } from '../src/model/resource.ts'
import { sqlContext } from '../src/storage/sql/context.ts'
import { representationSql } from '../src/storage/sql/records.ts'
import { Connection } from '../src/storage/sqlite/connection.ts'
import { sqlite } from '../src/storage/sqlite/engine.ts'
import type { Records } from './competitors.ts'
import { loadDirectly } from './direct-load.ts'

const now = '2026-01-01T00:00:00.000Z'

/** Reads back what a database holds, as the server shows it. */
export function recordsOf(file: string, catalog: Catalog): Records {
  const connection = new Connection(file, { readOnly: true })
  const read = (collection: string) => {
    const { sql } = representationSql(
      sqlContext({ catalog, engine: sqlite }),
      catalog.resources.get(collection)!,
      undefined,
    )
    const rows = connection.database.prepare(`select ${sql} as json from "${collection}" t`).all()
    return rows.map((row) => JSON.parse(String(row['json'])))
  }
  const records = { countries: read('countries'), cities: read('cities') }
  connection.close()
  return records
}

/** How many countries of made-up data are asked for, and how many cities each of them has: one page. */
const asked = 20
const page = 50

/**
 * Makes a database of made-up cities. However many there are, twenty countries have fifty each, spread over the whole
 * table: their pages are alike in a small table and in a large one. All other cities are in other countries.
 *
 * @param count cities in all, at least 1,000
 * @returns the ids of the twenty countries
 */
export async function makeCities(file: string, catalog: Catalog, count: number): Promise<string[]> {
  const countries = Array.from({ length: 250 }, (_, number) => countryOf(number))
  const ids = countries.map((country) => String(country['id']))
  await loadDirectly(file, catalog, { countries, cities: cities(ids, count) })
  return ids.slice(0, asked)
}

function* cities(ids: readonly string[], count: number): Iterable<RecordValues> {
  const stride = count / (asked * page)
  for (let number = 0; number < count; number++) {
    const turn = Math.floor(number / stride)
    const isAsked = Math.ceil(turn * stride) === number
    yield cityOf(number, ids[isAsked ? turn % asked : asked + (number % (ids.length - asked))] as string)
  }
}

function countryOf(number: number): RecordValues {
  const letter = (place: number) => String.fromCharCode(65 + (Math.floor(number / 26 ** place) % 26))
  return {
    id: uuidv7(),
    name: `Country ${number}`,
    official_name: `Country ${number}`,
    code: letter(1) + letter(0),
    code3: `X${letter(1)}${letter(0)}`,
    region: 'Europe',
    capitals: [],
    landlocked: false,
    languages: [],
    currencies: [],
    flag: '',
    latitude: 0,
    longitude: 0,
    created_at: now,
    updated_at: now,
  }
}

function cityOf(number: number, country_id: string): RecordValues {
  return {
    id: uuidv7(),
    name: `City number ${number}`,
    country_id,
    population: 1000 + ((number * 7919) % 1_000_000),
    feature: 'PPL',
    capital: false,
    admin_code: String(number % 90),
    latitude: (number % 18_000) / 100 - 90,
    longitude: (number % 36_000) / 100 - 180,
    created_at: now,
    updated_at: now,
  }
}
