/** CON-5 with two servers: if several clients send the same ETag, one succeeds, and no update is lost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atOnce, raceOf, roundsUntil, skip, statuses, tally } from './servers.ts'

const fields = { name: { type: 'string' }, count: { type: 'integer', default: 0 } } as const

const race = raceOf({
  name: 'etags',
  resources: {
    counters: { fields },
    // A rule about other records: its changes are kept apart more strictly.
    guards: {
      fields,
      rules: [
        {
          on: ['create', 'update', 'delete'],
          code: 'STOPPED',
          message: 'Nothing changes now.',
          unless: { none: 'stops', where: { name: 'all' } },
        },
      ],
    },
    stops: { fields: { name: { type: 'string' } } },
  },
})

const rounds = 12
const writers = 32

for (const collection of ['counters', 'guards']) {
  for (const method of ['PATCH', 'PUT', 'DELETE']) {
    test(`CON-5: of ${writers} ${method} of ${collection} with one tag, exactly one succeeds`, {
      skip,
    }, async (context) => {
      const winners: number[] = []
      for (const round of roundsUntil(rounds, () => new Set(winners).size === 2)) {
        const { id } = await race.make(collection, { name: 'c' })
        const path = `/v1/${collection}/${id}`
        const headers = { 'if-match': String((await race.on(round).send('GET', path)).headers['etag']) }
        const answers = await atOnce(writers, (number) => {
          const body = method === 'DELETE' ? undefined : { name: `by ${number}`, count: number }
          return race.on(round + number).send(method, path, { body, headers })
        })
        const won = answers.findIndex(({ status }) => status < 300)
        const lost = method === 'DELETE' ? [404, 412] : [412]
        for (const [number, { status }] of answers.entries()) {
          assert.ok(number === won || lost.includes(status), JSON.stringify(statuses(answers)))
        }
        for (const { send } of race.servers) {
          const { status, json } = await send('GET', path)
          assert.equal(status, method === 'DELETE' ? 404 : 200)
          if (method !== 'DELETE') assert.deepEqual(json, answers[won]?.json)
        }
        winners.push((round + won) % 2)
      }
      context.diagnostic(`won by server: ${JSON.stringify(tally(winners))}`)
      assert.equal(new Set(winners).size, 2, 'each server won sometimes')
    })
  }

  test(`MET-4: counting in ${collection} by test and replace loses nothing`, { skip }, async (context) => {
    const { id } = await race.make(collection, { name: 'c' })
    const path = `/v1/${collection}/${id}`
    const headers = { 'content-type': 'application/json-patch+json' }
    const [workers, each] = [12, 12]
    let again = 0
    await atOnce(workers, async (number) => {
      const { send } = race.on(number)
      for (let counted = 0; counted < each; ) {
        const { count } = (await send('GET', path)).json
        const body = [
          { op: 'test', path: '/count', value: count },
          { op: 'replace', path: '/count', value: count + 1 },
        ]
        const { status, json } = await send('PATCH', path, { body, headers })
        assert.ok(status === 200 || status === 409, JSON.stringify(json))
        if (status === 200) assert.equal(json.count, count + 1)
        if (status === 200) counted++
        else again++
      }
    })
    for (const { send } of race.servers) assert.equal((await send('GET', path)).json.count, workers * each)
    context.diagnostic(`${again} came too late and tried again`)
    assert.ok(again > workers)
  })

  test(`CON-5: ${writers} unconditional PATCH of one record of ${collection} all succeed`, { skip }, async () => {
    const { id } = await race.make(collection, { name: 'c' })
    const path = `/v1/${collection}/${id}`
    const answers = await atOnce(writers, (number) =>
      race.on(number).send('PATCH', path, { body: { count: number + 1 } }),
    )
    assert.deepEqual(statuses(answers), { 200: writers })
    // Each change is a revision of its own.
    assert.equal(new Set(answers.map(({ headers }) => headers['etag'])).size, writers)
  })
}
