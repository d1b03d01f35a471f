/** VER-2: requests of version 1 get byte-identical responses, with any changes in newer versions. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { desk, deskAtFirst } from '../../declarations-desk.ts'
import { type Received, type Sent, type Trial, trialFor } from '../../harness.ts'

const merge = { 'content-type': 'application/merge-patch+json' }
const patch = { 'content-type': 'application/json-patch+json' }

/** Two hundred requests of every kind, as a client of version 1 sends them. */
async function traffic(send: (sent: Sent) => Promise<Received>): Promise<void> {
  const post = async (path: string, body: unknown) => (await send({ method: 'POST', path, body })).json
  const tickets = '/v1/tickets'
  const [ann, ben] = [await post('/v1/people', { name: 'Ann' }), await post('/v1/people', { name: 'Ben' })]
  await post('/v1/people', { name: 'Ann' })
  const made: { id: string }[] = []
  for (let index = 0; index < 20; index++) {
    const asker_id = index % 3 === 0 ? ann.id : ben.id
    const subject = `${index % 2 === 0 ? 'Broken' : 'Lost'} key ${index}`
    const code = index % 5 === 0 ? { code: `C${index}` } : {}
    // What version 2 has dropped is taken, and not kept.
    const colour = index % 4 === 0 ? { colour: null } : {}
    made.push(
      await post(tickets, { subject, urgency: (index % 5) + 1, price: index * 1.25, asker_id, ...code, ...colour }),
    )
  }
  const [first, second, third] = made as [{ id: string }, { id: string }, { id: string }]
  await post(`/v1/people/${ann.id}/tickets`, { subject: 'Nested' })
  await post(`/v1/people/${first.id}/tickets`, { subject: 'Under nobody' })
  for (const body of [
    ...[{}, [], 'text', { subject: 'x' }, { subject: 'Fine', asker_id: first.id }, { subject: 'Fine', asker_id: 7 }],
    ...[
      { title: 'Fine', asker_id: ann.id },
      { headline: 'x', cents: 3 },
      { subject: 'Fine', price: 'dear', asker_id: ann.id },
    ],
    ...[
      { subject: 'Fine', price: -1, asker_id: ann.id },
      { subject: 'Fine', state: 'open', asker_id: ann.id },
    ],
    ...[
      { subject: 'Fine', code: 'C0', asker_id: ann.id },
      { subject: 'Fine', id: first.id, asker_id: ann.id },
    ],
    ...[
      { subject: 'Fine', labels: [], asker_id: ann.id },
      { subject: 'Fine', colour: 7, asker_id: ann.id },
    ],
    ...[
      { subject: 'Fine', urgency: 9, asker_id: ann.id },
      { subject: 'F'.repeat(81), asker_id: null },
    ],
  ]) {
    await send({ method: 'POST', path: tickets, body })
    await send({ method: 'PUT', path: `${tickets}/${second.id}`, body })
    await send({ method: 'PATCH', path: `${tickets}/${second.id}`, body, headers: merge })
  }
  for (const query of [
    ...[
      '',
      '?page=2&per_page=7',
      '?offset=5&limit=3',
      '?limit=4',
      '?sort=subject',
      '?sort=-price,urgency',
      '?sort=state',
      '?sort=colour,-subject',
    ],
    ...[
      '?sort=-asker_id',
      '?subject=Lost%20key%201',
      '?subject[contains]=BROKEN',
      '?subject[starts_with]=lost',
      '?urgency=2',
    ],
    ...[
      '?urgency[gte]=4&sort=-urgency,subject',
      '?price=2.5',
      '?price[gt]=10&price[lte]=20',
      '?price[in]=0,1.25,2.5',
      '?state=new',
    ],
    ...[
      '?state=done',
      '?state[not]=new',
      '?state=open',
      '?code=C5',
      '?code[null]=true',
      `?asker_id=${ann.id}`,
      '?colour=red',
    ],
    ...[
      '?colour[null]=true',
      '?q=key',
      '?q=lost&sort=-subject&limit=2',
      '?q=nothing',
      '?fields=subject,price',
      '?fields=id',
    ],
    ...[
      '?fields=title',
      '?fields=cents',
      '?title=x',
      '?headline=x',
      '?cents=3',
      '?labels=x',
      '?closed_on=2026-01-01',
      '?person_id=x',
    ],
    ...[
      '?sort=headline',
      '?sort=title',
      '?price=x',
      '?urgency[contains]=3',
      '?include_deleted=true',
      '?created_at[gt]=2020-01-01T00:00:00Z',
    ],
  ]) {
    const answer = await send({ path: tickets + query })
    if (answer.status === 200)
      await send({ path: tickets + query, headers: { 'if-none-match': answer.headers['etag'] ?? '' } })
    const next = answer.json.pagination?.next_cursor
    if (typeof next === 'string') await send({ path: `${tickets}${query}&cursor=${next}`.replace('s&', 's?') })
  }
  await send({ path: `/v1/people/${ann.id}/tickets?sort=-subject` })
  await send({ method: 'QUERY', path: tickets, body: { subject: { contains: 'key' }, sort: ['-price'], limit: 2 } })
  await send({ method: 'HEAD', path: tickets })
  await send({ method: 'OPTIONS', path: tickets })
  const one = `${tickets}/${first.id}`
  const read = await send({ path: one })
  const tag = read.headers['etag'] ?? ''
  await send({ path: `${one}?fields=subject,colour,price` })
  await send({ path: one, headers: { 'if-none-match': tag } })
  await send({ method: 'HEAD', path: one })
  await send({ method: 'OPTIONS', path: one })
  await send({
    method: 'PATCH',
    path: one,
    body: { subject: 'Changed', price: 12.34 },
    headers: { ...merge, 'if-match': tag },
  })
  await send({ method: 'PATCH', path: one, body: { subject: 'Again' }, headers: { ...merge, 'if-match': tag } })
  await send({ method: 'PATCH', path: one, body: { code: 'D1' }, headers: merge })
  await send({ method: 'PATCH', path: one, body: { state: 'done', colour: null }, headers: merge })
  await send({ method: 'PATCH', path: one, body: { code: 'C0', urgency: null }, headers: merge })
  await send({ method: 'PATCH', path: one, body: { state: 'new' }, headers: merge })
  await send({ method: 'PUT', path: one, body: { subject: 'Put', state: 'done', asker_id: ben.id, code: 'C0' } })
  for (const body of [
    [
      { op: 'test', path: '/subject', value: 'Put' },
      { op: 'replace', path: '/subject', value: 'Patched' },
    ],
    [{ op: 'test', path: '/price', value: 1 }],
    [{ op: 'add', path: '/headline', value: 'x' }],
    [{ op: 'copy', from: '/price', path: '/urgency' }],
    [
      { op: 'replace', path: '/price', value: 99.99 },
      { op: 'replace', path: '/state', value: 'done' },
    ],
    [{ op: 'remove', path: '/subject' }],
    [{ op: 'replace', path: '/colour', value: null }],
  ]) {
    await send({ method: 'PATCH', path: one, body, headers: patch })
  }
  const key = { 'idempotency-key': '"once"' }
  const body = { subject: 'Once', price: 0.5, asker_id: ann.id }
  await send({ method: 'POST', path: tickets, body, headers: key })
  await send({ method: 'POST', path: tickets, body, headers: key })
  await send({ method: 'POST', path: tickets, body: { ...body, price: 1 }, headers: key })
  await send({
    method: 'POST',
    path: tickets,
    body: { ...body, subject: 'Short' },
    headers: { prefer: 'return=minimal' },
  })
  await send({ method: 'DELETE', path: `${tickets}/${third.id}` })
  await send({ path: `${tickets}/${third.id}` })
  await send({ path: `${tickets}?include_deleted=true&subject[contains]=key&limit=50` })
  await send({ method: 'POST', path: `${tickets}/${third.id}/restore` })
  await send({ method: 'POST', path: `${tickets}/${third.id}/restore` })
  await send({ method: 'POST', path: `${tickets}/bulk-delete`, body: { ids: [third.id, made[3]!.id] } })
  await send({ method: 'POST', path: `${tickets}/bulk-delete`, body: { ids: [third.id] } })
  await send({ method: 'DELETE', path: `${tickets}?urgency=5` })
  await send({ method: 'DELETE', path: `${tickets}?price[gt]=20` })
  await send({ method: 'DELETE', path: tickets })
  await send({ method: 'DELETE', path: `/v1/people/${ben.id}` })
  await send({ path: tickets })
  await send({ path: '/v1/cases' })
  await send({ path: '/v1/remarks' })
  await send({ method: 'POST', path: tickets, body: 'x', headers: { 'content-type': 'text/plain' } })
  await send({ path: tickets, as: null })
}

