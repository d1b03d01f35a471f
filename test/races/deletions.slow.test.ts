/** DEL-9, DEL-10 with two servers: concurrent deletions of many records, and single changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atOnce, moment, raceOf, roundsUntil, skip, statuses } from './servers.ts'

const race = raceOf({
  name: 'items',
  resources: {
    boxes: { fields: { name: { type: 'string' } } },
    items: {
      fields: {
        name: { type: 'string' },
        kind: { type: 'string', filter: true },
        box_id: { reference: 'boxes', onDelete: 'cascade', optional: true },
        next_id: { reference: 'items', onDelete: 'clear', optional: true },
        twin_id: { reference: 'items', onDelete: 'clear', optional: true },
      },
      deletion: { byFilter: true, asynchronous: 'never' },
    },
    crates: {
      fields: { kind: { type: 'string', filter: true } },
      deletion: { byFilter: true, asynchronous: 'always' },
    },
    seals: { fields: { crate_id: { reference: 'crates', onDelete: 'restrict' } } },
  },
})

/** The counts that lists tell are those of what is there. */
async function countsAreTrue() {
  const [row] = await race.rows('select count(*)::int as live from items where deleted_at is null')
  for (const { send } of race.servers) {
    assert.equal((await send('GET', '/v1/items?per_page=1&page=1')).json.pagination.total_count, row.live)
  }
}

test('DEL-9: concurrent deletions of overlapping lists and single changes: each record is deleted once', {
  skip,
}, async (context) => {
  const found = { whole: 0, refused: 0, single: 0, changed: 0, late: 0 }
  const happened = () => Object.values(found).every((count) => count > 0)
  for (const round of roundsUntil(12, happened)) {
    const box = await race.make('boxes', { name: 'b' })
    const made = await atOnce(24, () => race.make('items', { name: 'i', kind: 'k', box_id: box.id }))
    const ids: string[] = made.map(({ id }) => id)
    // Some refer to the next ones, whose deletion changes them.
    await atOnce(3, (number) =>
      race
        .on(number)
        .send('PATCH', `/v1/items/${ids[number]}`, { body: { next_id: ids[number + 1], twin_id: ids[number + 2] } }),
    )
    const bulks = [ids.slice(0, 14), ids.slice(10, 20).reverse(), ids.slice(4, 12).reverse()]
    const [deleted, single, changed] = await Promise.all([
      atOnce(bulks.length, async (number) => {
        await moment(6)
        return race.on(number).send('POST', '/v1/items/bulk-delete', { body: { ids: bulks[number] } })
      }),
      atOnce(8, async (number) => {
        await moment(20)
        return race.on(number).send('DELETE', `/v1/items/${ids[number * 3]}`)
      }),
      atOnce(ids.length, async (number) => {
        await moment(20)
        return race.on(number).send('PATCH', `/v1/items/${ids[number]}`, { body: { name: 'changed' } })
      }),
    ])
    const rows = new Map(
      (await race.rows(`select id, name, _deletion, deleted_at from items where box_id = '${box.id}'`)).map((row) => [
        row.id,
        row,
      ]),
    )
    const byWhom = new Map<string, Set<string>>()
    for (const [number, { status, json }] of deleted.entries()) {
      if (status === 200) {
        const deletions = new Set(bulks[number]?.map((id) => String(rows.get(id)._deletion)))
        assert.equal(deletions.size, 1, 'all of them went by one deletion')
        byWhom.set(String(number), deletions)
        found.whole++
      } else {
        assert.equal(status, 404, JSON.stringify(json))
        found.refused++
      }
    }
    const gone = new Set(deleted.flatMap(({ status }, number) => (status === 200 ? (bulks[number] ?? []) : [])))
    for (const [number, { status }] of single.entries()) {
      assert.ok(status === 204 || status === 404)
      if (status === 204) {
        const id = String(ids[number * 3])
        assert.ok(!gone.has(id), 'nothing is deleted twice')
        gone.add(id)
        found.single++
      }
    }
    for (const [number, { status }] of changed.entries()) {
      const row = rows.get(String(ids[number]))
      assert.equal(row.deleted_at !== null, gone.has(row.id))
      assert.ok(status === 200 || (status === 404 && gone.has(row.id)))
      assert.equal(row.name, status === 200 ? 'changed' : 'i')
      found[status === 200 ? 'changed' : 'late']++
    }
    const dangling = await race.rows(
      'select i.id from items i join items n on n.id in (i.next_id, i.twin_id) where i.deleted_at is null and n.deleted_at is not null',
    )
    assert.deepEqual(dangling, [])
    await race.on(round).send('DELETE', `/v1/boxes/${box.id}`)
    await countsAreTrue()
  }
  context.diagnostic(JSON.stringify(found))
  assert.ok(happened())
})

