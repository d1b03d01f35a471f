import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Fault, sentenceOf } from 'resourced-contract/spec/faults'
import { decidePreferences, type PreferenceName } from './preferences.ts'

const writes: readonly PreferenceName[] = ['return']
const deletions: readonly PreferenceName[] = ['return', 'respond-async', 'wait', 'max-affected']

/** The sentences of the refusal; none if the preferences are not refused. */
function unmetOf(...request: Parameters<typeof decidePreferences>): string[] {
  try {
    decidePreferences(...request)
    return []
  } catch (error) {
    assert.ok(error instanceof Fault && error.code === 'UNKNOWN_PREFERENCE')
    return error.details.errors?.map(sentenceOf) ?? []
  }
}

const followed: readonly (readonly [field: string | undefined, wanted: string | undefined, applied?: string])[] = [
  [undefined, undefined],
  ['', undefined],
  ['return=minimal', 'minimal', 'return=minimal'],
  ['return=representation', 'representation', 'return=representation'],
  ['Return="Minimal"', 'minimal', 'return=minimal'],
  ['return=minimal; why="a, b"', 'minimal', 'return=minimal'],
  ['return=minimal, return=representation', 'minimal', 'return=minimal'],
  ['return=everything', undefined],
  ['return', undefined],
  ['respond-async, wait=10, colour=blue', undefined],
  ['colour=blue, return=minimal', 'minimal', 'return=minimal'],
  ['handling=lenient', undefined, 'handling=lenient'],
  ['handling=lenient, return=everything', undefined, 'handling=lenient'],
  ['handling=strict, return=minimal', 'minimal', 'return=minimal, handling=strict'],
  ['handling=severe, return=minimal', 'minimal', 'return=minimal'],
]
for (const [field, wanted, applied] of followed) {
  test(`MET-8: Prefer: ${field} is followed as ${applied ?? 'nothing'}`, () => {
    const decided = decidePreferences(field, writes)
    assert.equal(decided.preferred.return, wanted)
    assert.equal(decided.applied, applied)
  })
}

const strict: readonly (readonly [field: string, unmet: readonly string[]])[] = [
  ['handling=strict', []],
  ['handling=strict, return=representation', []],
  ['colour=blue, Handling="STRICT"', ['This address does not understand the preference colour.']],
  ['handling=strict, respond-async', ['This address does not understand the preference respond-async.']],
  ['handling=strict, constructor', ['This address does not understand the preference constructor.']],
  ['handling=strict, return=all', ['The preference return takes minimal or representation.']],
  [
    'return, colour=blue, handling=strict',
    [
      'The preference return takes minimal or representation.',
      'This address does not understand the preference colour.',
    ],
  ],
]
for (const [field, unmet] of strict) {
  test(`MET-8: Prefer: ${field} leaves ${unmet.length} unmet`, () => {
    assert.deepEqual(unmetOf(field, writes), unmet)
  })
}

test('an address that understands more follows more, by value', () => {
  const { preferred, applied } = decidePreferences('respond-async, wait=10, max-affected=5, handling=strict', deletions)
  assert.deepEqual(preferred, { return: undefined, asynchronously: true, most: 5 })
  // Whether it becomes a job is known only when it is done.
  assert.equal(applied, 'handling=strict, max-affected=5')
})

test('an invalid max-affected is unmet even without handling=strict', () => {
  const sentence = 'The preference max-affected takes a number of records.'
  assert.deepEqual(unmetOf('max-affected=-1, wait=soon', deletions), [sentence])
})

test('an invalid value is ignored, and unmet with handling=strict', () => {
  const field = 'wait=soon, max-affected=-1, respond-async=yes'
  const { preferred } = decidePreferences('wait=soon, respond-async=yes', deletions)
  assert.deepEqual(preferred, { return: undefined, asynchronously: false, most: undefined })
  assert.deepEqual(unmetOf(`${field}, handling=strict`, deletions), [
    'The preference wait takes a number of seconds.',
    'The preference max-affected takes a number of records.',
    'The preference respond-async takes no value.',
  ])
})

test('handling is understood everywhere', () => {
  assert.equal(decidePreferences('handling=strict', []).applied, 'handling=strict')
  const { preferred, applied } = decidePreferences('handling=lenient, return=minimal', [])
  assert.deepEqual([preferred.return, applied], [undefined, 'handling=lenient'])
  assert.deepEqual(unmetOf('handling=strict, return=minimal', []), [
    'This address does not understand the preference return.',
  ])
})

test('of thousands of unmet preferences, 20 are named, each shortened', () => {
  const names = Array.from({ length: 3000 }, (_, index) => `${'x'.repeat(100)}${index}`)
  const unmet = unmetOf(['handling=strict', ...names].join(', '), writes)
  assert.equal(unmet.length, 20)
  assert.ok(unmet.every((sentence) => sentence.length < 120))
})

test('preferences are unmet only with handling=strict, and only requested ones are applied', () => {
  const preference = fc.oneof(
    fc.constantFrom(
      'return=minimal',
      'return=representation',
      'return=x',
      'handling=strict',
      'handling=lenient',
      'wait=1',
    ),
    fc.stringMatching(/^[a-z]{1,6}(=[a-z]{1,6})?$/),
  )
  fc.assert(
    fc.property(fc.array(preference), (asked) => {
      const field = asked.join(', ')
      if (unmetOf(field, writes).length > 0) {
        assert.equal(
          asked.find((each) => each.startsWith('handling=')),
          'handling=strict',
        )
        return
      }
      for (const applied of decidePreferences(field, writes).applied?.split(', ') ?? [])
        assert.ok(asked.includes(applied))
    }),
  )
})
