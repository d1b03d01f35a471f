/** MET-9: a network that loses requests and responses makes the client repeat them, and nothing happens twice. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createClient } from '../../packages/client/src/index.ts'
import { lossyProxy } from './lossy-proxy.ts'
import { serveNotes } from './notes.ts'

const seed = 20
const retry = { attempts: 40, pause: 5 }

/** Calls a function for each number, at most so many at a time. */
async function each(count: number, concurrency: number, run: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const lane = async () => {
    for (let index = next++; index < count; index = next++) await run(index)
  }
  await Promise.all(Array.from({ length: concurrency }, lane))
}

it('MET-9: hundreds of creations over a lossy network create one record each', async (context) => {
  const origin = await serveNotes(context)
  const proxy = await lossyProxy(context, origin, seed, 0.5)
  const client = createClient({ url: `${proxy.url}/v1`, retry })
  await each(300, 16, async (index) => {
    const note = await client['notes']?.create({ title: `note ${index}` })
    assert.equal(note?.['title'], `note ${index}`)
  })
  for (const [fault, count] of Object.entries(proxy.counts)) assert.ok(count > 10, `${fault} happened ${count} times`)
  const titles = await Array.fromAsync(
    createClient({ url: `${origin}/v1` })['notes']?.all({ limit: 100 }) ?? [],
    (note) => String(note['title']),
  )
  const numbers = titles.map((title) => Number(title.slice(5))).sort((left, right) => left - right)
  assert.deepEqual(
    numbers,
    Array.from({ length: 300 }, (_, index) => index),
  )
})

it('CON-3: changes, deletions and restorations over a lossy network happen once', async (context) => {
  const origin = await serveNotes(context)
  const proxy = await lossyProxy(context, origin, seed + 1, 0.4)
  const { notes } = createClient({ url: `${proxy.url}/v1`, retry })
  const direct = createClient({ url: `${origin}/v1` })['notes']
  assert.ok(notes && direct)
  await each(60, 8, async (index) => {
    const note = await notes.create({ title: `note ${index}`, count: 0 })
    let current = note
    for (let count = 1; count <= 3; count++) current = await notes.update(current, { count })
    const replaced = await notes.replace(current, { title: `note ${index}`, count: 4 })
    assert.equal(replaced['count'], 4)
    await assert.rejects(notes.update(note, { count: 9 }), { status: 412 })
    await notes.delete(replaced)
    const restored = await notes.restore(note.id)
    assert.deepEqual([restored['count'], restored['status']], [4, 'open'])
    if (index % 2 === 0) await notes.bulkDelete([restored])
  })
  const left = await direct.list({ limit: 100 })
  assert.equal(left.pagination.total_count, 30)
  assert.ok(left.data.every((note) => note['count'] === 4))
})
