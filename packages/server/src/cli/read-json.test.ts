import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readJson } from './read-json.ts'

test('duplicate keys are reported with their places, at most 20', () => {
  const [problem] = readJson('{\n  "a": 1,\n  "a": 2 }').problems
  assert.match(problem?.path ?? '', /line 3/)
  assert.match(problem?.message ?? '', /"a" is there twice/)
  const many = `{${Array.from({ length: 20_000 }, () => '"a": 1').join(',\n')}}`
  const started = process.cpuUsage()
  assert.equal(readJson(many).problems.length, 20)
  // Each by itself this took eleven seconds.
  assert.ok(process.cpuUsage(started).user < 3_000_000)
})
