/**
 * SUM-3, RES-17: however often a server is killed while many connections write, kept summaries and sums of children are
 * what counting finds.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { administer } from '../../packages/server/src/server/open-database.ts'
import { clientOf, isConnectionLost } from '../durability/client.ts'
import { createKey, type ServerProcess, startServer } from '../durability/command.ts'
import { pick, randomFrom, seedOfRun } from '../durability/random.ts'
import { newDatabase } from '../engine.ts'

const rounds = Number(process.env.KILL_ROUNDS ?? 3)
const connections = 16

const anyone = { create: 'anyone', read: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const
const shop: InterfaceDeclaration = {
  name: 'shop',
  resources: {
    carts: {
      fields: {
        name: { type: 'string' },
        total: { type: 'decimal', precision: 16, scale: 2, sumOf: 'items.price' },
        pieces: { type: 'integer', sumOf: 'items.pieces' },
      },
      access: anyone,
    },
    items: {
      fields: {
        cart_id: { reference: 'carts', onDelete: 'cascade' },
        status: { enum: ['open', 'paid', 'sent'], default: 'open' },
        price: { type: 'decimal', precision: 12, scale: 2 },
        pieces: { type: 'integer', optional: true },
      },
      summaries: {
        by_status: { group: ['status'], sum: ['price', 'pieces'] },
        by_cart: { group: ['cart_id', 'created_at:day'], sum: ['price'] },
      },
      access: anyone,
    },
  },
}

const folder = mkdtempSync(join(tmpdir(), 'resourced-summaries-'))
let running: ServerProcess | undefined
after(() => {
  running?.child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

/** How many changes were answered. */
const answered = { count: 0 }

/** Writes until the connection is lost. */
async function write(origin: string, key: string, random: () => number): Promise<void> {
  const client = clientOf(origin, key)
  const carts: string[] = []
  const items: string[] = []
  const send = async (method: string, path: string, body?: object) => {
    const { status, json } = await client.send(method, `/v1/${path}`, body === undefined ? {} : { body })
    assert.ok(status < 500, `${method} ${path}: ${JSON.stringify(json)}`)
    answered.count++
    if (status === 201) (path === 'carts' ? carts : items).push(json.id)
  }
  const price = () => `${Math.floor(random() * 1e6)}.${10 + Math.floor(random() * 90)}`
  const item = () => `items/${pick(random, items)}`
  const cart = () => `carts/${pick(random, carts)}`
  const create = () => {
    return send('POST', 'items', { cart_id: pick(random, carts), price: price(), pieces: pick(random, [null, 3]) })
  }
  const change = () => send('PATCH', item(), { status: pick(random, ['open', 'paid', 'sent']), price: price() })
  const others = [
    () => send('DELETE', item()),
    () => send('DELETE', cart()),
    () => send('POST', `${item()}/restore`),
    () => send('POST', `${cart()}/restore`),
  ]
  try {
    for (;;) {
      if (carts.length < 2) await send('POST', 'carts', { name: 'a' })
      else await (items.length < 3 ? create : pick(random, [create, create, change, change, ...others]))()
    }
  } catch (error) {
    if (!isConnectionLost(error)) throw error
  } finally {
    client.close()
  }
}

test(`SUM-3, RES-17: kept summaries and sums are exact after ${rounds} kills`, async (context) => {
  const seed = seedOfRun()
  context.diagnostic(`SEED=${seed}`)
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(shop))
  const { address } = await newDatabase()
  const key = createKey(folder, address)
  const random = randomFrom(seed)
  const administration = await administer({ database: address })
  for (let round = 0; round < rounds; round++) {
    const server = await startServer(folder, ['--http'], {}, address)
    running = server
    const writing = Array.from({ length: connections }, (_, number) =>
      write(server.origin, key, randomFrom(seed + round * connections + number)),
    )
    const before = answered.count
    for (let waits = 0; answered.count < before + 3 * connections && waits < 1_000; waits++) await sleep(10)
    await sleep(random() * 200)
    server.child.kill('SIGKILL')
    await Promise.all(writing)
    assert.equal(await server.ended, 'SIGKILL', server.errors.join(''))
    const found = await administration.examine(completeCatalog(shop))
    assert.deepEqual(
      [...(found?.summaries ?? [])],
      [
        ['carts.total', true],
        ['carts.pieces', true],
        ['items/by_status', true],
        ['items/by_cart', true],
      ],
    )
  }
  context.diagnostic(`${answered.count} changes were answered`)
})
