/** WHR-1: conditions in lists, nested lists, QUERY, streams and deletions by filter. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { desk } from '../declarations-desk.ts'
import { library } from '../declarations-library.ts'
import { staff } from '../declarations-staff.ts'
import { places, type Received, type Trial, trialFor } from '../harness.ts'
import { fill } from '../steps.ts'

const namesOf = ({ json }: Received, field: string): string[] => json.data.map((each: never) => each[field])

/** The query string of a condition. */
const where = (condition: unknown): string => `where=${encodeURIComponent(JSON.stringify(condition))}`

/** Books with the titles a to e, of the years 1 to 5; c has no price. */
async function books(trial: Trial): Promise<string> {
  const author = await trial.make('authors', { name: 'Ann' })
  const titles = ['a', 'b', 'c', 'd', 'e']
  const kinds = ['novel', 'poetry', 'drama']
  await fill(trial, 'books', titles.map((title, index) => ({
    ...{ title, year: index + 1, kind: kinds[index % 3], released: `2026-02-0${index + 1}T23:30:00Z` },
    ...{ price: title === 'c' ? null : index / 2, author_id: index < 2 ? author.id : null },
  }))) // biome-ignore format: one call reads best
  return author.id
}

it('WHR-1: GET, HEAD, nested lists and QUERY find the records for which the condition is true', async (context) => {
  const current = await trialFor(context, library)
  const { send } = current
  const author = await books(current)
  const table: [condition: object, titles: string][] = [
    [{}, 'abcde'],
    [{ title: 'a' }, 'a'],
    [{ or: [{ title: 'a' }, { year: { gte: 4 } }] }, 'ade'],
    [{ year: { gt: 1, lt: 4 }, kind: { not: 'drama' } }, 'b'],
    [{ and: [{ year: { in: [1, 2, 3] } }, { not: { kind: 'novel' } }] }, 'bc'],
    [{ price: { not: 0.5 } }, 'acde'],
    [{ not: { price: 0.5 } }, 'ade'],
    [{ price: { null: true } }, 'c'],
    [{ title: { startsWith: 'A' } }, 'a'],
    [{ not: {} }, ''],
    [{ author_id: author }, 'ab'],
    [{ released: '2026-02-03' }, 'c'],
  ]
  for (const [condition, titles] of table) {
    const answer = await send({ path: `/v1/books?${where(condition)}` })
    assert.equal(answer.status, 200, answer.text)
    const found = [namesOf(answer, 'title').join(''), answer.json.pagination.total_count]
    assert.deepEqual(found, [titles, titles.length], JSON.stringify(condition))
    const head = await send({ method: 'HEAD', path: `/v1/books?${where(condition)}` })
    assert.deepEqual([head.status, head.headers['etag']], [200, answer.headers['etag']])
    const asked = await send({ method: 'QUERY', path: '/v1/books', body: { where: condition } })
    assert.deepEqual(asked.json.data, answer.json.data)
    const nested = await send({ path: `/v1/authors/${author}/books?${where(condition)}` })
    assert.equal(namesOf(nested, 'title').join(''), titles.replace(/[c-e]/g, ''))
  }
  const more = await send({ path: `/v1/books?${where({ year: { lt: 4 } })}&year[gt]=1&q=b&sort=-title` })
  assert.deepEqual(namesOf(more, 'title'), ['b'])
})

