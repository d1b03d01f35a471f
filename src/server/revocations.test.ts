import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Revocations } from './revocations.ts'

test('who comes with a key after its revocation began waits for its end; others, and those who were before, do not', async () => {
  const revocations = new Revocations()
  assert.equal(revocations.ahead(), undefined)
  const before = revocations.ahead()
  let finish = () => {}
  let over = false
  const revoking = revocations.during('k', () => new Promise<void>((resolve) => void (finish = resolve)))
  const after = revocations.ahead()
  assert.equal(before, undefined)
  assert.equal(await after?.('another'), false)
  const waiting = after?.('k').then((was) => {
    assert.ok(over)
    return was
  })
  over = true
  finish()
  await revoking
  assert.equal(await waiting, true)
  assert.equal(revocations.ahead(), undefined)
})

test('two who revoke the key of the other do not wait for one another', async () => {
  const revocations = new Revocations()
  const revoke = (key: string, own: string) => {
    const ahead = revocations.ahead()
    return revocations.during(key, async () => (await ahead?.(own)) ?? false)
  }
  assert.deepEqual(await Promise.all([revoke('a', 'b'), revoke('b', 'a')]), [false, true])
})

test('one that fails is over too', async () => {
  const revocations = new Revocations()
  await assert.rejects(revocations.during('k', async () => assert.fail('no')))
  assert.equal(revocations.ahead(), undefined)
})
