/** Runs of requests against both engines, and what is different in their answers. */
import { completeVersions } from '../../packages/server/src/versions/versions.ts'
import { randomFrom } from '../durability/random.ts'
import { menagerie } from './declaration.ts'
import { Known } from './known.ts'
import { nextRequest } from './requests.ts'
import { type Answered, type Asked, openTwins, type Twins } from './twins.ts'

/** Two answers that differ, or a failure of one engine that no answer should come from. */
export interface Difference {
  readonly asked: Asked
  readonly sqlite: Answered
  readonly postgres: Answered
}

/** A run that found a difference: the requests up to it. */
export interface Found {
  readonly difference: Difference
  readonly requests: readonly Asked[]
}

const beginning = Date.UTC(2026, 0, 1)
const day = 86_400_000

/** Asks so many requests that come from a seed; `undefined`: all answers are the same. */
export async function runSeed(
  seed: number,
  count: number,
  seen?: (answered: Answered, asked: Asked) => void,
): Promise<Found | undefined> {
  const random = randomFrom(seed)
  const declaration = menagerie(random)
  const { all } = completeVersions(declaration)
  const catalogs = new Map([...all].map(([name, { catalog }]) => [name, catalog]))
  const known = new Known()
  const requests: Asked[] = []
  return using(seed, async (twins) => {
    let at = beginning
    for (let number = 1; number <= count; number++) {
      // Several requests come in one millisecond; now and then a month goes by.
      at += random() < 0.3 ? 0 : random() < 0.01 ? 31 * day : Math.floor(random() * 2_000)
      const asked = nextRequest({ random, known, catalogs }, number, at)
      requests.push(asked)
      const [sqlite, postgres] = await twins.ask(asked)
      if (differ(sqlite, postgres)) return { difference: { asked, sqlite, postgres }, requests }
      known.learn(asked, sqlite)
      seen?.(sqlite, asked)
    }
    return undefined
  })
}

/** Whether requests, asked of empty databases, end in a difference: the first one. */
async function replay(seed: number, requests: readonly Asked[]): Promise<Difference | undefined> {
  return using(seed, async (twins) => {
    for (const asked of requests) {
      const [sqlite, postgres] = await twins.ask(asked)
      if (differ(sqlite, postgres)) return { asked, sqlite, postgres }
    }
    return undefined
  })
}

/** Leaves out what a difference does not need, in ever smaller parts. */
export async function shrink(seed: number, found: Found, patience = 120_000): Promise<Found> {
  const end = Date.now() + patience
  let { difference, requests } = found
  for (let size = Math.ceil(requests.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < requests.length && Date.now() < end; ) {
      const fewer = [...requests.slice(0, from), ...requests.slice(from + size)]
      const still = fewer.length > 0 ? await replay(seed, fewer) : undefined
      if (still === undefined) from += size
      else {
        difference = still
        requests = fewer.slice(0, fewer.indexOf(still.asked) + 1)
      }
    }
  }
  return { difference, requests }
}

/** A difference in words. */
export function describe(seed: number, { difference, requests }: Found): string {
  const { asked, sqlite, postgres } = difference
  const sent = requests.map(
    ({ number, as, method, target, headers, body }) =>
      `${number} ${as}: ${method} ${target} ${JSON.stringify(headers)} ${body ?? ''}`,
  )
  const lines = [
    `SEED=${seed}: request ${asked.number} is answered differently.`,
    ...sent,
    ...unlike('status', sqlite, postgres),
  ]
  return [
    ...lines,
    ...unlike('headers', sqlite, postgres),
    ...unlike('body', sqlite, postgres),
    ...failures(sqlite, postgres),
  ].join('\n')
}

function failures(sqlite: Answered, postgres: Answered): string[] {
  return [
    ...sqlite.failures.map((each) => `SQLite failed: ${each}`),
    ...postgres.failures.map((each) => `PostgreSQL failed: ${each}`),
  ]
}

function unlike(part: 'status' | 'headers' | 'body', sqlite: Answered, postgres: Answered): string[] {
  const [left, right] = [JSON.stringify(sqlite[part]), JSON.stringify(postgres[part])]
  if (left === right) return []
  let at = 0
  while (left[at] === right[at]) at++
  const show = (text: string) => text.slice(Math.max(0, at - 300), at + 500)
  return [`${part}, SQLite:     ${show(left)}`, `${part}, PostgreSQL: ${show(right)}`]
}

function differ(sqlite: Answered, postgres: Answered): boolean {
  return JSON.stringify(sqlite) !== JSON.stringify(postgres) || sqlite.failures.length > 0
}

async function using<T>(seed: number, work: (twins: Twins) => Promise<T>): Promise<T> {
  const twins = await openTwins(menagerie(randomFrom(seed)))
  try {
    return await work(twins)
  } finally {
    await twins.close()
  }
}
