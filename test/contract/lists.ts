/** What an engine must hold of values and lists: exact values, one order, stable pages, exact totals, equal searches. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Predicate } from 'resourced-contract/model/predicate'
import { comparisonKey } from 'resourced-contract/model/predicate'
import { type Engine, openShop, type Shop } from './bookshop.ts'

const ascending = (field: string) => [{ field, descending: false }]
const descending = (field: string) => [{ field, descending: true }]

async function fill(shop: Shop, field: string, values: readonly unknown[]): Promise<void> {
  // In another order than the sorted one.
  for (const [index, value] of [...values.entries()].reverse()) {
    await shop.made('books', { title: String(index).padStart(2, '0'), [field]: value })
  }
}

// Each in the order that every engine gives. Texts are ordered by code point, whatever the locale of the server.
const ordered: Readonly<Record<string, readonly unknown[]>> = {
  stock: [-9007199254740991, -1, 0, 2, 10, 9007199254740991],
  price: [
    ...['-12345678901234567890.123456789012345678', '-0.000000000000000001', '0.000000000000000000'],
    ...['9.500000000000000000', '10.000000000000000000', '12345678901234567890.123456789012345679'],
  ],
  weight: [-1e21, -0.1, 0, 5e-324, 0.1, 0.30000000000000004, 2, 1e21, 1.7976931348623157e308],
  printed: [
    ...['1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00.000Z', '2026-11-21T12:00:00.000Z'],
    ...['2026-11-21T12:00:00.001Z', '9999-12-31T23:59:59.999Z'],
  ],
}

export function holdsLists(engine: Engine): void {
  for (const [field, values] of Object.entries(ordered)) {
    test(`values of ${field} are kept exactly, and are sorted and compared as values`, async (context) => {
      const { shop } = await openShop(context, engine)
      await fill(shop, field, values)
      const found = await shop.list('books', { sort: ascending(field) })
      assert.deepEqual(
        found.records.map((record) => record[field]),
        values,
      )
      const texts = found.records.map((record) => JSON.stringify(record))
      assert.equal(found.json.replaceAll('\n', ''), texts.join(','), 'written as JavaScript writes them')
      const reverse = await shop.list('books', { sort: descending(field) })
      assert.deepEqual(
        reverse.records.map((record) => record[field]),
        values.toReversed(),
      )
      const count = async (operator: 'lt' | 'lte' | 'eq', index: number) => {
        const value = comparisonKey(shop.resource('books'), field, values[index])!
        return (await shop.list('books', { filter: { kind: 'compare', field, operator, value } })).total
      }
      for (const index of values.keys()) {
        const counts = [await count('lt', index), await count('lte', index), await count('eq', index)]
        assert.deepEqual(counts, [index, index + 1, 1], `${field} ${values[index]}`)
      }
    })
  }

  test('texts are ordered by code point, and kept to the character', async (context) => {
    const { shop } = await openShop(context, engine)
    const titles = [
      ...['', ' a', 'A', 'B', 'Z', '[', 'a', 'a b', 'aa', 'b', 'z', 'É', 'é'],
      // By UTF-16 units, the last two would stand before the two above them.
      ...['\ue000', 'ﬀ', '\u{1f600}', '\u{2f800}'],
    ]
    for (const title of titles.toReversed()) await shop.made('books', { title })
    assert.deepEqual(await shop.titles({ sort: ascending('title') }), titles)
    const until: Predicate = { kind: 'compare', field: 'title', operator: 'lt', value: 'a' }
    assert.deepEqual(await shop.titles({ sort: ascending('title'), filter: until }), titles.slice(0, 6))
  })

  test('members of objects are kept: their order, numbers, escapes and nothing else', async (context) => {
    const { shop } = await openShop(context, engine)
    const more = { z: 1, a: [1.5, 1e21, null, true], text: '"\\\u2028\ud83d\ude00', '': {} }
    const id = await shop.made('books', { title: 'Emma', more })
    assert.equal(JSON.stringify((await shop.read('books', id))?.json.more), JSON.stringify(more))
  })

  test('a walk by pages gives each record once, while others are created and deleted beside it', async (context) => {
    const { shop } = await openShop(context, engine)
    const stocks = [1, 1, 1, 2, 2, null, null, 3, 3, 3]
    for (const [index, stock] of stocks.entries()) await shop.made('books', { title: `${index}`, stock })
    for (const sort of [ascending('stock'), descending('stock')]) {
      const whole = await shop.titles({ sort })
      const seen: string[] = []
      let keys: readonly (string | number | boolean | null)[] | undefined = []
      for (let page = 0; keys !== undefined; page++) {
        const position = page === 0 ? undefined : ({ direction: 'forward', keys } as const)
        const found = await shop.list('books', { sort, limit: 3, position })
        seen.push(...found.records.map(({ title }) => title))
        keys = found.next
        // One that is gone before the next page comes, at a place that was passed.
        const id = await shop.made('books', { title: 'beside', stock: found.records[0].stock })
        await shop.delete('books', id)
      }
      assert.deepEqual(seen, whole)
    }
  })

  test('the page before a page is the one that came before', async (context) => {
    const { shop } = await openShop(context, engine)
    for (const title of ['a', 'b', 'c', 'd', 'e']) await shop.made('books', { title })
    const sort = ascending('title')
    const first = await shop.list('books', { sort, limit: 2 })
    const second = await shop.list('books', { sort, limit: 2, position: { direction: 'forward', keys: first.next! } })
    const back = await shop.list('books', {
      sort,
      limit: 2,
      position: { direction: 'backward', keys: second.previous! },
    })
    assert.deepEqual(back.records, first.records)
    assert.equal(first.previous, undefined)
  })

  test('totals are exact after every kind of change, with a filter too', async (context) => {
    const { shop } = await openShop(context, engine)
    const filter: Predicate = { kind: 'compare', field: 'stock', operator: 'gte', value: 2 }
    const totals = async () => [
      (await shop.list('books', { limit: 1 })).total,
      (await shop.list('books', { limit: 1, filter })).total,
    ]
    const ids = []
    for (const stock of [1, 2, 3]) ids.push(await shop.made('books', { title: 'a', stock, code: `${stock}` }))
    assert.deepEqual(await totals(), [3, 2])
    await shop.change('books', ids[0]!, { stock: 5 })
    assert.deepEqual(await totals(), [3, 3])
    await shop.delete('books', ids[1]!)
    assert.deepEqual(await totals(), [2, 2])
    await shop.create('books', { title: 'refused', stock: 9, code: '3' })
    assert.deepEqual(await totals(), [2, 2])
    await shop.run('restore', 'books', { id: ids[1], restoration: ids[2] })
    assert.deepEqual(await totals(), [3, 3])
  })

  test('a search finds words without regard to case and accents, the last by its beginning', async (context) => {
    const { shop } = await openShop(context, engine)
    const titles = ['Straße nach Łódź', 'La peste', 'Étranger, l’', "O'Brien 12-34", 'ΣΊΣΥΦΟΣ']
    for (const title of titles) await shop.made('books', { title })
    const found: readonly (readonly [string, readonly number[]])[] = [
      ...([
        ['strasse', [0]],
        ['lod', [0]],
        ['pest', [1]],
        ['peste la', [1]],
        ['est', []],
      ] as const),
      ...([
        ['etranger', [2]],
        ['brien', [3]],
        ['12 3', [3]],
        ['σισυ', [4]],
        ['la ne', []],
      ] as const),
    ]
    for (const [words, places] of found) {
      const search = words.split(' ')
      assert.deepEqual((await shop.titles({ search })).sort(), places.map((place) => titles[place]!).sort(), words)
    }
    const [book] = (await shop.list('books', { search: ['pest'] })).records
    await shop.change('books', book.id, { title: 'La chute' })
    assert.deepEqual(await shop.titles({ search: ['pest'] }), [], 'the former words are gone')
    assert.deepEqual(await shop.titles({ search: ['chute'] }), ['La chute'])
  })
}
