/** The data: the atlas, as `npm start` loads it, and made-up records in numbers that the world does not have. */

import type { Catalog, RecordValues } from 'resourced-contract/model/resource'
import { uuidv7 } from 'uuidv7'
import { sqlContext } from '../packages/server/src/storage/sql/context.ts'
import { representationSql } from '../packages/server/src/storage/sql/records.ts'
import { Connection } from '../packages/server/src/storage/sqlite/connection.ts'
import { sqlite } from '../packages/server/src/storage/sqlite/dialect.ts'
import type { Records } from './competitors.ts'
import { loadDirectly } from './direct-load.ts'

const now = '2026-01-01T00:00:00.000Z'

/** Reads back what a database holds, as the server shows it. */
export function recordsOf(file: string, catalog: Catalog): Records {
  const connection = new Connection(file, { readOnly: true })
  const read = (collection: string) => {
    const context = sqlContext({ catalog, dialect: sqlite })
    const { sql } = representationSql(context, { resource: catalog.resources.get(collection)! })
    const rows = connection.database.prepare(`select ${sql} as json from "${collection}" t`).all()
    return rows.map((row) => JSON.parse(String(row['json'])))
  }
  const records = { countries: read('countries'), cities: read('cities') }
  connection.close()
  return records
}

/** How many countries of made-up data are asked for, and how many cities each of them has. */
const [asked, citiesEach] = [10, 800]

/**
 * Makes a database of made-up cities. However many there are, ten countries have 800 each, spread over the whole table,
 * with names of their own: what is asked of these is alike in a small table and in a large one. All other cities are in
 * other countries.
 *
 * @param count cities in all, at least 8,000; or none
 * @returns the countries that can be asked for, and their cities
 */
export async function makeCities(file: string, catalog: Catalog, count: number): Promise<Records> {
  const countries = Array.from({ length: 250 }, (_, number) => countryOf(number))
  const known: RecordValues[] = []
  await loadDirectly(file, catalog, { countries, cities: citiesOf(countries, count, known) })
  return { countries: countries.slice(0, asked), cities: known }
}

function* citiesOf(countries: readonly RecordValues[], count: number, known: RecordValues[]): Iterable<RecordValues> {
  const stride = count / (asked * citiesEach)
  for (let number = 0; number < count; number++) {
    const turn = Math.floor(number / stride)
    const isAsked = Math.ceil(turn * stride) === number
    const country = countries[isAsked ? turn % asked : asked + (number % (countries.length - asked))]
    const city = cityOf(number, country?.['id'] as string, isAsked ? nameOf(turn) : `City number ${number}`)
    if (isAsked) known.push(city)
    yield city
  }
}

/** Two words, the second of fifty that go with the first. */
function nameOf(turn: number): string {
  const letters = (number: number) => String.fromCharCode(97 + Math.floor(number / 26), 97 + (number % 26))
  return `Ask${letters(turn % 40)} Tow${letters(Math.floor(turn / 40) % 50)}`
}

/** Cities as lines of NDJSON that can be imported into a made-up database. */
export function* linesOf({ countries }: Records, count: number): Iterable<string> {
  for (let number = 0; number < count; number++) {
    const country = String(countries[number % countries.length]?.['id'])
    const { id: _id, created_at: _created, updated_at: _updated, ...body } = cityOf(number, country, `City ${number}`)
    yield `${JSON.stringify(body)}\n`
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

function cityOf(number: number, country_id: string, name: string): RecordValues {
  return {
    id: uuidv7(),
    name,
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
