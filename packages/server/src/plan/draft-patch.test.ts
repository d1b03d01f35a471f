import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { always } from 'resourced-contract/model/predicate'
import type { RecordValues, Resource } from 'resourced-contract/model/resource'
import { sentenceOf } from 'resourced-contract/spec/faults'
import { Type } from 'typebox'
import { draftOfUpdate } from './draft.ts'
import { patchedBody } from './patched-body.ts'
import type { Update } from './plan.ts'

const { resources } = completeCatalog({
  name: 'x',
  resources: {
    notes: {
      fields: {
        title: Type.String({ maxLength: 5 }),
        stage: Type.Enum(['new', 'used'], { default: 'new' }),
        labels: Type.Optional(Type.Array(Type.String())),
        extra: Type.Optional(Type.Object({})),
        serial: Type.Integer({ readOnly: true, default: 7 }),
        seen: Type.Optional(Type.String({ readOnly: true })),
        origin: Type.String({ immutable: true }),
        batch: Type.Optional(Type.Integer({ immutable: true, default: 1 })),
        pin: Type.Optional(Type.String({ writeOnly: true })),
        owner_id: Type.String({ readOnly: true }),
      },
      owner: 'owner_id',
    },
  },
})
const notes = resources.get('notes') as Resource
const then = '2026-11-21T08:00:00.000Z'
const note: RecordValues = {
  ...{ id: 'n1', created_at: then, updated_at: then, deleted_at: null },
  ...{ title: 'Brew', stage: 'used', labels: ['hot'], extra: null, serial: 7, seen: null },
  ...{ origin: 'here', batch: 1, pin: '1234', owner_id: 'ann' },
}

function update(body: unknown, more: Partial<Update> = {}): Update {
  return {
    ...{ kind: 'patch', resource: notes, id: 'n1', body, permitted: always, mayCreate: always, movedBy: [] },
    ...{ mayRead: always, mayAssignOwner: false, conditions: {}, caller: { id: 'ann', roles: [], claims: {} } },
    ...{ now: Date.parse('2026-11-22T08:00:00Z') },
    ...more,
  }
}

/** The result of a patch: the changed fields and their values, or the errors. */
function outcomeOf(
  patch: readonly object[],
  more: Partial<Update> & { readonly current?: RecordValues } = {},
): unknown {
  const { current = note, ...rest } = more
  const plan = update(patch, rest)
  const body = patchedBody(plan, current)
  const shown = (issues: readonly { code: string; pointer?: string }[]) =>
    issues.map(({ code, pointer }) => `${code} ${pointer}`)
  if (body.kind !== 'patched') return [body.kind, ...shown(body.issues)]
  const { values, issues, changed } = draftOfUpdate(plan, current, body.value)
  return issues.length > 0 ? shown(issues) : Object.fromEntries(changed.map((name) => [name, values[name]]))
}

const expect = (path: string, value: unknown) => ({ op: 'test', path, value })
const add = (path: string, value: unknown) => ({ op: 'add', path, value })
const replace = (path: string, value: unknown) => ({ op: 'replace', path, value })
const remove = (path: string) => ({ op: 'remove', path })
const move = (from: string, path: string) => ({ op: 'move', from, path })
const copy = (from: string, path: string) => ({ op: 'copy', from, path })

test('a patch is applied to the representation: system fields, null for unset fields, no writeOnly fields', () => {
  const { pin, deleted_at, ...shown } = note
  assert.deepEqual(patchedBody(update([expect('', shown)]), note), { kind: 'patched', value: shown })
  assert.deepEqual(outcomeOf([expect('/pin', pin)]), ['conflict', 'CONFLICT /0'])
  assert.deepEqual(outcomeOf([copy('/pin', '/title')]), ['invalid', 'PATH_NOT_FOUND /0/from'])
  assert.deepEqual(outcomeOf([remove('/deleted_at')]), ['invalid', 'PATH_NOT_FOUND /0/path'])
})

