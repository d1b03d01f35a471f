import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUtf8, parseContentType } from './header-fields.ts'

const readable: [string, string, Record<string, string>][] = [
  ['application/json', 'application/json', {}],
  ['Application/JSON ', 'application/json', {}],
  ['text/html;charset=utf-8', 'text/html', { charset: 'utf-8' }],
  ['Text/HTML;Charset="utf-8"', 'text/html', { charset: 'utf-8' }],
  ['text/html; charset="utf-8"', 'text/html', { charset: 'utf-8' }],
  ['text/html; charset=UTF-8 ; a="b;\\"c\\""', 'text/html', { charset: 'UTF-8', a: 'b;"c"' }],
  ['application/merge-patch+json;', 'application/merge-patch+json', {}],
  ['a/b; ;c=d', 'a/b', { c: 'd' }],
]
for (const [text, mediaType, parameters] of readable) {
  test(`${text} is read`, () => {
    const type = parseContentType(text)
    assert.equal(type?.mediaType, mediaType)
    assert.deepEqual(Object.fromEntries(type?.parameters ?? []), parameters)
  })
}

const malformed = [
  '',
  'json',
  'a/',
  '/b',
  'a /b',
  'a/b c',
  'a/b; c',
  'a/b; c =d',
  'a/b; c="d',
  'a/b;c=d;C=e',
  'a/b, c/d',
]
for (const text of malformed) {
  test(`${JSON.stringify(text)} is malformed`, () => assert.equal(parseContentType(text), undefined))
}

test('a charset must be UTF-8 if it is given', () => {
  const allowed = (text: string) => isUtf8(parseContentType(text)!)
  assert.equal(allowed('application/json'), true)
  assert.equal(allowed('application/json; charset=UTF-8'), true)
  assert.equal(allowed('application/json; charset=utf-16'), false)
  assert.equal(allowed('application/json; charset=iso-8859-1'), false)
})

test('a hostile value costs no time', () => {
  const started = process.cpuUsage()
  parseContentType(`a/b${'; '.repeat(8000)}!`)
  parseContentType(`a/b;${' '.repeat(16_000)}=`)
  parseContentType(`a/b;c="${'\\a'.repeat(8000)}`)
  assert.ok(process.cpuUsage(started).user < 200_000)
})
