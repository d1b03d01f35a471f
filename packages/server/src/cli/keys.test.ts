import assert from 'node:assert/strict'
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { commandFile } from '../../../../test/command-file.ts'
import { engine, newDatabase, sqliteOnly } from '../../../../test/engine.ts'
import { openKeys } from '../server/open-database.ts'

const { address: database } = await newDatabase()

const options = { encoding: 'utf8' } as const

function run(given: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [commandFile, 'keys', ...given], options)
}

function keys(...given: readonly string[]): string {
  const { status, stdout, stderr } = run([...given, '--database', database])
  assert.equal(status, 0, stderr)
  return stdout
}

test('keys list shows when a key was last used', async () => {
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

/** An address where no database of Resourced is, and all that is there. */
async function unused(): Promise<{
  address: string
  contents(): Promise<readonly unknown[]>
  remove(): Promise<void>
}> {
  if (engine === 'postgres') {
    const { address, rows, remove } = await newDatabase()
    const tables = "select table_name from information_schema.tables where table_schema = 'public'"
    return { address, remove, contents: () => rows(tables) }
  }
  const folder = mkdtempSync(join(tmpdir(), 'resourced-keys-'))
  const address = `sqlite:${join(folder, 'typo', 'data.db')}`
  return { address, contents: async () => readdirSync(folder), remove: async () => rmSync(folder, { recursive: true }) }
}

for (const command of [['list'], ['list', '--json'], ['revoke', '01890a5d-ac96-774b-bcce-b302099a8057']]) {
  test(`keys ${command.join(' ')} creates no database, and says so`, async () => {
    const { address, contents, remove } = await unused()
    const { status, stdout, stderr } = run([...command, '--database', address])
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(
      stderr,
      /^There is no database of Resourced at .+: name the one that the servers use with --database\.\n$/,
    )
    assert.deepEqual(await contents(), [])
    await remove()
  })
}

test('keys create creates a missing database, and says so once', async () => {
  const { address, remove } = await unused()
  const create = () => run(['create', '--subject', 'ann', '--database', address])
  const [first, second] = [create(), create()]
  assert.match(first.stdout, /^\S+\n$/, 'the key stands alone on standard output')
  assert.match(first.stderr, /^Made a new database at .+: there was none\.\n$/)
  assert.deepEqual([second.status, second.stderr], [0, ''])
  assert.equal(run(['list', '--database', address]).status, 0)
  await remove()
})

test('migrate creates no database to show what is missing', {
  skip: sqliteOnly('a PostgreSQL database is there first'),
}, async () => {
  const { address, contents, remove } = await unused()
  const file = fileURLToPath(new URL('../../../../examples/studio/resources.yaml', import.meta.url))
  const { status, stdout } = spawnSync(process.execPath, [commandFile, 'migrate', file, '--database', address], options)
  assert.equal(status, 0)
  assert.match(stdout, /Nothing was changed/)
  assert.deepEqual(await contents(), [])
  await remove()
})
