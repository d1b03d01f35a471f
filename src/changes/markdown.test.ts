import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Finding } from './finding.ts'
import { markdownOf } from './markdown.ts'

const finding: Finding = {
  severity: 'breaking',
  rule: 'spec 9.3, VER-5',
  kind: 'field-removed',
  resources: ['tasks'],
  operations: ['GET /v1/tasks'],
  places: [{ in: 'old', of: 'openapi', pointer: '/components/schemas/Task' }],
  message: 'the field title is gone',
  remedy: 'Bring it back.',
} as Finding

test('findings are tables, what breaks first', () => {
  const fine = { ...finding, severity: 'compatible', resources: ['users'] } as Finding
  const text = markdownOf([fine, finding])
  assert.ok(text.startsWith('**1 breaking, 0 to review, 1 compatible.**\n\n### tasks\n\n'), text)
  assert.ok(text.indexOf('### tasks') < text.indexOf('### users'))
  assert.match(text, /\| \*\*breaking\*\* \| the field title is gone/)
})

test('nothing that stands in a document is taken for Markdown or HTML', () => {
  const message = 'the field <img src=x> | `a`\n# b **c** [d](e) is gone'
  const [, , , , , , row = ''] = markdownOf([{ ...finding, message }]).split('\n')
  assert.ok(row.includes('\\<img src=x\\> \\| \\`a\\` \\# b \\*\\*c\\*\\* \\[d\\]\\(e\\)'), row)
})
