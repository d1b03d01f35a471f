/** MET-9 with two servers: a request sent to both runs once, also if one server is killed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, isConnectionLost } from '../../durability/client.ts'
import { until } from '../../until.ts'
import { atOnce, moment, type Racer, raceOf, skip, tally } from '../servers.ts'

const fields = { name: { type: 'string', filter: true } } as const

const race = raceOf({
  name: 'intents',
  resources: {
    notes: { fields },
    // Of this one changes are serializable: a rule asks about others.
    votes: {
      fields,
      rules: [
        { on: 'create', code: 'ENDED', message: 'It is over.', unless: { none: 'stops', where: { name: 'all' } } },
      ],
    },
    stops: { fields },
  },
})

/** Sends a creation until it is answered otherwise than by "in use"; notes how often it was. */
async function insist(server: Racer, collection: string, name: string, seen: unknown[]): Promise<Answer> {
  for (;;) {
    const options = { body: { name }, headers: { 'idempotency-key': `"${name}"` } }
    const answer = await server.send('POST', `/v1/${collection}`, options)
    if (answer.status !== 409) return answer
    assert.equal(answer.json.code, 'IDEMPOTENCY_KEY_IN_USE', JSON.stringify(answer.json))
    seen.push('in use')
    await sleep(2)
  }
}

for (const collection of ['notes', 'votes']) {
  test(`MET-9: the same POST of ${collection} on both servers makes one record`, { skip }, async (context) => {
    const [intents, times] = [60, 4]
    const seen: unknown[] = []
    await atOnce(intents, async (intent) => {
      const answers = await atOnce(times, async (number) => {
        await moment(intent % 2 === 0 ? 0 : 8)
        const server = race.on(intent + number)
        const answer = await insist(server, collection, `${collection} ${intent}`, seen)
        return answer
      })
      for (const { status, json, headers } of answers) {
        assert.equal(status, 201)
        assert.deepEqual(
          [json, headers['location'], headers['etag']],
          [answers[0]?.json, answers[0]?.headers['location'], answers[0]?.headers['etag']],
        )
      }
    })
    const [row] = await race.rows(`select count(*)::int as made, count(distinct name)::int as names from ${collection}`)
    assert.deepEqual(row, { made: intents, names: intents })
    context.diagnostic(JSON.stringify(tally(seen)))
    assert.ok(seen.length > 0, 'some came while the first ran')
  })
}

test('MET-9: if a server is killed while it creates records, the other gives each repetition its record', {
  skip,
}, async (context) => {
  const found = { cut: 0, answered: 0 }
  let next = 0
  for (let round = 0; round < 3; round++) {
    const first = await race.start()
    const other = race.servers[0] as Racer
    const working = atOnce(16, async () => {
      for (let going = true; going; ) {
        const name = `kill ${next++}`
        let answer: Answer | undefined
        try {
          answer = await insist(first, 'notes', name, [])
          found.answered++
        } catch (error) {
          if (!isConnectionLost(error)) throw error
          found.cut++
          going = false
        }
        const again = await insist(other, 'notes', name, [])
        assert.equal(again.status, 201)
        if (answer !== undefined) assert.deepEqual(again.json, answer.json)
      }
    })
    const before = found.answered
    await until(async () => found.answered > before)
    await moment(300)
    await first.kill()
    await working
  }
  const [row] = await race.rows(
    "select count(*)::int as made, count(distinct name)::int as names from notes where name like 'kill %'",
  )
  assert.deepEqual(row, { made: next, names: next })
  context.diagnostic(JSON.stringify(found))
  assert.ok(found.cut > 0 && found.answered > 0)
})
