import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { newDatabase } from '../../test/engine.ts'
import { openKeys } from '../server/open-database.ts'

const program = fileURLToPath(new URL('main.js', import.meta.url))
const { address: database } = await newDatabase()

function keys(...given: readonly string[]): string {
  const parameters = [program, 'keys', ...given, '--database', database]
  const { status, stdout, stderr } = spawnSync(process.execPath, parameters, { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return stdout
}

test('keys list says when a key was last used', async () => {
  const used = JSON.parse(keys('create', '--subject', 'ann', '--roles', 'editor', '--json'))
  keys('create', '--subject', 'bob', '--expires', 'P90D')
  assert.equal(used.last_used_at, null)
  const { keys: store, close } = await openKeys({ database })
  await store.keepUses(new Map([[used.id, Date.UTC(2026, 10, 21, 12)]]))
  await close()

  const at = '2026-11-21T12:00:00.000Z'
  const listed: readonly { subject: string; last_used_at: string | null }[] = JSON.parse(keys('list', '--json'))
  assert.deepEqual(
    listed.map(({ subject, last_used_at }) => [subject, last_used_at]),
    [
      ['ann', at],
      ['bob', null],
    ],
  )
  assert.deepEqual(Object.keys(listed[0] ?? {}), Object.keys(used).slice(1), 'what was made is what is listed')
  const [head = '', ann = '', bob = ''] = keys('list').split('\n')
  const [from, to] = [head.indexOf('LAST USED'), head.indexOf('MADE BY')]
  const lastUsed = [head, ann, bob].map((line) => line.slice(from, to).trim())
  assert.deepEqual(lastUsed, ['LAST USED', at, 'never'])
  assert.deepEqual([ann.slice(to), bob.slice(to)], ['command line', 'command line'])
})
