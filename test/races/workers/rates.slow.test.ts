/** LIM-1: two servers on PostgreSQL count rates together if they share a Redis, and separately if they do not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redisFor, whyNoRedis } from '../../redis/server.ts'
import { atOnce, raceOf, skip, statuses } from '../servers.ts'

const race = raceOf({
  name: 'rates',
  resources: { notes: { fields: { name: { type: 'string' } } } },
  limits: { rate: { caller: '100/hour' } },
})

test('LIM-1: of 300 requests to two servers, exactly as many succeed as one shared limit allows', {
  skip: skip || (whyNoRedis ?? false),
}, async (context) => {
  const { url } = await redisFor(context)
  const options = ['--rate-limit', 'declared', '--redis', url]
  const servers = [await race.start(options), await race.start(options)]
  // What is done for the first time takes longest, and Redis is waited for a tenth of a second only.
  for (const { process } of servers)
    await fetch(`${process.origin}/v1/notes`, { headers: { authorization: 'Bearer none' } })
  const answers = await atOnce(300, (number) => servers[number % 2]!.send('GET', '/v1/notes'))
  assert.deepEqual(statuses(answers), { 200: 100, 429: 200 })
})
