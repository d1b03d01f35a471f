import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { comparisonsOf, constantOf, emptyArray } from './propose-field.ts'

test('constants are read as PostgreSQL prints them', () => {
  const cases: [string, unknown][] = [
    ["'open'::character varying", 'open'],
    ["'it''s :: (odd)'::text", "it's :: (odd)"],
    [String.raw`E'a\\b'::text`, String.raw`a\b`],
    ['(\'open\'::public."Sta::tus")', 'open'],
    ["'-1'::integer", '-1'],
    ['(4.99)::numeric(4,2)', '4.99'],
    ['(- 1)', undefined],
    ['true', true],
    ['NULL::character varying', null],
    ['now()', undefined],
    ["'a'::text || 'b'::text", undefined],
    ["('2020-01-01'::date + '1 day'::interval)", undefined],
    ["nextval('film_seq'::regclass)", undefined],
    ['', undefined],
  ]
  for (const [sql, expected] of cases) assert.deepEqual(constantOf(sql)?.value, expected, sql)
  assert.equal(emptyArray("'{}'::text[]"), true)
  assert.equal(emptyArray('ARRAY[]::text[]'), true)
  assert.equal(emptyArray("ARRAY['a'::text]"), false)
})

test('conditions on one column are read as PostgreSQL prints them', () => {
  const cases: [string, unknown][] = [
    [
      "((status)::text = ANY ((ARRAY['a'::character varying, 'b, c'::character varying])::text[]))",
      [{ kind: 'one of', values: ['a', 'b, c'] }],
    ],
    ["(status = 'a AND b'::text)", [{ kind: 'one of', values: ['a AND b'] }]],
    ["((status = 'a'::text) OR (status = 'b'::text))", [{ kind: 'one of', values: ['a', 'b'] }]],
    [
      '((status >= 1) AND (status <= 5))',
      [
        { kind: 'number', operator: '>=', value: '1' },
        { kind: 'number', operator: '<=', value: '5' },
      ],
    ],
    ["(status > '-3'::integer)", [{ kind: 'number', operator: '>', value: '-3' }]],
    ['(char_length((status)::text) <= 320)', [{ kind: 'length', most: 320 }]],
    ['(length(status) < 0)', undefined],
    ['(status <> 3)', undefined],
    ['((status > 3) AND (now() > now()))', undefined],
    ['((status > 3) OR (status < 0))', undefined],
    ["(other = 'a'::text)", undefined],
    ["(lower(status) = 'a'::text)", undefined],
    ["(status ~ '^a'::text)", undefined],
  ]
  for (const [sql, expected] of cases) assert.deepEqual(comparisonsOf(sql, 'status'), expected, sql)
  assert.deepEqual(comparisonsOf(`("my ""col" > 1)`, 'my "col'), [{ kind: 'number', operator: '>', value: '1' }])
})

test('no text of an expression makes the reader fail or take long', () => {
  const pieces = fc.constantFrom('(', ')', '[', ']', "'", '"', '::', ' AND ', ' OR ', ' = ', 'ANY ', 'ARRAY[', 'a', ' ')
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
      const sql = parts.join('')
      constantOf(sql)
      comparisonsOf(sql, 'a')
    }),
  )
  const started = performance.now()
  comparisonsOf('('.repeat(3_000) + ' AND '.repeat(3_000) + ')'.repeat(3_000), 'a')
  assert.ok(performance.now() - started < 30_000)
})
