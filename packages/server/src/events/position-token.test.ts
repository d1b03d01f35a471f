import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { PositionTokens } from './position-token.ts'

const secret = randomBytes(32)
const tokens = new PositionTokens(secret)

test('every server with the secret reads a token', () => {
  for (const position of [0, 1, 255, 65_536, 2 ** 31, 2 ** 40 + 7, 2 ** 48 - 1]) {
    for (const mark of [0, 1, 2 ** 24 - 1]) {
      assert.deepEqual(new PositionTokens(secret).open(tokens.seal({ position, mark })), { position, mark })
    }
  }
})

test('tokens of one position, and of neighbours, have nothing in common', () => {
  const made = Array.from({ length: 1_000 }, (_, index) => tokens.seal({ position: 1_000 + (index % 2), mark: 7 }))
  assert.equal(new Set(made).size, 1_000)
  assert.equal(new Set(made.map((token) => token.slice(0, 8))).size, 1_000)
  assert.equal(new Set(made.map((token) => token.slice(-8))).size, 1_000)
})

test('what was not made here is refused: another secret, another character, another length', () => {
  const token = tokens.seal({ position: 12, mark: 34 })
  assert.equal(new PositionTokens(randomBytes(32)).open(token), undefined)
  for (let index = 0; index < token.length; index++) {
    const other = token[index] === 'A' ? 'Q' : 'A'
    const changed = token.slice(0, index) + other + token.slice(index + 1)
    assert.equal(tokens.open(changed), undefined, changed)
  }
  for (const text of ['', 'A', token.slice(1), `${token}A`, `${token}==`, '0'.repeat(22), 'ä'.repeat(22)]) {
    assert.equal(tokens.open(text), undefined, text)
  }
})
