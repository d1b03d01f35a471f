/** BLK-4: transactions of the client, against a server, over HTTP. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createClient, etagOf, ProblemError } from '../../packages/client/src/index.ts'
import { type notebooks, serveNotes } from './notes.ts'

it('BLK-4: changes are sent together, and take values of earlier ones', async (context) => {
  const client = createClient<typeof notebooks>({ url: await serveNotes(context), version: 'v1' })
  const kept = await client.notes.create({ title: 'Kept' })
  const gone = await client.notes.create({ title: 'Gone' })
  const made = await client.transaction((t) => {
    const book = t.notebooks.create({ name: 'Blue' })
    const first = t.notebooks.within(book).pages.create({ text: book.name })
    const second = t.pages.create({ text: 'Two', notebook_id: book.id })
    t.pages.update(second, { text: first.text })
    const changed = t.notes.update(kept, { count: 3, body: first.id })
    t.notes.delete(gone)
    const back = t.notes.restore(gone.id)
    return { book, pages: [first, second] as const, changed, back, note: 'given' }
  })
  assert.deepEqual([made.book.name, made.pages[0].text, made.pages[1].text], ['Blue', 'Blue', 'Two'])
  assert.deepEqual([made.pages[0].notebook_id, made.changed.body], [made.book.id, made.pages[0].id])
  assert.deepEqual([made.changed.count, made.back.title, made.note], [3, 'Gone', 'given'])
  assert.equal((await client.pages.get(made.pages[1].id)).text, 'Blue')
  // The results carry their tags.
  assert.ok(etagOf(made.book))
  assert.equal((await client.notes.update(made.changed, { count: 4 })).count, 4)
  assert.equal(await client.transaction((t) => t.notes.delete(made.back)), undefined)
})

it('BLK-4, CON-3: a record carries its tag into a transaction, and a refusal leaves nothing', async (context) => {
  const client = createClient<typeof notebooks>({ url: await serveNotes(context), version: 'v1' })
  const note = await client.notes.create({ title: 'One' })
  await client.notes.update(note.id, { count: 1 })
  const change = () =>
    client.transaction((t) => {
      t.notes.create({ title: 'Two' })
      return t.notes.update(note, { count: 2 })
    })
  await assert.rejects(change, (error) => {
    assert.ok(error instanceof ProblemError)
    assert.deepEqual([error.status, error.errors[0]?.pointer], [412, '/operations/1/if_match'])
    return true
  })
  assert.equal((await client.notes.list()).pagination.total_count, 1)
  const any = await client.transaction((t) => t.notes.update(note, { count: 2 }, { ifMatch: '*' }))
  assert.equal(any.count, 2)
})

it('BLK-4: data that looks like a reference stays as it is', async () => {
  const sent: { operations: { body: unknown; path: string; if_match?: string }[] }[] = []
  const client = createClient({
    url: 'https://api.test/v1',
    async fetch(_, init) {
      sent.push(JSON.parse(String(init.body)))
      const results = [{ status: 201, body: { id: 'a' }, etag: '"1"' }, { status: 204 }]
      return Response.json({ results })
    },
  })
  const data = { $ref: 'r0.id' }
  const [box] = await client.transaction((t) => {
    const made = t['boxes']!.create({ name: 'x', data, list: [{ $value: 1 }, { $ref: 'r0.id', more: 1 }] })
    t['boxes']!.update('a/b', { other: made.id, deep: { of: [made['name']] } })
    return [made]
  })
  assert.deepEqual(box, { id: 'a' })
  assert.equal(etagOf(box as object), '"1"')
  assert.deepEqual(sent[0]?.operations, [
    {
      ...{ method: 'POST', path: '/boxes', as: 'r0' },
      body: { name: 'x', data: { $value: data }, list: [{ $value: { $value: 1 } }, { $ref: 'r0.id', more: 1 }] },
    },
    {
      ...{ method: 'PATCH', path: '/boxes/a%2Fb', as: 'r1' },
      body: { other: { $ref: 'r0.id' }, deep: { of: [{ $ref: 'r0.name' }] } },
    },
  ])
})
