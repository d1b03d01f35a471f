/** The delay of GETs, a thousand a second, beside one slow request at a time. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ask, type Request } from './ask.ts'
import { comparisonOf, type Finding, type Measurement } from './measurement.ts'
import { messageOf, runOpenLoad } from './open-load.ts'
import { createKey, openAtlasIn, ours } from './ours.ts'
import { freePort, startServer } from './processes.ts'
import { spreadOf } from './rounds.ts'
import { rows } from './rows.ts'

/** The most that the 99th percentile is of the one without the slow request. */
const target = 3
const rate = 1_000

/** What is slow, and the address. Each request has another number: nothing is remembered for it. */
const kinds: readonly { readonly title: string; path(number: number): string }[] = [
  {
    title: 'one `contains` on a field without an index',
    path: (number) => `name[contains]=nowhere${number}&per_page=50`,
  },
  {
    title: 'one search of a common prefix',
    path: (number) => `q=${'city'.slice(0, 2 + (number % 3))}&per_page=${50 - (number % 40)}`,
  },
  { title: 'one page by number, very deep', path: (number) => `per_page=50&page=${10_000 + number}` },
]

export const slowRead: Measurement = {
  name: 'slow-read',
  async measure({ folder, pace, many, made, say }) {
    const data = await made(many)
    const authorization = `Bearer ${createKey(`sqlite:${data.file}`, 'slow')}`
    // Reader threads are there to use other cores.
    const start = ours(folder, 'slow-read', `sqlite:${data.file}`, await freePort(), false, openAtlasIn(folder))
    const server = await startServer({ ...start, cores: '0,1', patience: 120_000 })
    const { origin } = server
    const gets = await rows.find(({ name }) => name === 'get')!.requests({ data, origin })
    const messages = gets.map((request) => messageOf(request))
    const load = { origin, messages, rate, connections: 1_000, patience: 60_000, seconds: pace.seconds + 1 }
    const delay = async (slow?: () => Promise<unknown>) => {
      let ended = false
      const beside = (async () => {
        for (; slow !== undefined && !ended; ) await slow()
      })()
      const { good } = await runOpenLoad(load)
      ended = true
      await beside
      return good[1]
    }
    const findings: Finding[] = []
    const measure = async (title: string, slow: () => Promise<unknown>, rounds = pace.rounds) => {
      const [alone, together]: [number[], number[]] = [[], []]
      for (let round = 0; round < Math.min(3, rounds); round++) {
        alone.push(await delay())
        together.push(await delay(slow))
      }
      say(`  ${title}`)
      findings.push({
        title: `GET at ${rate.toLocaleString('en')} a second over ${many.toLocaleString('en')} records, 99th percentile beside ${title}`,
        unit: 'ms',
        own: spreadOf(together),
        comparisons: [comparisonOf('without it', together, alone, { atMost: target })],
      })
    }
    const slowly = (request: Omit<Request, 'headers'>, headers = {}) =>
      ask(origin + request.path, { ...request, headers: { Authorization: authorization, ...headers } })
    await delay()
    for (const { title, path } of kinds) {
      let number = 0
      const took: number[] = []
      const statuses = new Set<number>()
      await measure(title, async () => {
        const began = performance.now()
        const { status } = await slowly({ method: 'GET', path: `/v1/cities?${path(number++)}` })
        statuses.add(status)
        took.push(performance.now() - began)
      })
      say(`    it took ${spreadOf(took).median.toFixed(0)} ms, status ${[...statuses].join(', ')}`)
    }
    // The deletion goes on in the background: the whole round is beside it, but it happens once.
    let deleted = false
    const prefer = { Prefer: 'respond-async' }
    const path = '/v1/cities?population[gte]=800000'
    await measure(
      'one asynchronous `DELETE` by filter',
      async () => {
        if (deleted) return sleep(10)
        deleted = true
        const began = performance.now()
        const { status } = await slowly({ method: 'DELETE', path }, prefer)
        say(`    ${status} after ${(performance.now() - began).toFixed(0)} ms`)
      },
      1,
    )
    await server.stop()
    return findings
  },
}
