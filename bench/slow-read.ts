/** The delay of GETs, a thousand a second, beside one slow request at a time. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from './ask.ts'
import { comparisonOf, type Finding, type Measurement } from './measurement.ts'
import { messageOf, runOpenLoad } from './open-load.ts'
import { createKey, openAtlasIn, ours } from './ours.ts'
import { freePort, startServer } from './processes.ts'
import { spreadOf } from './rounds.ts'
import { rows } from './rows.ts'

/** The most that the 99th percentile is of the one without the slow request. */
const target = 3
const rate = 1_000

/** What is slow, and its query. Each request has another number: no total is remembered for it. */
const kinds: readonly { readonly title: string; query(number: number, many: number): string }[] = [
  {
    title: 'one `contains` on a field without an index',
    query: (number) => `name[contains]=nowhere${number}&per_page=50`,
  },
  { title: 'one search of a common prefix', query: (number) => `q=cit&population[gte]=${number}&per_page=50` },
  {
    title: 'one of the last pages by number',
    query: (number, many) => `per_page=50&page=${many / 50 - 1 - (number % 1_000)}`,
  },
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
    /** The 99th percentile of the GETs, while something is done again and again. */
    const delay = async (meanwhile?: () => Promise<unknown>) => {
      let ended = false
      const beside = (async () => {
        while (meanwhile !== undefined && !ended) await meanwhile()
      })()
      const { good } = await runOpenLoad(load)
      ended = true
      await beside
      return good[1]
    }
    const measure = async (title: string, rounds: number, slow: () => Promise<unknown>): Promise<Finding> => {
      const [alone, together]: [number[], number[]] = [[], []]
      for (let round = 0; round < rounds; round++) {
        alone.push(await delay())
        together.push(await delay(slow))
      }
      const count = many.toLocaleString('en')
      return {
        title: `GET at ${rate.toLocaleString('en')} a second over ${count} records, 99th percentile beside ${title}`,
        unit: 'ms',
        own: spreadOf(together),
        comparisons: [comparisonOf('without it', together, alone, { atMost: target })],
      }
    }
    /** Milliseconds until the response to a request of another caller, and its status. */
    const send = async (method: string, query: string, headers = {}) => {
      const began = performance.now()
      const url = `${origin}/v1/cities?${query}`
      const { status } = await ask(url, { method, headers: { Authorization: authorization, ...headers } })
      return { took: performance.now() - began, status }
    }
    // The first load warms the server up.
    await delay()
    const findings: Finding[] = []
    for (const { title, query } of kinds) {
      const answers: Awaited<ReturnType<typeof send>>[] = []
      const slow = async () => answers.push(await send('GET', query(answers.length, many)))
      findings.push(await measure(title, Math.min(3, pace.rounds), slow))
      const counts = Object.entries(Object.groupBy(answers, ({ status }) => status))
      const median = spreadOf(answers.map(({ took }) => took)).median
      say(`  ${title}: ${median.toFixed(0)} ms; ${counts.map(([status, all]) => `${all?.length} times ${status}`)}`)
    }
    // The deletion goes on in the background while the GETs go on. It happens once.
    let accepted: Awaited<ReturnType<typeof send>> | undefined
    const remove = async () => {
      if (accepted !== undefined) return sleep(10)
      accepted = await send('DELETE', 'population[gte]=800000', { Prefer: 'respond-async' })
      if (accepted.status !== 202) throw new Error(`The deletion was answered with ${accepted.status}.`)
    }
    findings.push(await measure('one asynchronous `DELETE` of a fifth of them', 1, remove))
    const title = 'Asynchronous `DELETE` of a fifth of them, until its 202'
    findings.push({ title, unit: 'ms', own: spreadOf([accepted?.took ?? 0]), comparisons: [], atMost: 100 })
    await server.stop()
    return findings
  },
}
