/** Hostile documents of several megabytes: each comparison ends in bounded time, with a result or an error. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compareInterfaces } from './compare-interfaces.ts'
import { DocumentError, documentOf, type Json } from './openapi-document.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const posted = (schema: unknown) => ({ post: { requestBody: { content: { 'application/json': { schema } } } } })
const doc = (schema: unknown, schemas: Json = {}, more: Json = {}): Json => ({
  openapi: '3.1.0',
  paths: { '/a': posted(schema) },
  components: { schemas },
  ...more,
})
const many = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index))
const named = <Value>(count: number, make: (index: number) => Value, prefix = 'a') =>
  Object.fromEntries(many(count, (index) => [`${prefix}${index}`, make(index)]))

/** The number of findings, or the error. */
function outcome(old: Json, now: Json = old): number | string {
  try {
    return compareInterfaces([{ document: documentOf(old) }], [{ document: documentOf(now) }], 0).length
  } catch (error) {
    if (error instanceof DocumentError) return error.message
    throw error
  }
}

const chain = (step: (next: string) => unknown, count = 40_000, last: unknown = {}) => ({
  ...named(count, (index) => step(`a${index + 1}`)),
  [`a${count}`]: last,
})
const diamond = (last: unknown) =>
  chain((next) => ({ properties: { left: ref(next), right: { title: 'x', allOf: [ref(next)] } } }), 40, last)
const side = (name: string) => ({
  properties: named(30_000, () => ({}), name),
  scopes: doc({}, {}, { security: many(100_000, (index) => ({ [`${name}${index}`]: [] })) }),
  alternatives: doc(
    { anyOf: many(250, (index) => ({ allOf: [ref('P')], properties: { [`${name}${index}`]: {} } })) },
    { P: { properties: named(15_000, () => ({}), name) } },
  ),
  values: doc(
    { properties: named(20_000, () => ({ ...ref('E'), title: 'x' })) },
    { E: { enum: many(100_000, (index) => name + index) } },
  ),
  operations: {
    openapi: '3.1.0',
    paths: Object.fromEntries(many(10_000, (index) => [`/${index}`, posted(ref('All'))])),
    components: {
      schemas: {
        All: { properties: named(10_000, (index) => ref(`a${index}`), 'p') },
        ...named(10_000, () => ({ type: name === 'x' ? 'string' : 'integer' })),
      },
    },
  },
})
const [left, right] = [side('x'), side('y')]
const intricate = /too intricate/

const cases: [name: string, outcome: () => number | string, expected: number | RegExp][] = [
  ['properties behind 40,000 references', () => outcome(doc(ref('a0'), chain((next) => ({ properties: { p: ref(next) } })))), 0],
  ['a chain of references alone', () => outcome(doc(ref('a0'), chain(ref))), /refers to itself/],
  ['a chain of allOf', () => outcome(doc(ref('a0'), chain((next) => ({ allOf: [ref(next)] })))), /more than 200 levels/],
  ['a schema that is a part of itself', () => outcome(doc(ref('A'), { A: { allOf: [ref('A'), { properties: { p: ref('A') } }] } })), 0],
  ['two to the power of 40 ways to a schema', () => outcome(doc(ref('a0'), diamond({})), doc(ref('a0'), diamond({ type: 'string' }))), 4],
  ['alternatives of alternatives', () => outcome(doc(ref('a0'), chain((next) => ({ title: 'x', anyOf: [ref(next), ref(next)] }), 40, { type: 'object' }))), /256 alternatives/],
  ['an allOf of 100,000', () => outcome(doc({ allOf: many(100_000, (index) => ({ properties: { [`p${index}`]: {} } })) })), intricate],
  ['an allOf of 100,000 for one field', () => outcome(doc({ allOf: many(100_000, (index) => ({ properties: { p: { minimum: index } } })) })), intricate],
  ['250 alternatives of 15,000 properties', () => outcome(left.alternatives, right.alternatives), intricate],
  ['100,000 values in 20,000 fields', () => outcome(left.values, right.values), intricate],
  ['10,000 operations on 10,000 schemas', () => outcome(left.operations, right.operations), intricate],
  ['100,000 ways to authenticate', () => outcome(left.scopes, right.scopes), /more than 100 ways/],
  ['30,000 fields gone, and as many new', () => outcome(doc({ properties: left.properties }), doc({ properties: right.properties })), 60_000],
  ['a path of braces', () => outcome({ openapi: '3.1.0', paths: { [`/${'{'.repeat(3_000_000)}`]: posted({}) } }), 0],
  ['an address of slashes', () => outcome(doc({}, {}, { servers: [{ url: `${'/'.repeat(3_000_000)}x` }] })), 0],
] // biome-ignore format: one row reads best

describe('hostile documents (VER-5)', () => {
  for (const [name, run, expected] of cases) {
    test(name, () => {
      const result = run()
      if (typeof expected === 'number') assert.equal(result, expected)
      else assert.match(String(result), expected)
    })
  }

  test('__proto__ and constructor are ordinary names', () => {
    const text = (properties: string) =>
      `{"openapi":"3.1.0","paths":{"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":${properties}}}}}}}}}`
    const old = JSON.parse(text('{"__proto__":{"type":"string"},"constructor":{"type":"string"}}')) as Json
    const now = JSON.parse(text('{"constructor":{"type":"integer"}}')) as Json
    const findings = compareInterfaces([{ document: documentOf(old) }], [{ document: documentOf(now) }], 0)
    assert.deepEqual(
      findings.map(({ kind, field }) => [kind, field]),
      [
        ['field-removed', '__proto__'],
        ['type-changed', 'constructor'],
      ],
    )
    assert.equal(outcome(old), 0)
  })
})
