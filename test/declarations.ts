/** The interfaces that scenarios try out. */
import { Type } from 'typebox'
import { defineInterface, reference } from '../src/model/declaration.ts'

/** The tour's interface: projects with an owner, their tasks, and users whom tasks are assigned to. */
export const studio = defineInterface({
  name: 'studio',
  title: 'Studio',
  description: 'Projects and their tasks.',
  resources: {
    projects: {
      fields: {
        name: Type.String({ minLength: 1, maxLength: 120, search: true, sort: true, unique: true }),
        description: Type.Optional(Type.String({ maxLength: 10_000, search: true })),
        visibility: Type.Enum(['private', 'public'], { default: 'private' }),
        owner_id: Type.String({ readOnly: true }),
      },
      owner: 'owner_id',
      deletion: { variant: 'soft', answer: 'empty', repeated: 'not-found' },
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
        title: Type.String({ minLength: 1, maxLength: 200, search: true, sort: true }),
        status: Type.Enum(['open', 'doing', 'done'], {
          default: 'open',
          transitions: { open: ['doing', 'done'], doing: ['open', 'done'], done: ['open'] },
        }),
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
        update: { through: 'project_id', action: 'update' },
        delete: { through: 'project_id', action: 'update' },
        readDeleted: 'role:admin',
      },
    },
    users: {
      fields: {
        name: Type.String({ minLength: 1, maxLength: 120, search: true, sort: true }),
        email: Type.String({ format: 'email', unique: true }),
      },
      access: { read: 'anyone', readDeleted: 'role:admin' },
    },
  },
})

/** A field of every kind in one collection, and one whose names are words of SQL. */
export const samples = defineInterface({
  name: 'samples',
  resources: {
    samples: {
      fields: {
        title: Type.String({ minLength: 1, maxLength: 50, filter: true, search: true }),
        code: Type.Optional(Type.String({ unique: true })),
        count: Type.Optional(Type.Integer({ filter: true })),
        ratio: Type.Optional(Type.Number({ filter: true })),
        flag: Type.Optional(Type.Boolean()),
        moment: Type.Optional(Type.String({ format: 'date-time', filter: true, sort: true })),
        payload: Type.Optional(Type.Object({})),
        strict: Type.Optional(Type.Object({ size: Type.Integer() }, { additionalProperties: false })),
        list: Type.Optional(Type.Array(Type.Unknown())),
        anything: Type.Optional(Type.Unknown()),
        stage: Type.Enum(['new', 'used'], { default: 'new' }),
        serial: Type.Integer({ readOnly: true, default: 7 }),
        origin: Type.Optional(Type.String({ immutable: true })),
        pin: Type.Optional(Type.String({ writeOnly: true })),
        owner_id: Type.String({ readOnly: true }),
      },
      owner: 'owner_id',
      access: {
        read: 'anyone',
        create: { where: { title: { not: 'taboo' } } },
        update: { where: { title: { not: 'taboo' } } },
        delete: 'anyone',
      },
    },
    selects: {
      fields: {
        order: Type.Optional(Type.String({ filter: true, sort: true })),
        select: Type.Optional(Type.String({ unique: true })),
        group: Type.Optional(Type.Integer({ sort: true })),
        permitted: Type.Optional(Type.String()),
        json: Type.Optional(Type.String({ search: true })),
        value: Type.Optional(Type.String()),
        t: Type.Optional(Type.String()),
        rowid: Type.Optional(Type.String()),
      },
    },
  },
})
