/** What a server keeps in memory after work of every kind. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { linesOf } from './atlas.ts'
import { contestantOf } from './compare-row.ts'
import type { Finding, Measurement } from './measurement.ts'
import { atlasIn, ours, program } from './ours.ts'
import { freePort, launch, type Server, startServer } from './processes.ts'
import { spreadOf } from './rounds.ts'
import { rows } from './rows.ts'
import { copyOf, type Data } from './setup.ts'
import { runLoad, writeScript } from './wrk.ts'

/** The most megabytes. */
const atMost = 150

/** How many records another process adds to the database meanwhile. */
const imported = 20_000

export const memory: Measurement = {
  name: 'memory',
  async measure({ folder, data, pace }) {
    const findings: Finding[] = []
    for (const secure of [false, true]) {
      const file = copyOf(data.file, folder)
      const name = `memory-${secure ? 'https' : 'http'}`
      const start = ours(folder, name, `sqlite:${file}`, await freePort(), secure)
      const server = await startServer(start)
      await requestAll(server, { folder, data, file, seconds: pace.seconds })
      const own = spreadOf([server.memory() / 1_000_000])
      await server.stop()
      const title = `Memory of one server after work of every kind, ${secure ? 'HTTPS' : 'HTTP'}`
      findings.push({ title, unit: 'MB', own, comparisons: [], atMost })
    }
    return findings
  },
}

/** Sends the requests of every row for some seconds, all with one server, and imports into its database. */
async function requestAll(
  server: Server,
  { folder, data, file, seconds }: { folder: string; data: Data; file: string; seconds: number },
): Promise<void> {
  const script = join(folder, 'memory.lua')
  for (const row of rows) {
    const load = await contestantOf(row, row.name, server, data)
    const those = {
      ...load,
      origin: server.origin,
      requests: load.requests.slice(0, row.once),
      once: row.once !== undefined,
    }
    server.hold(false)
    writeScript(script, those)
    await runLoad(script, those, seconds)
  }
  const lines = join(folder, 'memory.ndjson')
  writeFileSync(lines, [...linesOf(data.records, imported)].join(''))
  const args = [program, 'import', 'cities', lines, '--database', `sqlite:${file}`, '--declaration', atlasIn(folder)]
  const [code] = await once(launch({ args, folder, output: join(folder, 'memory-import.log') }), 'exit')
  if (code !== 0) throw new Error(`The import ended with ${code}.`)
}
