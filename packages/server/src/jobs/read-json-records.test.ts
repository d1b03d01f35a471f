import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ArraySplitter, type Part } from './read-records.ts'

/** The parts of a text that arrives in pieces, cut at these places. */
function split(text: string, cuts: readonly number[] = [], mostBytes = 1_000_000): Part[] {
  const bytes = Buffer.from(text)
  const splitter = new ArraySplitter(mostBytes)
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((left, right) => left - right), bytes.length]
  const parts = places.slice(1).flatMap((place, index) => splitter.push(bytes.subarray(places[index], place)))
  return [...parts, ...splitter.end()]
}

/** The elements as values; throws where one is no JSON, or the array is broken. */
function values(parts: readonly Part[]): unknown[] {
  return parts.map((part) => {
    if (part.kind !== 'element') throw new SyntaxError(part.kind)
    return JSON.parse(Buffer.from(part.bytes).toString())
  })
}

const cuts = fc.array(fc.nat(10_000), { maxLength: 20 })
const runs = { numRuns: 500 }

test('property: for any chunks the elements are those of JSON.parse', () => {
  const indent = fc.constantFrom(undefined, 2, '\t', '\r\n')
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 4 })), cuts, indent, (list, at, space) => {
      const text = JSON.stringify(list, null, space === '\r\n' ? '' : space)
      assert.deepEqual(values(split(text, at)), JSON.parse(text))
    }),
    runs,
  )
})

test('property: a damaged text gives only valid elements exactly if it is still a JSON array', () => {
  const damage = fc.record({
    at: fc.nat(),
    drop: fc.nat(2),
    put: fc.constantFrom('', '[', ']', '{', '}', ',', '"', '\\', ' ', '1'),
  })
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 5 }),
      damage,
      cuts,
      (list, { at, drop, put }, where) => {
        const whole = JSON.stringify(list)
        const place = at % (whole.length + 1)
        const text = whole.slice(0, place) + put + whole.slice(place + drop)
        const expected = outcomeOf(() => {
          const value: unknown = JSON.parse(withoutLastComma(text))
          if (!Array.isArray(value)) throw new SyntaxError('no array')
          return value
        })
        assert.deepEqual(
          outcomeOf(() => values(split(text, where))),
          expected,
          text,
        )
      },
    ),
    { numRuns: 3_000 },
  )
})

/** A comma after the last element is read over. */
function withoutLastComma(text: string): string {
  const end = /,(\s*\]\s*)$/.exec(text)
  if (end === null || /[[,]\s*$/.test(text.slice(0, end.index))) return text
  return `${text.slice(0, end.index)}${end[1]}`
}

function outcomeOf(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    assert.ok(error instanceof SyntaxError)
    return 'refused'
  }
}

test('an element has its line, and its column in characters', () => {
  const parts = split('[\n  {"a":\n1}, "é😀", 3,\n\n  4]')
  const places = parts.map((part) => part.kind === 'element' && [part.line, part.column])
  assert.deepEqual(places, [[2, 3], [3, 5], [3, 11], [5, 3]]) // biome-ignore format: one row reads best
})

test('a text that is not one complete array is reported with its line', () => {
  const messages = (text: string) =>
    split(text).flatMap((part) => (part.kind === 'broken' ? [`${part.line}: ${part.message}`] : []))
  assert.deepEqual(messages(' \n'), ['2: The file is empty: it must hold a JSON array of records.'])
  assert.deepEqual(messages('[1,\n2'), ['2: The file ends within the record that begins at line 2.'])
  assert.deepEqual(messages('[1,\n'), ['2: The file ends before the array does.'])
  assert.deepEqual(messages('[1]\n[2]'), ['2: Nothing may follow the array.'])
  assert.deepEqual(messages('[1,,2]'), ['1: A record is missing before the comma.'])
  assert.match(messages('{"a":1}\n{"a":2}')[0] ?? '', /--format ndjson/)
  assert.deepEqual(messages('[ ]\n'), [])
})

test('a comma after the last element is read over, and only there', () => {
  assert.deepEqual(values(split('[1, 2,\n]\n')), [1, 2])
  const messages = (text: string) => split(text).flatMap((part) => (part.kind === 'broken' ? [part.message] : []))
  assert.deepEqual(messages('[1,,]'), ['A record is missing before the comma.'])
  assert.deepEqual(messages('[,]'), ['A record is missing before the comma.'])
  assert.deepEqual(messages('[1,'), ['The file ends before the array does.'])
})

test('an element that is too large is skipped, and the next one is read', () => {
  const parts = split(`[1, {"a": "${'x'.repeat(500)}"}, 2]`, [20, 100, 200], 100)
  assert.deepEqual(parts.map((part) => part.kind), ['element', 'too-large', 'element']) // biome-ignore format: short
})
