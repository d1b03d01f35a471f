/** The measurements of older versions: what they cost beside the current one. */
import { fileURLToPath } from 'node:url'
import { findingOf, type Measurement } from './measurement.ts'
import { ours } from './ours.ts'
import { freePort, startServer } from './processes.ts'
import { runRounds } from './rounds.ts'
import { copyOf, get, type Setup } from './setup.ts'

const connections = 64
const variety = { cities: 2000, countries: 100 }
const declared = fileURLToPath(new URL('older-atlas.ts', import.meta.url))

/** Version 2, in which a field has another name. */
export const renamed = versus('renamed', 'Page of 50 cities in an older version, a field renamed', 'v2', 0.7, pagesOf)
export const renamedCity = versus(
  'renamed-city',
  'GET of one city in an older version, a field renamed',
  'v2',
  0.7,
  citiesOf,
)
/** Version 1, in which a field is converted by a function. */
export const converted = versus(
  'converted',
  'Page of 50 cities in an older version, a field converted',
  'v1',
  0.3,
  pagesOf,
)

function versus(
  name: string,
  title: string,
  older: string,
  target: number,
  pathsOf: (setup: Setup) => string[],
): Measurement {
  return {
    name,
    extra: true,
    async measure(setup) {
      const { folder, data, pace } = setup
      // Two of them, since whoever is not asked is held. Their start renames and converts what the atlas holds.
      const start = async (which: string) => {
        const database = `sqlite:${copyOf(data.file, folder)}`
        const start = ours(folder, `versions-${which}`, database, await freePort(), false, declared)
        return startServer({ ...start, patience: 120_000 })
      }
      const [asked, beside] = [await start('older'), await start('current')]
      const requestsOf = (version: string) => pathsOf(setup).map((path) => get(data, `/${version}${path}`))
      const current = 'the current version'
      const results = await runRounds(
        [
          { name: 'ours', server: asked, requests: requestsOf(older), connections, status: 200 },
          { name: current, server: beside, requests: requestsOf('v3'), connections, status: 200 },
        ],
        pace,
        folder,
      )
      for (const server of [asked, beside]) await server.stop()
      return [findingOf(title, results, 'ours', { [current]: target })]
    },
  }
}

function pagesOf({ data: { records } }: Setup): string[] {
  const counts = Map.groupBy(records.cities, ({ country_id }) => country_id)
  const large = records.countries.filter(({ id }) => (counts.get(id)?.length ?? 0) >= 50).slice(0, variety.countries)
  return large.map(({ id }) => `/cities?country_id=${id}&per_page=50`)
}

function citiesOf({ data: { records } }: Setup): string[] {
  const step = Math.floor(records.cities.length / variety.cities)
  return Array.from({ length: variety.cities }, (_, index) => `/cities/${records.cities[index * step]?.id}`)
}
