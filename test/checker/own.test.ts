/** Our own server keeps all rules, as far as cases can see. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serveShop } from './shop.ts'
import { casesOf, checkShop, tellAll } from './try-faults.ts'

test('every case holds on our own server', async (context) => {
  const shop = await serveShop()
  context.after(() => shop.serving.close())
  const report = await checkShop(shop, shop.serving.origin)
  assert.deepEqual(
    casesOf(report)
      .filter(({ verdict }) => verdict !== 'holds')
      .map(({ id }) => id),
    [],
    tellAll(report),
  )
  assert.deepEqual(report.remains, [])
})
