/** Runs a comparison: ours, the bare server, the one by hand and those of others, in turn. */

import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { ask, type Request } from './ask.ts'
import { type Finding, findingOf, type Measurement } from './measurement.ts'
import type { Server } from './processes.ts'
import { recordAnswers } from './recording.ts'
import { type Contestant, runRounds } from './rounds.ts'
import { postsOf, type Row } from './rows.ts'
import { type Data, type Setup, startBare } from './setup.ts'

/** What measures a row of the table. */
export function comparison(row: Row): Measurement {
  return { name: row.name, measure: async (setup) => [await compareRow(setup, row)] }
}

/** What a server is asked in a row. The server is let run to be asked for tags and cursors. */
export async function contestantOf(row: Row, name: string, server: Server, data: Data): Promise<Contestant> {
  const { connections = 64, status = 200, once, script, posts } = row
  server.hold(false)
  const requests = await row.requests({ data, origin: server.origin })
  server.hold(true)
  const beside = posts === undefined ? undefined : { requests: postsOf(data), rate: posts }
  return { name, server, requests, connections, status, once, script, beside }
}

async function compareRow(setup: Setup, row: Row): Promise<Finding> {
  const { secure = false, targets } = row
  const { folder, data, pace } = setup
  const ours = await contestantOf(row, 'ours', await setup.ours(secure), data)
  const contestants = [ours]
  const ends: Server[] = []
  if ('by hand' in targets) {
    const byHand = await contestantOf(row, 'by hand', await setup.byHand(), data)
    await checkSame([ours, byHand])
    contestants.push(byHand)
  }
  if ('bare' in targets) {
    const file = join(folder, `${row.name}.json`)
    ours.server.hold(false)
    await recordAnswers(file, ours.server.origin, ours.requests)
    const server = await startBare(folder, file, secure)
    contestants.push({ ...ours, name: 'bare', server })
    ends.push(server)
  }
  for (const { name, server, translate } of secure || row.posts !== undefined ? [] : setup.peers) {
    const requests = ours.requests.flatMap((request) => translate(request) ?? [])
    // What they answer a change with is their own affair. They have no targets: two rounds are enough.
    if (requests.length > 0) contestants.push({ ...ours, name, server, requests, status: undefined, rounds: 2 })
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
async function checkSame(contestants: readonly Contestant[]): Promise<void> {
  for (const { server } of contestants) server.hold(false)
  for (const at of [0, -1]) {
    const asked = contestants.map(({ requests }) => requests.at(at) as Request)
    if (asked[0]?.method !== 'GET') return
    const answers = await Promise.all(asked.map((request, index) => read(contestants[index] as Contestant, request)))
    if (isDeepStrictEqual(answers[0], answers[1])) continue
    const shown = answers.map((answer) => JSON.stringify(answer).slice(-200)).join('\n')
    throw new Error(`${asked[0]?.path}: the servers show different records, which end with\n${shown}`)
  }
}

async function read({ server: { origin } }: Contestant, request: Request): Promise<unknown> {
  const { 'If-None-Match': _, ...headers } = request.headers
  const { body } = await ask(origin + request.path, { ...request, headers })
  const { data, pagination, included, related, ...record } = JSON.parse(body)
  // The addresses of further pages are each server's own.
  const further = JSON.parse(JSON.stringify(related ?? {}), (key, value) => (key === 'next' ? value !== null : value))
  return { record, data, total: pagination?.total_count, included, related: further }
}