const patches: readonly (readonly [name: string, patch: readonly object[], outcome: unknown])[] = [
  ['nothing', [], {}],
  ['fields that change', [replace('/title', 'Pour'), add('/labels/-', 'new')],
    { title: 'Pour', labels: ['hot', 'new'] }],
  ['a field that was unset', [replace('/extra', { a: 1 }), add('/extra/b', [])], { extra: { a: 1, b: [] } }],
  ['a value put back', [replace('/title', 'Pour'), replace('/title', 'Brew')], {}],
  ['an optional field that is removed is unset', [remove('/labels')], { labels: null }],
  ['a field with a default that is removed has its default', [remove('/stage')], { stage: 'new' }],
  ['null is as good as removed', [replace('/stage', null), add('/labels', null)], { stage: 'new', labels: null }],
  ['a required field that is removed', [remove('/title')], ['REQUIRED /title']],
  ['an unset field that is removed', [remove('/extra'), remove('/seen')], {}],
  ['a field moved away', [move('/labels', '/extra')], ['INVALID_TYPE /extra']],
  ['a field that there is not', [add('/more', 1), add('/a~1b', 1)], ['UNKNOWN_FIELD /more', 'UNKNOWN_FIELD /a~1b']],
  ['values that do not fit', [replace('/title', 'Too long'), add('/labels/0', 5), replace('/stage', 'old')],
    ['TOO_LONG /title', 'NOT_IN_ENUM /stage', 'INVALID_TYPE /labels/0']],
  ['fields of the system', [replace('/id', 'n2'), remove('/created_at'), replace('/updated_at', null), add('/deleted_at', then)],
    ['READ_ONLY /id', 'READ_ONLY /created_at', 'READ_ONLY /updated_at', 'READ_ONLY /deleted_at']],
  ['read-only fields', [replace('/serial', 8), add('/seen', 'x'), remove('/owner_id')],
    ['READ_ONLY /serial', 'READ_ONLY /seen', 'READ_ONLY /owner_id']],
  ['a read-only field removed, whatever its default', [remove('/serial')], ['READ_ONLY /serial']],
  ['an immutable field changed', [replace('/origin', 'there'), replace('/batch', 2)],
    ['IMMUTABLE /origin', 'IMMUTABLE /batch']],
  ['an immutable field removed', [remove('/origin')], ['IMMUTABLE /origin']],
  ['what may not change, as it is', [
    replace('/id', 'n1'), add('/deleted_at', null), add('/serial', 7), replace('/origin', 'here'), remove('/batch'),
  ], {}],
  ['a writeOnly field is set', [add('/pin', '5678')], { pin: '5678' }],
  ['a writeOnly field is unset', [add('/pin', null)], { pin: null }],
  ['a writeOnly field that does not fit', [add('/pin', 5)], ['INVALID_TYPE /pin']],
  ['the whole record', [replace('', { ...note, title: 'Pour', pin: '5678' })], { title: 'Pour', pin: '5678' }],
  ['the whole record, without most of it', [replace('', { title: 'Pour' })],
    ['READ_ONLY /id', 'READ_ONLY /created_at', 'READ_ONLY /updated_at', 'READ_ONLY /serial', 'IMMUTABLE /origin', 'READ_ONLY /owner_id']],
  ['something else than an object', [replace('', [1])], ['invalid', 'INVALID_TYPE ']],
  ['null instead of the record', [move('/extra', '')], ['invalid', 'INVALID_TYPE ']],
] // biome-ignore format: one row a case
for (const [name, patch, outcome] of patches) {
  test(`MET-4: JSON Patch: ${name}`, () => {
    const before = structuredClone(note)
    const result = outcomeOf(patch)
    if (Array.isArray(outcome)) assert.deepEqual(new Set(result as string[]), new Set(outcome))
    else assert.deepEqual(result, outcome)
    assert.deepEqual(note, before)
  })
}

test('AUT-7: a caller who may assign owners may do so by JSON Patch, and may not remove an owner', () => {
  const mayAssignOwner = true
  assert.deepEqual(outcomeOf([replace('/owner_id', 'bob')], { mayAssignOwner }), { owner_id: 'bob' })
  assert.deepEqual(outcomeOf([remove('/owner_id')], { mayAssignOwner }), ['REQUIRED /owner_id'])
})

test('a value that a patch leaves unchanged is not validated by a later declaration', () => {
  const current = { ...note, title: 'Too long now', stage: null }
  assert.deepEqual(outcomeOf([replace('/labels', [])], { current }), { labels: [] })
  assert.deepEqual(outcomeOf([replace('/title', 'Still too long')], { current }), ['TOO_LONG /title'])
  assert.deepEqual(outcomeOf([remove('/stage')], { current }), { stage: 'new' })
})

test('messages say what to do in a patch', () => {
  const plan = update([])
  const { issues } = draftOfUpdate(plan, note, { ...note, id: 'n2', origin: 'there' })
  assert.deepEqual(issues.map(sentenceOf), [
    'id is set by the server; leave it as it is.',
    'origin cannot change once the record exists; leave it as it is.',
  ])
})
