/** What an engine must hold of its administration: keys, maintenance, migrations, moves and backups. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { backUpDatabase, restoreDatabase } from '../../packages/server/src/server/open-database.ts'
import { MigrationRefused } from '../../packages/server/src/storage/migration/migration-step.ts'
import { moveAll } from '../../packages/server/src/storage/move/move.ts'
import { administrationOf, catalog, type Engine, larger, noon, openShop, Shop } from './bookshop.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-contract-'))
after(() => rmSync(folder, { recursive: true }))

const { signal } = new AbortController()
const key = { id: 'k1', hash: 'a'.repeat(64), hint: 'rk_1', subject: 'ann', roles: ['admin'] }
const claims = { team: 'acme', more: [1, null] }
const stored = { ...key, claims, created_at: '2026-11-21T12:00:00.000Z', expires_at: null, revoked_at: null }

/** A database with records of every collection, a deleted one, and a key. */
async function filled(context: TestContext, engine: Engine) {
  const { shop, database } = await openShop(context, engine)
  const shelf = await shop.made('shelves', { name: 'A' })
  const price = '12345678901234567890.123456789012345678'
  const id = await shop.made('books', { title: 'Étranger', stock: 9007199254740991, price, shelf_id: shelf })
  await shop.made('notes', { book_id: id })
  await shop.delete('books', await shop.made('books', { title: 'deleted', code: '1' }))
  await shop.storage.keys.add(stored)
  return { shop, database, id }
}

/** What clients see of a database: records, revisions, totals, search and keys. */
async function seen(shop: Shop, id: string) {
  const lists = await Promise.all((['shelves', 'books', 'loans', 'notes'] as const).map((name) => shop.list(name)))
  const search = await shop.titles({ search: ['etran'] })
  return { lists, search, record: await shop.read('books', id), key: await shop.storage.keys.find(stored.hash) }
}

async function reopened(context: TestContext, engine: Engine, fill: (address: string) => Promise<unknown>) {
  const database = await engine()
  await fill(database.address)
  const shop = new Shop(await database.open(catalog, { migrate: 'never' }))
  context.after(async () => {
    await shop.storage.close()
    await database.remove()
  })
  return shop
}

export function holdsAdministration(engine: Engine): void {
  test('a key is found by its hash, listed, used and revoked, by every program on the database', async (context) => {
    const { shop, database } = await openShop(context, engine)
    const { openKeys, listKeys } = await administrationOf(database)
    const { keys, close } = await openKeys()
    await keys.add(stored)
    assert.equal((await shop.storage.keys.find(stored.hash))?.subject, 'ann')
    await shop.storage.keys.keepUses(new Map([['k1', noon]]))
    assert.equal((await listKeys())?.[0]?.last_used_at, '2026-11-21T12:00:00.000Z')
    const at = '2026-11-21T13:00:00.000Z'
    assert.deepEqual(await keys.revoke('k1', at), { count: 1, remaining: 0 })
    assert.equal(await keys.revoke('k1', at), undefined)
    assert.equal((await shop.storage.keys.find(stored.hash))?.revoked_at, at)
    await close()
  })

  test('maintenance begins and ends for all servers, and stays when the database is opened again', async (context) => {
    const { shop, database } = await openShop(context, engine)
    const { openMaintenance } = await administrationOf(database)
    const { maintenance, close } = (await openMaintenance())!
    const first = { since: '2026-11-21T12:00:00.000Z', message: 'Back soon.', retryAfter: 60 }
    await maintenance.begin(first)
    const later = { since: '2026-11-21T13:00:00.000Z', message: 'Back later.', retryAfter: 90 }
    const { now, before } = await maintenance.begin(later)
    assert.deepEqual([now.since, now.message, before], [first.since, later.message, first])
    assert.deepEqual(await shop.storage.maintenance.read(), now)
    const again = await database.open(catalog)
    assert.deepEqual(again.maintenanceFound, now)
    await again.close()
    assert.deepEqual(await maintenance.end(), now)
    assert.equal(await shop.storage.maintenance.read(), undefined)
    await close()
  })

  test('what no server has used has no keys, no maintenance and no tables, and looking creates none', async (context) => {
    const database = await engine()
    context.after(() => database.remove())
    const { hasTables, listKeys, openMaintenance, examine } = await administrationOf(database)
    for (let round = 0; round < 2; round++) {
      assert.deepEqual([await hasTables(), await listKeys(), await openMaintenance()], [false, undefined, undefined])
      assert.ok(!(await examine(catalog))?.isUsed)
    }
  })

  test('a migration that adds is planned, made at start, and keeps what is there', async (context) => {
    const { shop, database, id } = await filled(context, engine)
    const before = (await shop.read('books', id))?.json
    const { migrate, examine } = await administrationOf(database)
    const { steps, applied } = await migrate(larger, 'never')
    assert.ok(steps.length > 0 && !applied && steps.every(({ loses }) => loses === 'nothing'))
    assert.equal((await examine(larger))?.pending?.steps.length, steps.length)
    await assert.rejects(async () => database.open(larger, { migrate: 'never' }), MigrationRefused)
    const next = new Shop(await database.open(larger), larger)
    context.after(() => next.storage.close())
    const { updated_at } = (await next.read('books', id))!.json
    assert.deepEqual((await next.read('books', id))?.json, { ...before, pages: 1, updated_at })
    assert.ok(updated_at > before.updated_at, 'a representation that changes is a change')
    assert.deepEqual((await migrate(larger, 'never')).steps, [])
    assert.equal((await shop.list('books')).total, 1, 'servers of the former declaration go on')
    assert.equal((await migrate(catalog, 'additive')).applied, false, 'the way back loses a field')
  })

  test('a backup has every change before it, and a database restored from it is the same', async (context) => {
    const { shop, database, id } = await filled(context, engine)
    const file = join(folder, `${id}.backup`)
    const how = { signal, version: '1.0.0', now: noon, onProgress: () => {} }
    const { description } = await backUpDatabase({ database: database.address }, file, how)
    assert.deepEqual(description.records['books'], 2)
    const expected = await seen(shop, id)
    await shop.made('books', { title: 'after the backup' })
    const restored = await reopened(context, engine, (address) =>
      restoreDatabase(file, { database: address, databaseUnsafe: true }, how),
    )
    assert.deepEqual(await seen(restored, id), expected)
    await assert.rejects(restoreDatabase(file, { database: database.address, databaseUnsafe: true }, how))
    assert.equal((await shop.list('books')).total, 2, 'a database that is in use is left alone')
  })

  test('a moved database is the same, and a move that fails leaves the target empty', async (context) => {
    const { shop, database, id } = await filled(context, engine)
    const from = await administrationOf(database)
    const move = async (address: string, isToFail: boolean) => {
      const source = await from.openSource()
      await source.begin()
      const schema = await source.schema()
      const { fill } = await administrationOf({ address })
      const how = { schema, now: noon, signal, onRows: () => {}, onIndexes: () => isToFail && assert.fail('stopped') }
      await fill(schema, (target) => moveAll(source, target, how)).finally(() => source.close())
    }
    const moved = await reopened(context, engine, async (address) => {
      await assert.rejects(move(address, true), /stopped/)
      assert.equal(await (await administrationOf({ address })).hasTables(), false)
      await move(address, false)
    })
    assert.deepEqual(await seen(moved, id), await seen(shop, id))
    await moved.made('books', { title: 'new', code: '1' })
    assert.equal((await moved.list('books')).total, 2)
  })
}
