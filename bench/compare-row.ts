/** Runs a comparison: ours, the bare server, the one by hand and those of others, in turn. */

import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { ask, type Request } from './ask.ts'
import { findingOf, type Measurement } from './measurement.ts'
import type { Server } from './processes.ts'
import { recordAnswers } from './recording.ts'
import { type Contestant, runRounds } from './rounds.ts'
import { postsOf, type Row } from './rows.ts'
import { type Setup, startBare } from './setup.ts'

/** What measures a row of the table. */
export function comparison(row: Row): Measurement {
  return { name: row.name, measure: async (setup) => [await compareRow(setup, row)] }
}

async function compareRow(setup: Setup, row: Row): Promise<ReturnType<typeof findingOf>> {
  const { connections = 64, status = 200, secure = false, once, script, posts, targets } = row
  const { folder, data, pace } = setup
  const beside = posts === undefined ? undefined : { requests: postsOf(data), rate: posts }
  const contestant = (name: string, server: Server, requests: readonly Request[]): Contestant => ({
    ...{ name, server, requests, connections, status, once, script, beside },
  })
  const requestsFor = async (server: Server) => {
    server.hold(false)
    return row.requests({ data, origin: server.origin })
  }
  const ours = await setup.ours(secure)
  const requests = await requestsFor(ours)
  const contestants = [contestant('ours', ours, requests)]
  const ends: Server[] = []
  if ('by hand' in targets) {
    const server = await setup.byHand()
    const asked = await requestsFor(server)
    await checkSame([ours, server], [requests, asked])
    contestants.push(contestant('by hand', server, asked))
  }
  if ('bare' in targets) {
    const file = join(folder, `${row.name}.json`)
    await recordAnswers(file, ours.origin, requests)
    const server = await startBare(folder, file, secure)
    contestants.push(contestant('bare', server, requests))
    ends.push(server)
  }
  for (const { name, server, requests: known } of setup.peers) {
    const asked = known[row.name]
    // What they answer a change with is their own affair.
    if (server !== undefined && asked !== undefined) {
      contestants.push({ ...contestant(name, server, asked), status: undefined })
    }
  }
  for (const { server } of contestants) server.hold(true)
  const results = await runRounds(contestants, pace, folder)
  for (const { server } of contestants) server.hold(true)
  for (const server of ends) await server.stop()
  const others = setup.peers.filter(({ name }) => results.has(name)).map(({ name }) => [name, undefined] as const)
  return findingOf(row.title, results, 'ours', { ...targets, ...Object.fromEntries(others) })
}

/**
 * Compares what two servers answer to the first and the last request that changes nothing.
 *
 * @throws Error if the records or their number differ
 */
async function checkSame(servers: readonly [Server, Server], requests: readonly (readonly Request[])[]): Promise<void> {
  for (const at of [0, -1]) {
    const answers = await Promise.all(
      servers.map(async ({ origin }, index) => {
        const request = requests[index]?.at(at) as Request
        if (request.method !== 'GET') return undefined
        const { 'If-None-Match': _, ...headers } = request.headers
        const { body } = await ask(origin + request.path, { ...request, headers })
        const { data, pagination, ...record } = JSON.parse(body)
        return { record, data, total: pagination?.total_count }
      }),
    )
    if (isDeepStrictEqual(answers[0], answers[1])) continue
    const shown = answers.map((answer) => JSON.stringify(answer).slice(-200)).join('\n')
    throw new Error(`${requests[0]?.at(at)?.path}: the servers show different records, which end with\n${shown}`)
  }
}
