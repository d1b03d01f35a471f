/** OPS-6: backups that earlier programs made are restored to both engines, and serve what they held. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createApp } from '../../packages/server/src/server/create-app.ts'
import { restoreDatabase } from '../../packages/server/src/server/open-database.ts'
import { bytesOf, earlierBackups, shop } from '../backups/backups.ts'
import { databaseFor, whyNoDatabase } from '../postgres/database.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-releases-'))
test.after(() => rmSync(folder, { recursive: true }))

let files = 0
const newFile = () => join(folder, `${files++}.db`)

const targets: Readonly<Record<string, (context: TestContext) => Promise<string>>> = {
  'a new file': async () => `sqlite:${newFile()}`,
  'an empty file': async () => {
    const file = newFile()
    writeFileSync(file, '')
    return `sqlite:${file}`
  },
  PostgreSQL: databaseFor,
}

/** What the backups hold, through the interface. */
async function contentsOf(database: string, hasEvents: boolean) {
  const app = createApp(shop(hasEvents), { database, databaseUnsafe: true, rateLimit: 'off', log: false })
  try {
    const client = app.as({ id: 'root', roles: ['admin'] })
    const [customers, orders] = [client['customers']!, client['orders']!]
    const listed = await orders.list({ sort: '-created_at', limit: 100 })
    const gone = await customers.list({ include_deleted: true, sort: 'name', limit: 100 })
    const last = gone.data.at(-1) as { readonly id: string; readonly deleted_at: string | null }
    const found = await orders.list({ q: '18', limit: 100 })
    const restored = await customers.restore(last.id)
    const made = await orders.create({
      ...{ title: 'New', price: '1.00', at: '2026-01-01T00:00:00Z', open: true, ratio: 1, count: 99, labels: [] },
      customer_id: last.id,
    })
    const searched = await orders.list({ q: 'new' })
    const numbers = hasEvents ? [made['number']] : []
    // Earlier events name no request.
    const events = hasEvents ? (await client['events']!.list({ limit: 100 })).data : []
    const requests = [events[0], events.at(-1)].flatMap((event) => (event ? [typeof event['request_id']] : []))
    const first = listed.data[0] as Record<string, unknown>
    return {
      ...{ orders: listed.data.length, customers: gone.data.length, deleted: last.deleted_at !== null },
      first: [first['title'], first['price'], first['ratio'], first['open'], first['labels']],
      ...{ found: found.data.map((order) => order['title']), numbers, requests },
      ...{ restored: restored.id === last.id, searched: searched.data.length },
      back: (await orders.list({ limit: 100 })).data.length,
    }
  } finally {
    await app.close()
  }
}

for (const name of earlierBackups) {
  for (const [target, make] of Object.entries(targets)) {
    const skip = target === 'PostgreSQL' && (whyNoDatabase ?? false)
    test(`OPS-6: ${name} is restored to ${target}`, { skip }, async (context) => {
      const file = join(folder, `${files++}.backup`)
      writeFileSync(file, bytesOf(name))
      const database = await make(context)
      const work = { signal: new AbortController().signal, onProgress() {}, version: '0.1.0', now: Date.now() }
      const { description } = await restoreDatabase(file, { database, databaseUnsafe: true }, work)
      assert.deepEqual([description.records['customers'], description.records['orders']], [5, 20])
      const hasEvents = name.includes('events')
      assert.deepEqual(await contentsOf(database, hasEvents), {
        ...{ orders: 16, customers: 5, deleted: true },
        ...{ first: ['Order 18', '18.50', 6, true, ['a']], found: ['Order 18'] },
        ...{ numbers: hasEvents ? [21] : [], requests: hasEvents ? ['object', 'string'] : [] },
        ...{ restored: true, searched: 1, back: 21 },
      })
    })
  }
}
