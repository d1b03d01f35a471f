/**
 * JOB-6: very large exports take little memory, do not delay other requests, and continue after a kill:
 * `EXPORT_RECORDS=1000000 node --test test/export-pace.release.test.ts`.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { declare, fill, idOf } from './deletion/tree.ts'
import { clientOf, type Send } from './durability/client.ts'
import { createKey, databaseFile, startServer } from './durability/command.ts'

const records = Number(process.env.EXPORT_RECORDS ?? 20_000)
const folder = mkdtempSync(join(tmpdir(), 'resourced-export-'))
after(() => rmSync(folder, { recursive: true }))
declare(folder)
const key = createKey(folder)

/** The most memory that a process has had, in MB; `undefined` where the system does not tell. */
function peakOf(pid: number | undefined): number | undefined {
  try {
    const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(kilobytes) / 1_024
  } catch {
    return undefined
  }
}

async function finished(send: Send, path: string) {
  for (;;) {
    const { json } = await send('GET', path)
    if (json.status === 'succeeded') return json
    assert.notEqual(json.status, 'failed', JSON.stringify(json.error))
    await sleep(20)
  }
}

/** How many lines a download has, and its hash; asked for in two parts. */
async function download(origin: string, path: string, bytes: number): Promise<{ lines: number; hash: string }> {
  const hash = createHash('sha256')
  let lines = 0
  const half = Math.floor(bytes / 2)
  for (const range of [`bytes=0-${half - 1}`, `bytes=${half}-`]) {
    await new Promise<void>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, range }
      const sent = request(`${origin}${path}`, { headers }, (answer) => {
        assert.equal(answer.statusCode, 206)
        answer.on('data', (piece: Buffer) => {
          hash.update(piece)
          for (const byte of piece) if (byte === 10) lines++
        })
        answer.on('end', resolve).on('error', reject)
      })
      sent.on('error', reject).end()
    })
  }
  return { lines, hash: hash.digest('hex') }
}

test(`${records} records are exported in each format`, async (context) => {
  const first = await startServer(folder)
  first.child.kill('SIGTERM')
  await first.ended
  fill(databaseFile(folder), { departments: 10, teams: 100, members: records / 2, badges: 10 })
  const building = await startServer(folder)
  building.child.kill('SIGTERM')
  await building.ended
  let server = await startServer(folder)
  let client = clientOf(server.origin, key)
  context.after(() => {
    client.close()
    server.child.kill('SIGTERM')
  })
  const ask = async (format: string) =>
    (await client.send('POST', '/v1/exports', { body: { collection: 'members', sort: '-name', format } })).json
  const hashes = new Map<string, string>()
  for (const format of ['csv', 'ndjson', 'json']) {
    const started = performance.now()
    const { status_url } = await ask(format)
    let running = true
    const waits: number[] = []
    const reading = (async () => {
      const reader = clientOf(server.origin, key)
      for (let number = 0; running; number++) {
        const asked = performance.now()
        assert.equal((await reader.send('GET', `/v1/members/${idOf(4, number % records)}`)).status, 200)
        waits.push(performance.now() - asked)
        await sleep(1)
      }
      reader.close()
    })()
    const job = await finished(client.send, status_url)
    running = false
    await reading
    const seconds = (performance.now() - started) / 1_000
    assert.deepEqual([job.result.record_count, job.progress], [records, { done: records, total: records }])
    const { lines, hash } = await download(server.origin, job.result.content_url, job.result.bytes)
    assert.equal(lines, { csv: records + 1, ndjson: records, json: records + 2 }[format])
    hashes.set(format, hash)
    waits.sort((a, b) => a - b)
    const worst = waits[Math.floor(waits.length * 0.99)] as number
    context.diagnostic(
      `${format}: ${(job.result.bytes / 1_048_576).toFixed(0)} MB in ${seconds.toFixed(1)} s; 99 of 100 GETs meanwhile at most ${worst.toFixed(2)} ms`,
    )
  }
  const peak = peakOf(server.child.pid)
  context.diagnostic(`the server had at most ${peak?.toFixed(0)} MB`)
  if (peak !== undefined) assert.ok(peak < 200, `${peak} MB`)
  // Killed in the middle it goes on, and the file is the same.
  const { status_url } = await ask('csv')
  let done = 0
  while (done < records / 3) {
    await sleep(5)
    done = (await client.send('GET', status_url)).json.progress.done
  }
  server.child.kill('SIGKILL')
  await server.ended
  client.close()
  server = await startServer(folder)
  client = clientOf(server.origin, key)
  const restarted = performance.now()
  const resumed = (await client.send('GET', status_url)).json
  assert.equal(resumed.status, 'running')
  const job = await finished(client.send, status_url)
  const { hash } = await download(server.origin, job.result.content_url, job.result.bytes)
  assert.equal(hash, hashes.get('csv'))
  context.diagnostic(
    `killed at ${done} of ${records}: went on from ${resumed.progress.done}, complete ${((performance.now() - restarted) / 1_000).toFixed(1)} s after the start`,
  )
})
