/** The import of a file, beside a bare insert of the same records into the same tables. */
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { linesOf, makeCities } from './atlas.ts'
import { comparisonOf, type Measurement } from './measurement.ts'
import { atlasIn, program } from './ours.ts'
import { launch, workOf } from './processes.ts'
import { spreadOf } from './rounds.ts'
import { copyOf } from './setup.ts'

const target = 0.5

export const bulkImport: Measurement = {
  name: 'import',
  async measure({ folder, many, data, say }) {
    // A fifth of a million takes long enough to have a rate.
    const count = Math.max(many, 200_000)
    const [empty, file] = [join(folder, 'import.db'), join(folder, 'import.ndjson')]
    const records = await makeCities(empty, data.catalog, 0)
    await pipeline(Readable.from(linesOf(records, count)), createWriteStream(file))
    const declaration = atlasIn(folder)
    const bare = join(import.meta.dirname, 'bare-import.ts')
    const importing = (database: string) => ['import', 'cities', file, '--database', `sqlite:${database}`]
    const rateOf = async (name: string, args: (database: string) => readonly string[]) => {
      const { seconds, work } = await timed(folder, args(copyOf(empty, folder)))
      const each = ((work / count) * 1e6).toFixed(0)
      say(`  ${name}: ${Math.round(count / seconds)} a second, ${each} µs of processor time each`)
      return { rate: count / seconds, thrift: count / work }
    }
    const ours = await rateOf('ours', (database) => [program, ...importing(database), '--declaration', declaration])
    const other = await rateOf('bare', (database) => [bare, declaration, 'cities', database, file])
    return [
      {
        title: `Import of ${count.toLocaleString('en')} records`,
        unit: 'a second',
        own: spreadOf([ours.rate]),
        comparisons: [
          {
            ...comparisonOf('a bare prepared insert', [ours.rate], [other.rate], { atLeast: target }),
            thrift: ours.thrift / other.thrift,
          },
        ],
      },
    ]
  },
}

/** Runs a process to its end on the core of the servers. */
async function timed(folder: string, args: readonly string[]): Promise<{ seconds: number; work: number }> {
  const began = performance.now()
  const child = launch({ args, folder, output: join(folder, 'import.log') })
  let work = 0
  const watch = setInterval(() => (work = workOf(child) || work), 50)
  const [code] = await once(child, 'exit')
  clearInterval(watch)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}.`)
  return { seconds: (performance.now() - began) / 1_000, work }
}
