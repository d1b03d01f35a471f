/** The measurement of size: the same operations over ten thousand records and over very many. */
import { byHand } from './by-hand.ts'
import { contestantOf } from './compare-row.ts'
import { type Finding, findingOf, type Measurement } from './measurement.ts'
import { openAtlasIn, ours } from './ours.ts'
import { freePort, type Server, startServer } from './processes.ts'
import { ratiosOf, runRounds } from './rounds.ts'
import { deletionsOf, type Row, rows } from './rows.ts'
import type { Data, Setup } from './setup.ts'

const few = 10_000
const names = [
  'get',
  'page',
  'page-15',
  'sorted',
  'cursor',
  'search',
  'post-64',
  'patch-64',
  'patch-tag-64',
  'delete-64',
]
/** The least that is left of a rate. */
const target = 0.85

export const growth: Measurement = {
  name: 'growth',
  async measure(setup) {
    const { folder, pace, many, say, note } = setup
    const [large, small] = [await startOn(setup, many), await startOn(setup, few)]
    const [title, yardstick] = [`over ${many.toLocaleString('en')} records`, `over ${few.toLocaleString('en')}`]
    const [byHandOnLarge, byHandOnSmall] = [`by hand, ${title}`, `by hand, ${yardstick}`]
    const findings: Finding[] = []
    const left: string[] = []
    for (const row of rows.filter(({ name }) => names.includes(name)).map(fitting)) {
      say(`  ${row.name}`)
      const contestants = [
        await contestantOf(row, 'ours', large.server, large.data),
        await contestantOf(row, yardstick, small.server, small.data),
        await contestantOf(row, byHandOnLarge, large.byHand, large.data),
        await contestantOf(row, byHandOnSmall, small.byHand, small.data),
      ]
      const results = await runRounds(contestants, { ...pace, rounds: 3 }, folder)
      const yardsticks = { [yardstick]: target, [byHandOnLarge]: undefined }
      findings.push(findingOf(`${row.title}, ${title}`, results, 'ours', yardsticks))
      const ofByHand = ratiosOf(results, byHandOnLarge, byHandOnSmall, 'thrift')
      left.push(`${row.title} ${ofByHand.median.toFixed(2)}`)
    }
    note(`What the server by hand keeps ${title}, by processor time, of its rates ${yardstick}: ${left.join('; ')}`)
    for (const { server, byHand } of [large, small]) for (const each of [server, byHand]) await each.stop()
    return findings
  },
}

/** There are 8,000 cities to ask for. */
function fitting(row: Row): Row {
  if (row.name !== 'delete-64') return row
  return { ...row, once: 1_000, requests: ({ data }) => deletionsOf(data, 0) }
}

/** Starts our server and the one by hand, each on so many records. */
async function startOn(
  { folder, made }: Setup,
  count: number,
): Promise<{ data: Data; server: Server; byHand: Server }> {
  const data = await made(count)
  const port = await freePort()
  const start = ours(folder, `growth-${count}`, `sqlite:${data.file}`, port, false, openAtlasIn(folder))
  const other = byHand(folder, data.file, data.authorization, await freePort())
  const servers = {
    byHand: await startServer({ ...other, patience: 120_000 }),
    server: await startServer({ ...start, patience: 120_000 }),
  }
  for (const each of Object.values(servers)) each.hold(true)
  return { data, ...servers }
}
