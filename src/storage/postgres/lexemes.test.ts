import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lexemesOf } from './lexemes.ts'

test('each word stands once, in the order in which it came first', () => {
  assert.deepEqual(lexemesOf('red blue red'), ['red', 'blue'])
  assert.deepEqual(lexemesOf(''), [])
})

test('a longer word than PostgreSQL takes is cut to whole characters', () => {
  assert.deepEqual(lexemesOf('a'.repeat(2046)), ['a'.repeat(2046)])
  assert.deepEqual(lexemesOf('a'.repeat(2047)), ['a'.repeat(2046)])
  // Two bytes each; then four each, in two UTF-16 units, of which 2 bytes would be left.
  assert.deepEqual(lexemesOf('ä'.repeat(2000)), ['ä'.repeat(1023)])
  assert.deepEqual(lexemesOf('𝔘'.repeat(700)), ['𝔘'.repeat(511)])
  assert.deepEqual(lexemesOf(`${'a'.repeat(2046)}b ${'a'.repeat(2046)}c`), ['a'.repeat(2046)])
})

test('what is too much for one tsvector is left out', () => {
  const words = Array.from({ length: 20_000 }, (_, i) => `${i}`.padStart(100, 'ä'))
  const lexemes = lexemesOf(words.join(' '))
  const bytes = lexemes.reduce((sum, lexeme) => sum + Buffer.byteLength(lexeme), 0)
  assert.ok(bytes > 999_000 && bytes <= 1_000_000, `${bytes}`)
  assert.deepEqual(lexemes, words.slice(0, lexemes.length))
})
