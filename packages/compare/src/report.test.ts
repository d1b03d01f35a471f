import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Finding } from './finding.ts'
import { markdownReport, summaryOf, textReport } from './report.ts'

const removed: Finding = {
  severity: 'breaking',
  rule: 'spec 9.3, VER-5',
  kind: 'field-removed',
  resources: ['tasks'],
  operations: ['GET /v1/tasks'],
  places: [{ in: 'old', of: 'openapi', pointer: '/components/schemas/Task' }],
  message: 'the field title is gone',
  remedy: 'Bring it back.',
} as Finding

test('Markdown has a table for each resource, breaking ones first', () => {
  const fine = { ...removed, severity: 'compatible', resources: ['users'] } as Finding
  const text = markdownReport([fine, removed])
  assert.ok(text.startsWith('**1 breaking, 0 to review, 1 compatible.**\n\n### tasks\n\n'), text)
  assert.ok(text.indexOf('### tasks') < text.indexOf('### users'))
  assert.match(text, /\| \*\*breaking\*\* \| the field title is gone/)
})

test('texts of a document are not read as Markdown or HTML', () => {
  const message = 'the field <img src=x> | `a`\n# b **c** [d](e) is gone'
  const [, , , , , , row = ''] = markdownReport([{ ...removed, message }]).split('\n')
  assert.ok(row.includes('\\<img src=x\\> \\| \\`a\\` \\# b \\*\\*c\\*\\* \\[d\\]\\(e\\)'), row)
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

test('a report is grouped by resource, breaking ones first', () => {
  const fine = finding({
    severity: 'compatible',
    kind: 'field-added',
    rule: 'spec 9.4',
    resources: ['notes'],
    message: 'the field b is new in answers',
    remedy: '',
  })
  assert.equal(
    textReport([fine, finding({})]),
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
