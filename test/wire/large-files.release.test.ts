/** A server streams a large file without loading it into memory. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { becomes, openFiles } from '../open-files.ts'
import { download, takeSteadily } from './download.ts'
import { transports } from './transports.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-large-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'film')
const length = 300_000_000
writeFileSync(file, '')
truncateSync(file, length)

/** The memory that a process uses, and the most that it ever did, in bytes. */
function memory(pid: number): { now: number; most: number } {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  const of = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(text)?.[1]) * 1024
  return { now: of('VmRSS'), most: of('VmHWM') }
}

for (const transport of transports) {
  test(`${transport}: a slow client of a file of 300 MB costs little memory, and leaves nothing open`, async (context) => {
    const script = join(import.meta.dirname, 'large-files.fixture.ts')
    const secure = transport === 'HTTP/1.1' ? [] : ['TLS']
    const child = spawn(process.execPath, [script, file, String(length), ...secure], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    context.after(() => child.kill())
    const pid = child.pid as number
    const origin = String((await once(child.stdout, 'data'))[0]).trim()
    const text = download(origin, '/text', transport)
    text.stream.resume()
    assert.equal(String((await text.ended).body), 'text')

    const { now } = memory(pid)
    const large = download(origin, '/', transport, { keep: 1_000 })
    takeSteadily(large, 2_000_000, 20)
    const { size, error } = await large.ended
    assert.deepEqual([size, error], [length, undefined])
    const growth = (memory(pid).most - now) / 1e6
    context.diagnostic(`grew by ${growth.toFixed(1)} MB`)
    assert.ok(growth < 40, `${growth} MB`)
    assert.ok(await becomes(() => openFiles(file, pid) === 0))
  })
}
