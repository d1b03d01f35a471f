/** Business rules about other records, which two servers change at once, are never broken (no write skew). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atOnce, moment, raceOf, roundsUntil, skip, statuses, tally } from './servers.ts'

const text = { type: 'string' }
const open = { type: 'boolean', default: true }

const race = raceOf({
  name: 'rules',
  resources: {
    // At most one: a slot is booked once.
    bookings: {
      fields: { slot: { ...text, filter: true }, who: text },
      rules: [
        {
          on: ['create', 'restore'],
          code: 'SLOT_TAKEN',
          message: 'The slot is taken.',
          unless: { none: 'bookings', where: { slot: { record: 'slot' } } },
        },
      ],
    },
    // At least one: somebody of a ward stays on call.
    doctors: {
      fields: { ward: { ...text, filter: true }, name: text, on_call: { ...open, filter: true } },
      rules: [
        {
          on: ['update', 'delete'],
          code: 'NOBODY_ON_CALL',
          message: 'Somebody else of the ward must be on call.',
          unless: {
            some: 'doctors',
            where: { ward: { record: 'ward' }, on_call: true, id: { not: { record: 'id' } } },
          },
        },
      ],
    },
    // None where: a closed shop has no open orders, and takes none.
    shops: {
      fields: { name: text, open },
      rules: [
        {
          on: ['update', 'delete'],
          code: 'HAS_ORDERS',
          message: 'Finish the open orders first.',
          unless: { none: 'orders', where: { shop: { record: 'id' }, open: true } },
        },
      ],
    },
    orders: {
      fields: { shop: { ...text, filter: true }, open: { ...open, filter: true } },
      rules: [
        {
          on: 'create',
          code: 'SHOP_CLOSED',
          message: 'The shop takes no orders.',
          unless: { some: 'shops', where: { id: { record: 'shop' }, open: true } },
        },
      ],
    },
  },
})

const rounds = 16

test('DEL-4: at most one: of eight bookings of a slot one succeeds, with restored ones too', {
  skip,
}, async (context) => {
  const winners: number[] = []
  for (const round of roundsUntil(rounds, () => new Set(winners).size === 2)) {
    const slot = `slot ${round}`
    const former = await race.make('bookings', { slot, who: 'former' })
    await race.on(round).send('DELETE', `/v1/bookings/${former.id}`)
    // All have seen that the slot is free before the first takes it.
    const gate = await race.gate('insert or update on bookings')
    const asking = atOnce(8, (number) =>
      number === (round >> 1) % 8
        ? race.on(round + number).send('POST', `/v1/bookings/${former.id}/restore`)
        : race.on(round + number).send('POST', '/v1/bookings', { body: { slot, who: `${number}` } }),
    )
    await gate.waiting(8)
    await gate.open()
    const answers = await asking
    const won = answers.findIndex(({ status }) => status < 300)
    for (const [number, { status, json }] of answers.entries()) {
      if (number !== won)
        assert.deepEqual([status, json.errors[0].code], [409, 'SLOT_TAKEN'], JSON.stringify(statuses(answers)))
    }
    const [row] = await race.rows(
      `select count(*)::int as live from bookings where slot = '${slot}' and deleted_at is null`,
    )
    assert.equal(row.live, 1)
    winners.push((round + won) % 2)
  }
  context.diagnostic(`won by server: ${JSON.stringify(tally(winners))}`)
  assert.equal(new Set(winners).size, 2)
})

test('DEL-4: at least one: two doctors cannot both go off call, or be deleted', { skip }, async (context) => {
  const found: Record<string, number> = {}
  for (const round of roundsUntil(rounds, () => Object.keys(found).length === 2)) {
    const ward = `ward ${round}`
    const doctors = await atOnce(2, (number) => race.make('doctors', { ward, name: `${number}` }))
    const gate = await race.gate('update on doctors')
    const asking = atOnce(2, (number) => {
      const path = `/v1/doctors/${doctors[number].id}`
      // By changes, and by deletions of each kind.
      if (round % 3 === 0) return race.on(round + number).send('DELETE', path)
      if (round % 3 === 1)
        return race.on(round + number).send('POST', '/v1/doctors/bulk-delete', { body: { ids: [doctors[number].id] } })
      return race.on(round + number).send('PATCH', path, { body: { on_call: false } })
    })
    // Both have seen the other on call.
    await gate.waiting(2)
    await gate.open()
    const answers = await asking
    const won = answers.filter(({ status }) => status < 300)
    assert.equal(won.length, 1, JSON.stringify(statuses(answers)))
    const [row] = await race.rows(
      `select count(*)::int as left from doctors where ward = '${ward}' and on_call and deleted_at is null`,
    )
    assert.equal(row.left, 1)
    const first = `by server ${(round + answers.findIndex(({ status }) => status < 300)) % 2}`
    found[first] = (found[first] ?? 0) + 1
  }
  context.diagnostic(JSON.stringify(found))
  assert.equal(Object.keys(found).length, 2)
})

test('DEL-4: none where: no open order belongs to a shop that is closed or deleted', { skip }, async (context) => {
  const found = { closed: 0, kept: 0, ordered: 0, refused: 0 }
  const happened = () => Object.values(found).every((count) => count > 0)
  for (const round of roundsUntil(rounds, happened)) {
    const { id } = await race.make('shops', { name: 's' })
    // In some rounds all come at once, in others one side may be first.
    const [early, late] = [[0, 0], [20, 0], [0, 20]][round % 3] as [number, number] // biome-ignore format: a line
    const [closed, orders] = await Promise.all([
      moment(early).then(() =>
        round % 2 === 0
          ? race.on(round).send('PATCH', `/v1/shops/${id}`, { body: { open: false } })
          : race.on(round).send('DELETE', `/v1/shops/${id}`),
      ),
      atOnce(2, async (number) => {
        await moment(late)
        return race.on(round + number + 1).send('POST', '/v1/orders', { body: { shop: id } })
      }),
    ])
    const isClosed = closed.status < 300
    assert.ok(isClosed || closed.status === 409)
    for (const { status, json } of orders) {
      assert.ok(status === 201 || (status === 409 && json.errors[0].code === 'SHOP_CLOSED'), JSON.stringify(json))
      assert.ok(!(isClosed && status === 201), 'an order stands in a closed shop')
      found[status === 201 ? 'ordered' : 'refused']++
    }
    found[isClosed ? 'closed' : 'kept']++
  }
  context.diagnostic(JSON.stringify(found))
  assert.ok(happened())
})

test('CON-5: many concurrent changes that rules serialize all succeed', { skip }, async () => {
  const answers = await atOnce(64, (number) =>
    race.on(number).send('POST', '/v1/bookings', { body: { slot: `own ${number}`, who: 'w' } }),
  )
  assert.deepEqual(statuses(answers), { 201: 64 })
})
