import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oneOf } from '../spec/words.ts'
import { nearest, suggest } from './nearest.ts'

test('one edit for each three characters', () => {
  assert.equal(nearest('taks', ['tasks', 'projects']), 'tasks')
  assert.equal(nearest('minLenght', ['minimum', 'minLength', 'maxLength']), 'minLength')
  assert.equal(nearest('projcts', ['tasks', 'projects']), 'projects')
  assert.equal(nearest('Tasks', ['tasks']), 'tasks')
})

test('distant names are not suggested', () => {
  assert.equal(nearest('users', ['tasks', 'projects']), undefined)
  assert.equal(nearest('ab', ['cd']), undefined)
  assert.equal(nearest('', ['a_b']), undefined)
  assert.equal(nearest('x'.repeat(1_000_000), ['x']), undefined)
})

test('the beginning of a longer name is near', () => assert.equal(nearest('owner', ['title', 'owner_id']), 'owner_id'))

test('remedies', () => {
  assert.equal(suggest('taks', ['tasks']), 'Did you mean "tasks"?')
  assert.equal(suggest('users', ['tasks', 'projects']), 'Use tasks or projects.')
  assert.equal(suggest('users', []), 'Remove it.')
  assert.equal(suggest('users', ['tasks'], 'Think.'), 'Think.')
  assert.equal(oneOf(['a', 'b', 'c']), 'a, b or c')
})
