/** Discovery of our own server from its address: every case finds a collection, and holds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cases } from '../../packages/check/src/cases/cases.ts'
import { Client } from '../../packages/check/src/client/client.ts'
import { discover } from '../../packages/check/src/discovery/discover.ts'
import { tryCollections } from '../../packages/check/src/discovery/try-collections.ts'
import { chooseCollections } from '../../packages/check/src/run/choose-collections.ts'
import { serveShop } from './shop.ts'
import { casesOf, checkShop, tellAll } from './try-faults.ts'

const means = { hasKey: true, hasOther: true }

// A document cannot show these.
const undiscoverable = ['origin', 'deprecated', 'retired', 'grace', 'tls', 'attempts', 'disposable', 'repairable']

test('without a profile every case finds a collection that finds one with a profile, and holds on it', async (context) => {
  const shop = await serveShop()
  const client = new Client()
  context.after(() => {
    client.close()
    return shop.serving.close()
  })
  const requester = { client, credential: [['Authorization', `Bearer ${shop.key}`]] as const }
  const found = await discover(requester, { url: shop.serving.origin })
  const tried = await tryCollections(requester, {
    ...found,
    cases,
    other: [['Authorization', `Bearer ${shop.otherKey}`]],
  })
  assert.deepEqual([tried.notices, tried.remains], [[], []])
  assert.equal(tried.profile.base, shop.profile.base, 'the newest version is the interface')
  const lost = cases.filter(
    (each) =>
      !each.needs.some((need) => undiscoverable.includes(need)) &&
      'collections' in chooseCollections(each, shop.profile, means) &&
      'why' in chooseCollections(each, tried.profile, means),
  )
  assert.deepEqual(
    lost.map(({ id, needs }) => `${id}: ${needs}`),
    [],
  )
  const report = await checkShop({ ...shop, profile: tried.profile }, shop.serving.origin)
  const odd = casesOf(report).filter(({ verdict }) => verdict !== 'holds' && verdict !== 'not applicable')
  assert.deepEqual(
    odd.map(({ id }) => id),
    [],
    tellAll(report),
  )
})