test('DEL-10: concurrent deletions by filter and matching creations: no record is lost, and none counted twice', {
  skip,
}, async (context) => {
  const found = { deleted: 0, left: 0, refused: 0 }
  const happened = () => found.deleted > 0 && found.left > 0
  for (const round of roundsUntil(12, happened)) {
    const kind = `filter-${round}`
    await atOnce(8, () => race.make('items', { name: 'i', kind }))
    const [created, deleted] = await Promise.all([
      atOnce(24, async (number) => {
        await moment(25)
        return race.on(number).send('POST', '/v1/items', { body: { name: 'new', kind } })
      }),
      atOnce(6, async (number) => {
        await moment(25)
        const headers = { prefer: 'handling=strict, max-affected=12' }
        return race.on(number).send('DELETE', `/v1/items?kind=${kind}`, { headers })
      }),
    ])
    assert.deepEqual(statuses(created), { 201: 24 })
    let sum = 0
    for (const { status, json } of deleted) {
      assert.ok(status === 200 || status === 409, JSON.stringify(json))
      if (status === 409) found.refused++
      else assert.ok(json.deleted_count <= 12, `${json.deleted_count} were deleted`)
      sum += status === 200 ? json.deleted_count : 0
    }
    const [row] = await race.rows(
      `select count(*) filter (where deleted_at is null)::int as live, count(deleted_at)::int as gone from items where kind = '${kind}'`,
    )
    assert.deepEqual(row, { live: 32 - sum, gone: sum })
    found.deleted += sum
    found.left += row.live
  }
  await countsAreTrue()
  context.diagnostic(JSON.stringify(found))
  assert.ok(happened())
})

test('DEL-9: records that refer to one another are deleted from both ends, and moved', { skip }, async (context) => {
  const found: Record<string, number> = {}
  for (let round = 0; round < 10; round++) {
    const boxes = await atOnce(2, () => race.make('boxes', { name: 'b' }))
    const made = await atOnce(12, (number) =>
      race.make('items', { name: 'i', kind: 'm', box_id: boxes[number % 2].id }),
    )
    const asked = [
      ...made.map(({ id }, number) => ['PATCH', `/v1/items/${id}`, { box_id: boxes[(number + 1) % 2].id }]),
      ['POST', '/v1/boxes/bulk-delete', { ids: boxes.slice(round % 5 === 0 ? 0 : 1).map(({ id }) => id) }],
      ['POST', '/v1/items/bulk-delete', { ids: made.slice(0, 6).map(({ id }) => id) }],
      ['DELETE', '/v1/items?kind=m', undefined],
    ] as [string, string, unknown][]
    const answers = await Promise.all(
      asked.map(async ([method, path, body], number) => {
        await moment(number < made.length ? 10 : 15)
        return race.on(number).send(method, path, { body })
      }),
    )
    for (const [number, { status, json }] of answers.entries()) {
      assert.ok(status < 300 || [400, 404, 409].includes(status), JSON.stringify(json))
      const key = `${asked[number]?.[0]} ${status}`
      found[key] = (found[key] ?? 0) + 1
    }
    const orphans = await race.rows(
      `select i.id from items i join boxes b on b.id = i.box_id where i.deleted_at is null and b.deleted_at is not null`,
    )
    assert.deepEqual(orphans, [])
  }
  await countsAreTrue()
  context.diagnostic(JSON.stringify(found))
})

test('DEL-4, DEL-10: a record that gains a reference while a job deletes by filter stays', {
  skip,
}, async (context) => {
  const found = { sealed: 0, refused: 0, deleted: 0, kept: 0 }
  const happened = () => found.sealed > 0 && found.refused > 0 && found.deleted > 0
  for (const round of roundsUntil(8, happened)) {
    const kind = `c${round}`
    const crates = await race.rows(
      `insert into crates (id, kind, created_at, updated_at, _revision)
       select gen_random_uuid(), '${kind}', now()::text, now()::text, 1 from generate_series(1, 400) returning id`,
    )
    const [deleted, sealed] = await Promise.all([
      race.on(round).send('DELETE', `/v1/crates?kind=${kind}`),
      atOnce(100, async (number) => {
        await moment(120)
        return race.on(number).send('POST', '/v1/seals', { body: { crate_id: crates[number * 4].id } })
      }),
    ])
    assert.ok(deleted.status === 202 || deleted.status === 409, JSON.stringify(deleted.json))
    for (const { status, json } of sealed) {
      assert.ok([201, 400, 409].includes(status), JSON.stringify(json))
      found[status === 201 ? 'sealed' : 'refused']++
    }
    const broken = await race.rows(
      'select s.id from seals s join crates c on c.id = s.crate_id where s.deleted_at is null and c.deleted_at is not null',
    )
    assert.deepEqual(broken, [])
    found[deleted.status === 202 ? 'deleted' : 'kept']++
  }
  context.diagnostic(JSON.stringify(found))
  assert.ok(happened())
})
