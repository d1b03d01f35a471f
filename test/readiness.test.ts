/** OPS-5 on a full disk: a separate process may write files up to a limited length, and later of any length. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createKey, databaseFile, startServer } from './durability/command.ts'
import { sqliteOnly } from './engine.ts'

const declaration = {
  name: 'notes',
  resources: { notes: { fields: { text: { type: 'string' } }, access: { read: 'anyone', create: 'anyone' } } },
}

const hasNoLimits = spawnSync('prlimit', ['--version']).error === undefined ? false : 'There is no prlimit here.'
const skip = sqliteOnly('it limits the files of the server') || hasNoLimits

async function serverFor(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-readiness-'))
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(declaration))
  const headers = { Authorization: `Bearer ${createKey(folder)}`, 'Content-Type': 'application/json' }
  const { child, origin, ended } = await startServer(folder)
  context.after(async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true })
  })
  return {
    folder,
    /** The longest file that the server may write. */
    allow(bytes: number | 'unlimited') {
      const { status, stderr } = spawnSync('prlimit', ['--pid', `${child.pid}`, `--fsize=${bytes}:unlimited`])
      assert.equal(status, 0, String(stderr))
    },
    async post(length: number) {
      const body = JSON.stringify({ text: 'x'.repeat(length) })
      const answer = await fetch(`${origin}/v1/notes`, { method: 'POST', headers, body })
      return [answer.status, ((await answer.json()) as { code?: string }).code]
    },
    async count() {
      const answer = await fetch(`${origin}/v1/notes`, { headers })
      return ((await answer.json()) as { pagination: { total_count: number } }).pagination.total_count
    },
    async ready() {
      const answer = await fetch(`${origin}/health/ready`)
      const text = await answer.text()
      assert.doesNotMatch(text, /\/tmp|data\.db|SQLITE/i)
      return [answer.status, answer.headers.get('retry-after')]
    },
  }
}

/** Asks until an answer comes, which must not take long. */
async function until(expected: readonly unknown[], ask: () => Promise<readonly unknown[]>) {
  const end = performance.now() + 60_000
  for (;;) {
    const answer = await ask()
    if (answer[0] === expected[0] || performance.now() > end) return assert.deepEqual(answer, expected)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

test('OPS-5: while the disk is full a server is not ready, and it is ready again once writes succeed', {
  skip,
}, async (context) => {
  const { folder, allow, post, ready, count } = await serverFor(context)
  assert.deepEqual(await post(10), [201, undefined])
  assert.deepEqual(await ready(), [200, null])
  for (let turn = 0; turn < 2; turn++) {
    allow(statSync(`${databaseFile(folder)}-wal`).size)
    // Nobody writes: that nothing can be written is found out all the same.
    await until([503, '5'], ready)
    assert.deepEqual(await post(100_000), [502, 'STORAGE_FAILED'])
    assert.equal(await count(), turn + 1, 'reading goes on')
    assert.deepEqual(await ready(), [503, '5'])
    allow('unlimited')
    if (turn === 0) await until([200, null], ready)
    assert.deepEqual(await post(100_000), [201, undefined])
    assert.deepEqual(await ready(), [200, null])
  }
})

test('OPS-5: a server whose database file was removed is not ready until the file is back', {
  skip,
}, async (context) => {
  const { folder, ready, post } = await serverFor(context)
  const [file, away] = [databaseFile(folder), join(folder, 'elsewhere.db')]
  renameSync(file, away)
  assert.deepEqual(await ready(), [503, '5'])
  writeFileSync(file, '')
  assert.deepEqual(await ready(), [503, '5'], 'another file is in its place')
  renameSync(away, file)
  assert.deepEqual(await ready(), [200, null])
  assert.deepEqual(await post(10), [201, undefined])
})
