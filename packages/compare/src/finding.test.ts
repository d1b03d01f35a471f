import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge, kinds, listed } from './finding.ts'

const bare = { resources: ['tasks'], operations: ['GET /v1/tasks'], names: ['a'], places: [], field: 'f', before: 1, after: 2, keyword: 'k', version: 'v1' } // biome-ignore format: one row reads best

test('every kind has a message of its own in both directions, and a remedy unless it is compatible', () => {
  const messages = kinds.flatMap((kind) => {
    const [sent, answered] = (['request', 'response'] as const).map((direction) => {
      const { severity, remedy, message } = judge({ ...bare, kind, direction })
      if (severity === 'compatible') assert.equal(remedy, '', kind)
      else assert.match(remedy, /^[A-Z].*\.$/, kind)
      return message
    }) as [string, string]
    for (const message of [sent, answered]) assert.doesNotMatch(message, /undefined|\[object| {2}/, kind)
    return sent === answered ? [sent] : [sent, answered]
  })
  // A shorter and a longer grace period have the same message, with other numbers.
  assert.equal(new Set(messages).size, messages.length - 1)
})

test('a list shows some of many names, and no control characters', () => {
  assert.equal(listed(['a']), 'a')
  assert.equal(listed(['a', 'b', 'c']), 'a, b and c')
  assert.equal(listed(['a', 'b', 'c', 'd'], 2), 'a, b and 2 more')
  assert.equal(listed(['\u001b[2Ja']), '\ufffd[2Ja')
})