/** Everything that was answered, with names for what is another one each time. */
async function transcriptOf({ send, clock }: Trial): Promise<string[]> {
  const names = new Map<string, string>()
  const named = (text: string) => {
    const name = names.get(text) ?? `#${names.size}`
    names.set(text, name)
    return name
  }
  const plain = (text: string) =>
    text
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, named)
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, named)
      .replaceAll(/cursor(=|":")[\w.-]{20,}/g, 'cursor$1…')
      .replaceAll(/"request_id":"[^"]*"/g, '"request_id":"…"')
      .replaceAll(/"etag":"[^}]*?\\""/g, named)
  const lines: string[] = []
  clock.ahead = 0
  await traffic(async (sent) => {
    // Whatever happens at another time can be told from it.
    clock.ahead += 1_000
    const answer = await send(sent)
    const headers: Record<string, string | undefined> = { ...answer.headers }
    for (const name of ['date', 'x-request-id', 'last-modified', 'api-version']) delete headers[name]
    // It is made of what was asked, and ids and times are others each time.
    if (/_id=|include_deleted/.test(sent.path)) delete headers['etag']
    const asked = `${sent.method ?? 'GET'} ${sent.path} ${JSON.stringify(sent.body) ?? ''}`
    lines.push(plain(`${asked}\n${answer.status} ${JSON.stringify(headers)}\n${answer.text}`))
    return answer
  })
  return lines
}

async function transcript(context: Parameters<typeof trialFor>[0], declaration: InterfaceDeclaration) {
  const current = await trialFor(context, declaration)
  // Tags of lists that are keyed alike are alike.
  current.app.storage.cursorSecret.fill(0)
  return transcriptOf(current)
}

it('VER-2: two hundred requests of version 1 get the same responses as before versions 2 and 3', async (context) => {
  const before = await transcript(context, deskAtFirst)
  const after = await transcript(context, desk)
  assert.ok(before.length >= 200, `${before.length} requests`)
  for (const [index, line] of before.entries()) assert.equal(after[index], line)
})
