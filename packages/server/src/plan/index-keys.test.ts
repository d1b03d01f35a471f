import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import type { RecordValues, Resource } from 'resourced-contract/model/resource'
import { sentenceOf } from 'resourced-contract/spec/faults'
import { indexKeyIssues, maxIndexKeyBytes } from './index-keys.ts'

const declared = defineInterface({
  name: 'shelf',
  resources: {
    books: {
      fields: {
        title: { type: 'string', filter: true },
        isbn: { type: 'string', optional: true, unique: true },
        shelf: { type: 'string', optional: true },
        place: { type: 'string', optional: true },
        rank: { type: 'string', optional: true, sort: true },
        kind: { enum: ['novel', 'k'.repeat(400)], optional: true },
        seen: { type: 'string', format: 'date-time', optional: true, filter: true },
        notes: { type: 'string', optional: true },
      },
      unique: [['shelf', 'place']],
    },
  },
})
const books = completeCatalog(declared).resources.get('books') as Resource

const long = 'x'.repeat(maxIndexKeyBytes + 1)
const whole = 'x'.repeat(maxIndexKeyBytes)
const half = 'x'.repeat(maxIndexKeyBytes / 2)

// biome-ignore format: a table reads best
const cases: [name: string, values: RecordValues, changed: string[], places: string[]][] = [
  ['as long as it may be', { title: whole, isbn: whole, rank: 'x'.repeat(2_100) }, ['title', 'isbn', 'rank'], []],
  ['a filter', { title: long }, ['title'], ['/title']],
  ['a unique value, an order', { isbn: long, rank: long }, ['isbn', 'rank'], ['/isbn', '/rank']],
  ['without an index', { notes: 'x'.repeat(100_000) }, ['notes'], []],
  ['bytes, not characters', { title: 'é'.repeat(maxIndexKeyBytes / 2 + 1) }, ['title'], ['/title']],
  ['whose case takes more bytes when folded', { title: 'Ⱥ'.repeat(maxIndexKeyBytes / 2) }, ['title'], ['/title']],
  ['the same where its case is kept', { isbn: 'Ⱥ'.repeat(maxIndexKeyBytes / 2) }, ['isbn'], []],
  ['two that are unique together', { shelf: half, place: `${half}x` }, ['shelf', 'place'], ['/place']],
  ['one that leaves the other its share', { shelf: `${half}x`, place: 'a' }, ['shelf', 'place'], ['/shelf']],
  ['two as long as they may be', { shelf: half, place: half }, ['shelf', 'place'], []],
  ['a filter with an order', { kind: 'k'.repeat(400), rank: 'x'.repeat(maxIndexKeyBytes - 399) }, ['kind', 'rank'], ['/rank']],
  ['an instant is compared by its key', { seen: `2026-01-01T00:00:00.1${'0'.repeat(5_000)}Z` }, ['seen'], []],
  ['an instant of many digits', { seen: `2026-01-01T00:00:00.${'1'.repeat(5_000)}Z` }, ['seen'], ['/seen']],
  ['what stays', { title: long, isbn: 'a' }, ['isbn'], []],
  ['beside what stays and is too long by itself', { shelf: long, place: 'a' }, ['place'], []],
  ['beside what stays and leaves too little room', { shelf: whole, place: 'a' }, ['place'], ['/place']],
  ['too long by itself beside what stays', { shelf: long, place: long }, ['place'], ['/place']],
]

for (const [name, values, changed, places] of cases) {
  test(`text that is too long for an index: ${name}`, () => {
    const issues = indexKeyIssues(books, { values, changed })
    assert.deepEqual(
      issues.map((issue) => issue.pointer),
      places,
    )
    for (const issue of issues) {
      assert.equal(issue.code, 'TOO_LONG')
      assert.match(sentenceOf(issue), /bytes.* at most (?:2500|2100|1250)\b|more bytes beside shelf/)
    }
  })
}

test('the message names the fields that share an index, and no size of a value that was not sent', () => {
  const [issue] = indexKeyIssues(books, { values: { shelf: half, place: `${half}x` }, changed: ['place'] })
  assert.equal(
    issue && sentenceOf(issue),
    'place is too long to find records by together with shelf: 1251 bytes in UTF-8, of at most 1250.',
  )
})

test('ids and numbers of an index leave the whole size to a text', () => {
  const fields = {
    note: { type: 'string', sort: true },
    done: { type: 'boolean', filter: true },
    book_id: { reference: 'books', optional: true },
  }
  const made = completeCatalog({ ...declared, resources: { ...declared.resources, notes: { fields } } } as never)
  const notes = made.resources.get('notes') as Resource
  assert.deepEqual(indexKeyIssues(notes, { values: { note: whole }, changed: ['note'] }), [])
  assert.equal(indexKeyIssues(notes, { values: { note: long }, changed: ['note'] }).length, 1)
})
