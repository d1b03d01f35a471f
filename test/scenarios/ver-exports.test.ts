/** VER-2: an export of version 1 is the same file as before versions 2 and 3. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { desk, deskAtFirst } from '../declarations-desk.ts'
import { type Trial, trialFor } from '../harness.ts'

const requests = [
  { collection: 'tickets', format: 'json' },
  { collection: 'tickets', format: 'ndjson', sort: ['-price', 'subject'] },
  { collection: 'tickets', format: 'csv', filter: { or: [{ price: { gte: 2.5 } }, { state: 'done' }] } },
  { collection: 'tickets', format: 'csv', fields: ['subject', 'price', 'state', 'colour'], sort: '-urgency' },
  { collection: 'tickets', format: 'json', filter: { colour: { null: true }, price: { in: [1.25, 2.5] } } },
  { collection: 'tickets', format: 'json', filter: { colour: 'red' } },
  { collection: 'people', format: 'csv' },
  { collection: 'cases', format: 'json' },
  { collection: 'tickets', format: 'csv', filter: { cents: 3 }, sort: ['headline'], fields: ['labels'] },
]

/** What each of them is answered with, and its file. */
async function exportsOf({ app, send }: Trial): Promise<string[]> {
  const make = async (collection: string, body: unknown) => {
    const { status, text, json } = await send({ method: 'POST', path: `/v1/${collection}`, body })
    assert.equal(status, 201, text)
    return json
  }
  const ann = await make('people', { name: 'Ann' })
  for (const [index, subject] of ['=1+1', 'With "quotes", and a comma', 'Two\nlines', 'Plain', 'Ünïcode'].entries()) {
    const code = index === 3 ? { code: 'C3' } : {}
    const state = index % 2 === 0 ? 'new' : 'done'
    await make('tickets', { subject, state, urgency: index + 1, price: index * 1.25, asker_id: ann.id, ...code })
  }
  const seen: string[] = []
  for (const body of requests) {
    const answer = await send({ path: '/v1/exports', method: 'POST', body })
    if (answer.status !== 202) {
      seen.push(answer.text)
      continue
    }
    await app.runner.idle()
    const { json } = await send({ path: answer.json.status_url })
    assert.equal(json.status, 'succeeded', JSON.stringify(json))
    const { collection, format, record_count, bytes } = json.result
    const file = await send({ path: json.result.content_url })
    const name = file.headers['content-disposition']?.replace(/\d{8}T\d{6}Z/, 'then')
    seen.push(JSON.stringify({ collection, format, record_count, bytes, name }), file.text)
  }
  const names = new Map<string, string>()
  return seen.map((text) =>
    text
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
        const known = names.get(id) ?? `#${names.size}`
        names.set(id, known)
        return known
      })
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'then')
      .replaceAll(/"request_id":"[^"]*"/g, ''),
  )
}

for (const memory of [false, true]) {
  it(`VER-2: exports of version 1 are unchanged, ${memory ? 'in memory' : 'on a file'}`, async (context) => {
    const of = async (declaration: InterfaceDeclaration) => exportsOf(await trialFor(context, declaration, { memory }))
    const before = await of(deskAtFirst)
    assert.equal(before.length, requests.length * 2 - 2)
    assert.deepEqual(await of(desk), before)
  })
}
