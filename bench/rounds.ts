/**
 * Measurements side by side: each round asks every server once, so that whatever disturbs one disturbs its neighbours.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask, type Request } from './ask.ts'
import { sendBeside } from './beside.ts'
import type { Server } from './processes.ts'
import { type Load, type Round, runLoad, writeScript } from './wrk.ts'

/** A server in a measurement. */
export interface Contestant extends Omit<Load, 'origin' | 'once'> {
  readonly name: string
  readonly server: Server
  /** How many requests a round has, where each is sent once only; all of them, again and again, where left out. */
  readonly once?: number | undefined
  /** In how many rounds it takes part, of all; in all of them, where left out. */
  readonly rounds?: number | undefined
  /** What else is sent meanwhile, so many times a second. */
  readonly beside?: { readonly requests: readonly Request[]; readonly rate: number } | undefined
  /** The status that all its answers have; any that is no error, where left out. */
  readonly status: number | undefined
  /** Seconds of processor time that others have used for it: a database. */
  readonly behind?: () => number
}

/** How long and how often. */
export interface Pace {
  readonly rounds: number
  readonly seconds: number
  /** Seconds of processor time before the first round. */
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

/** The requests of the warm-up, where each is sent once, and those at the end that only check the answers. */
const [first, spare] = [4_000, 4]

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
  const measure = (contestant: Contestant, round: number, seconds: number): Promise<Round> => {
    const script = join(folder, `${contestant.name}.lua`)
    const load = loadOf(contestant, round)
    if (round === 0 || load.once) writeScript(script, load)
    return alone(contestant, async () => {
      const ended = sendBeside(contestant.server.origin, contestant.beside)
      try {
        return await runLoad(script, load, seconds)
      } finally {
        await ended()
      }
    })
  }
  for (const contestant of contestants) {
    // One server may take part twice.
    contestant.server.hold(false)
    await checkAnswers(contestant)
    contestant.server.hold(true)
  }
  for (const contestant of contestants) {
    const { server, once, connections } = contestant
    const until = server.work() + pace.warmUp * 0.8
    // On a busy machine it takes longer. What is sent once is there once, and a single client leaves the server idle.
    const most = once !== undefined ? 1 : connections === 1 ? 2 : 6
    for (let turn = 0; turn < most && server.work() < until; turn++) {
      await measure(contestant, 0, pace.warmUp)
    }
  }
  for (let round = 1; round <= roundsOf(contestants, pace); round++) {
    for (const contestant of contestants) {
      const { server, behind = () => 0, name, rounds = round } = contestant
      if (round > rounds) continue
      const before = { server: server.work(), behind: behind() }
      const { rate, answers, slow } = await measure(contestant, round, pace.seconds)
      const worked = server.work() - before.server
      const result = results.get(name)!
      result.rates.push(rate)
      result.thrift.push(answers / (worked + behind() - before.behind))
      result.own.push(answers / worked)
      result.slow = Math.max(result.slow, slow)
    }
  }
  for (const { server } of contestants) server.hold(false)
  return results
}

/** As many rounds as there are requests for. */
function roundsOf(contestants: readonly Contestant[], { rounds }: Pace): number {
  const possible = contestants.map(({ requests, once }) =>
    once === undefined ? rounds : Math.floor((requests.length - first - spare) / once),
  )
  return Math.min(rounds, ...possible)
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

function loadOf({ server: { origin }, requests, once, connections, also, script }: Contestant, round: number): Load {
  if (once === undefined) return { origin, requests, connections, also, script }
  const start = round === 0 ? 0 : first + (round - 1) * once
  const those = requests.slice(start, round === 0 ? first : start + once)
  return { origin, requests: those, once: true, connections, also, script }
}

// wrk only counts what is an error: that the answers are those expected is seen beforehand.
async function checkAnswers({ name, server, requests, status }: Contestant): Promise<void> {
  for (const request of requests.slice(-spare / 2)) {
    const answer = await ask(server.origin + request.path, request)
    if (status === undefined ? answer.status < 300 : answer.status === status) continue
    const asked = `${request.method} ${request.path}`
    throw new Error(
      `${name} answers ${asked} with ${answer.status}, not ${status ?? '2xx'}: ${answer.body.slice(0, 300)}`,
    )
  }
}

/** The middle of some numbers, and the least and the most of them. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** How numbers are spread. The best of them is the most, or the least, as the case may be. */
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