it('WHR-1, PAG-5: pages are of the condition, and cursors are bound to it', async (context) => {
  const current = await trialFor(context, library)
  const { send } = current
  await books(current)
  const path = `/v1/books?${where({ year: { gte: 2 } })}&limit=2&sort=-title`
  const first = await send({ path })
  const cursor = first.json.pagination.next_cursor
  const second = await send({ path: `${path}&cursor=${cursor}` })
  assert.deepEqual([...namesOf(first, 'title'), ...namesOf(second, 'title')], ['e', 'd', 'c', 'b'])
  for (const other of [{ year: { gte: 3 } }, {}, { not: { year: { gte: 2 } } }]) {
    const refused = await send({ path: `/v1/books?${where(other)}&limit=2&sort=-title&cursor=${cursor}` })
    assert.deepEqual([refused.status, refused.json.code], [400, 'INVALID_CURSOR'])
  }
  const days = (zone: string, more = '') =>
    send({ path: `/v1/books?${where({ released: '2026-02-03' })}&timezone=${zone}&limit=1${more}` })
  assert.deepEqual(namesOf(await days('Asia/Tokyo'), 'title'), ['b'])
  assert.deepEqual(namesOf(await days('UTC'), 'title'), ['c'])
  assert.deepEqual(places(await send({ path: `/v1/books?${where({ year: 1 })}&timezone=UTC` })), [
    'UNKNOWN_PARAMETER timezone',
  ])
})

it('WHR-1: a mistake has a pointer into the condition, and one response names all', async (context) => {
  const { send } = await trialFor(context, library)
  const table: [condition: unknown, wrong: string[]][] = [
    [{ or: [{ title: 'a' }, { year: { gte: 'x' } }] }, ['INVALID_TYPE /or/1/year/gte']],
    [{ year: { like: 1 }, titel: 'x' }, ['INVALID_OPERATOR /year/like', 'UNKNOWN_FIELD /titel']],
    // Fields that cannot be filtered by, or are of no list.
    [{ summary: 'x' }, ['UNKNOWN_FIELD /summary']],
    [{ pin: 'x' }, ['UNKNOWN_FIELD /pin']],
    [{ tags: { null: true } }, ['UNKNOWN_FIELD /tags']],
    [{ deleted_at: { null: false } }, ['UNKNOWN_FIELD /deleted_at']],
    [{ constructor: 1, hasOwnProperty: 1 }, ['UNKNOWN_FIELD /constructor', 'UNKNOWN_FIELD /hasOwnProperty']],
    [{ toString: { valueOf: 1 } }, ['UNKNOWN_FIELD /toString']],
    [{ title: { toString: 1 } }, ['INVALID_OPERATOR /title/toString']],
    [{ id: 'x' }, ['INVALID_FORMAT /id']],
    [{ id: { gt: 'x' } }, ['INVALID_OPERATOR /id/gt']],
    [{ kind: { contains: 'o' } }, ['INVALID_OPERATOR /kind/contains']],
    [{ kind: 'prose' }, ['NOT_IN_ENUM /kind']],
    [{ title: null }, ['INVALID_VALUE /title']],
    [{ title: { record: 'title' } }, ['INVALID_VALUE /title/record']],
    [{ title: { caller: 'name' } }, ['INVALID_VALUE /title/caller']],
    [{ released: { gt: '2026-02-03' } }, ['INVALID_VALUE /released/gt']],
    [{ year: { gt: 1e300 } }, ['INVALID_VALUE /year/gt']],
    [{ year: 1.5 }, ['INVALID_VALUE /year']],
    [{ or: [] }, ['TOO_FEW_ITEMS /or']],
    [{ and: { title: 'a' } }, ['INVALID_TYPE /and']],
    [[], ['INVALID_TYPE ']],
    ['x', ['INVALID_TYPE ']],
    [null, ['INVALID_TYPE ']],
    [{ or: Array(51).fill({ title: 'a' }) }, ['TOO_MANY_ITEMS ']],
    [{ title: { in: Array(1_001).fill('') } }, ['TOO_MANY_ITEMS ']],
    [{ title: { contains: 'x'.repeat(10_001) } }, ['TOO_LONG ']],
    [JSON.parse(`${'{"not":'.repeat(20)}{}${'}'.repeat(20)}`), [`TOO_DEEP ${'/not'.repeat(20)}`]],
  ]
  for (const [condition, wrong] of table) {
    const asked = await send({ method: 'QUERY', path: '/v1/books', body: { where: condition } })
    assert.deepEqual([asked.status, asked.json.code], [400, 'INVALID_QUERY'], asked.text)
    const pointers = wrong.map((each) => each.replace(' ', ' /where').replace(/ $/, ' /where'))
    assert.deepEqual(placesOf(asked), pointers, JSON.stringify(condition).slice(0, 80))
    const path = `/v1/books?${where(condition)}`
    if (path.length > 8_000) continue
    const answer = await send({ path })
    assert.deepEqual([answer.status, answer.json.code, placesOf(answer)], [400, 'INVALID_QUERY', wrong], answer.text)
    assert.ok(answer.json.errors.every(({ parameter }: { parameter: string }) => parameter === 'where'))
  }
  const texts: [text: string, wrong: string[]][] = [
    ['', ['INVALID_VALUE ']],
    ['{"title":', ['INVALID_VALUE ']],
    ['{"title":"a","title":"b"}', ['DUPLICATE_KEY /title']],
    ['{"__proto__":{"title":"a"}}', ['UNSAFE_KEY /__proto__']],
    ['{"year":9007199254740993}', ['NUMBER_NOT_EXACT /year']],
    ['{"title":"\\u0000"}', ['INVALID_TEXT /title']],
    [`${'['.repeat(1_000)}`, ['INVALID_VALUE ']],
    [`${'['.repeat(1_000)}${']'.repeat(1_000)}`, [`TOO_DEEP ${'/0'.repeat(32)}`]],
  ]
  for (const [text, wrong] of texts) {
    const answer = await send({ path: `/v1/books?where=${encodeURIComponent(text)}` })
    assert.deepEqual([answer.status, answer.json.code, placesOf(answer)], [400, 'INVALID_QUERY', wrong], answer.text)
  }
  const twice = await send({ path: `/v1/books?${where({})}&${where({})}` })
  assert.deepEqual(places(twice), ['DUPLICATE_PARAMETER where'])
})

