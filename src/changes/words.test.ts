import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Finding } from './finding.ts'
import { kinds, severityOf } from './kinds.ts'
import { remedyOf } from './remedies.ts'
import { reportOf, summaryOf } from './report.ts'
import { listed, messageOf } from './words.ts'

const bare = { resources: ['tasks'], operations: ['GET /v1/tasks'], names: ['a'], places: [], field: 'f', before: 1, after: 2, keyword: 'k', version: 'v1' } // biome-ignore format: one row reads best

test('every kind has words of its own, both ways, and a remedy where something is to be done', () => {
  const messages = kinds.flatMap((kind) => {
    const [sent, answered] = (['request', 'response'] as const).map((direction) => {
      const severity = severityOf(kind, direction)
      const remedy = remedyOf({ ...bare, kind, direction }, severity)
      if (severity === 'compatible') assert.equal(remedy, '', kind)
      else assert.match(remedy, /^[A-Z].*\.$/, kind)
      return messageOf({ ...bare, kind, direction })
    }) as [string, string]
    for (const message of [sent, answered]) assert.doesNotMatch(message, /undefined|\[object| {2}/, kind)
    return sent === answered ? [sent] : [sent, answered]
  })
  // The two directions of the grace period say the same of other numbers.
  assert.equal(new Set(messages).size, messages.length - 1)
})

test('a few of many names are shown, and what a terminal must not see is not', () => {
  assert.equal(listed(['a']), 'a')
  assert.equal(listed(['a', 'b', 'c']), 'a, b and c')
  assert.equal(listed(['a', 'b', 'c', 'd'], 2), 'a, b and 2 more')
  assert.equal(listed(['\u001b[2Ja']), '\ufffd[2Ja')
})

const finding = (more: Partial<Finding>): Finding => ({
  ...{ severity: 'breaking', kind: 'field-removed', rule: 'spec 9.3, VER-5', direction: 'response' },
  ...{ resources: ['tasks'], operations: ['GET /v1/tasks'], field: 'a', remedy: 'Bring it back.' },
  places: [
    { in: 'old', of: 'openapi', pointer: '/a' },
    { in: 'new', of: 'openapi', pointer: '/b' },
  ],
  message: 'the field a is gone from answers',
  ...more,
})

test('a report is grouped by resource, the one that breaks first', () => {
  const fine = finding({
    severity: 'compatible',
    kind: 'field-added',
    rule: 'spec 9.4',
    resources: ['notes'],
    message: 'the field b is new in answers',
    remedy: '',
  })
  assert.equal(
    reportOf([fine, finding({})]),
    `tasks

  breaking    the field a is gone from answers (spec 9.3, VER-5)
              in GET /v1/tasks
              at /a of the old document
              → Bring it back.

notes

  compatible  the field b is new in answers (spec 9.4)
              in GET /v1/tasks

1 breaking, 0 to review, 1 compatible.`,
  )
  assert.equal(summaryOf([]), 'No difference that clients could notice.')
})
