/** The delay of GETs at half of what the slower server can do. */
import { contestantOf } from './compare-row.ts'
import { comparisonOf, type Measurement } from './measurement.ts'
import { messageOf, runOpenLoad } from './open-load.ts'
import { type Contestant, runRounds, spreadOf } from './rounds.ts'
import { rows } from './rows.ts'

/** The most that our 99th percentile is of the other's. */
const target = 1.5

export const halfLoad: Measurement = {
  name: 'half-load',
  async measure({ folder, pace, data, ours, byHand }) {
    const row = rows.find(({ name }) => name === 'get')!
    const own = await contestantOf(row, 'ours', await ours(false), data)
    const other = await contestantOf(row, 'by hand', await byHand(), data)
    const peaks = await runRounds([own, other], { rounds: 1, seconds: 1, warmUp: 2 }, folder)
    const rate = Math.round(Math.min(...[...peaks.values()].map(({ rates }) => rates[0] as number)) / 2)
    const delays = { ours: [] as number[], other: [] as number[] }
    for (const { server } of [own, other]) server.hold(true)
    for (let round = 0; round < pace.rounds; round++) {
      delays.ours.push(await delayOf(own, rate, pace.seconds + 1))
      delays.other.push(await delayOf(other, rate, pace.seconds + 1))
    }
    return [
      {
        title: `GET by id at half load (${rate.toLocaleString('en')} a second), 99th percentile`,
        unit: 'ms',
        own: spreadOf(delays.ours),
        comparisons: [comparisonOf('by hand', delays.ours, delays.other, { atMost: target })],
      },
    ]
  },
}

async function delayOf({ server, requests }: Contestant, rate: number, seconds: number): Promise<number> {
  const messages = requests.map((request) => messageOf(request))
  server.hold(false)
  const { good } = await runOpenLoad({
    ...{ origin: server.origin, messages, rate, seconds },
    ...{ connections: 64, patience: 10_000 },
  })
  server.hold(true)
  return good[1]
}
