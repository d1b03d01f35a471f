/** QRY-5: search finds the same records as a few lines of JavaScript, for any text, after every change. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { words } from 'resourced-contract/model/text'
import { Type } from 'typebox'
import { type Trial, trialFor } from '../../harness.ts'

const texts = {
  fields: {
    title: Type.String({ search: true, minLength: 1 }),
    body: Type.Optional(Type.String({ search: true })),
    count: Type.Optional(Type.Integer()),
  },
}
const archive = defineInterface({
  name: 'archive',
  resources: { letters: texts, drafts: { ...texts, deletion: { variant: 'hard' } } },
})

interface Kept {
  readonly title: string
  readonly body: string | null
}

/** The oracle: every word is one of the record's, the last one may be only begun. */
function finds(record: Kept, q: string): boolean {
  if (q.trim() === '') return true
  const asked = words(q)
  const held = [...words(record.title), ...words(record.body ?? '')]
  const last = asked.pop()
  if (last === undefined) return false
  return asked.every((word) => held.includes(word)) && held.some((word) => word.startsWith(last))
}

const vocabulary = [
  ...[
    'Łódź',
    'lodz',
    'Ærø',
    'aero',
    'café',
    'cafe\u0301',
    'CAFE',
    'ẞ',
    'strasse',
    'ŒUVRE',
    'ı',
    'İstanbul',
    'K',
    'ﬁ',
    '½',
    '²',
  ],
  ...['東京', '東京都', 'दिल्ली', '한국어', 'اللُّغَة', 'שָׁלוֹם', 'ไทย', '𐐨x', '\ue000', '\u{f0000}', 'Ⅷ', 'ª', '\u{1e922}'],
  ...[
    'AND',
    'OR',
    'NOT',
    'NEAR',
    'NEAR(a b, 2)',
    'title:a',
    'words',
    '^a',
    'a*',
    '"a b"',
    "'",
    '"',
    '""',
    '\\',
    '*',
    '-a',
    '+a',
  ],
  ...[
    '{a b}',
    '(',
    ')',
    ':',
    '🚀',
    '👩‍🚀',
    '!!!',
    '—',
    '\u200d',
    '\u0301',
    '\ufe0f',
    '\ufffd',
    '%',
    '_',
    ';',
    '--',
    'a',
    'ab',
    'abc',
    '7',
    '07',
  ],
]
const storable = (text: string) => !text.includes('\0') && text.isWellFormed()
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...vocabulary) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 6 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }).filter(storable) },
)
const text = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(' '))
const question = fc.oneof(
  { weight: 6, arbitrary: fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join(' ')) },
  { weight: 1, arbitrary: fc.array(piece, { maxLength: 2 }).map((pieces) => pieces.join('')) },
)

async function search(current: Trial, collection: string, q: string) {
  const answer = await current.send({ path: `/v1/${collection}?limit=100&q=${encodeURIComponent(q)}` })
  assert.equal(answer.status, 200, `${JSON.stringify(q)} ${answer.text}`)
  assert.equal(answer.json.pagination.total_count, answer.json.data.length)
  return answer.json.data.map((each: { id: string }) => each.id)
}

for (const collection of ['letters', 'drafts']) {
  it(`QRY-5: search in ${collection} is exact after creation, change and deletion`, async (t) => {
    const current = await trialFor(t, archive, { memory: true })
    const kept = new Map<string, Kept>()
    const step = fc.record({
      action: fc.constantFrom('create', 'create', 'patch', 'put', 'delete', 'touch'),
      target: fc.nat(),
      title: text.filter((each) => each.length > 0),
      body: fc.option(text),
      questions: fc.array(question, { minLength: 3, maxLength: 3 }),
    })
    await fc.assert(
      fc.asyncProperty(step, async ({ action, target, title, body, questions }) => {
        const id = [...kept.keys()][target % Math.max(kept.size, 1)]
        const path = `/v1/${collection}/${id}`
        if (id === undefined || (action === 'create' && kept.size < 60)) {
          kept.set((await current.make(collection, { title, body })).id, { title, body })
        } else if (action === 'delete' || action === 'create') {
          assert.equal((await current.send({ method: 'DELETE', path })).status, 204)
          kept.delete(id)
        } else {
          const changes = action === 'patch' ? { body } : action === 'touch' ? { count: target } : { title, body }
          const answer = await current.send({ method: action === 'put' ? 'PUT' : 'PATCH', path, body: changes })
          assert.equal(answer.status, 200, answer.text)
          kept.set(id, { ...(kept.get(id) as Kept), ...(action !== 'touch' && changes) })
        }
        for (const q of questions) {
          const expected = [...kept].filter(([, record]) => finds(record, q)).map(([each]) => each)
          assert.deepEqual(await search(current, collection, q), expected.sort(), JSON.stringify(q))
        }
      }),
      { numRuns: 250, endOnFailure: true },
    )
  })
}

it('QRY-5: any text can be searched for, up to the longest URL', async (t) => {
  const current = await trialFor(t, archive, { memory: true })
  const { id } = await current.make('letters', { title: 'a b c', body: 'AND OR NOT NEAR 🚀' })
  for (const q of [
    ...[
      '"',
      '""',
      '"a',
      'a"',
      "'",
      'a AND',
      'AND',
      'a OR b',
      'NOT a',
      'NEAR',
      'NEAR(a',
      'a NEAR/2 b',
      '*',
      'a*',
      'a**',
      '^',
      '^a',
    ],
    ...[
      'title:',
      'words:a',
      '{words}:a',
      'rowid:1',
      '(',
      '((a)',
      ')',
      '-',
      '- a',
      '+',
      ':',
      '\\',
      '%',
      '🚀',
      '\u{10ffff}',
      '\ufeff',
    ],
    ...[
      'a '.repeat(1_000),
      '"'.repeat(2_000),
      '('.repeat(2_000),
      'x'.repeat(2_000),
      '!?'.repeat(1_000),
      'é'.repeat(1_000),
      '🚀'.repeat(500),
    ],
    Array.from({ length: 32 }, (_, index) => index.toString(36)).join(' '),
  ]) {
    const expected = finds({ title: 'a b c', body: 'AND OR NOT NEAR 🚀' }, q) ? [id] : []
    assert.deepEqual(await search(current, 'letters', q), expected, JSON.stringify(q.slice(0, 40)))
  }
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 400 }), async (q) => {
      if (!q.isWellFormed()) return
      const answer = await current.send({ path: `/v1/letters?q=${encodeURIComponent(q)}` })
      const tooMany = new Set(words(q.trim())).size > 32
      assert.equal(answer.status, q.includes('\0') || tooMany ? 400 : 200, answer.text)
    }),
    { numRuns: 300 },
  )
  assert.deepEqual(
    current.seen.filter((each) => each.kind === 'failure'),
    [],
  )
})

it('QRY-5: words of any length are found by the whole word and by its prefix', async (context) => {
  const trial = await trialFor(context, archive)
  const long = [2_046, 2_047, 4_500].flatMap((length) => ['x', '日'].map((letter) => letter.repeat(length)))
  for (const title of [...long, `${long[2]}y`]) await trial.make('letters', { title })
  for (const asked of [...long, `${long[4]}z`, 'x', '日'.repeat(1_000)]) {
    for (const q of [asked, `${asked} ${asked}`]) {
      const { json } = await trial.send({ method: 'QUERY', path: '/v1/letters', body: { q, sort: 'created_at' } })
      const expected = [...long, `${long[2]}y`].filter((title) => finds({ title, body: null }, q))
      assert.deepEqual(
        json.data.map((each: Kept) => each.title),
        expected,
      )
    }
  }
})
