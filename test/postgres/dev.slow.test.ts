/** `resourced dev` on PostgreSQL: a declaration is edited while it is served. What it prints is waited for. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { commandFile } from '../command-file.ts'
import { until } from '../until.ts'
import { databaseFor, whyNoDatabase } from './database.ts'

const declared = (more = '') => `name: notes\nresources:\n  notes:\n    fields:\n      text: { type: string }\n${more}`

test('dev serves each change of the declaration, and keeps the data', {
  skip: whyNoDatabase ?? false,
}, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-dev-'))
  const file = join(folder, 'resources.yaml')
  writeFileSync(file, declared())
  const given = ['--port', '0', '--database', await databaseFor(context), '--database-unsafe']
  const child = spawn(process.execPath, [commandFile, 'dev', ...given], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  context.after(async () => {
    child.kill()
    if (child.exitCode === null) await once(child, 'close')
    rmSync(folder, { recursive: true })
  })
  let printed = ''
  child.stderr.on('data', (piece) => (printed += String(piece)))
  const prints = (pattern: RegExp) =>
    until(async () => {
      assert.equal(child.exitCode, null, printed)
      return pattern.test(printed)
    })
  await prints(/curl .*\n/)
  const [, url = ''] = /is served at (\S+)/.exec(printed) as RegExpExecArray
  const key = readFileSync(join(folder, '.resourced/dev-key'), 'utf8').trim()
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const create = async (body: object) => {
    const answer = await fetch(`${url}/notes`, { method: 'POST', headers, body: JSON.stringify(body) })
    return answer.status
  }
  assert.deepEqual([await create({ text: 'first' }), await create({ pages: 1 })], [201, 400])
  writeFileSync(file, declared('      pages: { type: integer, optional: true, filter: true }\n'))
  await prints(/add the column notes\.pages/)
  assert.equal(await create({ text: 'second', pages: 412 }), 201)
  writeFileSync(file, declared())
  await prints(
    /would lose data[\s\S]*drop the column notes\.pages: loses 1 value[\s\S]*migrate \S+ --apply --database postgres:/,
  )
  const listed = await fetch(`${url}/notes?fields=text,pages`, { headers })
  const { data } = (await listed.json()) as { data: { text: string; pages: number | null }[] }
  assert.deepEqual(
    data.map(({ text, pages }) => [text, pages]),
    [
      ['first', null],
      ['second', 412],
    ],
  )
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'close'), [0, null])
})