const placesOf = ({ json }: Received): string[] =>
  json.errors.map(({ code, pointer }: { code: string; pointer: string }) => `${code} ${pointer}`)

it('WHR-1, LIM-5: comparisons count together with filters', async (context) => {
  const { send } = await trialFor(context, library)
  const filters = Array.from({ length: 25 }, (_, number) => [`year[not]=${number}`, `title[not]=${number}`])
  const condition = (count: number) => where({ and: Array(count).fill({ year: { gt: 1 } }) })
  assert.equal((await send({ path: `/v1/books?${condition(48)}&year[not]=1&title[not]=x` })).status, 200)
  const many = await send({ path: `/v1/books?${condition(49)}&year[not]=1&title[not]=x` })
  assert.deepEqual([many.status, places(many)], [400, ['TOO_MANY_ITEMS title[not]']])
  assert.equal((await send({ path: `/v1/books?${condition(48)}&${filters.flat().join('&')}` })).status, 200)
  const values = { title: { in: Array.from({ length: 600 }, String) } }
  const body = { where: values, 'title[in]': Array.from({ length: 401 }, String) }
  assert.deepEqual(places(await send({ method: 'QUERY', path: '/v1/books', body })), ['TOO_MANY_ITEMS title[in]'])
})

it('WHR-1, LIM-5: comparisons count beside fields that are named as values of the caller', async (context) => {
  const { send } = await trialFor(context, {
    name: 'logs',
    resources: {
      servers: { fields: { caller: { type: 'string', filter: true } }, access: { read: 'anyone' } },
      calls: {
        fields: { record: { type: 'string', filter: true }, server_id: { reference: 'servers' } },
        access: { read: 'anyone' },
      },
    },
  })
  const or = Array.from({ length: 51 }, (_, number) => ({ record: String(number) }))
  const ask = (path: string, condition: unknown) =>
    send({ method: 'QUERY', path: `/v1/${path}`, body: { where: condition } })
  for (const [path, condition] of [
    ['servers', { calls: { some: { record: 'x', or } } }],
    ['calls', { server: { caller: 'x', or: or.map(() => ({ caller: 'x' })) } }],
    ['calls', { server: { calls: { some: { record: 'x', or } } } }],
  ] as const) {
    assert.deepEqual(places(await ask(path, condition)), ['TOO_MANY_ITEMS /where'])
  }
  let deep: object = { record: 'x' }
  for (let depth = 0; depth < 20; depth++) deep = { not: deep }
  const tooDeep = await ask('servers', { calls: { some: { record: 'x', and: [deep] } } })
  assert.deepEqual([tooDeep.status, tooDeep.json.errors[0].code], [400, 'TOO_DEEP'])
  assert.equal((await ask('servers', { calls: { some: { record: 'x', or: or.slice(2) } } })).status, 200)
})

