/** OPS-6, HIS-1, RES-17, SUM-3: histories, sums and kept summaries go with backups and moves, and go on afterwards. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { createApp } from '../../packages/server/src/server/create-app.ts'
import { shelves } from '../declarations-shelves.ts'
import { databaseFor, whyNoDatabase } from '../postgres/database.ts'

const program = join(import.meta.dirname, '../../packages/server/src/cli/main.js')
const folder = mkdtempSync(join(tmpdir(), 'resourced-histories-'))
after(() => rmSync(folder, { recursive: true }))
const declared = pathToFileURL(join(import.meta.dirname, '../declarations-shelves.ts')).href
writeFileSync(join(folder, 'resources.ts'), `export { shelves as default } from ${JSON.stringify(declared)}`)

let files = 0
const newFile = () => join(folder, `${files++}.data`)
const engines = { sqlite: async (_: TestContext) => `sqlite:${newFile()}`, postgres: databaseFor }
type Engine = keyof typeof engines

async function run(...given: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [program, ...given], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  assert.equal(await new Promise((resolve) => child.on('close', resolve)), 0, said)
}

const carriers: Readonly<Record<string, (from: string, to: string) => Promise<void>>> = {
  move: (from, to) => run('move', '--from', from, '--to', to, '--declaration', 'resources.ts', '--database-unsafe'),
  async backup(from, to) {
    const file = newFile()
    await run('backup', file, '--database', from)
    await run('restore', file, '--database', to, '--database-unsafe')
  },
}

/** Works with the interface on a database. */
async function on<T>(database: string, work: (client: Client) => Promise<T>): Promise<T> {
  const app = createApp(shelves, { database, databaseUnsafe: true, rateLimit: 'off', log: false })
  try {
    return await work(app.as({ id: 'root', roles: ['admin'] }))
  } finally {
    await app.close()
  }
}

// biome-ignore lint/suspicious/noExplicitAny: records have every shape
type Client = any

/** Two shelves of books that were changed, moved, deleted and restored. */
async function fill({ shelves: all, books }: Client) {
  const [first, second] = await all.createMany([{ name: 'A' }, { name: 'B' }])
  const bodies = Array.from({ length: 30 }, (_, index) => ({
    ...{ title: `Title ${index} "ü" 東京`, price: `${index}.25`, shelf_id: first!.id },
    data: { deep: [index / 3, null, { text: '\\u0000 \n' }] },
  }))
  const made = await books.createMany(bodies, { idempotencyKey: 'made' })
  const kept = await books.create({ title: 'Kept', price: '1.00', shelf_id: first!.id }, { idempotencyKey: 'kept' })
  // More rows of a summary than one batch reads.
  const others = await all.createMany(Array.from({ length: 600 }, (_, index) => ({ name: `Other ${index}` })))
  await books.createMany(others.map(({ id }: { id: string }) => ({ title: 'Other', price: '2.00', shelf_id: id })))
  const times: string[] = []
  for (const [index, book] of made.entries()) {
    const changed = await books.update(book, { state: 'used', ...(index % 2 && { shelf_id: second!.id }) })
    if (index % 5 === 0) await books.delete(changed)
    if (index % 10 === 0) await books.restore(book)
    times.push(changed.updated_at)
  }
  return { first: first!, second: second!, made, kept, times }
}

/** What the interface says of everything, as text. */
async function contentsOf({ shelves: all, books, events }: Client, { made, times }: Awaited<ReturnType<typeof fill>>) {
  const found: unknown[] = [
    await all.list({ sort: '-total' }),
    await books.list({ include_deleted: true, limit: 100 }),
    await books.summary({ group: ['state', 'shelf_id'], sum: 'price', sort: 'state' }),
    await books.summary({ sum: 'price' }),
    await events.list({ limit: 100 }),
  ]
  for (const [index, { id }] of made.entries()) {
    found.push(await books.revisions(id, { include_deleted: true }))
    found.push(
      await books.at(id, times[index]!, { include_deleted: true }).catch((error: { status: number }) => error.status),
    )
  }
  return found.map((each) => JSON.stringify(each))
}

const ways = [
  ['sqlite', 'sqlite'],
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
  ['postgres', 'postgres'],
] as const
for (const [name, carry] of Object.entries(carriers)) {
  for (const [one, other] of ways) {
    const skip = (one === 'postgres' || other === 'postgres') && (whyNoDatabase ?? false)
    test(`a ${name} from ${one} to ${other} keeps states, sums and summaries, and they go on`, {
      skip,
    }, async (context) => {
      const from = await engines[one as Engine](context)
      const filled = await on(from, fill)
      const before = await on(from, (client) => contentsOf(client, filled))
      const to = await engines[other as Engine](context)
      await carry(from, to)
      assert.deepEqual(await on(to, (client) => contentsOf(client, filled)), before)
      await on(to, (client) => goesOn(client, filled))
    })
  }
}

/** Changes are kept and added up as before, and kept responses are repeated and erased. */
async function goesOn(
  { shelves: all, books }: Client,
  { first, second, made, kept }: Awaited<ReturnType<typeof fill>>,
) {
  const { total } = await all.get(second.id)
  const [, book] = made
  const { pagination: earlier } = await books.revisions(book!.id)
  const changed = await books.update(book!.id, { price: '1000.25', title: 'Changed' })
  const { data, pagination } = await books.revisions(book!.id)
  assert.deepEqual([data[0]?.record, data[0]?.caller], [changed, 'root'])
  assert.equal(pagination.total_count, Number(earlier.total_count) + 1)
  assert.equal((await all.get(second.id)).total, (Number(total) + 999).toFixed(2))
  const { data: figures } = await books.summary({ group: 'shelf_id', sum: 'price', sort: '-sum.price' })
  for (const shelf of [first, second]) {
    const { total: sum } = await all.get(shelf.id)
    assert.equal(
      figures.find(({ group }: { group: { shelf_id: string } }) => group.shelf_id === shelf.id)?.sum?.price,
      sum,
    )
  }
  const again = () => books.create({ title: 'Kept', price: '1.00', shelf_id: first.id }, { idempotencyKey: 'kept' })
  assert.deepEqual(await again(), kept)
  await books.eraseHistory(kept.id)
  assert.equal(await again().then((record: { title?: string } | undefined) => record?.title), undefined)
}
