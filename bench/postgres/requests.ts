/** What is asked: many different requests, sent in turn. */
import type { Request } from '../ask.ts'
import type { Stage } from './stage.ts'

/** How many of each. */
const variety = { cities: 2000, countries: 100, searches: 200, bodies: 2000 }

function get({ authorization }: Stage, path: string): Request {
  return { method: 'GET', path, headers: { Authorization: authorization } }
}

/** Single records. */
export function cityRequests(stage: Stage): Request[] {
  return everyNth(stage.records.cities, variety.cities).map(({ id }) => get(stage, `/v1/cities/${id}`))
}

/** First pages of countries that have more than one, in a style of pages. */
export function pages(stage: Stage, style: string): Request[] {
  const counts = new Map<unknown, number>()
  for (const { country_id } of stage.records.cities) counts.set(country_id, (counts.get(country_id) ?? 0) + 1)
  const large = stage.records.countries.filter(({ id }) => (counts.get(id) ?? 0) > 50).slice(0, variety.countries)
  return large.map(({ id }) => get(stage, `/v1/cities?country_id=${id}&${style}`))
}

/** Beginnings of names. */
export function searches(stage: Stage): Request[] {
  const names = everyNth(stage.records.cities, variety.searches * 3).map(({ name }) => String(name).toLowerCase())
  const plain = [...new Set(names.filter((name) => /^[a-z]{5,}$/.test(name)).map((name) => name.slice(0, 4)))]
  return plain.slice(0, variety.searches).map((word) => get(stage, `/v1/cities?q=${word}&per_page=20`))
}

/** POST of cities like those that there are. */
export function creations(stage: Stage): Request[] {
  const headers = { Authorization: stage.authorization, 'Content-Type': 'application/json' }
  return everyNth(stage.records.cities, variety.bodies).map(({ id: _, ...body }, turn) => ({
    ...{ method: 'POST', path: '/v1/cities', headers },
    body: JSON.stringify({ ...body, name: `${body['name']} ${turn}` }),
  }))
}

/** PATCH of their populations; see `patching` for the entity tags. */
export function patches(stage: Stage): Request[] {
  const headers = {
    Authorization: stage.authorization,
    'Content-Type': 'application/merge-patch+json',
    'If-Match': '*',
  }
  return everyNth(stage.records.cities, variety.cities).map(({ id }) => ({
    ...{ method: 'PATCH', path: `/v1/cities/${id}`, headers },
    body: JSON.stringify({ population: 1_000_000 }),
  }))
}

/** So many items, spread over all of them, in an order that jumps about. */
function everyNth<T>(all: readonly T[], count: number): T[] {
  return Array.from({ length: Math.min(count, all.length) }, (_, turn) => all[(turn * 7919) % all.length] as T)
}
