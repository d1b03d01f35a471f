/** VER-2, ERR-3: errors have the names and values of the client's version, and leave all other words as they are. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { reference } from 'resourced-contract/model/type'
import { type Received, trialFor } from '../harness.ts'
import { nowhere } from '../steps.ts'

// The words of values and of a rule are also names that version 1 does not have, or has for something else.
const words = ['open', 'done', 'state', 'tasks'] as const
const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const
const declaration: InterfaceDeclaration = {
  name: 'renamed',
  resources: {
    areas: { fields: { name: { type: 'string', unique: true } }, access: anyone },
    projects: { fields: { area_id: reference('areas', { onDelete: 'cascade' }) }, access: anyone },
    tasks: {
      fields: {
        project_id: reference('projects', { onDelete: 'cascade' }),
        code: { type: 'string', optional: true },
        state: { type: 'string', enum: words, default: 'open', transitions: { open: words, done: ['state', 'tasks'] } },
        phase: { type: 'string', enum: ['it', 'from'], default: 'it', transitions: { it: ['from'], from: [] } },
        ids: { type: 'array', items: { type: 'string', enum: ['state', 'tasks'] }, optional: true },
      },
      unique: [['code', 'state']],
      deletion: { variant: 'soft', bulk: { max: 10 } },
      access: anyone,
      rules: [
        {
          on: 'update',
          check: ({ next }: { readonly next?: Readonly<Record<string, unknown>> | undefined }) =>
            next?.['code'] === 'state'
              ? { code: 'NO_STATE', message: 'state is a word of tasks.', pointer: '/state' }
              : undefined,
        },
      ],
    },
    notes: { fields: { task_id: reference('tasks', { onDelete: 'restrict' }) }, within: 'task_id', access: anyone },
  },
  versions: { v1: {}, v2: {} },
  changes: [
    {
      version: 'v2',
      resource: 'tasks',
      was: 'todos',
      rename: { status: 'state', marks: 'ids' },
      convert: {
        phase: {
          schema: { type: 'string', enum: ['IT', 'FROM'], default: 'IT' },
          older: (value: string) => value.toUpperCase(),
          newer: (value: string) => value.toLowerCase(),
        },
      },
    },
    { version: 'v2', resource: 'notes', was: 'memos', rename: { todo_id: 'task_id' } },
  ],
}

/** The errors of an answer, and its detail where that is not the only message. */
function said({ json }: Received): unknown[] {
  const errors = (json.errors ?? []).map(({ code, message, pointer, parameter, collection }: Received['json']) =>
    [code, pointer ?? parameter ?? collection, message].join(' | '),
  )
  return json.errors?.length === 1 && json.detail === json.errors[0].message ? errors : [json.detail, ...errors]
}

it('VER-2: errors name collections, fields and values as the version of the request has them', async (context) => {
  const { send } = await trialFor(context, declaration)
  const ask = async (method: string, path: string, body?: unknown) => send({ method, path: `/v1/${path}`, body })
  const make = async (path: string, body: unknown): Promise<string> => {
    const made = await ask('POST', path, body)
    assert.equal(made.status, 201, made.text)
    return made.json.id
  }
  const merge = async (path: string, body: unknown) =>
    send({ method: 'PATCH', path: `/v1/${path}`, body, headers: { 'content-type': 'application/merge-patch+json' } })
  const area_id = await make('areas', { name: 'Home' })
  const project_id = await make('projects', { area_id })
  const first = await make('todos', { project_id, code: 'a', status: 'done' })
  const second = await make('todos', { project_id, phase: 'FROM' })
  const todo_id = first
  const memo = await make('memos', { todo_id })

  // What only the schema of the version refuses.
  const among = 'must be one of open, done, state, tasks.'
  assert.deepEqual(said(await ask('POST', 'todos', { project_id, status: 'none', marks: ['tasks', 'x'], state: 1 })), [
    '3 things are wrong; errors lists them all.',
    'UNKNOWN_FIELD | /state | state is not a field of todos.',
    `NOT_IN_ENUM | /status | status ${among}`,
    'NOT_IN_ENUM | /marks/1 | marks/1 must be one of state, tasks.',
  ])
  assert.deepEqual(said(await ask('GET', 'todos?sort=state')), [
    `UNKNOWN_FIELD | sort | todos cannot be sorted by "state"; sort takes created_at, updated_at.`,
  ])

  // What the stored record contradicts.
  assert.deepEqual(said(await merge(`todos/${first}`, { status: 'open' })), [
    'INVALID_TRANSITION | /status | status cannot change from done to open: it may become state or tasks.',
  ])
  assert.deepEqual(said(await merge(`todos/${second}`, { phase: 'IT' })), [
    'INVALID_TRANSITION | /phase | phase cannot change from FROM to IT: it is final.',
  ])
  assert.deepEqual(said(await ask('POST', 'todos', { project_id, code: 'a', status: 'done' })), [
    'DUPLICATE_VALUE | /code | code is taken together with status by another record; choose another value.',
  ])
  assert.deepEqual(said(await ask('POST', 'memos', { todo_id: nowhere })), [
    'INVALID_REFERENCE | /todo_id | todo_id refers to nothing: there is no such record in todos.',
  ])
  assert.deepEqual(said(await merge(`todos/${first}`, { code: 'state' })), [
    'NO_STATE | /status | state is a word of tasks.',
  ])
  assert.deepEqual(said(await ask('POST', `todos/${nowhere}/memos`, {})), [
    'There is no such record in todos, or it was deleted.',
  ])

  // Records of other collections, with names that the collection of the request knows nothing of.
  const blocked = '1 record of memos refers to todos by todo_id; delete or change it first.'
  for (const path of [`todos/${first}`, `areas/${area_id}`])
    assert.deepEqual(said(await ask('DELETE', path)), [`HAS_DEPENDENTS | memos | ${blocked}`])
  const preview = await ask('GET', `areas/${area_id}/deletion`)
  assert.deepEqual(preview.json.blocked_by[0].message, blocked)
  // The ids of a request are no field of the records.
  assert.deepEqual(said(await ask('POST', 'todos/bulk-delete', { ids: [nowhere], state: 1 })), [
    'UNKNOWN_FIELD | /state | state cannot be set here. Use ids or dry_run.',
  ])
  assert.deepEqual(said(await ask('POST', 'todos/bulk-delete', { ids: [nowhere] })), [
    'Some of the records do not exist; none was deleted.',
    'NOT_FOUND | /ids/0 | There is no such record.',
  ])

  await ask('DELETE', `memos/${memo}`)
  await ask('DELETE', `areas/${area_id}`)
  const elsewhere = await make('projects', { area_id: await make('areas', { name: 'Work' }) })
  await make('todos', { project_id: elsewhere, code: 'a', status: 'done' })
  assert.deepEqual(said(await ask('POST', `areas/${area_id}/restore`)), [
    `DUPLICATE_VALUE |  | todos ${first}: code is taken together with status by another record; choose another value.`,
  ])
})
