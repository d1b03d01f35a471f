/** JOB-6: one of two servers begins an export and is killed. The other server finishes the file and serves it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandFile } from './command-file.ts'
import { createKey, type ServerProcess, startServer } from './durability/command.ts'
import { diary } from './durability/declaration.ts'
import { newDatabase } from './engine.ts'

const records = 6_000
const folder = mkdtempSync(join(tmpdir(), 'resourced-export-servers-'))
const started: ServerProcess[] = []
const { address } = await newDatabase()
after(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  await Promise.all(started.map(({ ended }) => ended))
  rmSync(folder, { recursive: true })
})

async function start(): Promise<ServerProcess> {
  const server = await startServer(folder, ['--http'], {}, address)
  started.push(server)
  return server
}

function importFolders(): void {
  const file = join(folder, 'folders.ndjson')
  const lines = Array.from({ length: records }, (_, number) =>
    JSON.stringify({
      name: `Folder ${String(number).padStart(6, '0')}`,
      title: 'Zürich',
      edition: 1,
      text: 'x'.repeat(200),
    }),
  )
  writeFileSync(file, lines.join('\n'))
  const command = [commandFile, 'import', 'folders', file]
  const options = ['--declaration', join(folder, 'diary.json'), '--database', address, '--database-unsafe']
  const { status, stderr } = spawnSync(process.execPath, [...command, ...options], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
}

const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

test('JOB-6: if a server is killed during an export, another server finishes and serves the file', async () => {
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(diary))
  const key = createKey(folder, address)
  importFolders()
  const [one, two] = [await start(), await start()]
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const get = (server: ServerProcess, path: string, more = {}) =>
    fetch(`${server.origin}${path}`, { headers: { ...headers, ...more } })
  // biome-ignore lint/suspicious/noExplicitAny: a job
  const jobAt = async (server: ServerProcess, path: string): Promise<any> => (await get(server, path)).json()
  const ask = async (server: ServerProcess) => {
    const body = JSON.stringify({ collection: 'folders', sort: 'name', format: 'ndjson' })
    const answer = await fetch(`${server.origin}/v1/exports`, { method: 'POST', headers, body })
    return ((await answer.json()) as { status_url: string }).status_url
  }
  const finished = async (server: ServerProcess, path: string) => {
    for (;;) {
      const job = await jobAt(server, path)
      if (job.status === 'succeeded') return job.result
      assert.notEqual(job.status, 'failed')
      await sleep(20)
    }
  }

  const undisturbed = await finished(one, await ask(one))
  const whole = Buffer.from(await (await get(two, undisturbed.content_url)).arrayBuffer())
  assert.equal(whole.length, undisturbed.bytes)
  assert.equal(whole.toString().trimEnd().split('\n').length, records)

  let path = await ask(one)
  let done = 0
  while (done === 0 || done === records) {
    // It was faster than this test could look.
    if (done === records) path = await ask(one)
    await sleep(5)
    done = (await jobAt(two, path)).progress.done
  }
  one.child.kill('SIGKILL')
  await one.ended
  const result = await finished(two, path)
  assert.deepEqual([result.record_count, result.bytes], [records, whole.length])
  const half = Math.floor(whole.length / 2)
  // Both parts at once: whoever comes first has it fetched.
  const parts = await Promise.all(
    [`bytes=0-${half - 1}`, `bytes=${half}-`].map(async (range) => {
      const answer = await get(two, result.content_url, { range })
      assert.equal(answer.status, 206)
      return Buffer.from(await answer.arrayBuffer())
    }),
  )
  assert.equal(hashOf(Buffer.concat(parts)), hashOf(whole))
})
