/** PAG-4, CON-4 with two servers: totals, pages and tags of lists agree while 64 writers change the listed records. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { atOnce, moment, raceOf, roundsUntil, skip } from './servers.ts'

const race = raceOf({
  name: 'lists',
  resources: {
    rooms: { fields: { name: { type: 'string' } } },
    items: {
      fields: {
        name: { type: 'string', sort: true },
        kind: { type: 'string', filter: true },
        count: { type: 'integer', default: 0 },
        room_id: { reference: 'rooms', onDelete: 'cascade' },
      },
      within: 'room_id',
    },
  },
})

const writers = 64
const duration = 4_000

test('PAG-4, CON-4: totals, pages and tags are correct while 64 writers write', { skip }, async (context) => {
  const room = await race.make('rooms', { name: 'r' })
  // At most one record of a writer lives, so that a page holds all of them.
  const queries = ['', '&kind=even', '&kind=odd&sort=-name']
  const lists = [
    ...queries.map((each) => `/v1/items?per_page=100&page=1${each}`),
    `/v1/rooms/${room.id}/items?limit=100`,
  ]
  const end = performance.now() + duration
  const bodies = new Map<string, string>()
  const found = { changes: 0, reads: 0, unchanged: 0, changed: 0, sameTag: 0 }
  const happened = () => Object.values(found).every((count) => count > 0)
  const goesOn = () => performance.now() < end || (!happened() && performance.now() < end + 10 * duration)
  let ended = false

  const writing = atOnce(writers, async (number) => {
    const { send } = race.on(number)
    const other = race.on(number + 1)
    const kind = number % 2 === 0 ? 'even' : 'odd'
    for (let round = 0; goesOn(); round++) {
      // Now and then nobody writes: then lists stay as they are.
      while (performance.now() % 1_500 < 700) await moment(30)
      const made = await send('POST', '/v1/items', { body: { name: `w${number}`, kind, room_id: room.id } })
      assert.equal(made.status, 201, JSON.stringify(made.json))
      const path = `/v1/items/${made.json.id}`
      const list = `/v1/items?per_page=100&page=1&kind=${kind}`
      const before = round % 4 === 0 ? await other.send('GET', list) : undefined
      assert.equal((await send('PATCH', path, { body: { count: round + 1 } })).status, 200)
      if (before !== undefined) {
        // The list has changed since: this writer has seen to that, on the other server.
        const headers = { 'if-none-match': String(before.headers['etag']) }
        const after = await other.send('GET', list, { headers })
        assert.equal(after.status, 200)
        assert.equal(after.json.data.find(({ id }: { id: string }) => id === made.json.id)?.count, round + 1)
        found.changed++
      }
      await moment(30)
      assert.equal((await send('DELETE', path)).status, 204)
      found.changes += 3
    }
  })

  const reading = atOnce(8, async (reader) => {
    for (let round = 0; !ended; round++) {
      const list = String(lists[(reader + round) % lists.length])
      const { send } = race.on(round)
      const { status, json, headers } = await send('GET', list)
      assert.equal(status, 200)
      assert.equal(json.pagination.total_count, json.data.length, 'the total is that of the rows beside it')
      assert.equal(new Set(json.data.map(({ id }: { id: string }) => id)).size, json.data.length)
      const key = `${list} ${headers['etag']}`
      const body = hash('sha256', JSON.stringify(json))
      if (bodies.has(key)) found.sameTag++
      assert.equal(bodies.get(key) ?? body, body, 'one tag, one body, on whichever server')
      bodies.set(key, body)
      // Right away there may be no change, and then the same is not sent again.
      const again = await race
        .on(round + 1)
        .send('GET', list, { headers: { 'if-none-match': String(headers['etag']) } })
      if (again.status === 304) found.unchanged++
      else assert.notEqual(again.headers['etag'], headers['etag'])
      found.reads += 2
    }
  })

  await writing
  ended = true
  await reading
  const kept = await atOnce(30, (number) =>
    race.on(number).send('POST', '/v1/items', { body: { name: `k${number}`, kind: 'even', room_id: room.id } }),
  )
  assert.ok(kept.every(({ status }) => status === 201))
  const [row] = await race.rows('select count(*)::int as live from items where deleted_at is null')
  for (const list of lists) {
    const [one, two] = await atOnce(2, (number) => race.on(number).send('GET', list))
    assert.deepEqual([one?.json, one?.headers['etag']], [two?.json, two?.headers['etag']])
    assert.equal(one?.json.pagination.total_count, list.includes('odd') ? 0 : row.live)
    const fresh = await race.on(1).send('GET', list, { headers: { 'if-none-match': String(one?.headers['etag']) } })
    assert.equal(fresh.status, 304)
  }
  context.diagnostic(JSON.stringify(found))
  assert.ok(happened())
})

test('PAG-6: pagination by cursor over both servers returns each record that exists throughout once', {
  skip,
}, async (context) => {
  const room = await race.make('rooms', { name: 'walk' })
  const lasting = await atOnce(120, (number) =>
    race.on(number).send('POST', '/v1/items', { body: { name: `l${number}`, kind: 'lasting', room_id: room.id } }),
  )
  const ids = new Set(lasting.map(({ json }) => json.id))
  let ended = false
  const writing = atOnce(16, async (number) => {
    while (!ended) {
      const made = await race
        .on(number)
        .send('POST', '/v1/items', { body: { name: `l${number}x`, kind: 'passing', room_id: room.id } })
      await moment(10)
      await race.on(number).send('DELETE', `/v1/items/${made.json.id}`)
    }
  })
  let met = 0
  for (const _ of roundsUntil(4, () => met > 0)) {
    const seen: string[] = []
    let cursor = ''
    for (let page = 0; ; page++) {
      const { status, json } = await race.on(page).send('GET', `/v1/items?limit=20&sort=name${cursor}`)
      assert.equal(status, 200, JSON.stringify(json))
      seen.push(...json.data.map(({ id }: { id: string }) => id))
      if (json.pagination.next_cursor === null) break
      cursor = `&cursor=${encodeURIComponent(json.pagination.next_cursor)}`
    }
    assert.equal(seen.length, new Set(seen).size, 'none twice')
    assert.equal(seen.filter((id) => ids.has(id)).length, ids.size)
    met += seen.filter((id) => !ids.has(id)).length
  }
  ended = true
  await writing
  context.diagnostic(`${met} passing records were met on the way`)
  assert.ok(met > 0)
})
