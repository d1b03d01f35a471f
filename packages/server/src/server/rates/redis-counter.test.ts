import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { redisCounter } from './redis-counter.ts'

for (const url of ['127.0.0.1:6379', 'http://127.0.0.1', 'redis://', 'redis:///secret', 'redis://:secret@host:port']) {
  test(`${url} is refused as an address of Redis, and not repeated in the message`, () => {
    const make = () => redisCounter({ url, prefix: 'test', fallback: undefined, observe: () => {} })
    assert.throws(make, (error: Error) => error instanceof ConfigurationError && !error.message.includes('secret'))
  })
}
