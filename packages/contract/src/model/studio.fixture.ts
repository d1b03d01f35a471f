/** The declaration of the documentation, in TypeScript, as data and in YAML: one interface three times. For tests. */

export const studioModule = `import { defineInterface, Type, reference } from 'resourced'

export default defineInterface({
  name: 'studio',
  title: 'Studio', description: 'Projects and their tasks.',
  resources: {
    users: { fields: { name: Type.String({ minLength: 1 }) } },
    projects: {
      fields: {
        name: Type.String({ minLength: 1, maxLength: 120, search: true, sort: true, unique: true }),
        description: Type.Optional(Type.String({ maxLength: 10_000, search: true })),
        visibility: Type.Enum(['private', 'public'], { default: 'private' }),
        owner_id: Type.String({ readOnly: true }),
      },
      owner: 'owner_id',
      deletion: { variant: 'soft', gracePeriod: 'P30D', restorable: true, asynchronous: { above: 1000 },
                  answer: 'empty', repeated: 'not-found', bulk: { max: 1000 }, byFilter: false },
      access: {
        read: ['role:admin', 'owner', { where: { visibility: 'public' } }],
        create: 'anyone',
        update: ['role:admin', 'owner'], delete: ['role:admin', 'owner'],
        restore: ['role:admin', 'owner'], readDeleted: 'role:admin',
      },
      rules: [
        { on: 'delete', code: 'PROJECT_HAS_OPEN_TASKS', message: 'Close or move the open tasks first.',
          unless: { none: 'tasks', where: { project_id: { record: 'id' }, status: { in: ['open', 'doing'] } } } },
      ],
      preconditions: 'optional',
    },
    tasks: {
      fields: {
        title: Type.String({ minLength: 1, maxLength: 200, search: true, sort: true }),
        status: Type.Enum(['open', 'doing', 'done'], { default: 'open',
          transitions: { open: ['doing', 'done'], doing: ['open', 'done'], done: ['open'] } }),
        project_id: reference('projects', { onDelete: 'cascade', immutable: true }),
        assignee_id: Type.Optional(reference('users', { onDelete: 'clear' })),
        due_on: Type.Optional(Type.String({ format: 'date', filter: true, sort: true })),
        estimate: Type.Optional(Type.Integer({ minimum: 0, filter: true })),
        labels: Type.Optional(Type.Array(Type.String(), { maxItems: 20 })),
        secret_note: Type.Optional(Type.String({ writeOnly: true })),
      },
      within: 'project_id',
      unique: [['project_id', 'title']],
      access: {
        read: { through: 'project_id', action: 'read' },
        create: { through: 'project_id', action: 'update' },
      },
    },
  },
  versions: { v1: {} },
  versionCarriers: ['path'],
  limits: { pageSize: { default: 20, max: 100 }, rate: { caller: '600/minute', address: '60/minute' }, bodyBytes: 1_048_576 },
})
`

export const studioYaml = `name: studio
title: Studio
description: Projects and their tasks.
resources:
  users:
    fields:
      name: { type: string, minLength: 1 }
  projects:
    fields:
      name: { type: string, minLength: 1, maxLength: 120, search: true, sort: true, unique: true }
      description: { type: string, maxLength: 10000, search: true, optional: true }
      visibility: { enum: [private, public], default: private }
      owner_id: { type: string, readOnly: true }
    owner: owner_id
    deletion: { asynchronous: { above: 1000 }, bulk: { max: 1000 } }
    access:
      read: ['role:admin', owner, { where: { visibility: public } }]
      create: anyone
      update: &ours ['role:admin', owner]
      delete: *ours
      restore: *ours
      readDeleted: role:admin
    rules:
      - on: delete
        code: PROJECT_HAS_OPEN_TASKS
        message: Close or move the open tasks first.
        unless: { none: tasks, where: { project_id: { record: id }, status: { in: [open, doing] } } }
  tasks:
    fields:
      title: { type: string, minLength: 1, maxLength: 200, search: true, sort: true }
      status:
        enum: [open, doing, done]
        default: open
        transitions: { open: [doing, done], doing: [open, done], done: [open] }
      project_id: { reference: projects, onDelete: cascade, immutable: true }
      assignee_id: { reference: users, onDelete: clear, optional: true }
      due_on: { type: string, format: date, filter: true, sort: true, optional: true }
      estimate: { type: integer, minimum: 0, filter: true, optional: true }
      labels: { type: array, items: { type: string }, maxItems: 20, optional: true }
      secret_note: { type: string, writeOnly: true, optional: true }
    within: project_id
    unique: [[project_id, title]]
    access:
      read: { through: project_id, action: read }
      create: { through: project_id, action: update }
limits: { rate: { caller: 600/minute } }
`

/** The same as data; a new copy each time, so that a test can spoil it. */
export function studio() {
  return {
    name: 'studio',
    title: 'Studio',
    description: 'Projects and their tasks.',
    resources: {
      users: { fields: { name: { type: 'string', minLength: 1 } } },
      projects: {
        fields: {
          name: { type: 'string', minLength: 1, maxLength: 120, search: true, sort: true, unique: true },
          description: { type: 'string', maxLength: 10_000, search: true, optional: true },
          visibility: { enum: ['private', 'public'], default: 'private' },
          owner_id: { type: 'string', readOnly: true },
        },
        owner: 'owner_id',
        deletion: { variant: 'soft', gracePeriod: 'P30D' },
        access: {
          read: ['role:admin', 'owner', { where: { visibility: 'public' } }],
          create: 'anyone',
          update: ['role:admin', 'owner'],
          delete: ['role:admin', 'owner'],
          restore: ['role:admin', 'owner'],
          readDeleted: 'role:admin',
        },
        rules: [
          {
            on: 'delete',
            code: 'PROJECT_HAS_OPEN_TASKS',
            message: 'Close or move the open tasks first.',
            unless: { none: 'tasks', where: { project_id: { record: 'id' }, status: { in: ['open', 'doing'] } } },
          },
        ],
      },
      tasks: {
        fields: {
          title: { type: 'string', minLength: 1, maxLength: 200, search: true, sort: true },
          status: {
            enum: ['open', 'doing', 'done'],
            default: 'open',
            transitions: { open: ['doing', 'done'], doing: ['open', 'done'], done: ['open'] },
          },
          project_id: { reference: 'projects', onDelete: 'cascade', immutable: true },
          assignee_id: { reference: 'users', onDelete: 'clear', optional: true },
          due_on: { type: 'string', format: 'date', filter: true, sort: true, optional: true },
          estimate: { type: 'integer', minimum: 0, filter: true, optional: true },
          labels: { type: 'array', items: { type: 'string' }, maxItems: 20, optional: true },
          secret_note: { type: 'string', writeOnly: true, optional: true },
        },
        within: 'project_id',
        unique: [['project_id', 'title']],
        access: {
          read: { through: 'project_id', action: 'read' },
          create: { through: 'project_id', action: 'update' },
        },
      },
    },
  }
}