it('WHR-1: values of the caller differ for each, and no answer of one is remembered for another', async (context) => {
  const current = await trialFor(context, staff)
  const { send, make } = current
  for (const name of ['ann', 'bob']) await make('employees', { name }, name)
  const path = `/v2/employees?${where({ person_id: { caller: 'id' } })}`
  for (const as of ['ann', 'ann', 'ann', 'bob', 'bob', 'bob', 'eve', 'ann']) {
    assert.deepEqual(namesOf(await send({ path, as }), 'name'), as === 'eve' ? [] : [as])
  }
  const nobody = { person_id: { in: [{ caller: 'claims.team' }] } }
  assert.deepEqual(namesOf(await send({ path: `/v2/employees?${where(nobody)}` }), 'name'), [])
})

it('WHR-1, AUT-13: a field that the caller may not read counts as null, or is refused', async (context) => {
  const { send, make } = await trialFor(context, staff)
  const { id } = await make('employees', { name: 'Ann' }, 'ann')
  const patch = { method: 'PATCH', path: `/v2/employees/${id}`, body: { salary: 100, badge: 'x' }, as: 'eve' }
  assert.equal((await send(patch)).status, 200)
  const table: [as: string, condition: object, found: number][] = [
    ['ann', { salary: 100 }, 1],
    ['bob', { salary: 100 }, 0],
    ['bob', { salary: { gt: 0 } }, 0],
    ['bob', { not: { salary: { gt: 0 } } }, 0],
    ['bob', { not: { salary: 7 } }, 0],
    ['bob', { salary: { not: 100 } }, 1],
    ['bob', { salary: { null: true } }, 1],
    ['bob', { not: { salary: { null: false } } }, 1],
  ]
  for (const [as, condition, found] of table) {
    const answer = await send({ path: `/v2/employees?${where(condition)}`, as })
    assert.equal(answer.json.pagination.total_count, found, `${as} ${JSON.stringify(condition)}`)
  }
  for (const path of [`/v2/employees?${where({ or: [{ badge: 'x' }] })}`, `/v1/employees?${where({ badge: 'x' })}`]) {
    const refused = await send({ path, as: 'bob' })
    assert.deepEqual([refused.status, places(refused)], [403, ['FORBIDDEN where']])
  }
  const older = await send({ path: `/v1/employees?${where({ pay: { gte: 100 } })}`, as: 'eve' })
  assert.equal(older.json.pagination.total_count, 1)
})

