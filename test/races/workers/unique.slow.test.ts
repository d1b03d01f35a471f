/** DEL-11 with two servers: of several concurrent changes to one unique value, one succeeds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer } from '../../durability/client.ts'
import { atOnce, raceOf, roundsUntil, skip, statuses, tally } from '../servers.ts'

const race = raceOf({
  name: 'unique',
  resources: {
    tags: { fields: { name: { type: 'string', unique: true }, note: { type: 'string', optional: true } } },
    seats: {
      fields: { row: { type: 'string' }, place: { type: 'integer' }, note: { type: 'string', optional: true } },
      unique: [['row', 'place']],
    },
  },
})

const rounds = 16
const writers = 16

/** What makes two records of a collection alike. */
const values: Readonly<Record<string, (number: number) => object>> = {
  tags: (number) => ({ name: `value ${number}` }),
  seats: (number) => ({ row: 'a', place: number }),
}

/** Exactly one has succeeded, and the others are told why not. */
function winnerOf(answers: readonly Answer[]): number {
  const won = answers.findIndex(({ status }) => status < 300)
  assert.ok(won >= 0, JSON.stringify(statuses(answers)))
  for (const [number, { status, json }] of answers.entries()) {
    if (number !== won)
      assert.deepEqual([status, json.errors?.[0]?.code], [409, 'DUPLICATE_VALUE'], JSON.stringify(json))
  }
  return won
}

for (const [collection, alike] of Object.entries(values)) {
  test(`DEL-11: of ${writers} creations of ${collection} with one value, exactly one succeeds`, {
    skip,
  }, async (context) => {
    const winners: number[] = []
    for (const round of roundsUntil(rounds, () => new Set(winners).size >= 2)) {
      const body = alike(round)
      const gate = await race.gate(`insert on "${collection}"`)
      const creating = atOnce(writers, (number) => race.on(round + number).send('POST', `/v1/${collection}`, { body }))
      await gate.waiting(writers / 2)
      await gate.open()
      winners.push((round + winnerOf(await creating)) % 2)
    }
    const [counted] = await race.rows(`select count(*)::int as count from "${collection}"`)
    assert.equal(counted.count, winners.length)
    context.diagnostic(`won by server: ${JSON.stringify(tally(winners))}`)
    assert.equal(new Set(winners).size, 2, 'each server won sometimes')
  })

  test(`DEL-6, DEL-11: of restorations, creations and changes to one value of ${collection}, one succeeds`, {
    skip,
  }, async (context) => {
    const winners: string[] = []
    for (const round of roundsUntil(rounds, () => new Set(winners).size >= 2)) {
      const body = alike(1_000 + round)
      const path = `/v1/${collection}`
      const { send } = race.on(round)
      const former = await race.make(collection, body)
      assert.equal((await send('DELETE', `${path}/${former.id}`)).status, 204)
      const others = await atOnce(4, (number) => race.make(collection, alike(10_000 + round * 10 + number)))
      const ways = [
        ...others.flatMap(({ id }) => [
          ['created', 'POST', path, body],
          ['changed', 'PATCH', `${path}/${id}`, body],
        ]),
        ['restored', 'POST', `${path}/${former.id}/restore`, undefined],
      ] as [string, string, string, unknown][]
      // Who is first in the queue differs.
      const order = [...ways.slice(round % ways.length), ...ways.slice(0, round % ways.length)]
      const answers = await Promise.all(
        order.map(([, method, address, body], number) => race.on(number).send(method, address, { body })),
      )
      winners.push(String(order[winnerOf(answers)]?.[0]))
    }
    context.diagnostic(`won: ${JSON.stringify(tally(winners))}`)
    assert.ok(new Set(winners).size >= 2)
  })
}
