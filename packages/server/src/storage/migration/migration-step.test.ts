import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatSteps, isAllowed, MigrationRefused, step } from './migration-step.ts'
import { assess } from './take-step.ts'

const index = {
  name: 'tasks_by_a_id_123456',
  table: 'tasks',
  columns: ['a', 'id'],
  unique: false,
  where: 'live',
} as const
const add = step('tasks', { kind: 'create-index', index }, 'index tasks by a, id')
const drop = assess(step('tasks', { kind: 'drop-column', column: 'old' }, 'drop the column tasks.old'), { count: 1 })
const require = assess(step('tasks', { kind: 'require', column: 'title' }, 'tasks.title is now required'), {
  count: 500,
})

test('each step is one line with what it would lose', () => {
  const lines = formatSteps([drop, add, require]).split('\n')
  assert.deepEqual(lines, [
    '  ! drop the column tasks.old: loses 1 value',
    '  + index tasks by a, id',
    '  x tasks.title is now required but 500 records have no value: declare a default or make it optional; ' +
      'if the field has a new name, declare a rename under changes (docs/how-to/migrate-a-declaration.md), which ' +
      'keeps its values',
  ])
})

test('indexes of one table share a line', () => {
  assert.equal(formatSteps([add, add, add]), '  + add 3 indexes of tasks')
})

test('a refusal names the command that makes the changes, or what is impossible', () => {
  assert.match(
    new MigrationRefused([drop]).message,
    /would lose data:\n.*loses 1 value\n.*: npx resourced migrate --apply$/,
  )
  assert.equal(new MigrationRefused([drop, require]).command, undefined)
  assert.match(
    new MigrationRefused([require]).message,
    /500 records have no value.*\nChange the records or the declaration/,
  )
})

test('a step that loses data is allowed with `all` only, an impossible step never', () => {
  const allowed = (steps: Parameters<typeof isAllowed>[0]) =>
    (['never', 'additive', 'all'] as const).filter((apply) => isAllowed(steps, apply))
  assert.deepEqual(allowed([]), ['never', 'additive', 'all'])
  assert.deepEqual(allowed([add]), ['additive', 'all'])
  assert.deepEqual(allowed([add, drop]), ['all'])
  assert.deepEqual(allowed([require]), [])
})
