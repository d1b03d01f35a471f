/** WHR-6: lists in the order of how well their records match a search. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import * as Type from 'resourced-contract/model/type'
import { places, type Received, trialFor } from '../harness.ts'

const archive = defineInterface({
  name: 'archive',
  resources: {
    letters: {
      fields: {
        title: Type.String({ search: { weight: 3 }, sort: true }),
        text: Type.Optional(Type.String({ search: true })),
        note: Type.Optional(Type.String({ search: { weight: 10 } })),
        is_open: Type.Boolean({ default: true }),
      },
      access: {
        read: 'anyone',
        create: 'anyone',
        update: 'anyone',
        fields: { note: { read: ['role:admin', { where: { is_open: true } }] } },
      },
    },
    papers: { fields: { name: { type: 'string', sort: true } }, access: { read: 'anyone' } },
    files: {
      fields: { relevance: { type: 'integer', sort: true }, text: { type: 'string', search: true } },
      access: { read: 'anyone', create: 'anyone' },
    },
  },
  versions: { v1: {}, v2: {} },
  changes: [{ version: 'v2', resource: 'letters', rename: { heading: 'title' }, add: ['note'] }],
})

const titlesOf = ({ status, text, json }: Received): string => {
  assert.equal(status, 200, text)
  return json.data.map(({ title, heading }: Record<string, string>) => (title ?? heading)?.split(' ')[0]).join(' ')
}

it('WHR-6: weights, whole words, beginnings and at most eight occurrences decide, and ids where they tie', async (context) => {
  const { send, make } = await trialFor(context, archive)
  const letters = [
    { title: 'A', text: 'box box box box' }, // 8
    { title: 'B box' }, // 6
    { title: 'C', text: 'Böx boxes BOX-box' }, // 2 * 3 + 1 = 7
    { title: 'D', text: 'box '.repeat(20) }, // 2 * 8 = 16
    { title: 'E', text: 'boxes '.repeat(20) }, // 8
    { title: 'F boxes', text: 'other' }, // 3
    { title: 'G', text: 'none' },
    { title: 'H', note: 'box' }, // 20
    { title: 'I boxes', text: 'other' }, // 3
  ]
  for (const letter of letters) await make('letters', letter)
  const list = async (query: string) => titlesOf(await send({ path: `/v2/letters?${query}` }))
  assert.equal(await list('q=box&sort=-relevance'), 'H D E A C B I F')
  assert.equal(await list('q=box&sort=relevance'), 'F I B C A E D H')
  assert.equal(await list('q=box&sort=-relevance,title'), 'H D A E C B F I')
  // Only the last word may be a beginning.
  assert.equal(await list('q=box%20oth&sort=-relevance'), '')
  assert.equal(await list('q=boxes%20o&sort=-relevance'), 'I F')
  assert.equal(await list('q=box&sort=-relevance&page=2&per_page=3'), 'A C B')
  assert.equal(await list('q=!!&sort=-relevance'), '')
  const older = await send({ path: '/v1/letters?q=box&sort=-relevance' })
  assert.equal(titlesOf(older), 'D E A C B I F')
  const query = { method: 'QUERY', path: '/v2/letters', body: { q: 'box', sort: ['-relevance'], limit: 2 } }
  assert.equal(titlesOf(await send(query)), 'H D')
})

it('WHR-6: cursors lead through the order, forward and back', async (context) => {
  const { send, make } = await trialFor(context, archive)
  for (let number = 0; number < 12; number++) {
    await make('letters', { title: `${number}`, text: 'word '.repeat(1 + (number % 4)) })
  }
  const page = async (cursor?: string) => {
    const { json } = await send({
      path: `/v2/letters?q=word&sort=-relevance&limit=5${cursor ? `&cursor=${cursor}` : ''}`,
    })
    return { titles: json.data.map(({ title }: { title: string }) => Number(title)), ...json.pagination }
  }
  const first = await page()
  const second = await page(first.next_cursor)
  const third = await page(second.next_cursor)
  assert.deepEqual([...first.titles, ...second.titles, ...third.titles], [11, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0])
  assert.deepEqual([third.next_cursor, first.total_count], [null, 12])
  assert.deepEqual((await page(third.previous_cursor)).titles, second.titles)
  const other = await send({ path: `/v2/letters?q=wor&sort=-relevance&limit=5&cursor=${first.next_cursor}` })
  assert.deepEqual([other.status, other.json.code], [400, 'INVALID_CURSOR'])
})

it('WHR-6: without q, or without searched fields, the order is refused', async (context) => {
  const { send, make } = await trialFor(context, archive)
  const refused: [path: string, place: string][] = [
    ['/v2/letters?sort=-relevance', 'INVALID_VALUE sort'],
    ['/v2/letters?sort=-relevance&q=%20', 'INVALID_VALUE sort'],
    ['/v2/papers?sort=-relevance', 'UNKNOWN_FIELD sort'],
  ]
  for (const [path, place] of refused) {
    const answer = await send({ path })
    assert.deepEqual([answer.status, places(answer)], [400, [place]], answer.text)
  }
  // A sorted field keeps its name.
  for (const relevance of [1, 3, 2]) await make('files', { relevance, text: 'x' })
  const { json } = await send({ path: '/v2/files?sort=-relevance' })
  assert.deepEqual(
    json.data.map((each: { relevance: number }) => each.relevance),
    [3, 2, 1],
  )
})

it('WHR-6: a field that the caller may not read in a record adds nothing there', async (context) => {
  const { send, make } = await trialFor(context, archive)
  await make('letters', { title: 'A', text: 'secret', note: 'secret secret', is_open: false })
  await make('letters', { title: 'B', text: 'secret secret' })
  await make('letters', { title: 'C', note: 'secret', is_open: false })
  const list = async (as: string) => titlesOf(await send({ path: '/v2/letters?q=secret&sort=-relevance', as }))
  assert.equal(await list('root'), 'A C B')
  assert.equal(await list('bob'), 'B A')
})
