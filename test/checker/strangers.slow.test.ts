/**
 * The checker's verdicts about servers of other stacks are those that were confirmed by hand. Installs the servers from
 * the npm registry. `STRANGERS=all node --test test/checker/strangers.slow.test.ts` checks all of them, which takes minutes
 * and needs Python, Go and Java for some.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '../..')
/** It is installed in seconds. The identifiers of json-server are short and random: in some runs two are the same. */
const usual = ['express']

test('a run on servers of other stacks has the verdicts that were confirmed by hand', async () => {
  const chosen = process.env['STRANGERS'] === 'all' ? [] : usual.flatMap((name) => ['--only', name])
  const child = spawn(process.execPath, ['scripts/check-strangers.ts', ...chosen], { cwd: root })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = await once(child, 'close')
  assert.equal(code, 0, output)
  assert.ok(output.includes('Express by hand'), output)
})

test('each server of another stack has confirmed verdicts, and no other words', () => {
  const folder = join(root, 'scripts/strangers')
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  assert.ok(names.length >= 10)
  for (const { name } of names) {
    const verdicts = Object.entries(JSON.parse(readFileSync(join(folder, name, 'confirmed.json'), 'utf8')))
    assert.ok(verdicts.length >= 50, `${name}: ${verdicts.length}`)
    for (const [id, verdict] of verdicts) {
      assert.match(id, /^[A-Z]+-\d+\//)
      assert.ok(['holds', 'fails', 'advice', 'not set up', 'blocked'].includes(String(verdict)), `${name}: ${id}`)
    }
  }
})
