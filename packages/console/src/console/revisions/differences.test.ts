import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byName, type Collection, type Field } from '../interface/catalog.ts'
import { differences, type Revision, recordsBefore, restoringValues } from './differences.ts'

const field = (name: string, more: Partial<Field> = {}): Field => ({
  ...{ name, schema: {}, input: {}, required: false },
  ...more,
})
const fields = [
  ...[field('id'), field('title'), field('size'), field('place'), field('origin', { immutable: true })],
  field('updated_at'),
]
const collection = { name: 'goods', ...byName(fields) } as never as Collection

test('a difference is a field with another value, whatever the order of its members', () => {
  const before = { id: 'a', title: 'Ax', size: null, place: { x: 1, y: 2 }, updated_at: '1' }
  const after = { id: 'a', title: 'Axe', place: { y: 2, x: 1 }, updated_at: '2' }
  const named = (found: ReturnType<typeof differences>) =>
    found.map((each) => [each.field.name, each.before, each.after])
  assert.deepEqual(named(differences(collection, before, after)), [['title', 'Ax', 'Axe']])
  assert.deepEqual(named(differences(collection, undefined, before)), [
    ['title', undefined, 'Ax'],
    ['place', undefined, { x: 1, y: 2 }],
  ])
})

test('a restoration is compared with the record before its deletion', () => {
  const state = (kind: Revision['kind'], title: string | null): Revision => ({
    ...{ id: '', kind, created_at: '', caller: null, version: null },
    record: title === null ? null : { id: 'a', title },
  })
  const revisions = [state('restored', 'B'), state('deleted', null), state('updated', 'B'), state('created', 'A')]
  const titles = recordsBefore(revisions).map((each) => each?.['title'])
  assert.deepEqual(titles, ['B', 'B', 'A', undefined])
})

test('a state is restored by what differs now and can be changed', () => {
  const present = { id: 'a', title: 'Axe', size: 3, origin: 'x' }
  // A field that is newer than the state keeps its value.
  const state = { id: 'a', title: 'Ax', place: null, origin: 'y' }
  assert.deepEqual(restoringValues(fields.slice(1, 5), present, state), { title: 'Ax', place: null })
  assert.deepEqual(restoringValues(fields.slice(1, 5), present, present), {})
})
