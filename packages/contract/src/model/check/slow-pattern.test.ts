import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ajv, compileSchema } from '../schema.ts'
import { checkDeclaration } from './check-declaration.ts'
import { longestText, worstPower } from './field-schema.ts'

const common = [
  '^[A-Z]{2}$',
  '^[a-z0-9_]+$',
  '^[a-z0-9-]{1,63}$',
  '^[a-z0-9]+(?:-[a-z0-9]+)*$',
  '^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\\.[a-zA-Z]{2,}$',
  '^https?://[^\\s/$.?#].[^\\s]*$',
  '^#[0-9a-f]{6}$',
  '^\\+?[1-9]\\d{1,14}$',
  '^-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?$',
  '^\\d{4}-\\d{2}-\\d{2}$',
  '^\\p{L}+(?:[ -]\\p{L}+)*$',
  '^(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)){3}$',
  '^\\s*$',
  '[A-Z]',
]
for (const pattern of common) {
  test(`${pattern} may be declared for text of any length`, () => assert.equal(worstPower(pattern), 1))
}

const hostile: [string, number][] = [
  ['^(a+)+$', Number.POSITIVE_INFINITY],
  ['(a|a)*b', Number.POSITIVE_INFINITY],
  ['^(?:a|ab|b)*c$', Number.POSITIVE_INFINITY],
  ['^([a-z0-9]+-?)+$', Number.POSITIVE_INFINITY],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', Number.POSITIVE_INFINITY],
  ['[a-z]+@', 2],
  ['\\s+$', 2],
  ['^\\S+@\\S+\\.\\S+$', 3],
]
for (const [pattern, power] of hostile) {
  test(`${pattern} costs the power ${power} of a text's length`, () => assert.equal(worstPower(pattern), power))
}

const problemsOf = (field: Record<string, unknown>) =>
  checkDeclaration({ name: 'notes', resources: { notes: { fields: { text: { type: 'string', ...field } } } } })

test('a pattern that can take exponential time is refused with its place', () => {
  const place = 'resources.notes.fields.text.pattern'
  const [problem, ...others] = problemsOf({ pattern: '^(a+)+$', maxLength: 50 })
  assert.deepEqual([problem?.path, problem?.message, others], [place, 'can take for ever on a hostile text', []])
  const [quadratic] = problemsOf({ pattern: '[a-z]+@' })
  assert.match(quadratic?.remedy ?? '', /"maxLength": 4472 or less/)
  assert.deepEqual(problemsOf({ pattern: '[a-z]+@', maxLength: 4_472 }), [])
  assert.equal(problemsOf({ pattern: '[a-z]+@', maxLength: 4_473 }).length, 1)
  // A body may hold thousands of items.
  const items = (maxLength: number) =>
    problemsOf({ type: 'array', items: { type: 'string', pattern: '[a-z]+@', maxLength } }).map(({ path }) => path)
  assert.deepEqual([items(286), items(287)], [[], ['resources.notes.fields.text.items.pattern']])
  const keys = problemsOf({ type: 'object', patternProperties: { '^(a+)+$': { type: 'string' } } })
  assert.deepEqual(
    keys.map(({ message }) => message),
    ['can take for ever on a hostile key'],
  )
})

test('accepted patterns are fast on the worst text of their length, and are not tried on longer ones', () => {
  for (const pattern of ['[a-z]+@', '^\\S+@\\S+\\.\\S+$']) {
    const maxLength = longestText(worstPower(pattern), false)
    const validate = compileSchema('text', { type: 'string', pattern, maxLength })
    for (const [text, codes] of [
      ['a'.repeat(maxLength), ['INVALID_VALUE']],
      [`${'@.'.repeat(maxLength / 2 - 1)} `, ['INVALID_VALUE']],
      [`${'@.'.repeat(500_000)} `, ['TOO_LONG']],
    ] as const) {
      const started = process.cpuUsage()
      const found = validate(text).map(({ code }) => code)
      assert.ok(process.cpuUsage(started).user < 2_000_000, pattern)
      assert.deepEqual(found, codes)
    }
  }
})

test('every format is fast on every long text', () => {
  const beginnings = ['', 'http://', 'ftp://172.30.3.56', 'a:', 'PT0', '[', '/', '{', '2020-01-01T', 'urn:uuid:']
  const parts = ['a', '0', 'a.', '@', ':', '/', '-a', '%20', 'a@a.co/', '4.1.6.7:155', '0:', '{a}', '?', '(', 'é']
  for (const [format, definition] of Object.entries(ajv.formats)) {
    if (typeof definition === 'object' && 'type' in definition && definition.type === 'number') continue
    const validate = compileSchema('text', { type: 'string', format })
    for (const beginning of beginnings) {
      for (const part of parts) {
        // What takes time by the square of the length is seen at a tenth of it.
        const text = `${beginning}${part.repeat(100_000 / part.length)}\0`
        const started = process.cpuUsage()
        validate(text)
        assert.ok(process.cpuUsage(started).user < 1_000_000, `${format}: ${beginning}${part}`)
      }
    }
  }
})

test('the format uri accepts the same texts as before', () => {
  const validate = compileSchema('text', { type: 'string', format: 'url' })
  for (const text of [
    'http://a.co',
    'https://user:pass@a.example:8080/b?c#d',
    'ftp://user@a.co/x@y',
    'http://142.42.1.1/',
  ])
    assert.deepEqual(validate(text), [], text)
  for (const text of ['http://', 'a.co', 'http://10.1.1.1', 'http://-a.co', 'http://a b.co'])
    assert.equal(validate(text).length, 1, text)
})
