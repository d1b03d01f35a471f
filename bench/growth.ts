/** The measurement of size: the same operations over ten thousand records and over very many. */
import { contestantOf } from './compare-row.ts'
import { type Finding, findingOf, type Measurement } from './measurement.ts'
import { openAtlasIn, ours } from './ours.ts'
import { freePort, type Server, startServer } from './processes.ts'
import { runRounds } from './rounds.ts'
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
    const { folder, pace, many, say } = setup
    const [large, small] = [await startOn(setup, many), await startOn(setup, few)]
    const [title, yardstick] = [`over ${many.toLocaleString('en')} records`, `over ${few.toLocaleString('en')}`]
    const findings: Finding[] = []
    for (const row of rows.filter(({ name }) => names.includes(name)).map(fitting)) {
      say(`  ${row.name}`)
      const contestants = [
        await contestantOf(row, 'ours', large.server, large.data),
        await contestantOf(row, yardstick, small.server, small.data),
      ]
      const results = await runRounds(contestants, { ...pace, rounds: 3 }, folder)
      findings.push(findingOf(`${row.title}, ${title}`, results, 'ours', { [yardstick]: target }))
    }
    for (const { server } of [large, small]) await server.stop()
    return findings
  },
}

/** There are 8,000 cities to ask for. */
function fitting(row: Row): Row {
  if (row.name !== 'delete-64') return row
  return { ...row, once: 1_000, requests: ({ data }) => deletionsOf(data, 0) }
}

async function startOn({ folder, made }: Setup, count: number): Promise<{ data: Data; server: Server }> {
  const data = await made(count)
  const port = await freePort()
  const start = ours(folder, `growth-${count}`, `sqlite:${data.file}`, port, false, openAtlasIn(folder))
  const server = await startServer({ ...start, patience: 120_000 })
  server.hold(true)
  return { data, server }
}
