/** The measurement of writes. */
import type { Request } from './ask.ts'
import { jsonServer, platformatic } from './competitors.ts'
import type { Measurement } from './measurement.ts'
import { declaration } from './ours.ts'
import { withPeers } from './reads.ts'
import { copyOf, type Setup, startYardstick } from './setup.ts'

const connections = 64
const variety = 2000

/** Creating records that are on the disk when the answer comes. */
export const create: Measurement = {
  name: 'create',
  title: 'Durable POST of a city, from 64 connections',
  yardstick: 'a commit for each',
  target: 2,
  repeated: false,
  prepare: async (setup) => {
    const { data, folder, ours } = setup
    const args = [declaration, 'cities', copyOf(data.file, folder)]
    const committer = await startYardstick(setup, 'bare-committer.ts', args)
    const requests = bodies(setup).map((body) => post(setup, '/v1/cities', body))
    const numbers = new Map(data.records.countries.map(({ id }, index) => [id, index + 1]))
    const flat = bodies(setup).map(({ country_id, admin_code, ...body }) => ({
      ...body,
      countryId: numbers.get(country_id),
      adminCode: admin_code,
      capital: Number(body['capital']),
    }))
    const contest = {
      contestants: [
        { name: 'ours', server: ours, requests, connections, status: 201 },
        { name: 'committer', server: committer, requests, connections, status: 201 },
      ],
      ends: [committer],
    } as const
    const created = withPeers(
      contest,
      setup,
      {
        [jsonServer.name]: bodies(setup).map((body) => post(setup, '/cities', body)),
      },
      201,
    )
    return withPeers(created, setup, { [platformatic.name]: flat.map((body) => post(setup, '/cities/', body)) })
  },
}

function bodies({ data: { records } }: Setup): Record<string, unknown>[] {
  return Array.from({ length: variety }, (_, turn) => {
    const city = records.cities[(turn * 7919) % records.cities.length]
    const { id: _id, created_at: _created, updated_at: _updated, ...body } = city ?? {}
    return { ...body, name: `${body['name']} ${turn}` }
  })
}

function post({ data }: Setup, path: string, body: object): Request {
  const headers = { Authorization: data.authorization, 'Content-Type': 'application/json' }
  return { method: 'POST', path, headers, body: JSON.stringify(body) }
}
