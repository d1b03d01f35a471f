import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { bareCollection, mergeProfile, readProfile, usualNames, writeProfile } from './profile.ts'

const wrong: readonly { says: string; text: string; expect: RegExp }[] = [
  { says: 'invalid YAML', text: 'a: [1', expect: /^p\.yaml: .*line 1/ },
  { says: 'an unknown entry', text: 'bases: x', expect: /the file: unknown entry "bases"/ },
  {
    says: 'an invalid address',
    text: 'base: api.example.com',
    expect: /base: has to be an address that begins with http/,
  },
  {
    says: 'an unknown operation',
    text: 'collections: { a: { operations: [lst] } }',
    expect: /collections\.a\.operations\.0: has to be one of list,/,
  },
  {
    says: 'an invalid path',
    text: 'collections: { a: { path: a/ } }',
    expect: /collections\.a\.path: has to be a path from the base/,
  },
  { says: 'an invalid pointer', text: 'names: { items: data }', expect: /names\.items: has to be a JSON Pointer/ },
  {
    says: 'a form without a place for a member',
    text: 'collections: { a: { query: { ascending: sort } } }',
    expect: /collections\.a\.query\.ascending: has to contain \{\} where/,
  },
  {
    says: 'a finder that finds nothing of the checker',
    text: 'collections: { a: { query: { finder: mark } } }',
    expect: /collections\.a\.query\.finder: has to be a query with \{mark\}/,
  },
  {
    says: 'a wrong type',
    text: 'collections: { a: { unique: b } }',
    expect: /collections\.a\.unique: has to be array/,
  },
  {
    says: 'the value true for a collection',
    text: 'collections: { a: true }',
    expect: /collections\.a: has to be the entries of a collection, or false/,
  },
]

for (const { says, text, expect } of wrong) {
  test(`a profile file with ${says} is refused, with the place of the mistake`, () => {
    assert.throws(() => readProfile(text, 'p.yaml'), { message: expect })
  })
}

test('all mistakes in a profile file are reported together', () => {
  assert.throws(() => readProfile('bases: 1\nnames: { items: data }\n', 'p.yaml'), {
    message:
      'p.yaml is not a profile:\n  the file: unknown entry "bases"\n  names.items: has to be a JSON Pointer, such as /data; empty means the whole body',
  })
})

const profile = {
  base: 'https://api.example.com/v1',
  names: usualNames,
  open: [],
  collections: [bareCollection('cities'), { ...bareCollection('orders'), example: { 'a b': 1, note: '# no comment' } }],
}

test('entries of a file replace what was discovered, everything else stays', () => {
  const said = readProfile('collections: { orders: false, cities: { id: code }, streets: { path: /s } }', 'p.yaml')
  const { collections, names } = mergeProfile(profile, said)
  assert.deepEqual(
    collections.map(({ name, path, id }) => [name, path, id]),
    [
      ['cities', '/cities', 'code'],
      ['streets', '/s', 'id'],
    ],
  )
  assert.deepEqual(names, usualNames)
})

test('a written profile is read back unchanged, and explains every entry', () => {
  const text = writeProfile(profile, ['Look\nhere: "x"'], new Date(0))
  assert.deepEqual(mergeProfile({ ...profile, collections: [] }, readProfile(text, 'p.yaml')), profile)
  assert.ok(text.split('\n').every((line) => line.length < 140))
  const keys = Object.keys(parse(text)['collections']['cities'])
  for (const key of keys) assert.match(text, new RegExp(`# .*\\n +${key}:`), `${key} is explained`)
})
