import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { always, type Predicate } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { completeVersions } from '../versions/versions.ts'
import { unreadFields } from './decide.ts'
import type { Update } from './plan.ts'

const fields = {
  title: { type: 'string' },
  data: { type: 'object', optional: true },
  list: { type: 'array', optional: true },
  any: { optional: true },
}

function declared(more: object = {}): InterfaceDeclaration {
  return {
    name: 'things',
    resources: { things: { fields, ...more } },
    versions: { v1: {}, v2: {} },
    changes: [{ version: 'v2', resource: 'things', rename: { content: 'data' } }],
  } as never
}

function unread(plan: Partial<Update>, more: object = {}, version = 'v2'): string[] {
  const { stored, all } = completeVersions(declared(more))
  const resource = stored.resources.get('things') as Resource
  const shown = all.get(version)?.catalog.resources.get('things')
  const versionResource = shown === resource ? undefined : shown
  const own = { kind: 'merge', resource, versionResource, permitted: always, mayCreate: always, body: {}, ...plan }
  return [...unreadFields(own as never)]
}

const test3 = (path: string, more: object = {}) => ({ op: 'test', path, value: 1, ...more })
const isNull = (field: string): Predicate => ({ kind: 'null', field, isNull: true }) as never

for (const [name, plan, expected, more] of [
  ['what a merge patch does not name', { body: { title: 'x' } }, ['data', 'list', 'any']],
  ['a field that a merge patch names is read', { body: { data: null } }, ['list', 'any']],
  ['unknown names', { body: { x: 1 } }, ['data', 'list', 'any']],
  ['no object', { body: [1] }, ['data', 'list', 'any']],
  ['nothing of a PUT', { kind: 'replace', body: { title: 'x' } }, []],
  ['what no operation names', { kind: 'patch', body: [test3('/title')] }, ['data', 'list', 'any']],
  ['a step below', { kind: 'patch', body: [test3('/data/a/b')] }, ['list', 'any']],
  ['where a move begins', { kind: 'patch', body: [test3('/title', { from: '/list/0' })] }, ['data', 'any']],
  ['nothing where the whole record is named', { kind: 'patch', body: [test3('/title'), test3('')] }, []],
  ['nothing where the whole record is copied', { kind: 'patch', body: [test3('/title', { from: '' })] }, []],
  ['operations of the wrong form', { kind: 'patch', body: [1, { path: 7 }, null] }, ['data', 'list', 'any']],
  ['what the permission looks at is read', { permitted: isNull('list') }, ['data', 'any']],
  ['what the permission to create looks at is read', { mayCreate: isNull('any') }, ['data', 'list']],
  ['what the permission for a field looks at is read', { writableFields: { title: isNull('data') } }, ['list', 'any']],
  ['a function that completes records sees all of them', {}, [], { prepare: () => ({}) }],
  ['a rule that is a function sees all of them', {}, [], { rules: [{ on: ['update'], check: () => undefined }] }],
  ['not on creation', {}, ['data', 'list', 'any'], { rules: [{ on: 'create', check: () => undefined }] }],
  [
    ...(['a rule reads what it compares', {}, ['list', 'any']] as const),
    { rules: [{ on: 'update', code: 'X', message: 'x', unless: { where: { data: { null: true } } } }] },
  ],
] as [string, Partial<Update>, string[], object?][]) {
  test(`fields that an update does not read: ${name}`, () => assert.deepEqual(unread(plan, more), expected))
}

test('the names of an older version count', () => {
  assert.deepEqual(unread({ body: { content: 1 } }, {}, 'v1'), ['list', 'any'])
  assert.deepEqual(unread({ body: { data: 1 } }, {}, 'v1'), ['data', 'list', 'any'])
  assert.deepEqual(unread({ kind: 'patch', body: [test3('/content/a')] }, {}, 'v1'), ['list', 'any'])
})