it('WHR-1, VER-2: a condition is in the names and values of its version', async (context) => {
  const { send, make } = await trialFor(context, desk)
  const person = await make('people', { name: 'Ann' })
  for (const [headline, cents, state] of [['One', 150, 'open'], ['Two', 250, 'closed']]) {
    await make('cases', { headline, cents, state, person_id: person.id })
  } // biome-ignore format: one row reads best
  const table: [path: string, field: string, condition: object, found: string[]][] = [
    ['/v1/tickets', 'subject', { price: { gt: 1.5 } }, ['Two']],
    ['/v1/tickets', 'subject', { or: [{ state: 'done' }, { price: 1.5 }] }, ['One', 'Two']],
    ['/v1/tickets', 'subject', { colour: 'red' }, []],
    ['/v1/tickets', 'subject', { colour: { null: true }, asker_id: person.id }, ['One', 'Two']],
    ['/v2/tickets', 'title', { title: { contains: 'w' } }, ['Two']],
    ['/v3/cases', 'headline', { cents: { in: [150] } }, ['One']],
  ]
  for (const [path, field, condition, found] of table) {
    const answer = await send({ path: `${path}?${where(condition)}` })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(namesOf(answer, field), found, JSON.stringify(condition))
  }
  const wrong = await send({ path: `/v1/tickets?${where({ headline: 'One', state: 'open' })}` })
  assert.deepEqual(placesOf(wrong), ['UNKNOWN_FIELD /headline', 'NOT_IN_ENUM /state'])
})

it('WHR-1, DEL-10: a deletion by filter takes a condition, and needs a comparison', async (context) => {
  const { send, make } = await trialFor(context, desk)
  const person = await make('people', { name: 'Ann' })
  const left = async () => namesOf(await send({ path: '/v3/cases?sort=headline' }), 'headline').join(' ')
  for (const headline of ['One', 'Six', 'Ten', 'Two']) await make('cases', { headline, person_id: person.id })
  for (const condition of [{}, { not: {} }, { and: [{}, { or: [{}] }] }, { or: [{}, { headline: 'One' }] }]) {
    const refused = await send({ method: 'DELETE', path: `/v3/cases?${where(condition)}` })
    assert.deepEqual([refused.status, refused.json.code], [400, 'FILTER_REQUIRED'], JSON.stringify(condition))
  }
  assert.equal(await left(), 'One Six Ten Two')
  const remove = (query: string, version = 'v3/cases') => send({ method: 'DELETE', path: `/${version}?${query}` })
  assert.equal((await remove(where({ headline: { in: ['One', 'Six'] } }))).json.deleted_count, 2)
  assert.equal((await remove(`${where({ headline: 'Two' })}&headline=Ten`)).json.deleted_count, 0)
  assert.equal((await remove(where({ subject: { startsWith: 't' }, price: 0 }), 'v1/tickets')).json.deleted_count, 2)
  assert.deepEqual(places(await remove(`${where({ headline: 'x' })}&${where({})}`)), ['DUPLICATE_PARAMETER where'])
  assert.deepEqual(placesOf(await remove(where({ headline: 1 }))), ['INVALID_TYPE /headline'])
})

it('WHR-1: events, jobs and keys have conditions of their own filters', async (context) => {
  const declaration: InterfaceDeclaration = {
    name: 'notes',
    resources: { notes: { fields: { text: { type: 'string' } }, events: true, access: { read: 'anyone' } } },
  }
  const { send, make } = await trialFor(context, declaration)
  const one = await make('notes', { text: 'one' })
  await make('notes', { text: 'two' })
  const events = await send({ path: `/v1/events?${where({ or: [{ record: one.id }, { kind: 'deleted' }] })}` })
  assert.deepEqual(namesOf(events, 'record'), [one.id])
  assert.equal((await send({ path: `/v1/jobs?${where({ not: { status: 'running' } })}` })).status, 200)
  assert.equal((await send({ path: `/v1/api-keys?${where({ subject: { in: ['bob', 'ann'] } })}` })).json.data.length, 2)
  assert.deepEqual(placesOf(await send({ path: `/v1/events?${where({ id: { gt: one.id } })}` })), [
    'INVALID_OPERATOR /id/gt',
  ])
})

it('RES-3, WHR-1: a field called where can no longer be a filter', async () => {
  const fields = { where: { type: 'string', filter: true } } as const
  const declaration = { name: 'notes', resources: { notes: { fields } } }
  const { checkDeclaration } = await import('resourced-contract/model/check/check-declaration')
  assert.match(JSON.stringify(checkDeclaration(declaration)), /cannot be a filter: \?where= steers the list itself/)
})
