import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { uuidv7 } from 'uuidv7'
import { hashOfKey, hintOfKey, newKey } from '../../policy/api-keys.ts'
import type { StoredKey } from '../storage.ts'
import { listSqliteKeys, migrateSqlite, openSqliteKeys } from './administration.ts'
import { all } from './migrate.fixture.ts'
import { openSqlite } from './storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-keys-'))
after(() => rmSync(folder, { recursive: true }))
const newPath = () => join(folder, `${uuidv7()}.db`)

const notes = completeCatalog({
  name: 'notes',
  resources: { notes: { fields: { text: { type: 'string', search: true } } } },
})

function keyFor(subject: string, more: Partial<StoredKey> = {}): { readonly key: string; readonly stored: StoredKey } {
  const key = newKey()
  const known = { id: uuidv7(), hash: hashOfKey(key), hint: hintOfKey(key), subject, roles: ['editor', 'x,y'] }
  return {
    key,
    stored: {
      ...known,
      claims: null,
      expires_at: null,
      created_at: '2026-01-02T03:04:05.678Z',
      revoked_at: null,
      made_by: null,
      ...more,
    },
  }
}

/** A database whose keys have no claims yet, as the release 0.1.0 made it. */
async function databaseWithoutClaims(path: string, keys: readonly StoredKey[]): Promise<void> {
  const storage = openSqlite(notes, { path })
  for (const key of keys) await storage.keys.add(key)
  await storage.close()
  const database = new DatabaseSync(path)
  database.exec('alter table "api-keys" drop column claims')
  const read = database.prepare("select value from resourced_meta where key = 'shape'")
  const shape = JSON.parse(String(read.get()?.value))
  const table = shape.tables.find(({ name }: { name: string }) => name === 'api-keys')
  table.columns = table.columns.filter(({ name }: { name: string }) => name !== 'claims')
  database.prepare("update resourced_meta set value = ? where key = 'shape'").run(JSON.stringify(shape))
  database.close()
}

test('keys that were made before keys had claims have none, and new ones can have some', async () => {
  const [served, listed, added] = [newPath(), newPath(), newPath()]
  const { stored } = keyFor('ann')
  for (const path of [served, listed, added]) await databaseWithoutClaims(path, [stored])
  const { steps } = migrateSqlite(served, notes, 'never')
  assert.deepEqual([steps.length, ...steps.map(({ loses }) => loses)], [1, 'nothing'])
  const storage = openSqlite(notes, { path: served })
  assert.deepEqual(await storage.keys.find(stored.hash), stored)
  await storage.close()
  assert.deepEqual(
    (await listSqliteKeys(listed))?.map(({ claims }) => claims),
    [null],
  )
  const { keys, close } = openSqliteKeys(added)
  const other = keyFor('bob', { claims: { team: 'acme' } }).stored
  await keys.add(other)
  assert.deepEqual([await keys.find(stored.hash), await keys.find(other.hash)], [stored, other])
  await close()
})

test('keys can be created before any declaration is applied, and stay valid afterwards', async () => {
  const path = newPath()
  const { key, stored } = keyFor('ann')
  const first = openSqliteKeys(path)
  await first.keys.add(stored)
  await first.close()
  const storage = openSqlite(notes, { path })
  assert.deepEqual(await storage.keys.find(hashOfKey(key)), stored)
  await storage.close()
  const again = openSqliteKeys(path)
  assert.deepEqual(await again.keys.revoke(stored.id, new Date().toISOString()), { count: 1, remaining: 0 })
  await again.close()
})

test('uses are stored at most once a minute, and change the tags of what is shown', async () => {
  const path = newPath()
  const { stored } = keyFor('ann')
  const { keys, close } = openSqliteKeys(path)
  await keys.add(stored)
  const database = new DatabaseSync(path)
  const noon = Date.UTC(2026, 10, 21, 12)
  const after = async (milliseconds: number) => {
    await keys.keepUses(
      new Map([
        [stored.id, noon + milliseconds],
        ['gone', noon],
      ]),
    )
    const [row] = all(
      database,
      'select last_used_at, _instant_last_used_at, updated_at, _revision & 1048575 as count from "api-keys"',
    )
    return Object.values(row ?? {})
  }
  const at = '2026-11-21T12:00:00.000Z'
  assert.deepEqual(await after(0), [at, '2026-11-21T12:00:00', at, 2])
  assert.deepEqual(await after(59_999), [at, '2026-11-21T12:00:00', at, 2])
  assert.deepEqual(await after(-1_000), [at, '2026-11-21T12:00:00', at, 2], 'never backwards')
  assert.deepEqual(await keys.list(), [{ ...stored, last_used_at: at }])
  const later = '2026-11-21T12:01:00.000Z'
  assert.deepEqual(await after(60_000), [later, '2026-11-21T12:01:00', later, 3])
  assert.deepEqual(all(database, 'select live from resourced_clocks'), [{ live: 1 }])
  database.close()
  await close()
})

test('keys are listed from a file that its user may not write, and nothing in its folder changes', {
  skip: process.platform === 'win32' && 'Windows has no such permissions',
}, async () => {
  const own = mkdtempSync(join(folder, 'read-only-'))
  const path = join(own, 'data.db')
  const opened = openSqliteKeys(path)
  await opened.keys.add(keyFor('ann').stored)
  const beside = await listSqliteKeys(path)
  assert.deepEqual(
    beside?.map(({ subject }) => subject),
    ['ann'],
    'what is in the log is listed too',
  )
  await opened.close()
  chmodSync(folder, 0o755)
  chmodSync(path, 0o444)
  chmodSync(own, 0o555)
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(65_534)
  const listed = listSqliteKeys(path).finally(() => isRoot && process.seteuid?.(0))
  assert.deepEqual(await listed, beside)
  assert.deepEqual(readdirSync(own), ['data.db'])
  chmodSync(own, 0o755)
})

test('listing the keys of an absent file, or of one that no server has used, creates nothing', async () => {
  const path = newPath()
  assert.equal(await listSqliteKeys(path), undefined)
  assert.equal(existsSync(path), false)
  new DatabaseSync(path).close()
  assert.equal(await listSqliteKeys(path), undefined)
})
