/** What an engine must hold of changes: acknowledged is visible, races have one winner, and a refusal changes nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Engine, noon, openShop } from './bookshop.ts'

export function holdsChanges(engine: Engine): void {
  test('a read sees every change that was acknowledged, on each server of the database', async (context) => {
    const { shop, other } = await openShop(context, engine)
    const id = await shop.made('books', { title: 'Emma' })
    for (const stock of [1, 2, 3]) {
      assert.equal((await shop.change('books', id, { stock })).kind, 'updated')
      for (const server of [shop, other]) {
        assert.equal((await server.read('books', id))?.json.stock, stock)
        assert.equal((await server.list('books')).records[0].stock, stock)
      }
    }
  })

  test('of writers that hold one revision exactly one wins', async (context) => {
    const { shop, other } = await openShop(context, engine)
    const id = await shop.made('books', { title: 'Emma' })
    const { conditions } = (await shop.read('books', id))!
    const writers = [shop, shop, other, other]
    const rivals = writers.map((writer, index) => writer.change('books', id, { stock: index + 1 }, conditions))
    const outcomes = await Promise.all(rivals)
    const kinds = outcomes.map(({ kind }) => kind).sort()
    assert.deepEqual(kinds, ['stale', 'stale', 'stale', 'updated'])
    const winner = outcomes.findIndex(({ kind }) => kind === 'updated') + 1
    assert.equal((await shop.read('books', id))?.json.stock, winner)
  })

  test('every change gives a record a revision of its own', async (context) => {
    const { shop } = await openShop(context, engine)
    const id = await shop.made('books', { title: 'Emma' })
    const tags = new Set<string>()
    for (const stock of [1, 2, 1, 2]) {
      await shop.change('books', id, { stock })
      tags.add(JSON.stringify((await shop.read('books', id))?.conditions))
    }
    assert.equal(tags.size, 4)
  })

  test('of creations with one unique value exactly one succeeds, and deletion frees the value', async (context) => {
    const { shop, other } = await openShop(context, engine)
    const rivals = [shop, shop, other, other].map((server) => server.create('books', { title: 'a', code: '1' }))
    const kinds = (await Promise.all(rivals)).map(({ kind }) => kind).sort()
    assert.deepEqual(kinds, ['conflict', 'conflict', 'conflict', 'created'])
    const [book] = (await shop.list('books')).records
    assert.equal((await shop.delete('books', book.id)).kind, 'deleted')
    await shop.made('books', { title: 'e', code: '1' })
  })

  test('a reference never points at a record that a rival deletes', async (context) => {
    const { shop, other } = await openShop(context, engine)
    for (let round = 0; round < 10; round++) {
      const book = await shop.made('books', { title: 'Emma' })
      const [lent, deleted] = await Promise.all([shop.create('loans', { book_id: book }), other.delete('books', book)])
      // Either the loan blocks the deletion, or there is no book to lend.
      assert.deepEqual(
        [lent.kind, deleted.kind].sort(),
        lent.kind === 'created' ? ['conflict', 'created'] : ['deleted', 'invalid'],
      )
    }
  })

  test('a deletion that is blocked far below deletes nothing', async (context) => {
    const { shop } = await openShop(context, engine)
    const shelf = await shop.made('shelves', { name: 'A' })
    const ids = await Promise.all(['one', 'two'].map((title) => shop.made('books', { title, shelf_id: shelf })))
    await shop.made('loans', { book_id: ids[1]! })
    const before = await shop.list('books')
    assert.equal((await shop.delete('shelves', shelf)).kind, 'conflict')
    assert.deepEqual(await shop.list('books'), before)
    assert.ok(await shop.read('shelves', shelf))
  })

  test('a load of which one record fails leaves none of them, and the totals as they were', async (context) => {
    const { shop } = await openShop(context, engine)
    await shop.made('books', { title: 'Emma', code: '3' })
    const plans = ['1', '2', '3'].map((code) => ({
      ...{ kind: 'create', resource: shop.resource('books'), id: `018f0000-0000-7000-8000-00000000000${code}` },
      ...{ parent: undefined, body: { title: code, code }, permitted: { kind: 'always' }, mayAssignOwner: true },
      ...{ caller: { id: 'ann', roles: [], claims: {} }, now: noon },
    }))
    const whole = { resources: [shop.resource('books')], plans, mostRefusals: 10 }
    assert.deepEqual(
      (await shop.storage.loadAll(whole as never)).map(({ index }) => index),
      [2],
    )
    assert.equal((await shop.list('books')).total, 1)
    const skipped = await shop.storage.load(plans as never, 'skip')
    assert.deepEqual(
      skipped.map((refusal) => refusal?.kind),
      [undefined, undefined, 'conflict'],
    )
    assert.equal((await shop.list('books')).total, 3)
  })

  test('a deletion takes its dependents, clears references, and a restoration brings exactly them back', async (context) => {
    const { shop } = await openShop(context, engine)
    const shelf = await shop.made('shelves', { name: 'A' })
    const [stays, goes] = [
      await shop.made('books', { title: 'stays', shelf_id: shelf }),
      await shop.made('books', { title: 'goes', shelf_id: shelf }),
    ]
    const note = await shop.made('notes', { book_id: stays })
    await shop.delete('books', goes)
    assert.equal((await shop.delete('shelves', shelf)).kind, 'deleted')
    assert.equal(await shop.read('books', stays), undefined)
    assert.equal((await shop.read('notes', note))?.json.book_id ?? null, null)
    const restored = await shop.run('restore', 'shelves', { id: shelf, restoration: goes })
    assert.equal(restored.kind, 'updated', JSON.stringify(restored))
    assert.deepEqual(await shop.titles({}), ['stays'])
  })

  test('a repeated key gives the first answer, another body is refused, and rivals create one record', async (context) => {
    const { shop } = await openShop(context, engine)
    const preferred = { return: undefined, asynchronously: false, most: undefined }
    const send = (title: string) =>
      shop.create('books', { title }, { idempotency: { scope: 'ann POST /books 1', fingerprint: title, preferred } })
    const kinds = (await Promise.all([send('Emma'), send('Emma'), send('Emma')])).map(({ kind }) => kind)
    assert.equal(kinds.filter((kind) => kind === 'created').length, 1)
    assert.ok(
      kinds.every((kind) => ['created', 'replayed', 'key-in-use'].includes(kind)),
      String(kinds),
    )
    assert.equal((await send('Emma')).kind, 'replayed')
    assert.equal((await send('Persuasion')).kind, 'key-reused')
    assert.equal((await shop.list('books')).total, 1)
  })
}
