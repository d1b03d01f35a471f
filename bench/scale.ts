/** The measurement of size: the same page over a thousand records and over very many. */
import { join } from 'node:path'
import { makeCities } from './atlas.ts'
import type { Measurement } from './measurement.ts'
import { createKey } from './ours.ts'
import type { Contestant } from './rounds.ts'
import { get, type Setup, startOurs } from './setup.ts'

const connections = 64

/** The page with its total, whatever the number of records. */
export function scale(count: number): Measurement {
  return {
    name: 'scale',
    title: `The page with its total over ${count.toLocaleString('en')} cities`,
    yardstick: 'ours over 1,000',
    target: 0.85,
    repeated: false,
    prepare: async (setup) => {
      const large = await startOn(setup, 'ours over many', count)
      const small = await startOn(setup, 'ours over 1,000', 1000)
      return { contestants: [large, small], ends: [large.server, small.server] }
    },
  }
}

async function startOn({ folder, data }: Setup, name: string, count: number): Promise<Contestant> {
  const file = join(folder, `cities-${count}.db`)
  const countries = await makeCities(file, data.catalog, count)
  const authorization = `Bearer ${createKey(`sqlite:${file}`)}`
  const server = await startOurs(folder, file, false)
  const requests = countries.map((id) => get({ ...data, authorization }, `/v1/cities?country_id=${id}&per_page=50`))
  return { name, server, requests, connections, status: 200 }
}
