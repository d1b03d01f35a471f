/**
 * A studio: projects and their tasks, and the people who do them. It shows most words of a declaration.
 * `resources.yaml` beside it says the same as data.
 */
import { defineInterface, reference, Type } from 'resourced'

export default defineInterface({
  name: 'studio',
  title: 'Studio',
  description: 'Projects, their tasks, and the people who do them.',
  resources: {
    projects: {
      description: 'What the studio works on.',
      fields: {
        name: Type.String({ minLength: 1, maxLength: 120, search: true, sort: true, unique: true }),
        description: Type.Optional(Type.String({ maxLength: 10_000, search: true })),
        visibility: Type.Enum(['private', 'public'], { default: 'private' }),
        owner_id: Type.String({ readOnly: true }),
      },
      owner: 'owner_id',
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
      description: 'What there is to do in a project.',
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
      },
    },
    users: {
      description: 'The people of the studio.',
      fields: {
        name: Type.String({ minLength: 1, maxLength: 120, search: true, sort: true }),
        email: Type.String({ format: 'email', maxLength: 254, unique: true }),
      },
      deletion: { variant: 'hard', answer: 'summary', repeated: 'no-content' },
      access: { read: 'anyone' },
    },
  },
})
