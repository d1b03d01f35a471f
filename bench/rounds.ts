/**
 * Measurements side by side: each round asks every server once, so that whatever disturbs one disturbs its neighbours.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from './ask.ts'
import type { Server } from './processes.ts'
import { type Load, type Round, runLoad, writeScript } from './wrk.ts'

/** A server in a measurement. */
export interface Contestant extends Omit<Load, 'origin'> {
  readonly name: string
  readonly server: Server
  /** The status that all its answers have. */
  readonly status: number
  /** Seconds of processor time that others have used for it: a database. */
  readonly behind?: () => number
}

/** How long and how often. */
export interface Pace {
  readonly rounds: number
  readonly seconds: number
  readonly warmUp: number
}

/** What came of a contestant in all rounds. */
export interface Result {
  /** Answers a second, by round. */
  readonly rates: number[]
  /**
   * Answers for each second of processor time that the server used, and what is behind it, by round: it does not count
   * what others took.
   */
  readonly thrift: number[]
  /** The same by the time of the server alone. */
  readonly own: number[]
  /** The slowest 99th percentile, in milliseconds. */
  slow: number
}

/** By the names of the contestants. */
export type Results = ReadonlyMap<string, Result>

/**
 * Runs the rounds: A B A B, after a warm-up of each.
 *
 * @param folder where scripts are written
 * @throws Error where a server does not answer as it should
 */
export async function runRounds(contestants: readonly Contestant[], pace: Pace, folder: string): Promise<Results> {
  const results = new Map(
    contestants.map(({ name }): [string, Result] => [name, { rates: [], thrift: [], own: [], slow: 0 }]),
  )
  const measure = (contestant: Contestant, seconds: number): Promise<Round> =>
    alone(contestant, () => runLoad(scriptOf(contestant, folder), loadOf(contestant), seconds))
  for (const contestant of contestants) {
    // One server may take part twice.
    contestant.server.hold(false)
    await checkAnswers(contestant)
    writeScript(scriptOf(contestant, folder), loadOf(contestant))
    contestant.server.hold(true)
  }
  for (const contestant of contestants) await measure(contestant, pace.warmUp)
  for (let round = 0; round < pace.rounds; round++) {
    for (const contestant of contestants) {
      const { server, behind = () => 0, name } = contestant
      const before = { server: server.work(), behind: behind() }
      const { rate, slow } = await measure(contestant, pace.seconds)
      const worked = server.work() - before.server
      const result = results.get(name)!
      result.rates.push(rate)
      result.thrift.push((rate * pace.seconds) / (worked + behind() - before.behind))
      result.own.push((rate * pace.seconds) / worked)
      result.slow = Math.max(result.slow, slow)
    }
  }
  for (const { server } of contestants) server.hold(false)
  return results
}

async function alone<T>({ server }: Contestant, work: () => Promise<T>): Promise<T> {
  server.hold(false)
  try {
    return await work()
  } finally {
    // What the load gave up when its time was over: held with it, the server would have it on its hands in the next
    // round.
    await sleep(200)
    server.hold(true)
  }
}

function scriptOf({ name }: Contestant, folder: string): string {
  return join(folder, `${name}.lua`)
}

function loadOf({ server: { origin }, requests, connections, also, script }: Contestant): Load {
  return { origin, requests, connections, also, script }
}

// wrk only counts what is an error: that the answers are those expected is seen beforehand.
async function checkAnswers({ name, server, requests, status }: Contestant): Promise<void> {
  for (const request of [...requests.slice(0, 2), ...requests.slice(-2)]) {
    const answer = await ask(server.origin + request.path, request)
    if (answer.status === status) continue
    const asked = `${request.method} ${request.path}`
    throw new Error(`${name} answers ${asked} with ${answer.status}, not ${status}: ${answer.body.slice(0, 300)}`)
  }
}

/** The middle of some numbers, and the least and the most of them. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** How numbers are spread. */
export function spreadOf(numbers: readonly number[]): Spread {
  const sorted = [...numbers].sort((left, right) => left - right)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN }
}

/** The ratios of what was measured side by side: of rates, or of answers by processor time. */
export function ratiosOf(
  results: Results,
  name: string,
  yardstick: string,
  by: 'rates' | 'thrift' | 'own' = 'rates',
): Spread {
  const left = results.get(name)?.[by] ?? []
  const right = results.get(yardstick)?.[by] ?? []
  return spreadOf(left.map((rate, round) => rate / (right[round] as number)))
}
