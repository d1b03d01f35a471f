/** The interfaces that scenarios try out. */

import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'

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
      },
    },
  },
})

/** Deletion in all its ways: trees, cycles, dependents of each kind, and two variants beside each other. */
export const forest = defineInterface({
  name: 'forest',
  resources: {
    // A self-reference that takes the branch along.
    folders: {
      fields: {
        name: Type.String({ unique: true, search: true }),
        parent_id: Type.Optional(reference('folders', { onDelete: 'cascade' })),
        twin_id: Type.Optional(reference('folders', { onDelete: 'restrict' })),
      },
      deletion: { answer: 'summary' },
    },
    // Gone for good, together with a folder that is kept.
    files: {
      fields: {
        name: Type.String({ search: true }),
        folder_id: reference('folders', { onDelete: 'cascade' }),
        cover_id: Type.Optional(reference('files', { onDelete: 'clear' })),
      },
      deletion: { variant: 'hard', repeated: 'no-content' },
    },
    // Kept, under a file that is gone for good.
    remarks: {
      fields: {
        text: Type.String({ search: true }),
        file_id: reference('files', { onDelete: 'cascade' }),
      },
      access: { readDeleted: 'role:admin' },
    },
    // Stands in the way.
    locks: {
      fields: { name: Type.String(), remark_id: reference('remarks', { onDelete: 'restrict' }) },
    },
    // Only notes what it came from.
    bookmarks: {
      fields: {
        name: Type.String(),
        folder_id: Type.Optional(reference('folders', { onDelete: 'clear' })),
        file_id: Type.Optional(reference('files', { onDelete: 'clear' })),
      },
    },
  },
})

/** Business rules of each kind, and a number to count with. */
export const counters = defineInterface({
  name: 'counters',
  resources: {
    counters: {
      fields: {
        name: Type.String({ unique: true }),
        count: Type.Integer({ default: 0 }),
        locked: Type.Boolean({ default: false }),
        group_id: Type.Optional(reference('groups', { onDelete: 'clear' })),
      },
      access: { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' },
      rules: [
        {
          on: 'delete',
          code: 'COUNTER_LOCKED',
          message: 'Unlock the counter first.',
          unless: { where: { locked: false } },
        },
        {
          on: 'create',
          code: 'GROUP_MISSING',
          message: 'Make an open group first.',
          unless: { some: 'groups', where: { open: true } },
        },
        {
          on: ['create', 'update'],
          check: ({ current, next, caller }) =>
            Number(next?.count) < Number(current?.count ?? 0) && !caller.roles.includes('admin')
              ? { code: 'COUNTS_UP_ONLY', message: 'A counter never goes back.', pointer: '/count' }
              : undefined,
        },
        {
          on: 'update',
          // A code that the interface itself has: a broken rule is a conflict all the same.
          check: ({ next }) =>
            next?.count === 404 ? { code: 'NOT_FOUND', message: 'No counter may say so.' } : undefined,
        },
        {
          on: 'update',
          check: ({ next }) => {
            if (next?.count === 666) throw new Error('select * from secrets at /srv/app/rules.ts')
            return undefined
          },
        },
      ],
    },
    groups: { fields: { name: Type.String(), open: Type.Boolean({ default: true }) } },
  },
})
