import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { numberText } from 'resourced-contract/model/json/json-text'
import sql, { raw } from 'sql-template-tag'
import { databaseFor } from '../../../../../test/postgres/database.ts'
import { oddNumbers } from '../sql/numbers.fixture.ts'
import { lexemeOf, lexemePrefixOf, lexemesOf, postgres } from './dialect.ts'

test('MET-3: PostgreSQL writes a number as JavaScript does', async (context) => {
  const client = new pg.Client(await databaseFor(context))
  await client.connect()
  try {
    const numbers = oddNumbers()
    const text = postgres.jsonText(raw('n'), 'real')
    const { rows } = await client.query(
      sql`select ${text} as text from unnest(cast(${numbers} as double precision[])) with ordinality as numbers (n, place) order by place`,
    )
    assert.deepEqual(
      rows.map((row) => row.text),
      numbers.map(numberText),
    )
  } finally {
    await client.end()
  }
})

test('each word is listed once, in the order of first occurrence', () => {
  assert.deepEqual(lexemesOf('red blue red'), ['red', 'blue'])
  assert.deepEqual(lexemesOf(''), [])
})

test('a word that is too long for PostgreSQL is stored in pieces', () => {
  assert.deepEqual(lexemesOf('a'.repeat(2000)), ['a'.repeat(2000)])
  for (const letter of ['a', 'ä', '日', '𝔘']) {
    const lexemes = lexemesOf(letter.repeat(4001))
    assert.ok(lexemes.length > 2 && lexemes.length < 10, `${lexemes.length}`)
    for (const lexeme of lexemes) assert.ok(lexeme.isWellFormed() && Buffer.byteLength(lexeme) <= 2046, lexeme)
  }
})

test('words of any length are found by the whole word and by its prefix', () => {
  const lengths = [1, 499, 500, 501, 1000, 1001, 1999, 2000, 2001, 2047, 3999, 4000, 4001, 5000]
  const all = ['a', '𝔘'].flatMap((letter) => lengths.map((length) => letter.repeat(length)))
  const texts = [...all, ...all.map((word) => `${word}b`), ...all.map((word) => `b${word}`)]
  const stored = texts.map((text) => ({ text, lexemes: lexemesOf(text) }))
  for (const asked of texts) {
    const [whole, beginning] = [lexemeOf(asked), lexemePrefixOf(asked)]
    for (const { text, lexemes } of stored) {
      assert.equal(lexemes.includes(whole), text === asked)
      assert.equal(
        lexemes.some((lexeme) => lexeme.startsWith(beginning)),
        text.startsWith(asked),
      )
    }
  }
})

test('text beyond the size of a tsvector is left out', () => {
  const words = Array.from({ length: 20_000 }, (_, i) => `${i}`.padStart(100, 'ä'))
  const lexemes = lexemesOf(words.join(' '))
  const bytes = lexemes.reduce((sum, lexeme) => sum + Buffer.byteLength(lexeme), 0)
  assert.ok(bytes > 999_000 && bytes <= 1_000_000, `${bytes}`)
  assert.deepEqual(lexemes, words.slice(0, lexemes.length))
})
