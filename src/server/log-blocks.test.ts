import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inBlocks } from './log-blocks.ts'

test('lines are written together, in order, when there are enough of them', () => {
  const written: string[] = []
  const { write } = inBlocks((block) => written.push(block))
  const line = `${'x'.repeat(99)}\n`
  for (let number = 0; number < 159; number++) write(line)
  assert.deepEqual(written, [])
  write(line)
  assert.deepEqual(written, [line.repeat(160)])
})

test('no line is kept back for more than a second', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const written: string[] = []
  const { write } = inBlocks((block) => written.push(block))
  write('a\n')
  context.mock.timers.tick(600)
  write('b\n')
  assert.deepEqual(written, [])
  context.mock.timers.tick(400)
  assert.deepEqual(written, ['a\nb\n'])
  context.mock.timers.tick(5_000)
  assert.deepEqual(written, ['a\nb\n'], 'nothing is written twice')
})

test('a flush writes at once, and nothing where there is nothing', () => {
  const written: string[] = []
  const { write, flushSync } = inBlocks((block) => written.push(block))
  flushSync()
  write('a\n')
  flushSync()
  flushSync()
  assert.deepEqual(written, ['a\n'])
})
