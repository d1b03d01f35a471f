/** What remains on a server that does not delete, and after a check that is stopped. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { check, start, storeFor, strangersIn } from './check-store.ts'
import type { StoreMake } from './plant/store.ts'

describe('A server whose deletions fail', () => {
  const failing: Readonly<Record<string, StoreMake['instead']>> = {
    'with 500': ({ method }) => (method === 'DELETE' ? { status: 500 } : undefined),
    'with 403': ({ method }) => (method === 'DELETE' ? { status: 403 } : undefined),
    'although it answers 204': ({ method }) => (method === 'DELETE' ? { status: 204 } : undefined),
  }
  for (const [title, instead] of Object.entries(failing)) {
    it(`${title} keeps one record, and the report names it`, async (context) => {
      const store = await storeFor(context, { instead })
      const ended = await check(store)
      assert.deepEqual(strangersIn(store), ['/orders/4'])
      assert.deepEqual(ended.report.remains, ['/orders/4'])
      assert.match(ended.err, /orders: \/orders\/4 was created and cannot be deleted again/)
    })
  }

  it('at the first attempt only keeps nothing', async (context) => {
    const refused = new Set<string>()
    const store = await storeFor(context, {
      instead({ method, path }) {
        if (method !== 'DELETE' || !/[0369]$/.test(path) || refused.has(path)) return undefined
        refused.add(path)
        return { status: 500 }
      },
    })
    const ended = await check(store, '--only', 'RES,MET')
    assert.ok(refused.size > 5)
    assert.deepEqual([strangersIn(store), ended.report.remains], [[], []])
  })
})

describe('A check that is stopped', () => {
  it('deletes the records that it created', async (context) => {
    const store = await storeFor(context, {})
    const { child, end } = start(store)
    while (store.asked.filter((each) => each.startsWith('POST')).length < 40)
      await new Promise((resolve) => setTimeout(resolve, 5))
    child.kill('SIGINT')
    const ended = await end
    assert.equal(ended.code, 130, ended.err)
    assert.deepEqual(strangersIn(store), [])
  })

  it('lists the records that exist when it is stopped twice', async (context) => {
    let deletions = 0
    const store = await storeFor(context, {
      instead: ({ method }) => (method === 'DELETE' && ++deletions > 20 ? 'silence' : undefined),
    })
    const { child, end } = start(store)
    while (deletions <= 20) await new Promise((resolve) => setTimeout(resolve, 5))
    child.kill('SIGINT')
    await new Promise((resolve) => setTimeout(resolve, 500))
    child.kill('SIGINT')
    const { code, err } = await end
    assert.equal(code, 130, err)
    const left = strangersIn(store)
    assert.ok(left.length > 0)
    for (const path of left) assert.ok(err.split('Created by the check, and left behind:')[1]?.includes(path), err)
  })
})
