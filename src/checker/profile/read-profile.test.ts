import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { usualNames } from './profile.ts'
import { bareCollection, overridden, readProfile } from './read-profile.ts'
import { writeProfile } from './write-profile.ts'

const wrong: readonly { says: string; text: string; expect: RegExp }[] = [
  { says: 'no YAML', text: 'a: [1', expect: /^p\.yaml: .*line 1/ },
  { says: 'an entry that is none', text: 'bases: x', expect: /the file: there is no entry "bases"/ },
  { says: 'no address', text: 'base: api.example.com', expect: /base: has to be an address that begins with http/ },
  {
    says: 'no operation',
    text: 'collections: { a: { operations: [lst] } }',
    expect: /collections\.a\.operations\.0: has to be one of list,/,
  },
  {
    says: 'no path',
    text: 'collections: { a: { path: a/ } }',
    expect: /collections\.a\.path: has to be a path from the base/,
  },
  { says: 'no pointer', text: 'names: { items: data }', expect: /names\.items: has to be a JSON Pointer/ },
  { says: 'a type', text: 'collections: { a: { unique: b } }', expect: /collections\.a\.unique: has to be array/ },
  {
    says: 'true in place of a collection',
    text: 'collections: { a: true }',
    expect: /collections\.a: has to be what is known of a collection, or false/,
  },
]

for (const { says, text, expect } of wrong) {
  test(`a profile file is refused for ${says}, with its place`, () => {
    assert.throws(() => readProfile(text, 'p.yaml'), { message: expect })
  })
}

test('everything wrong in a profile file is told at once', () => {
  assert.throws(() => readProfile('bases: 1\nnames: { items: data }\n', 'p.yaml'), {
    message:
      'p.yaml is not a profile:\n  the file: there is no entry "bases"\n  names.items: has to be a JSON Pointer, such as /data; empty means the whole answer',
  })
})

const profile = {
  base: 'https://api.example.com/v1',
  names: usualNames,
  open: [],
  collections: [bareCollection('cities'), { ...bareCollection('orders'), example: { 'a b': 1, note: '# no comment' } }],
}

test('what a file says counts, what it leaves out stays', () => {
  const said = readProfile('collections: { orders: false, cities: { id: code }, streets: { path: /s } }', 'p.yaml')
  const { collections, names } = overridden(profile, said)
  assert.deepEqual(
    collections.map(({ name, path, id }) => [name, path, id]),
    [
      ['cities', '/cities', 'code'],
      ['streets', '/s', 'id'],
    ],
  )
  assert.deepEqual(names, usualNames)
})

test('what is written is read again as it was', () => {
  const text = writeProfile(profile, ['Look\nhere: "x"'], new Date(0))
  assert.deepEqual(overridden({ ...profile, collections: [] }, readProfile(text, 'p.yaml')), profile)
  assert.ok(text.split('\n').every((line) => line.length < 140))
  const keys = Object.keys(parse(text)['collections']['cities'])
  for (const key of keys)
    assert.match(text, new RegExp(`# .*\\n(?: *(?:filters|sorts).*\\n)? +${key}:`), `${key} is explained`)
})
