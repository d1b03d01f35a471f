/** All cases hold on our own server. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Report } from '../../packages/check/src/run/check.ts'
import { newDatabase } from '../engine.ts'
import { serveShop } from './shop.ts'
import { casesOf, checkShop, tellAll } from './try-faults.ts'

test('every case holds on our own server, by plain HTTP or by TLS', async (context) => {
  const held = new Set<string>()
  let all: ReturnType<typeof casesOf> = []
  for (const secure of [false, true]) {
    const database = await newDatabase({ memory: true })
    const shop = await serveShop({ secure, database: database.address })
    context.after(async () => {
      await shop.serving.close()
      await database.remove()
    })
    const report: Report = await checkShop(shop, shop.serving.origin)
    all = casesOf(report)
    assert.deepEqual(
      all.filter(({ verdict }) => verdict !== 'holds' && verdict !== 'not applicable').map(({ id }) => id),
      [],
      tellAll(report),
    )
    assert.deepEqual(report.remains, [])
    for (const { id, verdict } of all) if (verdict === 'holds') held.add(id)
  }
  assert.deepEqual(
    // Its lists need a credential, as its creations do.
    all.map(({ id }) => id).filter((id) => !held.has(id) && id !== 'AUT-1/creation-challenge'),
    [],
    'every case applies to one of the two',
  )
})
