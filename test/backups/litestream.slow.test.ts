/** A copy by Litestream, as docs/how-to/survive-the-loss-of-a-machine.md says, after the machine is lost. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { blocksOf } from '../documentation/page.ts'
import { clientOf } from '../durability/client.ts'
import { createKey, databaseFile, startServer } from '../durability/command.ts'

const isThere = spawnSync('litestream', ['version']).status === 0
const skip = isThere
  ? false
  : 'litestream is not installed (go install github.com/benbjohnson/litestream/cmd/litestream@v0.3.13)'
const page = readFileSync(join(import.meta.dirname, '../../docs/how-to/survive-the-loss-of-a-machine.md'), 'utf8')
const declaration = { name: 'diary', resources: { notes: { fields: { text: { type: 'string' } } } } }
/** Together so much that the server copies the log of SQLite into the file meanwhile. */
const notes = { count: 80, characters: 500_000 }
/** What was acknowledged so long before the loss must be there, in milliseconds. */
const late = 5_000

test('Litestream has what was acknowledged some seconds before the loss', { skip }, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-litestream-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(declaration))
  const key = createKey(folder)
  const server = await startServer(folder)
  const block = blocksOf(page).find(({ words }) => words.includes('litestream.yml'))
  const settings = String(block?.text)
    .replace('/var/lib/library/data.db', databaseFile(folder))
    .replace('url: s3://backups/library', `path: ${join(folder, 'copy')}`)
  writeFileSync(join(folder, 'litestream.yml'), settings)
  const copying = spawn('litestream', ['replicate', '-config', join(folder, 'litestream.yml')], { stdio: 'ignore' })
  context.after(() => copying.kill('SIGKILL'))
  const { send, close } = clientOf(server.origin, key)
  const made: { readonly id: string; readonly at: number }[] = []
  for (let count = 0; count < notes.count; count++) {
    const { status, json } = await send('POST', '/v1/notes', { body: { text: 'x'.repeat(notes.characters) } })
    assert.equal(status, 201)
    made.push({ id: json.id, at: performance.now() })
    await sleep(50)
  }
  const lost = performance.now()
  for (const child of [server.child, copying]) child.kill('SIGKILL')
  await Promise.all([server.ended, once(copying, 'exit')])
  close()
  const restored = join(folder, 'restored.db')
  const words = ['restore', '-config', join(folder, 'litestream.yml'), '-o', restored, databaseFile(folder)]
  const { status, stderr } = spawnSync('litestream', words, { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  const database = new DatabaseSync(restored)
  assert.equal(database.prepare('pragma integrity_check').get()?.['integrity_check'], 'ok')
  database.close()
  const next = await startServer(folder, ['--http'], {}, `sqlite:${restored}`)
  context.after(() => next.child.kill('SIGKILL'))
  const client = clientOf(next.origin, key)
  context.after(() => client.close())
  const missing: number[] = []
  for (const { id, at } of made) {
    if ((await client.send('GET', `/v1/notes/${id}?fields=id`)).status !== 200) missing.push(lost - at)
  }
  const oldest = Math.max(0, ...missing)
  context.diagnostic(
    `${made.length} acknowledged, ${missing.length} not in the copy, the oldest ${Math.round(oldest)} ms`,
  )
  assert.ok(oldest < late)
  assert.equal((await client.send('POST', '/v1/notes', { body: { text: 'goes on' } })).status, 201)
})
