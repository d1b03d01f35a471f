/** LIM-8 over a socket: an export that is deleted during a download. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createKey, startServer } from './durability/command.ts'
import { newDatabase } from './engine.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-export-deleted-'))
after(() => rmSync(folder, { recursive: true }))

const declaration = {
  name: 'notes',
  resources: { notes: { fields: { text: { type: 'string' } }, access: { read: 'anyone', create: 'anyone' } } },
}

test('LIM-8: if an export is deleted, a running download completes, and no new one begins', async () => {
  const { address } = await newDatabase()
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(declaration))
  const headers = { Authorization: `Bearer ${createKey(folder, address)}`, 'Content-Type': 'application/json' }
  const { child, origin, ended } = await startServer(folder, ['--http'], {}, address)
  const ask = (method: string, path: string, body?: unknown) =>
    fetch(`${origin}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  const note = { text: 'x'.repeat(500_000) }
  // More than the buffers of both ends take.
  for (let number = 0; number < 60; number++) assert.equal((await ask('POST', '/v1/notes', note)).status, 201)
  const begun = await ask('POST', '/v1/exports', { collection: 'notes', format: 'ndjson' })
  const { status_url } = (await begun.json()) as { status_url: string }
  // biome-ignore lint/suspicious/noExplicitAny: a job
  let job: any
  do {
    await sleep(20)
    job = await (await ask('GET', status_url)).json()
  } while (job.finished_at === null)
  assert.equal(job.status, 'succeeded')

  const download = await ask('GET', job.result.content_url)
  const pieces = download.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>
  let bytes = (await pieces.read()).value?.length ?? 0
  assert.equal((await ask('DELETE', `/v1/exports/${job.id}`)).status, 204)
  assert.equal((await ask('GET', job.result.content_url)).status, 404)
  for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) bytes += piece.value.length
  assert.equal(bytes, job.result.bytes)
  child.kill('SIGTERM')
  assert.equal(await ended, 0)
})
