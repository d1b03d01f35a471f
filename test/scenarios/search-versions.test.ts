/** QRY-5, VER-2, AUT-9: search in versions that do not show all searched texts. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { words } from 'resourced-contract/model/text'
import { Type } from 'typebox'
import { type Trial, trialFor } from '../harness.ts'

const text = Type.Optional(Type.String({ search: true }))

/** Version 2 has added a second text to search, and version 3 a third one; the first had another name in version 1. */
const papers = defineInterface({
  name: 'papers',
  resources: {
    papers: {
      fields: {
        title: Type.String({ search: true, sort: true }),
        summary: text,
        remarks: text,
        owner_id: Type.String({ readOnly: true }),
      },
      owner: 'owner_id',
      access: { read: ['role:admin', 'owner'], create: 'anyone', update: 'anyone', delete: 'anyone' },
    },
  },
  versions: { v1: {}, v2: {}, v3: {} },
  changes: [
    { version: 'v2', resource: 'papers', rename: { name: 'title' }, add: ['summary'] },
    { version: 'v3', resource: 'papers', add: ['remarks'] },
  ],
})

const versions = ['v1', 'v2', 'v3'] as const
type Version = (typeof versions)[number]
type Paper = { readonly id: string; readonly title: string; readonly summary?: string; readonly remarks?: string }

async function found({ send }: Trial, version: Version, q: string, rest = '', as = 'root'): Promise<string[]> {
  const { status, text, json } = await send({
    path: `/${version}/papers?q=${encodeURIComponent(q)}&limit=100${rest}`,
    as,
  })
  assert.equal(status, 200, text)
  assert.equal(json.pagination.total_count, json.data.length)
  return json.data.map(({ id }: Paper) => id).sort()
}

/** What a version must find, by the texts that it shows. */
function expected(papers: readonly Paper[], version: Version, q: string): string[] {
  const shown = ({ title, summary = '', remarks = '' }: Paper) =>
    [title, ...(version === 'v1' ? [] : [summary]), ...(version === 'v3' ? [remarks] : [])].flatMap(words)
  const sought = words(q)
  const isIn = (held: readonly string[], word: string, index: number) =>
    held.some((each) => each === word || (index === sought.length - 1 && each.startsWith(word)))
  const has = (paper: Paper) => sought.length > 0 && sought.every((word, index) => isIn(shown(paper), word, index))
  return papers
    .filter(has)
    .map(({ id }) => id)
    .sort()
}

it('AUT-9: a version finds nothing by a text that it does not show, in any form of list', async (context) => {
  const current = await trialFor(context, papers, { memory: true })
  const { send, make } = current
  const hidden = await make('papers', { title: 'Plain paper', summary: 'guarded treasure', remarks: 'buried' }, 'ann')
  const split = await make('papers', { title: 'guarded plain', summary: 'treasure' }, 'ann')
  const open = await make('papers', { title: 'A guarded treasure', remarks: 'plain' }, 'ann')
  const cases: readonly (readonly [string, Version, readonly Paper[]])[] = [
    ['guarded treasure', 'v1', [open]],
    ['guarded treasure', 'v2', [hidden, split, open]],
    ['treasure guarded', 'v1', [open]],
    ['treas', 'v1', [open]],
    ['guard', 'v1', [split, open]],
    // A word that is not the last one is whole.
    ['treas guarded', 'v3', []],
    ['buried', 'v1', []],
    ['buried', 'v2', []],
    ['buried', 'v3', [hidden]],
    ['plain', 'v1', [hidden, split]],
    ['plain', 'v3', [hidden, split, open]],
    ['Süße', 'v1', []],
    ["guarded' or '1", 'v1', []],
    ['%', 'v1', []],
  ]
  for (const as of ['root', 'ann']) {
    for (const [q, version, papers] of cases) {
      const ids = papers.map(({ id }) => id).sort()
      assert.deepEqual(await found(current, version, q, '', as), ids, `${q} in ${version}`)
      // Asked again the total is a kept one, and each version has its own.
      assert.deepEqual(await found(current, version, q, '', as), ids, `${q} in ${version} again`)
      assert.deepEqual(await found(current, version, q, `&sort=-${version === 'v1' ? 'name' : 'title'}`, as), ids)
      const body = { q, limit: 100 }
      const asked = await send({ method: 'QUERY', path: `/${version}/papers`, body, as })
      assert.deepEqual(asked.json.data.map(({ id }: Paper) => id).sort(), ids, asked.text)
    }
  }
  const page = await send({ path: '/v1/papers?q=guarded%20treasure&page=1&per_page=1' })
  assert.deepEqual([page.json.data[0].id, page.json.pagination.total_count], [open.id, 1])
  assert.deepEqual(await found(current, 'v1', 'treasure', '', 'bob'), [])
})

it('QRY-5: for any text, older versions find a record by the same words as the newest version', async (context) => {
  const current = await trialFor(context, papers, { memory: true })
  const made: Paper[] = []
  const pieces = [
    ...[
      'Straße',
      'STRASSE',
      'ØRE',
      'Łódź',
      'þorn',
      'Æsir',
      'œuvre',
      'ĸ',
      'ﬁne',
      'ﬀ',
      'e\u0301te\u0301',
      'été',
      'İst',
      'ırmak',
    ],
    ...[
      '東京',
      'ｶﾞ',
      'がく',
      '한글',
      'हिन्दी',
      'שָׁלוֹם',
      'سَلام',
      '①',
      'x²',
      '½',
      'Ǆ',
      'ς',
      'Σ',
      '𝔸bc',
      '\ue000',
      '\u{10fffd}',
    ],
    ...[
      "O'Brien",
      'a_b',
      'a-b',
      'a.b',
      '“quoted”',
      '\u00a0',
      '\u200d',
      '¨',
      '😀',
      '𐐀',
      '\t',
      '\n',
      '"',
      "'",
      '\\',
      '%',
      '[',
      ']',
      '^',
    ],
  ]
  const phrase = fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 3 })), {
    maxLength: 5,
  })
  const storable = (parts: readonly string[]) => parts.join(' ').replaceAll('\0', '').toWellFormed()
  // A hundred fit on a page.
  const drafts = fc.sample(fc.tuple(phrase, phrase, phrase), 100)
  for (const [title, summary, remarks] of drafts) {
    const paper = { title: storable(title), summary: storable(summary), remarks: storable(remarks) }
    made.push({ ...paper, id: (await current.make('papers', paper)).id })
  }
  const asked = new Set(made.flatMap(({ title, summary = '' }) => words(`${title} ${summary}`)))
  const questions = [...asked].slice(0, 150).flatMap((word) => [word, [...word][0] as string])
  for (const q of questions) {
    for (const version of ['v1', 'v2'] as const) {
      const answer = await found(current, version, q)
      assert.deepEqual(answer, expected(made, version, q), `${JSON.stringify(q)} in ${version}`)
    }
  }
})
