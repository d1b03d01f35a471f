/** What the compiler says of mistakes in a declaration: in their lines, shortly, and with the names that are right. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { compile, messagesIn } from './compile.ts'

test('each mistake is reported in its line, with what is wrong and what would be right', async () => {
  const text = await readFile(new URL('mistakes.ts', import.meta.url), 'utf8')
  // The same line numbers, without the expectations.
  const messages = messagesIn(await compile(text.replaceAll('// @ts-expect-error', '//')))
  const planted = text.split('\n').flatMap((line, index) => {
    const [, words] = /\/\/ @ts-expect-error (.*)/.exec(line) ?? []
    // A line is counted from 1, and the mistake is on the next one.
    return words === undefined ? [] : [{ line: index + 2, words: words.match(/(["'])[^"']+\1/g) ?? [] }]
  })
  assert.ok(planted.length > 25, 'the mistakes were read')
  assert.deepEqual(
    messages.map(({ line }) => line),
    planted.map(({ line }) => line),
  )
  for (const [index, { line, words }] of planted.entries()) {
    const { text } = messages[index]!
    const lines = text.split('\n')
    assert.ok(lines.length <= 3 && lines.every((each) => each.length < 500), `short in line ${line}:\n${text}`)
    for (const word of words) assert.ok(text.includes(word), `${word} in line ${line}:\n${text}`)
  }
})
